"""Every two annotators as one heat map: their kappa above the diagonal, the pairs it rests on below.

Cells carry their own ground and ink, so that they read the same on a light and on a dark page. A crowd is cut to those
who share the most; the table beside it has all.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.agreement.records import PairAgreement
from annotator.domain.cell_colours import colour_cell
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.words import name_word

if TYPE_CHECKING:
    import altair as alt

MOST, MOST_WRITTEN = 20, 10
CELL, EDGE = 30, 96
LEGEND, SHADES = 64, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
COUNTED, NOTHING = "#e4e7e5", "#f4f5f4"
LIGHT, DARK = "#ffffff", "#000000"


def list_people(pairs: Sequence[PairAgreement]) -> list[str]:
    """Everybody who shares a pair, by name."""
    return sorted({name for pair in pairs for name in pair.annotators})


def choose_pairs(pairs: Sequence[PairAgreement], person: str | None) -> list[PairAgreement]:
    """The annotator pairs to draw: all, or those among a person and the MOST - 1 who share the most pairs with them."""
    if person is None:
        return list(pairs)
    own = sorted(
        (pair for pair in pairs if person in pair.annotators), key=lambda pair: (-pair.pairs, pair.annotators)
    )
    near = {name for pair in own[: MOST - 1] for name in pair.annotators}
    return [pair for pair in pairs if set(pair.annotators) <= near]


def list_shown(pairs: Sequence[PairAgreement]) -> list[str]:
    """The annotators that are drawn, by name: of more than MOST, those who share the most pairs."""
    shared: dict[str, int] = {}
    for pair in pairs:
        for name in pair.annotators:
            shared[name] = shared.get(name, 0) + pair.pairs
    return sorted(sorted(shared, key=lambda name: (-shared[name], name))[:MOST])


def list_matrix_cells(pairs: Sequence[PairAgreement], kind: str) -> list[dict[str, Any]]:
    """Each cell that says something: its row and column, what is written in it, its ground and ink."""
    names = list_shown(pairs)
    cells = []
    for pair in pairs:
        if not set(pair.annotators) <= set(names):
            continue
        first, second = sorted(pair.annotators, key=names.index)
        value = pair.cohen_kappa[kind]
        fill, dark = _colour(value.value)
        told = {
            "kappa": "–" if value.value is None else f"{value.value:.2f}", "pairs": pair.pairs,
            "why": tr(value.why) if value.value is None and value.why else "",
        }  # fmt: skip
        cells += [
            {"row": first, "column": second, "shown": told["kappa"], "fill": fill, "ink": DARK if dark else LIGHT, **told},
            {"row": second, "column": first, "shown": _short(pair.pairs), "fill": COUNTED, "ink": DARK, **told},
        ]  # fmt: skip
    return cells


def chart_matrix(pairs: Sequence[PairAgreement], kind: str) -> "alt.LayerChart":
    """The cells; a click on one picks its two annotators (parameter `cell`: row, column)."""
    import altair as alt

    names = list_shown(pairs)
    axis: dict[str, Any] = {"ticks": False, "domain": False, "labelLimit": 110, "labelOverlap": False, "labelFlush": False}  # fmt: skip
    base = alt.Chart(alt.InlineData(list_matrix_cells(pairs, kind))).encode(
        y=alt.Y("row:N", sort=names, title=None, scale=alt.Scale(domain=names), axis=alt.Axis(**axis)),
        x=alt.X(
            "column:N", sort=names, title=None, scale=alt.Scale(domain=names),
            axis=alt.Axis(labelAngle=-40, orient="bottom", **axis),
        ),
        tooltip=[
            alt.Tooltip("row:N", title=" "), alt.Tooltip("column:N", title="  "),
            alt.Tooltip("kappa:N", title=f"κ {name_word(kind)}"), alt.Tooltip("pairs:Q", title=tr("pairs"), format=",d"),
            alt.Tooltip("why:N", title=tr("undefined because")),
        ],
    )  # fmt: skip
    picked = alt.selection_point(name="cell", fields=["row", "column"], on="click", clear=False)
    written = len(names) <= MOST_WRITTEN
    colour = alt.Color("fill:N", scale=None) if written else _colour_with_legend(alt, pairs, kind)
    drawn = [base.mark_rect(cursor="pointer").encode(color=colour).add_params(picked)]
    if written:
        drawn.append(
            base.mark_text(fontSize=12, cursor="pointer").encode(
                text="shown:N", color=alt.Color("ink:N", scale=None)
            )
        )
    return alt.layer(*drawn).properties(height=len(names) * CELL + EDGE + (0 if written else LEGEND))


def describe_matrix(pairs: Sequence[PairAgreement], kind: str) -> str:
    """The heat map in words."""
    known = sorted(
        (value.value, pair.annotators)
        for pair in pairs
        for value in [pair.cohen_kappa[kind]]
        if value.value is not None and not pair.warning
    )
    few = sum(pair.warning is not None for pair in pairs)
    said = tr(
        "Cohen's κ ({kind}) of every two annotators who share pairs, {n:,} in all, and the pairs that each rests on.",
        kind=name_word(kind), n=len(pairs),
    )  # fmt: skip
    left_out = tr_n(
        "{n:,} of them shares too few pairs to say much, and is left out of what follows.",
        "{n:,} of them share too few pairs to say much, and are left out of what follows.", few,
    ) if few else ""  # fmt: skip
    if not known:
        return join_sentences([said, tr("None of them is defined.") if not few else left_out])
    (low, lowest), (high, highest) = known[0], known[-1]
    reach = tr(
        "Lowest {low:.2f} ({lowest}), highest {high:.2f} ({highest}).",
        low=low, lowest=" – ".join(lowest), high=high, highest=" – ".join(highest),
    )  # fmt: skip
    return join_sentences([said, left_out, reach] if few else [said, reach])


def list_shades() -> dict[str, str]:
    """What a legend says of the grounds of cells, by the ground: some values of kappa, and what is no kappa."""
    shades = {_colour(-0.5)[0]: tr("below 0"), **{_colour(kappa)[0]: f"{kappa:.1f}" for kappa in SHADES}}
    return {**shades, NOTHING: tr("undefined"), COUNTED: tr("pairs")}


def _colour_with_legend(alt: Any, pairs: Sequence[PairAgreement], kind: str) -> Any:
    """The cells' own grounds, with a legend of some of them: where no figure is written, it says how deep means how much."""
    shades = list_shades()
    grounds = [*dict.fromkeys([*shades, *(cell["fill"] for cell in list_matrix_cells(pairs, kind))])]
    told = " : ".join(
        f"datum.value === {json.dumps(fill)} ? {json.dumps(name)}" for fill, name in shades.items()
    )
    legend = alt.Legend(
        orient="top", title=f"κ {name_word(kind)}", values=list(shades), labelExpr=f"{told} : ''", columns=5,
        symbolType="square", symbolStrokeColor="currentcolor", symbolStrokeWidth=0.5,
    )  # fmt: skip
    return alt.Color("fill:N", scale=alt.Scale(domain=grounds, range=grounds), legend=legend)


def _colour(kappa: float | None) -> tuple[str, bool]:
    """The better, the deeper; below chance in another hue."""
    if kappa is None:
        return NOTHING, True
    return colour_cell(kappa * kappa, 1, same=kappa >= 0)


def _short(pairs: int) -> str:
    """A count that fits into a cell: 950, 1.2k, 38k."""
    if pairs < 1_000:
        return str(pairs)
    return f"{pairs / 1000:.1f}k" if pairs < 9_950 else f"{pairs / 1000:.0f}k"
