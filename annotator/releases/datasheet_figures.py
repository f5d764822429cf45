"""Write the figures of DATASHEET.md: agreement, gates, coverage, imports and quality control.

Rounded to three digits; manifest.json holds six. People appear under pseudonyms (`hide_people`). Pairs are named up to a
limit, and all are counted. For imported judgments the program knows only the file and the time; it repeats the importer's
declaration as declared, and says what is not known. Runs are named where something about them was wrong.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from annotator.domain.import_records import DECLARED, ImportRecord
from annotator.domain.messages import show_beside, show_percent
from annotator.domain.people import name_annotator, name_lead
from annotator.formats.markdown import escape_markdown, write_table
from annotator.quality.records import ERROR_KINDS, LIMIT, QualityDraw, QualityError, QualityStatus

if TYPE_CHECKING:
    from annotator.releases.datasheet import Datasheet


COUPLES = 50
NOT_SAID = "(not said)"
FIGURE_COLUMNS = ("figure", "value#", "95 % interval#")
PART_COLUMNS = ("pairs#", "same grade#", "Cohen's κ#", "95 % interval#")
COUPLE_COLUMNS = ("annotators", *PART_COLUMNS)
GATE_COLUMNS = ("gate", "required#", "measured#", "met", "")
NAMES = {
    "unweighted": "Cohen's κ",
    "linear": "Cohen's κ, linear weights",
    "quadratic": "Cohen's κ, quadratic weights",
    "nominal": "Krippendorff's α, nominal",
    "ordinal": "Krippendorff's α, ordinal",
    "interval": "Krippendorff's α, interval",
    "fleiss_kappa": "Fleiss' κ",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2": "Gwet's AC2",
}


def write_agreement(sheet: "Datasheet") -> Iterator[str]:
    found = sheet.manifest["agreement"]
    yield from ("## How well they agree", "")
    observed = found["observed_agreement"]
    verb = "was" if found["pairs"] == 1 else "were"
    yield (
        f"{say_count(found['pairs'], 'pair')} {verb} judged independently by two or more annotators"
        + (f"; {show_percent(observed)} of those judgments match." if observed is not None else ".")
    )
    if sheet.imported:
        yield (
            f"{say_count(sheet.imported, 'judgment')} among all came from files. Whether they are independent is not known beyond what "
            "was declared; they count here as if they were."
        )
    yield (
        f"Intervals hold 95 %: percentile bootstrap over queries, {found['resamples']:,} resamples, seed {found['seed']}."
    )
    yield ""
    yield from write_table(
        FIGURE_COLUMNS,
        [(name, *_value(item)) for name, item in list_agreement_figures(found)],
    )
    yield from _write_couples(found["annotator_pairs"])
    yield from _write_groups(found.get("groups") or ())
    if sheet.pictures and found["annotator_pairs"]:
        yield from ("", "![What each two annotators gave on the pairs they share](pictures/confusion.svg)")
    yield ""


def _write_couples(couples: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Cohen's κ of every two annotators; of many, those who share most."""
    if len(couples) < 2:
        return
    shown = sorted(couples, key=lambda one: -one["pairs"])[:COUPLES]
    yield from (
        "",
        f"Cohen's κ of every two annotators, on the pairs they share{_say_first(len(shown), len(couples))}:",
        "",
    )
    rows = [
        (
            " and ".join(map(escape_markdown, one["annotators"])),
            f"{one['pairs']:,}",
            show_percent(one["observed_agreement"]),
            *_value(one["cohen_kappa"]["unweighted"]),
        )
        for one in shown
    ]
    yield from write_table(COUPLE_COLUMNS, rows)


def _write_groups(groups: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Cohen's κ within each group, such as each category."""
    if not groups:
        return
    yield from ("", f"Cohen's κ by {escape_markdown(groups[0]['by'])}:", "")
    rows = [
        (
            NOT_SAID if one["value"] is None else escape_markdown(one["value"]),
            f"{one['pairs']:,}",
            "" if one["observed_agreement"] is None else show_percent(one["observed_agreement"]),
            *_value(one["cohen_kappa"]["unweighted"]),
        )
        for one in groups
    ]
    yield from write_table((escape_markdown(groups[0]["by"]), *PART_COLUMNS), rows)


def _say_first(shown: int, all_of_them: int) -> str:
    return (
        ""
        if shown == all_of_them
        else f" (the {shown} who share most, of {all_of_them:,}; manifest.json has all)"
    )


def list_agreement_figures(agreement: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The coefficients of a manifest's `agreement` with their names, in the order of the datasheet's table."""
    for key in ("cohen_kappa", "krippendorff_alpha"):
        for kind, value in agreement[key].items():
            yield NAMES[kind], value
    for key in ("fleiss_kappa", "gwet_ac1", "gwet_ac2"):
        yield NAMES[key], agreement[key]
    for item in agreement["cut_points"]:
        yield f"Cohen's κ, relevant from grade {item['relevant_from']} on", item["cohen_kappa"]


def write_gates(sheet: "Datasheet") -> Iterator[str]:
    yield from ("## Gates", "", "What a release needs, as it stood when this one was published.", "")
    rows = []
    for gate in sheet.manifest["gates"]:
        override = gate.get("override")
        said = "yes" if gate["met"] else "no"
        why = f"overridden by {override['by']}: {override['reason']}" if override else gate.get("why") or ""
        required, measured = _say_compared(gate["required"], gate["measured"])
        rows.append(
            (
                gate["name"],
                required,
                measured,
                said,
                escape_markdown(why),
            )
        )
    yield from (*write_table(GATE_COLUMNS, rows), "")


def _say_compared(required: float, measured: float | None) -> tuple[str, str]:
    """Both figures of a gate: whole numbers as they are, others as short as still tells them apart."""
    if measured is None or (isinstance(required, int) and isinstance(measured, int)):
        return say_number(required), say_number(measured)
    shown, target = show_beside(measured, required)
    return target, shown


def write_coverage(sheet: "Datasheet") -> Iterator[str]:
    yield from ("## Coverage", "")
    if not any(row.required for row in sheet.coverage):
        yield "No requirements are declared for this dataset" + (
            ". What it holds:" if sheet.coverage else "."
        )
        figures = [(escape_markdown(row.name), escape_markdown(row.measured)) for row in sheet.coverage]
        yield from ("", *write_table(("what", "measured"), figures), "") if figures else ("",)
        return
    rows = [
        (
            escape_markdown(row.name),
            escape_markdown(row.required),
            escape_markdown(row.measured),
            "" if row.met is None else "yes" if row.met else "no",
        )
        for row in sheet.coverage
    ]
    yield from (*write_table(("what", "required", "measured", "met"), rows), "")


def _value(value: Mapping[str, Any]) -> tuple[str, str]:
    """A figure and its interval, or why there is none."""
    if value["value"] is None:
        return "undefined", escape_markdown(value.get("why") or "")
    interval = value.get("ci95")
    if not interval:
        return f"{value['value']:.3f}", escape_markdown(value.get("why") or "")
    return f"{value['value']:.3f}", f"{interval[0]:.3f} to {interval[1]:.3f}"


def say_number(value: float | None) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:g}"


def say_share(number: int, total: int) -> str:
    return show_percent(number / total) if total else ""


def say_count(number: int, noun: str) -> str:
    many = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


LISTED = 200
OPERATOR = "the operator"
KINDS = {
    "any": "any other grade",
    "far": "two or three grades apart",
    "relevance": "relevant (from grade 1 on) for one, not for the other",
}
STATES = {"reopened": "open", "retired": "left the pool"}
VERDICTS = {"passed": "passed", "failed": "not passed", "undecided": "not decided"}


def hide_people(status: QualityStatus, numbers: Mapping[str, int]) -> QualityStatus:
    """The same with pseudonyms instead of usernames, and without what anybody wrote. `numbers`: by username."""

    def hide(draw: QualityDraw) -> QualityDraw:
        by = OPERATOR if draw.drawn_by is None else name_lead(numbers[draw.drawn_by])
        return replace(draw, annotator=name_annotator(numbers[draw.annotator]), drawn_by=by)

    return replace(
        status,
        sentences=(),
        draws=tuple(hide(draw) for draw in status.draws),
        errors=tuple(replace(error, note=None) for error in status.errors),
    )


def write_quality(sheet: "Datasheet") -> Iterator[str]:
    """The section: one sentence where nothing was ever drawn."""
    yield from ("## Quality control", "")
    status = sheet.quality
    if status is None or not status.round:
        yield "Nobody has checked a sample of the settled grades, so it is not known how many of them are wrong."
        yield ""
        return
    yield (
        "A third expert judged a random sample of the settled pairs once more, without seeing their grades. "
        "Where the expert's grade is another one, that is an error."
    )
    yield from ("", *_write_draws(status), "", *_write_sample(status), "", *_write_rates(status), "")
    yield from (*_write_readings(status), "", *_write_errors(status), "")


def _write_draws(status: QualityStatus) -> Iterator[str]:
    rows = [
        (
            str(draw.number),
            str(draw.round),
            _say_time(draw.drawn_at),
            draw.drawn_by or OPERATOR,
            draw.annotator,
            _say_percent(draw.rate),
            str(draw.seed),
            f"{draw.population:,}",
            f"{draw.outside:,}",
            f"{draw.pairs:,}",
            f"{draw.checked:,}",
            f"{draw.errors:,}",
        )
        for draw in sorted(status.draws, key=lambda draw: draw.number)
    ]
    columns = (
        "draw#",
        "round#",
        "when",
        "drawn by",
        "for",
        "share aimed at#",
        "seed#",
        "settled pairs#",
        "outside#",
        "drawn#",
        "checked#",
        "errors#",
    )
    yield from write_table(columns, rows)
    yield from (
        "",
        "Outside: settled pairs that this expert had judged, proposed or seen, and so cannot check.",
    )
    for number in range(1, status.round):
        yield from ("", _say_round(number, [draw for draw in status.draws if draw.round == number]))


def _say_round(number: int, draws: Sequence[QualityDraw]) -> str:
    """What came of the sample of an earlier round, which later ones replaced."""
    pairs, checked = sum(draw.pairs for draw in draws), sum(draw.checked for draw in draws)
    unrateable = sum(draw.unrateable for draw in draws)
    said = f"The sample of round {number}: {say_count(pairs, 'pair')} drawn, {checked:,} checked"
    said += f", {unrateable:,} cannot be rated" if unrateable else ""
    left = pairs - checked - unrateable
    said += f", {left:,} not answered" if left else ""
    return f"{said}. {say_count(sum(draw.errors for draw in draws), 'error')} found. A later round took its place."


def _write_sample(status: QualityStatus) -> Iterator[str]:
    said = f"The sample of round {status.round}: {say_count(status.drawn, 'pair')} drawn, {status.checked:,} checked"
    for number, words in (
        (status.unrateable, "cannot be rated"),
        (status.barred, "can no longer be checked"),
        (status.waiting, "not answered yet"),
    ):
        said += f", {number:,} {words}" if number else ""
    yield f"{said}."
    if status.settled_since:
        yield f"It says nothing of {say_count(status.settled_since, 'pair')} settled after the last draw."


def _write_rates(status: QualityStatus) -> Iterator[str]:
    rows = []
    for kind in ERROR_KINDS:
        found = status.rates.get(kind)
        if found is not None:
            interval = found.ci95
            rows.append(
                (
                    KINDS[kind],
                    f"{found.errors:,}",
                    _say_percent(found.rate),
                    f"{_say_percent(interval[0])} to {_say_percent(interval[1])}" if interval else "",
                    _say_percent(found.bound),
                )
            )
    columns = ("the expert's grade is", "errors#", "share#", "exact 95 % interval#", "at most, of all#")
    yield from write_table(columns, rows)
    yield from (
        "",
        "At most, of all: what the sample proves of all settled pairs it speaks for, with 95 % confidence.",
    )


def _write_readings(status: QualityStatus) -> Iterator[str]:
    found, limit = status.rates["any"], f"{LIMIT * 100:g} %"
    yield f"The claim: fewer than {limit} of the settled grades are wrong. There are two ways to read the sample."
    yield ""
    shown = "nothing is checked yet" if found.rate is None else _say_percent(found.rate)
    proven = "nothing is checked yet" if found.bound is None else f"at most {_say_percent(found.bound)}"
    yield f"- What it happens to show (`rate`): {shown}: {VERDICTS[status.verdicts['rate']]}."
    further = ""
    if status.verdicts["bound"] == "undecided" and status.further:
        further = f"; {say_count(status.further, 'more pair')} without an error would pass"
    yield f"- What it proves (`bound`): {proven}: {VERDICTS[status.verdicts['bound']]}{further}."
    yield ""
    yield f"The gate `quality_control` of this release went by `{status.rule}`: {VERDICTS[status.verdict]}."


def _write_errors(status: QualityStatus) -> Iterator[str]:
    """Of every round: the present one first, which the figures above are of."""
    for number in range(status.round, 0, -1):
        errors = [error for error in status.errors if error.round == number]
        if errors:
            yield from (*_count_errors(number, errors), "")
        elif number == status.round:
            yield from ("No error was found in it.", "")
    if not status.errors:
        return
    found = sorted(status.errors, key=lambda error: (-error.round, error.draw, error.query_id, error.doc_id))
    columns = ("round#", "draw#", "query", "document", "settled", "the expert#", "decided anew#")
    yield from write_table(columns, [_describe(error) for error in found[:LISTED]])
    if len(found) > LISTED:
        yield from ("", f"And {len(found) - LISTED:,} more.")


def _count_errors(number: int, errors: Sequence[QualityError]) -> Iterator[str]:
    """What became of the errors of a round."""
    decided = [error for error in errors if error.state == "decided"]
    retired = sum(error.state == "retired" for error in errors)
    own = sum(error.decided_grade == error.expert_grade for error in decided)
    kept = sum(error.decided_grade == error.settled_grade for error in decided)
    yield (
        f"Errors found in round {number}: {len(errors):,}. Decided anew by a lead: {len(decided):,} ({own:,} to the "
        f"expert's grade, {kept:,} as before, {len(decided) - own - kept:,} to another). Still open, and so in no file: "
        f"{len(errors) - len(decided) - retired:,}."
    )
    if retired:
        yield f"Left the pool since, and decided by nobody: {retired:,}."


def _describe(error: QualityError) -> tuple[str, ...]:
    new = STATES.get(error.state, "" if error.decided_grade is None else str(error.decided_grade))
    return (
        str(error.round),
        str(error.draw),
        escape_markdown(error.query_id),
        escape_markdown(error.doc_id),
        f"{error.settled_grade} ({error.settled_by})",
        str(error.expert_grade),
        new,
    )


def _say_percent(share: float | None) -> str:
    """With two digits: 4.97 % and 5 % are two things here."""
    return "" if share is None else show_percent(share, 2)


def _say_time(at: datetime) -> str:
    return at.astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")


NOT_KNOWN = "not known"
GRADED = {"judgments": "judgment", "qrels": "qrel"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetImport:
    """One import that the release rests on. `count`: of its judgments that are current, or of its qrels that are kept.
    `imported_at` None, `path` "": from before imports were recorded."""

    kind: str
    path: str = ""
    format: str | None = None
    imported_at: datetime | None = None
    count: int = 0
    declared: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SheetRun:
    """A run with something to say of it: `remarks` in words."""

    system: str
    path: str
    remarks: tuple[str, ...]


def list_runs(records: Sequence[ImportRecord]) -> list[SheetRun]:
    """Return the imports of runs with something to say of them; of a run that was read anew, how it is stored now."""
    found = []
    last = {record.system: record for record in records if record.kind == "run"}
    for record in last.values():
        remarks = tuple(_list_remarks(record))
        if remarks:
            found.append(SheetRun(record.system or "", PurePath(record.path).name, remarks))
    return found


def write_imports(sheet: "Datasheet") -> Iterator[str]:
    """The section, where there is something to say."""
    if not sheet.imports and not sheet.runs:
        return
    yield from ("## What came from files", "")
    if sheet.imports:
        yield "What follows was not made in this program. How it came about is told as its importer declared it."
        yield ""
    for item in sheet.imports:
        yield from _write_import(item)
    for run in sheet.runs:
        yield f"- Run {_quote(run.system)} ({_quote(run.path)}): {'; '.join(run.remarks)}."
    yield ""


def _write_import(item: SheetImport) -> Iterator[str]:
    count = say_count(item.count, GRADED[item.kind])
    known = f", {escape_markdown(item.format)}" if item.format else ""
    if item.imported_at is None and not item.path:
        yield f"- {count}, imported before imports were recorded."
    else:
        when = NOT_KNOWN if item.imported_at is None else f"{item.imported_at:%Y-%m-%d}"
        yield f"- {count} from {_quote(item.path)}{known}; imported: {when}."
    declared = item.declared or {}
    for name, words in DECLARED.items():
        if name in declared or name != "note":
            yield f"    - {words}: {_say_declared(declared.get(name))}"
    mapped = item.options.get("map_grades")
    if isinstance(mapped, Mapping) and mapped:
        said = ", ".join(f"{old} as {new}" for old, new in mapped.items())
        yield f"    - Grades of another scale were read as: {escape_markdown(said)}"
    if item.options.get("grades_by"):
        yield f"    - The file holds no grades; they are by {escape_markdown(str(item.options['grades_by']))}"


def _say_declared(value: Any) -> str:
    if value is None:
        return NOT_KNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    return escape_markdown(str(value))


def _list_remarks(record: ImportRecord) -> Iterator[str]:
    figures = record.figures
    contradictions = figures.get("rank_contradictions")
    if isinstance(contradictions, Mapping) and contradictions.get("results"):
        by = "rank" if record.options.get("order") == "rank" else "score"
        results = say_count(contradictions["results"], "result")
        queries = say_count(contradictions.get("queries", 0), "query")
        yield f"its ranks contradict its scores for {results} of {queries}; it was read by {by}"
    if figures.get("duplicates"):
        yield f"{say_count(figures['duplicates'], 'result')} left out, whose documents stood in a query before"
    if figures.get("skipped_unknown_queries"):
        queries = say_count(figures["skipped_unknown_queries"], "query")
        yield f"{queries} left out, which the dataset does not have"


def _quote(text: str) -> str:
    return f'"{escape_markdown(text)}"'
