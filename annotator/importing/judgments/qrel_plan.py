"""Plan an import of an earlier ground truth: the query of each grade, and what each grade changes.

A grade settles its pair if nobody has judged it here; otherwise, or if the lead wants it judged, it is a
suggestion. With `--as-judgments`, each annotator's own grade or *cannot rate* becomes a judgment of
`annotator_1` … or of the person declared for that name. Refuses, with the line if known: a query outside the
dataset (without ids: no query with that text, or two), a grade above 3, a pair with two grades. Uses no
database.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from annotator.domain.errors import ConflictError, Problems, ValidationError
from annotator.domain.grades import GRADES
from annotator.domain.ground_truth import GroundTruth, ImportRecord, JudgmentLine, Qrel
from annotator.domain.messages import CommandWords, add_command, count_of, say, say_n
from annotator.domain.texts import fold
from annotator.formats.content_warnings import (
    describe_repeated_texts,
    describe_wrong_counts,
    list_repeated_texts,
)
from annotator.formats.format import Format
from annotator.formats.law import has_mixed_annotators
from annotator.formats.registry import read_truth
from annotator.formats.syntax.grade_scale import GradeScale
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.text import describe
from annotator.importing.report import expect_query
from annotator.importing.texts.text_plan import QueryText

NAMED = 5


@dataclass(frozen=True, slots=True)
class QrelFile:
    """A ground truth with its file or folder."""

    path: str
    format: Format
    truth: GroundTruth
    source: InputSource
    mapped: Mapping[str, int]
    """How often each value of `--map-grades` occurs in the file."""

    @property
    def sha256(self) -> str:
        """Return the hash of the file; for a folder, over the hashes of its files sorted by path."""
        hashes = self.source.hashes
        return (
            self.source.sha256
            or sha256("".join(hashes[path] for path in sorted(hashes)).encode()).hexdigest()
        )

    @property
    def has_ids(self) -> bool:
        return "query_ids" in self.format.features


def read_qrel_source(
    path: Path,
    *,
    format_name: str | None,
    encoding: str | None,
    grades_by: str | None,
    scale: GradeScale | None = None,
) -> QrelFile:
    """Return the ground truth of a file or folder. Raises BadInput, or ValidationError for a missing option."""
    source = InputSource(str(path), encoding=encoding, scale=scale or GradeScale())
    file_format, truth = read_truth(source, format_name=format_name, grades_by=grades_by)
    return QrelFile(str(path), file_format, truth, source, source.scale.figures)


def match_qrels(
    file: QrelFile, queries: Mapping[str, QueryText], *, command: str
) -> tuple[list[tuple[int, Qrel]], tuple[str, ...]]:
    """Return (query_pk, qrel with the dataset's query_id) of every pair of the file, and notes for people.

    `queries`: {query_id: key and text}. `command`: the command that imports missing queries, for the message.
    """
    ids = _match_queries(file, (qrel.query_id for qrel in file.truth.qrels), queries, command)
    problems = Problems(file.path)
    by_pair: dict[tuple[str, str], Qrel] = {}
    for qrel in file.truth.qrels:
        query_id = ids[qrel.query_id]
        if qrel.grade not in GRADES:
            problems.add(None, say("a grade 0-3 for {pair}", pair=_name(query_id, qrel)), str(qrel.grade))
            continue
        renamed = qrel if qrel.query_id == query_id else qrel._replace(query_id=query_id)
        before = by_pair.setdefault((query_id, qrel.doc_id), renamed)
        if before.grade != qrel.grade:
            problems.add(
                None,
                say("one grade for {pair}", pair=_name(query_id, qrel)),
                f"{before.grade} and {qrel.grade}",
            )
    problems.raise_if_any()
    matched = [(queries[qrel.query_id].pk, qrel) for qrel in by_pair.values()]
    return matched, (
        *file.source.scale.note_mapped(),
        *describe_wrong_counts(file.truth.wrong_counts),
        *describe_repeated_texts(file.path, list_repeated_texts(file.format, file.truth)),
        *_note_texts(file, queries),
        *_note_documents(file),
    )


def match_judgments(file: QrelFile, queries: Mapping[str, QueryText], *, command: str) -> list[JudgmentLine]:
    """Return the judgments that no qrel holds, with the dataset's query ids. See `match_qrels`."""
    lines = file.truth.further_judgments
    ids = _match_queries(file, (line.query_id for line in lines), queries, command)
    return [replace(line, query_id=ids[line.query_id]) for line in lines]


def _match_queries(
    file: QrelFile, query_ids: Iterable[str], queries: Mapping[str, QueryText], command: str
) -> dict[str, str]:
    problems = Problems(file.path)
    by_text: dict[str, list[str]] = {}
    for query_id, query in queries.items():
        by_text.setdefault(query.text, []).append(query_id)
    texts = {query.query_id: query.text for query in file.truth.queries}
    lines: dict[str, int] | None = None
    query_ids_here: dict[str, str] = {}
    listed = dict.fromkeys(query_ids)
    near = expect_query(queries, (item for item in listed if item not in queries)) if file.has_ids else {}
    for query_id in listed:
        named = query_id if file.has_ids else texts.get(query_id, "")
        ids = by_text.get(named, []) if not file.has_ids else [query_id] if query_id in queries else []
        if len(ids) == 1:
            query_ids_here[query_id] = ids[0]
            continue
        lines = _find_lines(file) if lines is None else lines
        expected = (
            add_command(near[query_id], command) if file.has_ids else "the text of one query of this dataset"
        )
        times = f" {len(ids)} times" if ids else ""
        problems.add(lines.get(query_id), expected, f"{describe(named)}{times}")
    problems.raise_if_any()
    return query_ids_here


def _find_lines(file: QrelFile) -> dict[str, int]:
    """Return {query_id: line}, in formats where a query has a line."""
    if file.format.find_query_lines is None:
        return {}
    lines = file.format.find_query_lines(file.source)
    return {query.query_id: line for query, line in zip(file.truth.queries, lines, strict=True)}


def _note_texts(file: QrelFile, queries: Mapping[str, QueryText]) -> tuple[str, ...]:
    """Return notes on queries with another text in the file: their grades were given for that text."""
    other = [
        query.query_id
        for query in file.truth.queries
        if file.has_ids
        and query.text
        and query.query_id in queries
        and queries[query.query_id].text != query.text
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
        (
            say_n(
                "{n:,} document of the folder is not imported: import its file corpus.jsonl as documents too",
                "{n:,} documents of the folder are not imported: import its file corpus.jsonl as documents too",
                count,
            ),
        )
        if count
        else ()
    )


def _name(query_id: str, qrel: Qrel) -> str:
    return f"{describe(query_id)}, {describe(qrel.doc_id)}"


class EarlierGrade(Protocol):
    """A grade of a pair from an earlier import. `keep`: it settles the pair, which is not to be judged."""

    @property
    def grade(self) -> int: ...
    @property
    def keep(self) -> bool: ...
    @property
    def description(self) -> str | None: ...
    @property
    def note(self) -> str | None: ...
    @property
    def annotator_grades(self) -> tuple[tuple[str, int], ...]: ...
    @property
    def extra(self) -> Mapping[str, Any]: ...
    @property
    def place(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class QrelPlan:
    """`rows`: (pair_pk, qrel, whether to keep it) to append, without grades already stored.

    `added`: the number of first grades of a pair. `judged_here`: the number of the file's pairs that were
    judged or decided. `ranks`: {pair_pk: position in its query's list, from 1}; empty if the file's order has
    no meaning.
    """

    rows: tuple[tuple[int, Qrel, bool], ...]
    added: int
    judged_here: int
    ranks: Mapping[int, int]


def plan_qrels(
    qrels: Iterable[tuple[int, Qrel]],
    earlier: Mapping[int, EarlierGrade],
    settled_here: Container[int],
    *,
    rejudge: bool,
    ordered: bool = False,
) -> QrelPlan:
    """Compare each pair's qrel with the earlier imported grade (`earlier`: by pair_pk).

    `settled_here`: pairs with a judgment or a lead's decision. `qrels`: in file order. `ordered`: whether
    that order, within a query, ranks the documents.
    """
    ranks: dict[int, int] = {}
    listed: Counter[str] = Counter()
    rows: list[tuple[int, Qrel, bool]] = []
    added = judged_here = 0
    for pair_pk, qrel in qrels:
        if ordered:
            listed[qrel.query_id] += 1
            ranks[pair_pk] = listed[qrel.query_id]
        judged = pair_pk in settled_here
        judged_here += judged
        keep = not rejudge and not judged
        before = earlier.get(pair_pk)
        moved = ordered and before is not None and before.place != ranks[pair_pk]
        if before is None or moved or not _is_same(before, qrel) or (before.keep != keep and not judged):
            rows.append((pair_pk, qrel, keep))
            added += before is None
    return QrelPlan(tuple(rows), added, judged_here, ranks)


def to_qrel_rows(
    plan: QrelPlan, file: QrelFile, *, now: datetime, import_record_pk: int
) -> list[dict[str, Any]]:
    """Return the rows to store, with their origin."""
    path = file.path.encode("utf-8", "replace").decode("utf-8")
    source = {"kind": "qrels", "path": path, "format": file.format.name, "sha256": file.sha256}
    sources: dict[tuple[str, int | None], dict[str, Any]] = {}  # one for all rows that share it

    def find_source(pair_pk: int, origin: str) -> dict[str, Any]:
        rank = plan.ranks.get(pair_pk)
        if (origin, rank) not in sources:
            sources[origin, rank] = {**source, "origin": origin, **_record_rank(rank)}
        return sources[origin, rank]

    return [
        {
            "pair_pk": pair_pk,
            "grade": qrel.grade,
            "keep": keep,
            "source": find_source(pair_pk, qrel.origin),
            "description": qrel.description,
            "note": qrel.note,
            "annotator_grades": [list(given) for given in qrel.annotator_grades] or _NO_GRADES,
            "extra": dict(qrel.metadata) or _NO_METADATA,
            "imported_at": now,
            "import_record_pk": import_record_pk,
        }
        for pair_pk, qrel, keep in plan.rows
    ]


_NO_GRADES: list[Any] = []
_NO_METADATA: dict[str, Any] = {}


def _record_rank(rank: int | None) -> dict[str, int]:
    return {} if rank is None else {"place": rank}


def note_plan(plan: QrelPlan) -> tuple[str, ...]:
    """Return notes on the use of the grades."""
    kept = sum(keep for _, _, keep in plan.rows)
    notes = []
    if kept:
        notes.append(
            say_n(
                "{n:,} grade is kept as settled: nobody judges its pair",
                "{n:,} grades are kept as settled: nobody judges their pairs",
                kept,
            )
        )
    if len(plan.rows) > kept:
        notes.append(
            say_n(
                "{n:,} grade is a suggestion, which only leads see",
                "{n:,} grades are suggestions, which only leads see",
                len(plan.rows) - kept,
            )
        )
    if plan.judged_here:
        notes.append(
            say_n(
                "{n:,} pair was judged here already: the judgments count",
                "{n:,} pairs were judged here already: the judgments count",
                plan.judged_here,
            )
        )
    return tuple(notes)


def _is_same(before: EarlierGrade, qrel: Qrel) -> bool:
    earlier = (before.grade, before.description, before.note, before.annotator_grades, before.extra)
    return earlier == (qrel.grade, qrel.description, qrel.note, qrel.annotator_grades, qrel.metadata)


_AS_JUDGMENTS = CommandWords("--as-judgments")


def name_annotators(file: QrelFile, declared: Mapping[str, str]) -> dict[str, str]:
    """Return {annotator in the file: name to store its grades under}: declared, or else the file's own.

    `declared`: a name for each annotator, or empty. ValidationError if the file has no annotators' grades,
    none of a declared annotator, or an annotator without a declared name.
    """
    if file.format.name == "law" and has_mixed_annotators(file.source):
        raise ValidationError(
            say(
                "{option}: {path} belongs to a release with more annotators than its two places: annotator_1 and annotator_2 are the first two of each pair, whoever they are; the judgments.csv beside it names them{command}",
                option=_AS_JUDGMENTS,
                path=file.path,
                command=CommandWords(" (annotator import judgments)"),
            )
        )
    graded = (name for qrel in file.truth.qrels for name, _ in qrel.annotator_grades)
    names = list(dict.fromkeys((*graded, *(line.annotator for line in file.truth.further_judgments))))
    if not names:
        raise ValidationError(
            say(
                "{option}: expected annotators' own grades (annotator_1 …) in {path}, found none; without the option its grades settle the pairs",
                option=_AS_JUDGMENTS,
                path=file.path,
            )
        )
    if not declared:
        return {name: name for name in names}
    unknown = [name for name in declared if name not in names]
    if unknown:
        raise ValidationError(
            f"--provenance: annotators: expected annotators with grades in {file.path} ({', '.join(names)}), "
            f"found {', '.join(unknown)}"
        )
    missing = [name for name in names if name not in declared]
    if missing:
        raise ValidationError(
            f"--provenance: annotators: expected a name for every annotator in {file.path}, found none for {', '.join(missing)}"
        )
    return {name: declared[name] for name in names}


def check_earlier_names(file: QrelFile, names: Mapping[str, str], records: Iterable[ImportRecord]) -> None:
    """Raise ConflictError if the dataset's `records` have the same file under other names: every grade would count twice."""
    for record in records:
        if (
            record.sha256 != file.sha256
            or not record.options.get("as_judgments")
            or record.kind != "judgments"
        ):
            continue
        earlier = record.options.get("annotators", {})
        for name, person in names.items():
            if fold(earlier.get(name, name)) != fold(person):
                raise ConflictError(
                    f"{file.path}: the judgments of {name} are in this dataset already, as those of {earlier.get(name, name)}; "
                    f"as those of {person} they would count twice"
                )


def note_same_names(
    file: QrelFile, declared: Mapping[str, str], records: Iterable[ImportRecord]
) -> tuple[str, ...]:
    """Warn of an earlier import among `records` with undeclared annotators: equal names become one person."""
    if declared:
        return ()
    unnamed = {
        record.path: None
        for record in records
        if record.kind == "judgments"
        and record.options.get("as_judgments")
        and not record.options.get("annotators")
        and record.sha256 != file.sha256
    }
    if not unnamed:
        return ()
    return (
        say(
            "warning: {files} was imported without saying who its annotators are: those of the same name are taken for the same people; if they are others, say who they are with {option} before you import",
            files=", ".join(unnamed),
            option=CommandWords("--provenance"),
        ),
    )


def list_annotator_lines(
    qrels: Iterable[Qrel], further: Iterable[JudgmentLine], names: Mapping[str, str]
) -> list[JudgmentLine]:
    """Return a line for each annotator's judgment, with the person's name and the dataset's query ids.

    Includes annotators' grades of settled pairs, and judgments that no qrel holds (*cannot rate*, unsettled
    documents).
    """
    graded = [
        JudgmentLine(None, qrel.query_id, qrel.doc_id, names[name], "graded", grade)
        for qrel in qrels
        for name, grade in qrel.annotator_grades
    ]
    return [*graded, *(replace(line, annotator=names[line.annotator]) for line in further)]


def note_annotators(lines: Sequence[JudgmentLine], *, new: int) -> tuple[str, ...]:
    """Return notes on the judgments of the file, and on pairs whose annotators differ."""
    names = list(dict.fromkeys(line.annotator for line in lines))
    grades: dict[tuple[str, str], set[int | None]] = {}
    for line in lines:
        grades.setdefault((line.query_id, line.doc_id), set()).add(line.grade)
    differ = sum(len(given) > 1 for given in grades.values())
    judgments = "1 judgment" if len(lines) == 1 else f"{len(lines):,} judgments"
    unrateable = sum(line.grade is None for line in lines)
    judgments += f" ({unrateable:,} of them unrateable)" if unrateable else ""
    pairs = "1 pair" if differ == 1 else f"{differ:,} pairs"
    return (
        f"{judgments} of {', '.join(names)} taken as independent, {new:,} of them new",
        f"{pairs} on which they differ: they wait for a lead; what the file settled is a suggestion, in the pair's history",
    )
