"""DATASHEET.md on quality control: who drew what for whom, what the sample shows and proves, what became of the errors.

People appear under their pseudonyms: `hide_people` sees to that before anything is written. Pairs are named up to a
limit; all are counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from annotator.domain.messages import show_percent
from annotator.domain.people import name_annotator, name_lead
from annotator.formats.markdown import escape_markdown, write_table
from annotator.quality.records import ERROR_KINDS, LIMIT, QualityDraw, QualityError, QualityStatus
from annotator.releases.datasheet_figures import say_count

if TYPE_CHECKING:
    from annotator.releases.datasheet import Datasheet

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
            str(draw.number), str(draw.round), _say_time(draw.drawn_at), draw.drawn_by or OPERATOR, draw.annotator,
            _say_percent(draw.rate), str(draw.seed), f"{draw.population:,}", f"{draw.outside:,}", f"{draw.pairs:,}",
            f"{draw.checked:,}", f"{draw.errors:,}",
        )
        for draw in sorted(status.draws, key=lambda draw: draw.number)
    ]  # fmt: skip
    columns = (
        "draw#", "round#", "when", "drawn by", "for", "share aimed at#", "seed#", "settled pairs#", "outside#", "drawn#",
        "checked#", "errors#",
    )  # fmt: skip
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
                    KINDS[kind], f"{found.errors:,}", _say_percent(found.rate),
                    f"{_say_percent(interval[0])} to {_say_percent(interval[1])}" if interval else "",
                    _say_percent(found.bound),
                )
            )  # fmt: skip
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
        str(error.round), str(error.draw), escape_markdown(error.query_id), escape_markdown(error.doc_id),
        f"{error.settled_grade} ({error.settled_by})", str(error.expert_grade), new,
    )  # fmt: skip


def _say_percent(share: float | None) -> str:
    """With two digits: 4.97 % and 5 % are two things here."""
    return "" if share is None else show_percent(share, 2)


def _say_time(at: datetime) -> str:
    return at.astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")
