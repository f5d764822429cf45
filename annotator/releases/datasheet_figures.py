"""The figures of DATASHEET.md, as lines of Markdown: agreement, gates, coverage; and how numbers are said in it.

Rounded to three digits; manifest.json holds six.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annotator.domain.figures import show_beside
from annotator.domain.messages import show_percent
from annotator.formats.markdown import escape_markdown, write_table

if TYPE_CHECKING:
    from annotator.releases.datasheet import Datasheet

COUPLES = 50
NOT_SAID = "(not said)"
FIGURE_COLUMNS = ("figure", "value#", "95 % interval#")
PART_COLUMNS = ("pairs#", "same grade#", "Cohen's κ#", "95 % interval#")
COUPLE_COLUMNS = ("annotators", *PART_COLUMNS)
GATE_COLUMNS = ("gate", "required#", "measured#", "met", "")
NAMES = {
    "unweighted": "Cohen's κ", "linear": "Cohen's κ, linear weights", "quadratic": "Cohen's κ, quadratic weights",
    "nominal": "Krippendorff's α, nominal", "ordinal": "Krippendorff's α, ordinal",
    "interval": "Krippendorff's α, interval", "fleiss_kappa": "Fleiss' κ", "gwet_ac1": "Gwet's AC1",
    "gwet_ac2": "Gwet's AC2",
}  # fmt: skip


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
            " and ".join(map(escape_markdown, one["annotators"])), f"{one['pairs']:,}",
            show_percent(one["observed_agreement"]), *_value(one["cohen_kappa"]["unweighted"]),
        )
        for one in shown
    ]  # fmt: skip
    yield from write_table(COUPLE_COLUMNS, rows)


def _write_groups(groups: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Cohen's κ within each group, such as each category."""
    if not groups:
        return
    yield from ("", f"Cohen's κ by {escape_markdown(groups[0]['by'])}:", "")
    rows = [
        (
            NOT_SAID if one["value"] is None else escape_markdown(one["value"]), f"{one['pairs']:,}",
            "" if one["observed_agreement"] is None else show_percent(one["observed_agreement"]),
            *_value(one["cohen_kappa"]["unweighted"]),
        )
        for one in groups
    ]  # fmt: skip
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
            escape_markdown(row.name), escape_markdown(row.required), escape_markdown(row.measured),
            "" if row.met is None else "yes" if row.met else "no",
        )
        for row in sheet.coverage
    ]  # fmt: skip
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
