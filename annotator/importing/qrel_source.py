"""Opens an earlier ground truth, in any format, and says under which of the dataset's queries each grade falls.

The first steps of `import qrels`; no database. Refused, with the line where there is one: a query that is not in the
dataset (formats without ids: no query of that text, or two of them), a grade above 3, a pair with two grades.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from annotator.domain.errors import Problems
from annotator.domain.grades import GRADES
from annotator.domain.ground_truth import GroundTruth, JudgmentLine, Qrel
from annotator.domain.messages import count_of
from annotator.formats.grade_scale import GradeScale
from annotator.formats.registry import Format, read_truth
from annotator.formats.repeated_texts import list_repeated_texts, say_repeated_texts
from annotator.formats.source import Source
from annotator.formats.stated_counts import say_wrong_counts
from annotator.formats.text import describe

NAMED = 5


@dataclass(frozen=True, slots=True)
class QrelFile:
    """A ground truth with what it was read from; `sha256` is over the bytes of the file, or of the folder's files. `mapped`: how
    often each value of `--map-grades` stands there."""

    path: str
    known: Format
    truth: GroundTruth
    source: Source
    sha256: str
    mapped: Mapping[str, int]

    @property
    def has_ids(self) -> bool:
        return "query_ids" in self.known.features


def read_qrel_source(
    path: Path,
    *,
    format_name: str | None,
    encoding: str | None,
    grades_by: str | None,
    scale: GradeScale | None = None,
) -> QrelFile:
    """The ground truth of a file or folder. BadInput names every bad place; ValidationError what is missing."""
    source = Source(str(path), encoding=encoding, scale=scale or GradeScale())
    known, truth = read_truth(source, format_name=format_name, grades_by=grades_by)
    return QrelFile(str(path), known, truth, source, hash_content(path), source.scale.figures)


def match_qrels(
    file: QrelFile, queries: Mapping[str, tuple[int, str]], *, command: str
) -> tuple[list[tuple[int, Qrel]], tuple[str, ...]]:
    """(query_pk, the qrel under the dataset's own query_id) of every pair of the file, and notes for people.

    `queries`: key and text by query_id. `command`: what would bring missing queries in, for the message.
    """
    ids = _match_queries(file, (qrel.query_id for qrel in file.truth.qrels), queries, command)
    problems = Problems(file.path)
    found: dict[tuple[str, str], Qrel] = {}
    for qrel in file.truth.qrels:
        query_id = ids[qrel.query_id]
        if qrel.grade not in GRADES:
            problems.add(None, f"a grade 0-3 for {_name(query_id, qrel)}", str(qrel.grade))
            continue
        renamed = qrel if qrel.query_id == query_id else replace(qrel, query_id=query_id)
        before = found.setdefault((query_id, qrel.doc_id), renamed)
        if before.grade != qrel.grade:
            problems.add(None, f"one grade for {_name(query_id, qrel)}", f"{before.grade} and {qrel.grade}")
    problems.raise_if_any()
    matched = [(queries[qrel.query_id][0], qrel) for qrel in found.values()]
    return matched, (
        *file.source.scale.note_mapped(), *say_wrong_counts(file.truth.wrong_counts), *say_repeated_texts(file.path, list_repeated_texts(file.known, file.truth)), *_note_texts(file, queries), *_note_documents(file),
    )  # fmt: skip


def match_judgments(
    file: QrelFile, queries: Mapping[str, tuple[int, str]], *, command: str
) -> list[JudgmentLine]:
    """Return the annotators' judgments that no qrel of the file holds, under the dataset's query ids; see `match_qrels`."""
    lines = file.truth.further_judgments
    ids = _match_queries(file, (line.query_id for line in lines), queries, command)
    return [replace(line, query_id=ids[line.query_id]) for line in lines]


def _match_queries(
    file: QrelFile, query_ids: Iterable[str], queries: Mapping[str, tuple[int, str]], command: str
) -> dict[str, str]:
    """Return the dataset's query_id of each of these queries, by its id in the file."""
    problems = Problems(file.path)
    by_text: dict[str, list[str]] = {}
    for query_id, (_, text) in queries.items():
        by_text.setdefault(text, []).append(query_id)
    texts = {query.query_id: query.text for query in file.truth.queries}
    lines: dict[str, int] | None = None
    found: dict[str, str] = {}
    for query_id in dict.fromkeys(query_ids):
        named = query_id if file.has_ids else texts.get(query_id, "")
        ids = by_text.get(named, []) if not file.has_ids else [query_id] if query_id in queries else []
        if len(ids) == 1:
            found[query_id] = ids[0]
            continue
        lines = _find_lines(file) if lines is None else lines
        what = (
            f"a query_id of this dataset ({command})"
            if file.has_ids
            else "the text of one query of this dataset"
        )
        times = f" {len(ids)} times" if ids else ""
        problems.add(lines.get(query_id), what, f"{describe(named)}{times}")
    problems.raise_if_any()
    return found


def _find_lines(file: QrelFile) -> dict[str, int]:
    """Where each query stands, in formats in which a query has a place of its own."""
    if file.known.find_query_lines is None:
        return {}
    places = file.known.find_query_lines(file.source)
    return {query.query_id: line for query, line in zip(file.truth.queries, places, strict=True)}


def _note_texts(file: QrelFile, queries: Mapping[str, tuple[int, str]]) -> tuple[str, ...]:
    """Queries whose text in the file is not the dataset's: their grades were given for another text."""
    other = [
        query.query_id
        for query in file.truth.queries
        if file.has_ids and query.text and queries.get(query.query_id, (0, query.text))[1] != query.text
    ]
    if not other:
        return ()
    names = ", ".join(other[:NAMED]) + (", …" if len(other) > NAMED else "")
    return (
        f"{count_of(len(other), 'query has', 'queries have')} another text in the dataset than in the file: {names}",
    )


def _note_documents(file: QrelFile) -> tuple[str, ...]:
    count = len(file.truth.documents)
    return (
        (f"{count_of(count, 'document')} of the folder left alone: annotator import documents",)
        if count
        else ()
    )


def _name(query_id: str, qrel: Qrel) -> str:
    return f"{describe(query_id)}, {describe(qrel.doc_id)}"


def hash_content(path: Path) -> str:
    """Return the SHA-256 over the bytes of a file, or over those of all the files of a folder."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            while piece := opened.read(1_048_576):
                digest.update(piece)
    return digest.hexdigest()
