"""Read every ground-truth file of a release folder back and compare it with the canonical qrels.

The canonical qrels are the TREC file's, or BEIR's where TREC is left out: both list every qrel in the order
of publishing. Compares queries and qrels (grade 0 if a file lists it), texts, fields and descriptions among
the files, the counts that a file states, what it says about the release, the order of `ranked.json`, and
whether BEIR's corpus has every document. Formats that the release does not have are skipped.

Read the slow files of a release in other processes, while the command goes on. Each process is a fork of this
one, so it has the qrels without a transfer. If a fork is not safe or does not pay (other threads, not Linux,
one processor), or a process dies, the work is done here on demand. The result is the same.
"""

import gc
import hashlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from annotator.domain.errors import AnnotatorError
from annotator.domain.ground_truth import QUERY_FIELDS, GroundTruth, Qrel
from annotator.formats.format import Format
from annotator.formats.registry import find_format, find_unwritable
from annotator.formats.syntax.source import InputSource
from annotator.releases.writing.files import JUDGMENTS, MANIFEST, PROBABILITIES, TRUTH_FILES, place_file

Result = TypeVar("Result")


class SideProcesses(Generic[Result]):
    """Computes `compute(name)` for some names in other processes."""

    def __init__(self, compute: Callable[[str], Result]) -> None:
        self.names: tuple[str, ...] = ()
        self._compute = compute
        self._processes: list[Any] = []
        self._results: dict[str, Connection] = {}

    def start(self, names: Sequence[str]) -> None:
        """Start to compute these names, in one process for each further processor."""
        self.names = tuple(names)
        processes = min(len(names), count_processors() - 1)
        if processes < 1 or sys.platform != "linux" or threading.active_count() > 1:
            return
        context = multiprocessing.get_context("fork")
        gc.freeze()  # or the first search for cycles in a process would copy all memory
        for number in range(processes):
            pipes = {name: context.Pipe(duplex=False) for name in names[number::processes]}
            senders = {name: sender for name, (_, sender) in pipes.items()}
            process = context.Process(target=self._run, args=(senders,), daemon=True)
            process.start()
            self._processes.append(process)
            for name, (receiver, sender) in pipes.items():
                sender.close()
                self._results[name] = receiver

    def wait_for(self, name: str) -> Result:
        """Return the result for this name."""
        if name in self._results:
            try:
                result: Result = self._results[name].recv()
            except (EOFError, OSError):  # the process died
                return self._compute(name)
            return result
        return self._compute(name)

    def stop(self) -> None:
        """End what still runs."""
        for process in self._processes:
            process.terminate()
            process.join()
        for receiver in self._results.values():
            receiver.close()
        if self._processes:
            gc.unfreeze()

    def _run(self, senders: dict[str, Connection]) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C ends it without a word
        for name, sender in senders.items():
            # A pipe holds 64 kB: to send more here would wait until the other process asks for it.
            threading.Thread(target=_send, args=(sender, self._compute(name))).start()


def _send(sender: Connection, result: Any) -> None:
    sender.send(result)
    sender.close()


def count_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


QRELS = TRUTH_FILES["trec"]
BEIR_QRELS = f"{TRUTH_FILES['beir']}/qrels/test.tsv"
CORPUS = f"{TRUTH_FILES['beir']}/corpus.jsonl"
SHOWN = 5
ABOUT = ("version", "created_at", "authors", "contact", "licence", "source", "simulated", "notice")
"""What the files of a release say about it, as its manifest does."""
DESCRIPTIONS = "descriptions"
Grades = Mapping[str, Mapping[str, int]]
Stated = tuple[str, str, str]  # query_id, what, value


@dataclass(frozen=True, slots=True)
class ReleaseFault:
    """One difference from what was published."""

    path: str  # relative to the release folder
    expected: str
    found: str


def list_left_out(manifest: Mapping[str, Any]) -> set[str]:
    """Return the formats that the release has no files of, as its manifest says."""
    entries = manifest.get("formats_left_out")
    listed = entries if isinstance(entries, list) else []
    return {str(entry.get("format")) for entry in listed if isinstance(entry, dict)}


def read_qrels(
    folder: Path, manifest: Mapping[str, Any], faults: list[ReleaseFault]
) -> tuple[Qrel, ...] | None:
    """Return the canonical qrels; None if there is no file of them, or after noting that it cannot be read.

    They are those of the TREC file, or of BEIR's if the manifest says that TREC is left out. A format that could hold every id
    but is left out is noted.
    """
    left_out = list_left_out(manifest)
    name, path = ("beir", BEIR_QRELS) if "trec" in left_out else ("trec", QRELS)
    if not is_plain(folder / path):
        return None
    truth = _read(folder, find_format(name), faults)
    if truth is None:
        return None
    if not left_out:
        return truth.qrels
    unwritable = find_unwritable(
        [*(qrel.query_id for qrel in truth.qrels), *(qrel.doc_id for qrel in truth.qrels)]
    )
    faults += [
        ReleaseFault(TRUTH_FILES.get(name, name), "this file: the format can hold every id", "left out")
        for name in sorted(left_out - unwritable.keys())
    ]
    faults += [
        ReleaseFault(TRUTH_FILES[name], "no such file: the manifest says that it is left out", "the file")
        for name in sorted(left_out & TRUTH_FILES.keys())
        if (folder / TRUTH_FILES[name]).exists()
    ]
    return truth.qrels


def compare_probabilities(folder: Path, qrels: Sequence[Qrel]) -> list[ReleaseFault]:
    """Return where `qrels.probs` differs from the canonical qrels, line by line, or has no probability. At most SHOWN faults."""
    if not is_plain(folder / PROBABILITIES):
        return []
    try:
        lines = (folder / PROBABILITIES).read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        return [ReleaseFault(PROBABILITIES, "a readable text", type(error).__name__)]
    expected = [f"{qrel.query_id} 0 {qrel.doc_id} {qrel.grade}" for qrel in qrels]
    faults = []
    for number, (line, words) in enumerate(zip_longest(lines, [*expected, ""]), 1):
        given, _, probability = (line or "").rpartition(" ")
        is_end = words == "" and line == ""
        if not is_end and (not words or given != words or not _is_probability(probability)):
            faults.append(
                ReleaseFault(
                    PROBABILITIES,
                    f"{words!r} as in {QRELS}, and a probability" if words else "no further line",
                    f"line {number}: {line!r:.200}",
                )
            )
    return faults[:SHOWN]


def _is_probability(text: str) -> bool:
    try:
        return 0 < float(text) <= 1
    except ValueError:
        return False


@dataclass(slots=True)
class _FileComparison:
    """What one format's files say, compared with the canonical qrels."""

    faults: list[ReleaseFault] = field(default_factory=list)  # it cannot be read
    differences: list[tuple[str, str]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)  # of its queries, by query_id
    stated: list[Stated] = field(default_factory=list)  # what other files state too
    annotators: list[tuple[str, str]] = field(default_factory=list)  # differences of their grades
    documents: list[ReleaseFault] = field(default_factory=list)  # of BEIR's corpus


_IN_SIDE_PROCESSES = ("nablarch", "assay", "assay-queries", "beir")
"""The formats that other processes read. None of them has annotators' grades, which are known only later."""


class ReadingBack:
    """Reads the files of a folder back and compares them with its canonical qrels.

    About half of the files are read in processes of their own from the moment the block begins, as far as the machine has processors.
    The result is the same without them.
    """

    def __init__(
        self, folder: Path, qrels: Sequence[Qrel], present: set[str], manifest: Mapping[str, Any]
    ) -> None:
        """`present`: the folder's files. Releases made before the manifest said `list_grade_0` list it or do not."""
        listed = manifest.get("list_grade_0")
        self._folder, self._listed = folder, listed if isinstance(listed, bool) else None
        self._about = {**manifest, "created_at": str(manifest.get("created_at"))[:10]} if manifest else None
        self._canonical = _group(qrels)
        self._names = [
            name
            for name in sorted(TRUTH_FILES, key=lambda name: name != "beir")
            if name != "trec"
            and all(path in present and is_plain(folder / path) for path in _list_paths(find_format(name)))
        ]
        self._side_processes = SideProcesses(self._compare)

    def __enter__(self) -> Self:
        self._side_processes.start([name for name in self._names if name in _IN_SIDE_PROCESSES])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._side_processes.stop()

    def find_differences(
        self, judged: Mapping[tuple[str, str], Sequence[int]] | None = None
    ) -> list[ReleaseFault]:
        """Return where the files differ from the canonical qrels.

        `judged`: the annotators' grades by query_id and doc_id, in the order of pseudonyms, None if unknown.
        """
        own = {
            name: self._compare(name, judged)
            for name in self._names
            if name not in self._side_processes.names and not find_format(name).needs_grades_by
        }
        faults: list[ReleaseFault] = []
        texts: dict[str, tuple[str, str]] = {}
        stated: dict[tuple[str, str], tuple[str, str]] = {}
        for name in self._names:
            file_format = find_format(name)
            paths = _list_paths(file_format)
            if file_format.needs_grades_by:
                compared = self._compare_order(file_format, texts)
            else:
                compared = own[name] if name in own else self._side_processes.wait_for(name)
            faults += compared.faults
            differences = [
                *compared.differences,
                *_compare_texts(compared.texts, texts, paths[0]),
                *_compare_stated(compared.stated, stated, paths[0]),
                *compared.annotators,
            ]
            faults += [ReleaseFault(paths[-1], *item) for item in differences[:SHOWN]]
            if len(differences) > SHOWN:
                further = f"{len(differences) - SHOWN:,} further differences"
                faults.append(ReleaseFault(paths[-1], f"what {QRELS} says", further))
            faults += compared.documents
        return faults

    def _compare(
        self, name: str, judged: Mapping[tuple[str, str], Sequence[int]] | None = None
    ) -> _FileComparison:
        file_format, compared = find_format(name), _FileComparison()
        truth = _read(self._folder, file_format, compared.faults)
        if truth is None:
            return compared
        listed = any(not qrel.grade for qrel in truth.qrels) if self._listed is None else self._listed
        canonical = self._canonical if file_format.tells_grade_0 or listed else self._leave_out_0()
        compared.differences = _compare_grades(truth, canonical)
        if "file_metadata" in file_format.features and self._about is not None:
            compared.differences[:0] = _compare_about(truth.metadata, self._about)
        compared.documents = [
            ReleaseFault(
                wrong.path.removeprefix(f"{self._folder}/"), f"{wrong.place}: {wrong.counted:,}", wrong.stated
            )
            for wrong in truth.wrong_counts[:SHOWN]
        ]
        if "query_texts" in file_format.features:
            compared.texts = [(query.query_id, query.text) for query in truth.queries]
        compared.stated = list(_list_stated(truth, file_format))
        if judged is not None and "two_annotators" in file_format.features:
            compared.annotators = list(_compare_annotators(truth, judged))
        if name == "beir":
            compared.documents += _compare_corpus(truth, self._canonical)
        return compared

    def _leave_out_0(self) -> Grades:
        return {
            query_id: {doc_id: grade for doc_id, grade in grades.items() if grade}
            for query_id, grades in self._canonical.items()
        }

    def _compare_order(self, file_format: Format, texts: Mapping[str, tuple[str, str]]) -> _FileComparison:
        compared = _FileComparison()
        truth = _read(self._folder, file_format, compared.faults)
        if truth is not None:
            compared.differences = _compare_order(truth, self._canonical, texts)
        return compared


def _list_paths(file_format: Format) -> list[str]:
    return [place_file(file_format, writer) for writer in file_format.files]


def _read(folder: Path, file_format: Format, faults: list[ReleaseFault]) -> GroundTruth | None:
    path = TRUTH_FILES[file_format.name]
    source = InputSource(str(folder / path))
    try:
        return (
            file_format.read_graded(source, "all=1") if file_format.read_graded else file_format.read(source)
        )
    except (OSError, AnnotatorError) as error:
        message = str(error).splitlines()[0].replace(f"{folder}/", "")
        faults.append(ReleaseFault(path, f"a readable {file_format.name} file", message))
        return None


def is_plain(path: Path) -> bool:
    """Return whether the path is a regular file and no link, as every file of a release is."""
    return path.is_file() and not path.is_symlink()


def _group(qrels: Sequence[Qrel]) -> dict[str, dict[str, int]]:
    by_query: dict[str, dict[str, int]] = {}
    for qrel in qrels:
        by_query.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.grade
    return by_query


def _compare_grades(truth: GroundTruth, canonical: Grades) -> list[tuple[str, str]]:
    """Return the expected and the actual grades of each query that differs."""
    by_query: dict[str, dict[str, int]] = {query.query_id: {} for query in truth.queries}
    by_query |= _group(truth.qrels)
    differences = [
        (
            f"the query {query_id}" if query_id in canonical else f"no query {query_id}, as in {QRELS}",
            "none" if query_id in canonical else "one",
        )
        for query_id in [*canonical, *by_query]
        if (query_id in canonical) != (query_id in by_query)
    ]
    for query_id, grades in canonical.items():
        there = by_query.get(query_id)
        if there is not None and there != grades:
            differences += _name_grades(query_id, grades, there)
    return differences


def _name_grades(
    query_id: str, grades: Mapping[str, int], there: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    for doc_id in [*grades, *(doc_id for doc_id in there if doc_id not in grades)]:
        expected, actual = grades.get(doc_id), there.get(doc_id)
        if expected != actual:
            yield f"{query_id} {doc_id}: {_describe_grade(expected)} as in {QRELS}", _describe_grade(actual)


def _describe_grade(grade: int | None) -> str:
    return "nothing" if grade is None else f"grade {grade}"


def _compare_annotators(
    truth: GroundTruth, judged: Mapping[tuple[str, str], Sequence[int]]
) -> Iterator[tuple[str, str]]:
    """Compare the first two annotators' grades. Grades of a qrel without judgments here were imported with it."""
    for qrel in truth.qrels:
        grades = judged.get((qrel.query_id, qrel.doc_id))
        listed_grades = [grade for _, grade in qrel.annotator_grades]
        if grades is not None and listed_grades != list(grades[:2]):
            yield (
                f"{qrel.query_id} {qrel.doc_id}: annotators' grades {_describe_grades(grades[:2])} as in {JUDGMENTS}",
                _describe_grades(listed_grades),
            )


def _describe_grades(grades: Sequence[int]) -> str:
    return ", ".join(map(str, grades)) or "none"


def _compare_order(
    truth: GroundTruth, canonical: Grades, texts: Mapping[str, tuple[str, str]]
) -> list[tuple[str, str]]:
    """Compare a file without ids and grades: each query's relevant documents in the order of publishing.

    Queries without relevant documents are left out of both sides: earlier programs wrote them with an empty list.
    """
    ranked: dict[str, list[str]] = {query.query_id: [] for query in truth.queries}
    for qrel in truth.qrels:
        ranked[qrel.query_id].append(qrel.doc_id)
    listed = [query for query in truth.queries if ranked[query.query_id]]
    expected = [query_id for query_id, grades in canonical.items() if any(grades.values())]
    differences = []
    for query_id, query in zip_longest(expected, listed):
        if query_id is None or query is None:
            differences.append((f"{len(expected)} queries", str(len(listed))))
            break
        relevant = [doc_id for doc_id, grade in canonical[query_id].items() if grade]
        if query_id in texts and texts[query_id][0] != query.text:
            differences.append((f"{query_id}: its text as in {texts[query_id][1]}", query.text[:80]))
        if ranked[query.query_id] != relevant:
            differences.append(
                (f"{query_id}: {_show(relevant)} as in {QRELS}", _show(ranked[query.query_id]))
            )
    return differences


def _show(doc_ids: Sequence[str]) -> str:
    return ", ".join([*islice(doc_ids, 3), *(["…"] if len(doc_ids) > 3 else [])]) or "nothing"


def _compare_texts(
    given: Sequence[tuple[str, str]], texts: dict[str, tuple[str, str]], path: str
) -> list[tuple[str, str]]:
    """Compare the queries' texts with the first file that has them. `texts`: (text, path) by query_id."""
    differences = []
    for query_id, given_text in given:
        text, where = texts.setdefault(query_id, (given_text, path))
        if text != given_text:
            differences.append((f"{query_id}: its text as in {where}", given_text[:80]))
    return differences


def _compare_about(stated: Mapping[str, Any], about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Compare what a file says about the release with the manifest (`about`)."""
    return [
        (f"{key} {_show_value(about.get(key))} as in {MANIFEST}", _show_value(stated.get(key)))
        for key in ABOUT
        if stated.get(key) != about.get(key)
    ]


def _show_value(value: Any) -> str:
    return "none" if value is None else f"{value!s:.80}"


def _list_stated(truth: GroundTruth, file_format: Format) -> Iterator[Stated]:
    """Yield the fields of each query, and a hash of what is said of its relevant documents."""
    if "query_fields" in file_format.features:
        for query in truth.queries:
            for name in QUERY_FIELDS:
                value = getattr(query, name)
                if value is not None:
                    yield query.query_id, name, value
    if "descriptions" in file_format.features:
        digests: dict[str, Any] = {}
        for qrel in truth.qrels:
            if qrel.grade:
                digest = digests.get(qrel.query_id)
                if digest is None:
                    digest = digests[qrel.query_id] = hashlib.blake2b(digest_size=8)
                digest.update(
                    f"{qrel.doc_id}\0{qrel.description or ''}\0{qrel.metadata.get('law_type', '')}\n".encode()
                )
        for query_id, digest in digests.items():
            yield query_id, DESCRIPTIONS, digest.hexdigest()


def _compare_stated(
    given: Sequence[Stated], stated: dict[tuple[str, str], tuple[str, str]], path: str
) -> Iterator[tuple[str, str]]:
    """Compare fields and descriptions with the first file that has them. `stated`: (value, path) by query_id and what."""
    for query_id, what, value in given:
        first, where = stated.setdefault((query_id, what), (value, path))
        if first == value:
            continue
        if what == DESCRIPTIONS:
            yield f"{query_id}: what is said of its documents as in {where}", "something else"
        else:
            yield f"{query_id}: {what} {first[:80]} as in {where}", value[:80]


def _compare_corpus(truth: GroundTruth, canonical: Grades) -> Iterator[ReleaseFault]:
    corpus_ids = {document.doc_id for document in truth.documents}
    missing = {doc_id for grades in canonical.values() for doc_id in grades if doc_id not in corpus_ids}
    for doc_id in sorted(missing)[:SHOWN]:
        yield ReleaseFault(CORPUS, f"the document {doc_id}", "none")
