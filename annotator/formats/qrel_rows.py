"""The columns that `csv` and `jsonl` share, and how their rows become queries and qrels.

    query_id, doc_id, grade, query (the text), category … narrative, origin, description, note, annotator_1 …

A query without qrels is a row without doc_id and grade. `query.KEY` is metadata of the query; every other
column is metadata of the qrel (`qrel.KEY` if KEY is a column of ours). Rows must agree about a query, and
need not repeat its data. Order is kept. Refused: a repeated document of a query, a grade other than 0-3, an
empty id.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import (
    NOTHING,
    QUERY_FIELDS,
    GroundTruth,
    JudgmentLine,
    Origin,
    Qrel,
    Query,
)
from annotator.domain.messages import say
from annotator.formats.format import QUERY_FEATURES, Feature
from annotator.formats.syntax.grade_scale import UNRATEABLE, GradeScale
from annotator.formats.syntax.tables import check_id, check_length
from annotator.formats.syntax.text import describe


class QrelList:
    """The qrels read so far, and the index of each among them."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.qrels: list[Qrel] = []
        self.indexes: dict[str, dict[str, int]] = {}  # by query_id, then doc_id

    def add(self, qrel: Qrel, line: int, *, path: str | None = None) -> None:
        """Add a qrel. Notes a document that its query already has."""
        indexes = self.indexes.get(qrel.query_id)
        if indexes is None:
            indexes = self.indexes[qrel.query_id] = {}
        before = indexes.setdefault(qrel.doc_id, len(self.qrels))
        if before != len(self.qrels):
            grade = self.qrels[before].grade
            again = f"{describe(qrel.doc_id)} again, graded {qrel.grade} and {grade} before"
            self.problems.add(line, say("each document of a query once"), again, path=path)
        self.qrels.append(qrel)


QUERY_PREFIX, QREL_PREFIX = "query.", "qrel."
REQUIRED = ("query_id", "doc_id", "grade")
GRADE_NAMES = ("grade", "relevance")  # the first that a row has; another one is metadata then
TEXT_NAMES = ("query", "query_text", "text")
QREL_FIELDS = ("origin", "description", "note")
ANNOTATOR = re.compile(r"annotator_([1-9][0-9]{0,5})")
JUDGMENTS = "annotator"  # a file with this column holds judgments, not qrels
ROW_FEATURES: frozenset[Feature] = QUERY_FEATURES | {
    "large_grades",
    "descriptions",
    "notes",
    "annotator_grades",
    "origins",
    "qrel_metadata",
}
MAX_PLANS = 10_000
UNGRADED = "(ungraded)"
_ORIGINS = get_args(Origin)
_OURS = frozenset({"query_id", "doc_id", *GRADE_NAMES, *TEXT_NAMES, *QUERY_FIELDS, *QREL_FIELDS, JUDGMENTS})


class QrelColumn(NamedTuple):
    """The meaning of a column. `part`: "id", "text", "field", "query", "origin", … or "qrel" (metadata)."""

    part: str
    key: str


def name_column(name: str) -> QrelColumn:
    """Return the meaning of the column with this name. Ignores white space around our own names."""
    bare = name.strip()
    if bare in TEXT_NAMES:
        return QrelColumn("text", bare)
    if bare in QUERY_FIELDS:
        return QrelColumn("field", bare)
    if bare in GRADE_NAMES:
        return QrelColumn("grade", bare)
    if bare in ("query_id", "doc_id", JUDGMENTS, *QREL_FIELDS):
        return QrelColumn(bare, bare)
    if ANNOTATOR.fullmatch(bare):
        return QrelColumn("annotator_", bare)
    if name.startswith(QUERY_PREFIX):
        return QrelColumn("query", name.removeprefix(QUERY_PREFIX))
    return QrelColumn("qrel", name.removeprefix(QREL_PREFIX))


def name_qrel_key(key: str) -> str:
    """Return the column for a metadata key of a qrel: the key, unless that name has another meaning."""
    ours = key.strip() in _OURS or ANNOTATOR.fullmatch(key.strip()) or not key.strip()
    return f"{QREL_PREFIX}{key}" if ours or key.startswith((QUERY_PREFIX, QREL_PREFIX)) else key


def sort_annotators(names: Iterable[str]) -> list[str]:
    """Sort the names by number: annotator_2 before annotator_10."""
    return sorted(names, key=lambda name: int(name.removeprefix("annotator_")))


def list_annotators(qrel: Qrel) -> Iterator[tuple[str, int]]:
    """Yield (column, grade) of each annotator. The column is the pseudonym, or `annotator_1` … if that has another form."""
    for number, (name, grade) in enumerate(qrel.annotator_grades, 1):
        yield name if ANNOTATOR.fullmatch(name) else f"annotator_{number}", grade


class _ColumnPlan(NamedTuple):
    """The columns of a row by meaning: of the query, of ours, and metadata of the qrel."""

    about: list[tuple[str, tuple[str, str]]]
    kept: list[tuple[str, str]]
    metadata: list[tuple[str, str]]


def _is_second(part: str, key: str, present: Collection[str]) -> bool:
    """Check whether another column of the row already has this meaning. Then this one is metadata."""
    names = GRADE_NAMES if part == "grade" else TEXT_NAMES if part == "text" else ()
    return bool(names) and any(name in present for name in names[: names.index(key)])


class RowReader:
    """Takes rows one by one and returns the ground truth at the end.

    `header`: the columns of a CSV file, where grades are text and empty cells are absent; None for JSONL.
    `scale`: how grades are read.
    """

    def __init__(
        self,
        problems: Problems,
        *,
        header: Collection[str] | None = None,
        scale: GradeScale | None = None,
    ) -> None:
        self.problems = problems
        self.scale = scale or GradeScale()
        self.header = header
        self.grades: dict[Any, int] = {} if header is None else {str(grade): grade for grade in range(4)}
        self.plans: dict[tuple[str, ...], _ColumnPlan] = {}  # by the names of a row's cells
        self.about: dict[str, dict[tuple[str, str], Any]] = {}
        self.first_row: dict[str, int] = {}
        self.without: dict[str, int] = {}
        self.qrels = QrelList(problems)
        self.judgments: list[JudgmentLine] = []
        self.unsettled: set[tuple[str, str]] = set()  # without a settled grade, but with annotators' own
        self.ids: dict[str, str] = {}  # one object for all rows of a query

    def add(self, line: int, cells: Mapping[str, Any]) -> None:
        """Add one row; note its problems."""
        names = tuple(cells)
        plan = self.plans.get(names)
        if plan is None:
            plan = self._make_plan(names)
        about = {column: cells[name] for name, column in plan.about}
        kept = {key: cells[name] for name, key in plan.kept}
        if self.header is None:
            about = {at: value for at, value in about.items() if value is not None or at[0] == "query"}
            kept = {key: value for key, value in kept.items() if value is not None}
        metadata = {key: cells[name] for name, key in plan.metadata}
        query_id = self._read_query_id(kept.pop("query_id", None), line)
        if JUDGMENTS in kept:
            self.problems.add(
                line, say("a qrel, settled"), say("a judgment (it has an annotator: import judgments)")
            )
        elif query_id is not None:
            self._merge(query_id, about, line)
            if "doc_id" in kept and "grade" not in kept and self.header is not None:
                self.scale.ungraded.append(line)
                kept["grade"] = UNGRADED
            if "doc_id" in kept or "grade" in kept:
                self._add_qrel(query_id, kept, metadata, line)
            else:
                self._add_query_alone(query_id, [*kept, *metadata], line)

    def finish(self) -> GroundTruth:
        """Return the truth of all rows. BadInput names every bad one."""
        for query_id, line in self.without.items():
            if query_id in self.qrels.indexes:
                self.problems.add(
                    line, say("a doc_id and a grade, as the query's other rows have"), say("neither")
                )
        queries = tuple(self._make_query(query_id) for query_id in self.about)
        self.problems.errors.sort(key=lambda problem: problem.line or 0)
        self.problems.raise_if_any()
        return GroundTruth(queries, tuple(self.qrels.qrels), further_judgments=tuple(self.judgments))

    def _merge(self, query_id: str, about: dict[tuple[str, str], Any], line: int) -> None:
        columns = self.about.get(query_id)
        if columns is None:
            self.about[query_id] = about
            self.first_row[query_id] = line
            return
        if columns == about or not about:
            return
        for column, value in about.items():
            before = columns.setdefault(column, value)
            if before != value or type(before) is not type(value):
                name = column[1] if column[0] != "query" else f"{QUERY_PREFIX}{column[1]}"
                self.problems.add(
                    line,
                    say("{name} as in the query's rows before ({value})", name=name, value=describe(before)),
                    describe(value),
                )

    def _add_query_alone(self, query_id: str, rest: list[str], line: int) -> None:
        if rest:
            self.problems.add(
                line, say("a doc_id and a grade for {name}", name=describe(rest[0])), say("neither")
            )
        elif query_id in self.without:
            self.problems.add(
                line,
                say("each query_id once (first on line {line})", line=self.without[query_id]),
                describe(query_id),
            )
        self.without.setdefault(query_id, line)

    def _add_qrel(self, query_id: str, kept: dict[str, Any], metadata: dict[str, Any], line: int) -> None:
        doc_id = check_id("doc_id", kept.pop("doc_id", None), line, self.problems)
        value = kept.pop("grade", None)
        grade = UNGRADED if value is UNGRADED else self._read_grade(say("a grade 0, 1, 2 or 3"), value, line)
        if doc_id is None or grade is None:
            return
        own = self._read_annotators(kept, line) if kept else []
        if own and not self.scale.lenient:
            self._add_judgments(query_id, doc_id, own, line, is_settled=isinstance(grade, int))
        if not isinstance(grade, int):
            return
        if (query_id, doc_id) in self.unsettled:
            self._refuse_second(doc_id, line)
        if not kept:
            qrel = Qrel(query_id, doc_id, grade, metadata=metadata or NOTHING)
        else:
            origin = kept.pop("origin", None)
            if origin is not None and origin not in _ORIGINS:
                self.problems.add(
                    line, say("origin to be one of {names}", names=", ".join(_ORIGINS)), describe(origin)
                )
            qrel = Qrel(
                query_id,
                doc_id,
                grade,
                origin=origin or "imported",
                description=self._read_text("description", kept.pop("description", None), line),
                note=self._read_text("note", kept.pop("note", None), line),
                annotator_grades=tuple((name, given) for name, given in own if given is not None),
                metadata=metadata or NOTHING,
            )
        self.qrels.add(qrel, line)

    def _add_judgments(
        self,
        query_id: str,
        doc_id: str,
        own: Iterable[tuple[str, int | None]],
        line: int,
        *,
        is_settled: bool,
    ) -> None:
        """Keep the judgments that no qrel holds: *cannot rate*, and all judgments of unsettled documents."""
        if not is_settled:
            if (query_id, doc_id) in self.unsettled or doc_id in self.qrels.indexes.get(query_id, ()):
                self._refuse_second(doc_id, line)
            self.unsettled.add((query_id, doc_id))
        for name, grade in own:
            outcome: Literal["graded", "unrateable"] = "unrateable" if grade is None else "graded"
            if grade is None or not is_settled:
                self.judgments.append(JudgmentLine(line, query_id, doc_id, name, outcome, grade))

    def _refuse_second(self, doc_id: str, line: int) -> None:
        self.problems.add(
            line, say("each document of a query once"), say("{item} again", item=describe(doc_id))
        )

    def _make_plan(self, names: tuple[str, ...]) -> _ColumnPlan:
        """Return the meaning of the cells in a row with these names."""
        present = names if self.header is None else self.header
        plan = _ColumnPlan([], [], [])
        for name in names:
            part, key = name_column(name)
            if part == "qrel" or _is_second(part, key, present):
                plan.metadata.append((name, key))
            elif part in ("text", "field", "query"):
                plan.about.append((name, (part, "text" if part == "text" else key)))
            else:
                plan.kept.append((name, key if part == "annotator_" else part))
        if len(self.plans) >= MAX_PLANS:
            self.plans.clear()
        self.plans[names] = plan
        return plan

    def _read_annotators(self, kept: Mapping[str, Any], line: int) -> list[tuple[str, int | None]]:
        """Return each annotator's own grade, None for *cannot rate*. Notes other values."""
        own_grades: list[tuple[str, int | None]] = []
        for name in sort_annotators(name for name in kept if ANNOTATOR.fullmatch(name)):
            expected = say(
                "{place} to be {expected}", place=name, expected=say("a grade 0, 1, 2, 3 or unrateable")
            )
            grade = self._read_grade(expected, kept[name], line, own=True)
            if grade is not None:
                own_grades.append((name, grade if isinstance(grade, int) else None))
        return own_grades

    def _make_query(self, query_id: str) -> Query:
        line = self.first_row[query_id]
        text, fields, metadata = "", {}, {}
        for (part, key), value in self.about[query_id].items():
            if part == "query":
                metadata[key] = value
            elif part == "text":
                text = self._read_text("query", value, line) or ""
            else:
                fields[key] = self._read_text(key, value, line)
        return Query(query_id, text, **fields, metadata=metadata)

    def _read_query_id(self, value: Any, line: int) -> str | None:
        query_id = self.ids.get(value) if isinstance(value, str) else None
        if query_id is None:
            query_id = check_id("query_id", value, line, self.problems)
            if query_id is not None:
                query_id = self.ids.setdefault(query_id, query_id)
        return query_id

    def _read_grade(self, expected: str, value: Any, line: int, *, own: bool = False) -> int | str | None:
        """Return a grade; None after noting a problem. "unrateable" by the scale, or in an `own` cell."""
        mapped = self.scale.translate(value)
        if mapped is not None:
            return mapped
        grade = self.grades.get(value) if isinstance(value, str) else value
        if type(grade) is int and 0 <= grade <= 3:
            return grade
        if (own and value == UNRATEABLE) or self.scale.accepts(value):
            return UNRATEABLE
        self.problems.add(line, expected, describe(value))
        return None

    def _read_text(self, name: str, value: Any, line: int) -> str | None:
        if value is not None and not isinstance(value, str):
            self.problems.add(line, say("{name} to be a text", name=name), describe(value))
            return None
        check_length(name, value or "", line, self.problems)
        return value
