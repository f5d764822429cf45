"""Choose the content of a release, and write its files query by query, hashed while they are written.

The ground truth goes to the writers of every format at once (`formats/format.py`), with the judgments beside
it. The same content gives the same bytes on every machine, in little memory. Raises ValidationError for an id
that a format cannot carry; disk errors stay OSError for `folder.py` to report.

Choose which pairs are qrels of a release, in which order, and under which pseudonyms people appear. A qrel is
a settled pair: unanimous, adjudicated, judged by one annotator and marked "single", or kept from an earlier
ground truth and marked "imported". Open disagreements, pairs that quality control reopened, unrateable and
unjudged pairs are absent and counted; absence is never grade 0. A query without any qrel is absent too: an
evaluator would count it as one without relevant documents. Works query by query. A person has one number per
dataset for ever, given at their first release: `annotator_N` as a judge, `lead_N` as the one who decided or
published. No real name leaves.
"""

import contextlib
import gc
import hashlib
import json
import marshal
import os
import tempfile
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotator.domain.errors import StateError
from annotator.domain.grades import GRADES, RELEVANT_FROM
from annotator.domain.ground_truth import NOTHING, Document, Metadata, Origin, Qrel, Query
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.people import name_annotator
from annotator.domain.settling import PAIR_STATUSES
from annotator.formats.format import ONE_FILE, FileWriter, Format
from annotator.formats.judgments import COLUMNS, quote_cell
from annotator.formats.registry import find_format
from annotator.formats.syntax.grade_scale import UNRATEABLE
from annotator.releases.records import GivenJudgment, Participant, ReleasePair

if TYPE_CHECKING:
    from annotator.releases.writing.folder import PartialFolder


def assign_numbers(
    assigned: Mapping[int, int], people: Iterable[Participant], secrets: Mapping[int, str], *, seed: int
) -> dict[int, int]:
    """Return new pseudonym numbers by person, for people without one: annotators first, then other leads.

    Within both groups the seed decides the order, so it follows neither accounts nor names and is the same on every
    machine. `secrets` (the smallest event id of everybody who judged; event ids are never published) is part of the
    hash, so that usernames and seed are not enough to compute it. Numbers in `assigned` stay.
    """

    def make_sort_key(person: Participant) -> tuple[bool, bytes]:
        drawn = json.dumps([seed, person.username, secrets.get(person.key, "")])
        return person.key not in secrets, hashlib.sha256(drawn.encode()).digest()

    new = sorted((person for person in people if person.key not in assigned), key=make_sort_key)
    after = max(assigned.values(), default=0)
    return {person.key: number for number, person in enumerate(new, after + 1)}


DOCUMENT_KEYS = (
    "law_type",
)  # what evaluators read of a document's metadata; more would upset strict loaders
_ORIGINS: dict[str, Origin] = {
    "unanimous": "unanimous",
    "adjudicated": "adjudicated",
    "single": "single",
    "imported": "imported",
}
_name = lru_cache(4096)(name_annotator)  # a few names, wanted millions of times
_LISTED = ("unanimous", "adjudicated", "single", "imported", "disagreement", "unrateable", "unjudged")


@dataclass(slots=True)
class RankTies:
    """The relevant documents that equal another one of their query, counted by what decided their order.

    Relevant means grade 1 and more. Equal means: the same settled grade and mean annotator grade.
    """

    tied: int = 0  # how many there are
    by_lead: int = 0  # ordered by a lead
    by_earlier: int = 0  # ordered only by an earlier ground truth
    undecided: int = 0  # separated from another one only by the hash
    queries_undecided: int = 0  # queries with such documents

    def add(self, settled: Sequence[ReleasePair]) -> None:
        """Count a query's settled pairs, which are in the order of publishing."""
        keys = [_rank(pair) for pair in settled if (pair.grade or 0) >= RELEVANT_FROM]
        undecided = 0
        for _, group in groupby(keys, key=lambda key: key[:2]):
            alike = list(group)
            if len(alike) == 1:
                continue
            self.tied += len(alike)
            self.by_lead += sum(by_lead < inf for *_, by_lead, _ in alike)
            self.by_earlier += sum(by_lead == inf > earlier for *_, by_lead, earlier in alike)
            sizes = [len(list(same)) for _, same in groupby(alike)]
            undecided += sum(size for size in sizes if size > 1)
        self.undecided += undecided
        self.queries_undecided += undecided > 0


def list_settled(pairs: Iterable[ReleasePair], *, seed: int) -> list[ReleasePair]:
    """Return a query's settled pairs in the order in which their qrels are published."""
    return sorted([pair for pair in pairs if pair.grade is not None], key=lambda pair: sort_place(pair, seed))


def sort_place(pair: ReleasePair, seed: int) -> tuple[float, float, float, float, bytes]:
    """Return the order key of a pair in its query.

    By settled grade, mean grade, a lead's order, an earlier order, and a hash. Highest grades first. Documents without a rank in an earlier ground truth come after those with one. The hash is
    of the ids with the dataset's seed. Never uses a system's rank, which would favour the systems of the pool, nor
    the doc_id itself, which often follows a collection's own order.
    """
    drawn = hashlib.sha256(f"{seed}\0{pair.query_id}\0{pair.doc_id}".encode()).digest()
    return (*_rank(pair), drawn)


def _rank(pair: ReleasePair) -> tuple[float, float, float, float]:
    """Return the sort key of a settled pair within its query; the smallest comes first."""
    if pair.kept is not None:
        grades = [grade for _, grade in pair.kept.annotator_grades]
    else:
        grades = [
            item.grade
            for item in pair.judgments
            if item.grade is not None and item.purpose == COUNTED_PURPOSE
        ]
    mean = sum(grades) / len(grades) if grades else 0.0
    by_lead = inf if pair.lead_place is None else pair.lead_place
    imported = inf if pair.imported_place is None else pair.imported_place
    return -(pair.grade or 0), -mean, by_lead, imported


def sort_judgments(pair: ReleasePair, numbers: Mapping[int, int]) -> Sequence[GivenJudgment]:
    """Return the pair's judgments in the order of their pseudonym numbers."""
    given = pair.judgments
    if len(given) < 2 or (len(given) == 2 and numbers[given[0][1]] < numbers[given[1][1]]):
        return given
    return sorted(given, key=lambda judgment: numbers[judgment.annotator])


def to_qrel(pair: ReleasePair, numbers: Mapping[int, int]) -> Qrel:
    """Return the qrel of a settled pair. Its note: the decision's rationale, or the annotators' notes.

    `numbers`: everybody's pseudonym number, by person. A kept grade brings its own note, description and
    annotators' grades.
    """
    if pair.grade is None:
        raise StateError(f"{pair.query_id} {pair.doc_id} is not settled, so it is no qrel")
    if (kept := pair.kept) is not None:
        return Qrel(
            pair.query_id,
            pair.doc_id,
            pair.grade,
            "imported",
            kept.description or pair.title or None,
            kept.note,
            kept.annotator_grades,
            _choose({**kept.metadata, **pair.document_metadata}),
        )
    grades: list[tuple[str, int]] = []
    notes: list[str] = []
    for _, person, _, grade, note, purpose, *_ in sort_judgments(pair, numbers):
        if grade is not None and purpose == COUNTED_PURPOSE:
            grades.append((_name(numbers[person]), grade))
            if note:
                notes.append(note)
    return Qrel(
        pair.query_id,
        pair.doc_id,
        pair.grade,
        _ORIGINS[pair.status],
        pair.title or None,
        pair.rationale if pair.status == "adjudicated" else "; ".join(notes) or None,
        tuple(grades),
        _choose(pair.document_metadata) if pair.document_metadata else NOTHING,
    )


def _choose(metadata: Metadata) -> Metadata:
    return {key: metadata[key] for key in DOCUMENT_KEYS if key in metadata} or NOTHING


def list_keys(pair: ReleasePair) -> str:
    """Return the keys of the judgments that a qrel rests on, as a release records them: ascending, separated by spaces."""
    given = pair.judgments
    if len(given) == 2:
        first, second = given[0][0], given[1][0]
        return f"{first} {second}" if first < second else f"{second} {first}"
    return " ".join(map(str, sorted([item[0] for item in given])))


def count_content(
    *, queries: int, judged_queries: int, statuses: Mapping[str, int], by_grade: Mapping[int, int]
) -> dict[str, Any]:
    """Return the manifest's counts of queries, pairs and qrels.

    Queries without a qrel are counted as left out. Qrels are also counted by grade, and pairs by status:
    unanimous + adjudicated + single + imported = qrels; with disagreement, reopened, unrateable and unjudged they are
    the pairs. `reopened` is named only where there is one: most datasets know no quality control.
    """
    reopened = {"reopened": statuses["reopened"]} if statuses.get("reopened") else {}
    return {
        "queries": queries,
        "queries_without_qrels": queries - judged_queries,
        "pairs": sum(statuses.get(status, 0) for status in PAIR_STATUSES),
        "qrels": sum(by_grade.get(grade, 0) for grade in GRADES),
        "by_grade": {str(grade): by_grade.get(grade, 0) for grade in GRADES},
        **{status: statuses.get(status, 0) for status in _LISTED},
        **reopened,
    }


TRUTH_FILES: Mapping[str, str] = {
    "nablarch": "nablarch.yaml",
    "law": "law.json",
    "law-compact": "law-compact.json",
    "ranked": "ranked.json",
    "assay": "assay.yaml",
    "assay-queries": "assay-queries.yaml",
    "trec": "qrels.trec.txt",
    "beir": "beir",
}  # the place of each format: its one file, or its folder
JUDGMENTS, MANIFEST, SUMS = "judgments.csv", "manifest.json", "SHA256SUMS"
SIGNATURE = "SHA256SUMS.sig"  # signs SUMS, so no list contains it
CHANGES, DATASHEET = "CHANGES.md", "DATASHEET.md"
PROBABILITIES = "qrels.probs"  # only where pairs were drawn at random
GRADES_PICTURE, CONFUSION_PICTURE = "pictures/grades.svg", "pictures/confusion.svg"
JUDGMENT_COLUMNS = (*COLUMNS, "guideline_version", "purpose", "simulated")
WITHOUT_GRADES = ("beir/queries.jsonl", "beir/corpus.jsonl")
"""The files of a release that tell the grade of no pair.

Checksums, counts and pictures tell grades: if few are unknown, one can try all of them until they fit.
"""
DIGITS = 6


def place_file(file_format: Format, writer: FileWriter) -> str:
    """Return the path of a format's file in a release folder."""
    path = TRUTH_FILES[file_format.name]
    return path if writer.path == ONE_FILE else f"{path}/{writer.path}"


class _GrowingFile:
    """One file of the ground truth with the queries that it holds so far."""

    def __init__(self, writer: FileWriter, output: "PartialFile", *, positive: bool) -> None:
        self.writer, self.output, self.positive, self.queries = writer, output, positive, 0

    def add(self, query: Query, qrels: Sequence[Qrel]) -> None:
        if self.writer.takes(query, qrels):
            self.output.write(self.writer.add(query, qrels, self.queries))
            self.queries += 1


class TruthWriter:
    """Writes the ground truth in every format except `without`, in one pass. `about`: metadata for the files."""

    def __init__(
        self,
        folder: "PartialFolder",
        about: Metadata,
        queries: int,
        *,
        list_grade_0: bool,
        without: Container[str] = (),
    ) -> None:
        self._files: list[_GrowingFile] = []
        for name in TRUTH_FILES:
            if name in without:
                continue
            file_format = find_format(name)
            for writer in file_format.files:
                output = folder.open(place_file(file_format, writer))
                output.write(writer.begin(about, queries))
                positive = not list_grade_0 and not file_format.tells_grade_0
                self._files.append(_GrowingFile(writer, output, positive=positive))

    def add(self, query: Query, qrels: Sequence[Qrel]) -> None:
        """Write one query with its qrels in their order, including grade 0."""
        positive = [qrel for qrel in qrels if qrel.grade > 0]
        for file in self._files:
            file.add(query, positive if file.positive else qrels)

    def end(self, documents: Iterable[Document]) -> None:
        """Write the documents and the ends of the files."""
        for document in documents:
            for file in self._files:
                text = file.writer.add_document(document)
                if text:
                    file.output.write(text)
        for file in self._files:
            file.output.write(file.writer.end(file.queries))


def write_judgments(
    pairs: Iterable[ReleasePair], *, numbers: Mapping[int, int], simulated: Container[int]
) -> str:
    """Yield the lines of `judgments.csv` for these pairs: every current judgment, under a pseudonym.

    The columns are JUDGMENT_COLUMNS, as `import judgments` reads them. Unknown values of an imported judgment are
    empty: its time, and its guideline.
    """
    lines: list[str] = []
    names = {person: name_annotator(number) for person, number in numbers.items()}
    ends = {person: "true\n" if person in simulated else "false\n" for person in numbers}
    query_id, query_cell = "", ""
    for pair in pairs:
        if not pair.judgments:
            continue
        if pair.query_id != query_id:
            query_id, query_cell = pair.query_id, quote_cell(pair.query_id)
        begin = f"{query_cell},{quote_cell(pair.doc_id)}"
        for _, person, _, grade, note, purpose, judged_at, seconds, version, _ in sort_judgments(
            pair, numbers
        ):
            lines.append(
                f"{begin},{names[person]},{UNRATEABLE if grade is None else grade},"
                f"{'' if note is None else quote_cell(note)},{judged_at},{'' if seconds is None else seconds},"
                f"{'' if version is None else version},{purpose},{ends[person]}"
            )
    return "".join(lines)


def write_probabilities(pairs: Iterable[ReleasePair], chances: Mapping[tuple[str, str], float]) -> str:
    """Return the lines of `qrels.probs` for these settled pairs: TREC qrels with the probability that each came into the pool.

    `chances`: of the pairs that were drawn at random, by query_id and doc_id; all others were chosen for certain.
    """
    return "".join(
        f"{pair.query_id} 0 {pair.doc_id} {pair.grade or 0} {chances.get((pair.query_id, pair.doc_id), 1.0):.9g}\n"
        for pair in pairs
    )


def list_files(files: Iterable["PartialFile"]) -> list[dict[str, Any]]:
    """Return path, SHA-256 and size of each file, by path, for the manifest."""
    ordered = sorted(files, key=lambda file: file.name)
    return [{"path": file.name, "sha256": file.sha256, "bytes": file.bytes} for file in ordered]


def write_sums(files: Iterable["PartialFile"]) -> str:
    """Return `SHA256SUMS` as `sha256sum -c` reads it: every file but itself."""
    return "".join(f"{file.sha256}  {file.name}\n" for file in sorted(files, key=lambda file: file.name))


def write_json(content: Mapping[str, Any]) -> str:
    """Return JSON indented by two, ended by LF."""
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def round_numbers(value: Any) -> Any:
    """Round numbers to six digits, so that the last bit of a processor does not change a published byte."""
    if isinstance(value, float):
        return round(float(value), DIGITS)
    if isinstance(value, Mapping):
        return {key: round_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [round_numbers(item) for item in value]
    return value


READ_ONLY = 0o400  # for its owner: a release holds what the documents hold
BUFFER = 1 << 18  # characters held back before they are written
ROWS = 4_000  # two parts of a recording (`judged_sql.PART`)
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


@contextlib.contextmanager
def without_cycle_search() -> Iterator[None]:
    """Pause Python's search for reference cycles while the block runs.

    Millions of rows create no cycles, and the search would take a third of the time. If two blocks overlap, the first
    to end resumes it early, which only costs time.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class PartialFile:
    """A file that is being written, with the hash and size so far.

    Once closed, it is read-only and synced to the disk.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.bytes = 0
        self._digest = hashlib.sha256()
        self._waiting: list[str] = []
        self._length = 0
        make_private_folder(path.parent)
        self._path = path
        self._descriptor: int | None = os.open(path, _FLAGS, 0o600)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def write(self, text: str) -> None:
        """Add text, in UTF-8."""
        self._waiting.append(text)
        self._length += len(text)
        if self._length >= BUFFER:
            self._flush()

    def close(self) -> None:
        """Write the rest, make the file read-only and durable. A second call does nothing."""
        if self._descriptor is None:
            return
        self._flush()
        self._path.chmod(READ_ONLY)
        os.fsync(self._descriptor)
        self.abandon()

    def abandon(self) -> None:
        """Close the file as it is."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def _flush(self) -> None:
        data = "".join(self._waiting).encode("utf-8")
        self._waiting, self._length = [], 0
        self._digest.update(data)
        self.bytes += len(data)
        view = memoryview(data)
        while view and self._descriptor is not None:
            view = view[os.write(self._descriptor, view) :]


class Spool:
    """Rows (tuples of numbers and texts) in a nameless temporary file in `folder`, given back in chunks.

    Python's own marshal is fast, and safe here: nobody else can write to the file.
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  (closed by `close`)
        self._waiting: list[Sequence[Any]] = []
        self._lengths: list[int] = []  # bytes of each chunk
        self.rows = 0

    def add(self, rows: Sequence[Sequence[Any]]) -> None:
        """Append rows."""
        self._waiting.extend(rows)
        self.rows += len(rows)
        if len(self._waiting) >= ROWS:
            self._flush()

    def chunks(self) -> Iterator[list[Sequence[Any]]]:
        """Return the rows in their order, some thousands at a time."""
        self._flush()
        self._file.seek(0)
        for length in self._lengths:
            yield marshal.loads(self._file.read(length))

    def close(self) -> None:
        """Remove the rows."""
        self._file.close()

    def _flush(self) -> None:
        if self._waiting:
            self._lengths.append(self._file.write(marshal.dumps(self._waiting)))
            self._waiting = []


class ContentDigest:
    """The content hash, from queries that come in any order.

    Keeps the queries' canonical lines in a temporary file, then hashes them in the order of their ids (see
    `domain/ground_truth.py`).
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  (closed by `end`)
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0

    def add(self, query_id: str, lines: bytes) -> None:
        """Add a query's canonical lines; call it once per query."""
        self._file.write(lines)
        self._places[query_id] = (self._end, len(lines))
        self._end += len(lines)

    def end(self) -> str:
        """Return the hash in hexadecimal."""
        digest = hashlib.sha256()
        for _, (start, length) in sorted(self._places.items()):
            self._file.seek(start)
            digest.update(self._file.read(length))
        self._file.close()
        return digest.hexdigest()


def make_private_folder(folder: Path) -> None:
    """Make the folder and its missing parents, each readable only by its owner; existing folders stay as they are."""
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def sync_folder(folder: Path) -> None:
    """Make names durable, where the system lets a folder be synced."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
