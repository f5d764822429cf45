"""Write DATASHEET.md from `templates/datasheet.md.jinja`.

Every text that the template prints is escaped for Markdown, unless it is marked as safe; None and bare
floats are errors. Figures are rounded to three digits; manifest.json holds six.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from annotator.adjudication.records import CAUSE_NAMES, CAUSES
from annotator.agreement.coefficient_records import COEFFICIENTS, list_stated
from annotator.domain.figures import show_beside, show_figure, show_number, show_percent
from annotator.domain.import_records import DECLARED
from annotator.domain.messages import LANGUAGE_NAMES
from annotator.formats.syntax.markdown import escape_markdown
from annotator.quality.records import LIMIT, QualityStatus
from annotator.releases.writing.datasheet import Datasheet, count_nouns

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup


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
