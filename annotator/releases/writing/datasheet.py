"""Collect and write DATASHEET.md: what a reader asks of a ground truth before relying on it.

After Gebru et al., "Datasheets for Datasets" (CACM 2021): how the pool was made, who judged by what
guideline, how well they agreed, what was settled how and in which order, what it can tell about systems, what
is missing, how to cite and verify. Pure;  People appear under pseudonyms only. For imported judgments the
program knows only the file and the time: it repeats the importer's declaration, and says what is not known.

Write DATASHEET.md from `templates/datasheet.md.jinja`. Every text that the template prints is escaped for
Markdown, unless it is marked as safe; None and bare floats are errors. Figures are rounded to three digits;
manifest.json holds six.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from annotator.adjudication.records import CAUSE_NAMES, CAUSES
from annotator.agreement.records import COEFFICIENTS, list_stated
from annotator.dataset.records import CoverageRow
from annotator.domain.figures import show_beside, show_figure, show_number, show_percent
from annotator.domain.grades import Rubric
from annotator.domain.ground_truth import BEFORE_RECORDS, DECLARED, TAKEN_OVER, ImportRecord, find_declared
from annotator.domain.messages import LANGUAGE_NAMES
from annotator.domain.people import name_annotator, name_lead
from annotator.evaluation.records import RunFindings
from annotator.formats.syntax.markdown import escape_markdown
from annotator.pooling.rounds.round_records import PoolHistory, PoolRound
from annotator.quality.records import LIMIT, QualityDraw, QualityStatus
from annotator.releases.gates import DatasetSnapshot
from annotator.releases.records import JudgmentCounts, PoolSystem

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

NO_RUN = RunFindings()


@dataclass(frozen=True, slots=True)
class DatasheetAnnotator:
    """Somebody who judged, and on how many pairs."""

    pseudonym: str
    graded: int
    unrateable: int = 0
    simulated: bool = False
    imported: int = 0  # of both, how many came from a file


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasheetImport:
    """An import that the release rests on. Without path and time it is from before imports were recorded."""

    kind: Literal["judgments", "qrels"]
    count: int = 0  # current judgments, or kept qrels
    path: str = ""
    format: str | None = None
    imported_at: datetime | None = None
    declared: Mapping[str, Any] = field(default_factory=dict)  # by the names of DECLARED
    options: Mapping[str, Any] = field(default_factory=dict)  # how the file was read

    @property
    def grade_map(self) -> str:
        """Return how grades of another scale were read, "" when they were not."""
        grades = self.options.get("map_grades")
        return (
            ", ".join(f"{old} as {new}" for old, new in grades.items()) if isinstance(grades, Mapping) else ""
        )


@dataclass(frozen=True, slots=True)
class DatasheetRun:
    """A run with faults in its file; the remarks describe them."""

    system: str
    path: str
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DatasheetRound:
    """A round of the pool. `systems`: their results were read, each to its depth if that is stored."""

    number: int
    made_on: str
    strategy: str
    pairs: int
    systems: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Datasheet:
    """Everything that DATASHEET.md says."""

    manifest: Mapping[str, Any]  # as published; `files` may be absent
    rubric: Rubric
    overlap: int
    overlap_rules: str | None = None  # judgments wanted per pair, in words, where it is not `overlap` for all
    title: str = ""
    language: str | None = None
    documents: int = 0  # judged or not
    list_grade_0: bool = False
    systems: Sequence[PoolSystem] = ()  # of all pairs in the pool
    rounds: Sequence[DatasheetRound] = ()
    history: PoolHistory = field(default_factory=PoolHistory)
    annotators: Sequence[DatasheetAnnotator] = ()  # in the order of their pseudonyms
    decisions: Mapping[str, int] = field(default_factory=dict)  # by the lead's pseudonym
    causes: Mapping[str | None, int] = field(default_factory=dict)  # decisions by why annotators differed
    guideline_lessons: Mapping[int, int] = field(default_factory=dict)  # decisions by the version they led to
    guideline_versions: Mapping[int, int] = field(default_factory=dict)  # current judgments by version
    made_here: int = 0  # current judgments made in this program
    imported: int = 0  # current judgments that came from files
    taken_over: int = 0  # qrels with the grade of a near duplicate
    imports: Sequence[DatasheetImport] = ()
    runs: Sequence[DatasheetRun] = ()
    coverage: Sequence[CoverageRow] = ()
    without_relevant: Sequence[str] = ()  # query_ids whose settled grades are all 0
    without_qrels: Sequence[str] = ()  # query_ids that no file holds
    remapped: int = 0  # documents that got another id since the release before
    quality: QualityStatus | None = None  # see `hide_people`
    findings: RunFindings = NO_RUN  # what this release can tell about the imported runs
    pictures: bool = True  # whether the pictures are in the folder


def collect_datasheet(
    manifest: Mapping[str, Any],
    snapshot: DatasetSnapshot,
    judgments: JudgmentCounts,
    *,
    history: PoolHistory,
    decisions: Mapping[int, int],
    lessons: Mapping[int, Mapping[str | None, int]],
    imports: Sequence[ImportRecord],
    **others: Any,
) -> Datasheet:
    """Return the datasheet of a release.

    `decisions`: by person_pk. `lessons`: decisions by the guideline version they led to, and by category.
    `imports`: every import of the dataset. `others`: as in `Datasheet`.
    """
    numbers = snapshot.numbers
    outcomes, versions, imported = _count_judgments(judgments)
    return Datasheet(
        manifest=manifest,
        rubric=snapshot.rubric,
        list_grade_0=snapshot.list_grade_0,
        rounds=[_describe_round(made) for made in history.rounds],
        history=history,
        annotators=_list_annotators(snapshot, outcomes, imported),
        decisions={
            name_lead(numbers[pk]): count
            for pk, count in sorted(decisions.items(), key=lambda item: numbers[item[0]])
        },
        guideline_lessons={version: sum(counts.values()) for version, counts in lessons.items()},
        guideline_versions=dict(sorted(versions.items())),
        made_here=sum(outcomes.values()) - sum(imported.values()),
        imported=sum(imported.values()),
        taken_over=sum(
            count for (_, format_name, _), count in judgments.sources.items() if format_name == TAKEN_OVER
        ),
        imports=_list_imports(judgments, imports),
        runs=list_runs(imports),
        **others,
    )


def _describe_round(made: PoolRound) -> DatasheetRound:
    looked_at = made.figures.get("systems") or made.options.get("systems") or ()
    systems = (
        [f"{system} to {depth}" for system, depth in sorted(looked_at.items())]
        if isinstance(looked_at, Mapping)
        else [str(system) for system in looked_at]
    )
    return DatasheetRound(
        made.number, made.made_at.strftime("%Y-%m-%d"), made.strategy, made.pairs, ", ".join(systems)
    )


def list_runs(records: Sequence[ImportRecord]) -> list[DatasheetRun]:
    """Return the runs with faults in their files.

    A run that was imported again counts as it was imported last.
    """
    latest = {record.system: record for record in records if record.kind == "run"}
    runs = [
        DatasheetRun(record.system or "", PurePath(record.path).name, tuple(_list_remarks(record)))
        for record in latest.values()
    ]
    return [run for run in runs if run.remarks]


def hide_people(status: QualityStatus, numbers: Mapping[str, int]) -> QualityStatus:
    """Return the status with pseudonyms instead of usernames, and without anybody's text. `numbers`: by username."""

    def hide_in_draw(draw: QualityDraw) -> QualityDraw:
        drawn_by = None if draw.drawn_by is None else name_lead(numbers[draw.drawn_by])
        return replace(draw, annotator=name_annotator(numbers[draw.annotator]), drawn_by=drawn_by)

    return replace(
        status,
        sentences=(),
        draws=tuple(hide_in_draw(draw) for draw in status.draws),
        errors=tuple(replace(error, note=None) for error in status.errors),
    )


def _count_judgments(
    judgments: JudgmentCounts,
) -> tuple[Counter[tuple[int, str]], Counter[int], Counter[int]]:
    """Count judgments by person and outcome, by guideline version where it is known, and imported ones by person."""
    outcomes: Counter[tuple[int, str]] = Counter()
    versions: Counter[int] = Counter()
    imported: Counter[int] = Counter()
    for (person_pk, outcome, guideline_version, import_pk), count in judgments.judgments.items():
        outcomes[person_pk, outcome] += count
        if guideline_version is not None:
            versions[guideline_version] += count
        if import_pk is not None:
            imported[person_pk] += count
    return outcomes, versions, imported


def _list_annotators(
    snapshot: DatasetSnapshot, outcomes: Mapping[tuple[int, str], int], imported: Mapping[int, int]
) -> list[DatasheetAnnotator]:
    numbers = snapshot.numbers
    return [
        DatasheetAnnotator(
            name_annotator(numbers[pk]),
            outcomes.get((pk, "graded"), 0),
            outcomes.get((pk, "unrateable"), 0),
            pk in snapshot.simulated,
            imported.get(pk, 0),
        )
        for pk in sorted({pk for pk, _ in outcomes}, key=lambda pk: numbers[pk])
    ]


def _list_imports(judgments: JudgmentCounts, records: Sequence[ImportRecord]) -> list[DatasheetImport]:
    """Return the imports of the release's judgments and qrels in the order of their records.

    Those without a record come last.
    """
    judged: Counter[int] = Counter()
    for (_, _, _, import_pk), count in judgments.judgments.items():
        if import_pk is not None:
            judged[import_pk] += count
    by_pk = [(pk, DatasheetImport(kind="judgments", count=count)) for pk, count in judged.items()]
    by_pk += [
        (pk or BEFORE_RECORDS, DatasheetImport(kind="qrels", path=path, format=format_name, count=count))
        for (path, format_name, pk), count in judgments.sources.items()
        if format_name != TAKEN_OVER
    ]
    by_pk.sort(key=lambda item: (item[0] == BEFORE_RECORDS, item[0], item[1].kind, item[1].path))
    record_by_pk = {record.pk: record for record in records}
    return [_add_record(item, record_by_pk.get(pk), records) for pk, item in by_pk]


def _add_record(
    item: DatasheetImport, record: ImportRecord | None, records: Iterable[ImportRecord]
) -> DatasheetImport:
    if record is None:
        return item
    return replace(
        item,
        path=PurePath(record.path).name,
        format=record.format,
        imported_at=record.imported_at,
        declared=find_declared(record, records) or {},
        options=record.options,
    )


def _list_remarks(record: ImportRecord) -> Iterator[str]:
    figures = record.figures
    contradictions = figures.get("rank_contradictions")
    if isinstance(contradictions, Mapping) and contradictions.get("results"):
        order = "rank" if record.options.get("order") == "rank" else "score"
        results = count_nouns(contradictions["results"], "result")
        queries = count_nouns(contradictions.get("queries", 0), "query")
        yield f"its ranks contradict its scores for {results} of {queries}; it was read by {order}"
    if figures.get("duplicates"):
        results = count_nouns(figures["duplicates"], "result")
        yield f"{results} left out, whose documents stood in a query before"
    if figures.get("skipped_unknown_queries"):
        queries = count_nouns(figures["skipped_unknown_queries"], "query")
        yield f"{queries} left out, which the dataset does not have"


def count_nouns(number: int, noun: str) -> str:
    """Return a number with its noun: "1 pair", "1,200 pairs", "2 queries"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


class GateLine(NamedTuple):
    """A row of the datasheet's table of gates."""

    name: str
    required: str
    measured: str
    met: bool
    why: str


class ErrorRound(NamedTuple):
    """The errors that quality control found in one round, counted by result."""

    number: int
    errors: int
    decided: int
    to_expert: int  # decided again, with the expert's grade
    unchanged: int  # decided again, with the same grade
    retired: int  # left the pool undecided

    @property
    def to_another(self) -> int:
        return self.decided - self.to_expert - self.unchanged

    @property
    def open(self) -> int:
        return self.errors - self.decided - self.retired


def write_datasheet(sheet: Datasheet) -> str:
    """Return the whole file: Markdown, with lines ended by LF."""
    manifest = sheet.manifest
    guideline = sheet.rubric.guideline.replace("\r\n", "\n").strip("\n")
    text = _load_template().render(
        sheet=sheet,
        manifest=manifest,
        counts=manifest["counts"],
        agreement=manifest["agreement"],
        coefficients=list(list_coefficients(manifest["agreement"])),
        declared_questions=DECLARED,
        guideline=guideline,
        languages=[str(LANGUAGE_NAMES[tag]) for tag in sheet.rubric.languages],
        fence=_choose_fence(guideline),
        causes=list(_list_causes(sheet.causes)),
        error_limit=LIMIT,
        error_rounds=[] if sheet.quality is None else _count_error_rounds(sheet.quality),
        quality_errors=[]
        if sheet.quality is None
        else sorted(
            sheet.quality.errors, key=lambda item: (-item.round, item.draw, item.query_id, item.doc_id)
        ),
        gates=[_describe_gate(gate) for gate in manifest["gates"]],
        overridden_gates=[gate["name"] for gate in manifest["gates"] if gate.get("override")],
    )
    return text.rstrip("\n") + "\n"


def list_coefficients(agreement: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name and the value of each coefficient of a manifest's `agreement`, in the datasheet's order."""
    names = {(coefficient.key, coefficient.kind): coefficient.published_name for coefficient in COEFFICIENTS}
    for key, kind, value in list_stated(agreement):
        yield names[key, kind], value


@cache
def _load_template() -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("annotator.releases.writing"),
        autoescape=True,  # distinguishes escaped texts from others
        finalize=_escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "markdown": _escape,
        "number": _mark_safe(_show_number),
        "decimals": _mark_safe(partial(show_number, digits=3)),
        "percent": _mark_safe(_show_percent),
        "share_of": _mark_safe(_show_share),
        "count": _mark_safe(count_nouns),
        "utc_time": _mark_safe(_show_time),
    }
    return environment.get_template("datasheet.md.jinja")


def _escape(value: object) -> "Markup | int":
    """Return the value as the template prints it: texts escaped for Markdown unless safe, integers unchanged."""
    from markupsafe import Markup

    if isinstance(value, Markup | int):
        return value
    if isinstance(value, str):
        return Markup(escape_markdown(value))
    raise TypeError(f"the datasheet prints texts and whole numbers, not {value!r}")


def _mark_safe(write: Callable[..., str]) -> "Callable[..., Markup]":
    from markupsafe import Markup

    return lambda *arguments: Markup(write(*arguments))


def _show_number(number: float | None) -> str:
    if number is None:
        return ""
    return show_number(number) if isinstance(number, int) else show_figure(number, 6)


def _show_percent(share: float | None, digits: int = 1) -> str:
    return "" if share is None else show_percent(share, digits)


def _show_share(number: int, total: int) -> str:
    return show_percent(number / total) if total else ""


def _show_time(at: datetime) -> str:
    return at.astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")


def _choose_fence(text: str) -> str:
    """Return a fence longer than any run of backticks in the text, so that nothing in it ends the block."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    return "`" * max(3, longest + 1)


def _list_causes(causes: Mapping[str | None, int]) -> Iterator[tuple[str, int]]:
    """Return the causes of disagreements with the number of decisions; empty if no lead named a cause."""
    named = [(CAUSE_NAMES[cause], causes[cause]) for cause in CAUSES if cause in causes]
    yield from named
    if named and causes.get(None):
        yield "no cause named", causes[None]


def _describe_gate(gate: Mapping[str, Any]) -> GateLine:
    override = gate.get("override")
    why = f"overridden by {override['by']}: {override['reason']}" if override else gate.get("why") or ""
    required, measured = gate["required"], gate["measured"]
    if measured is None or (isinstance(required, int) and isinstance(measured, int)):
        return GateLine(gate["name"], _show_number(required), _show_number(measured), gate["met"], why)
    shown, target = show_beside(measured, required)  # with enough digits to differ
    return GateLine(gate["name"], target, shown, gate["met"], why)


def _count_error_rounds(status: QualityStatus) -> list[ErrorRound]:
    """Return the outcomes of the errors of every round, the current round first."""
    rounds = []
    for number in range(status.round, 0, -1):
        errors = [error for error in status.errors if error.round == number]
        decided = [error for error in errors if error.state == "decided"]
        rounds.append(
            ErrorRound(
                number,
                errors=len(errors),
                decided=len(decided),
                to_expert=sum(error.decided_grade == error.expert_grade for error in decided),
                unchanged=sum(error.decided_grade == error.settled_grade for error in decided),
                retired=sum(error.state == "retired" for error in errors),
            )
        )
    return rounds
