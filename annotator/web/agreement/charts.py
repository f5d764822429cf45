"""Chart agreement: a forest plot of groups, a heat map of every two annotators, and grades per annotator.

Groups with too few pairs are hollow in the forest plot. The heat map shows kappa above the diagonal and the
number of shared pairs below. Only the largest groups, or the annotators who share the most pairs, are drawn;
the table has all. The colours suit light and dark pages and colour-blind readers, and no information is in
colour alone.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.agreement.ranking import rank_groups
from annotator.agreement.records import AgreementReport, GroupAgreement, PairAgreement
from annotator.domain.figures import show_number
from annotator.web.agreement.tables import name_group
from annotator.web.kit.charts import (
    CELL_AXIS,
    GREY,
    PALE,
    TEAL,
    draw_limit,
    label_counts,
    pick_cell,
    show_value,
    space_percent,
    tint_cell,
    tint_neutral,
    turn_labels,
)
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.words import find_username, name_grades, name_word

MOST_GROUPS = 40
ROW, AXIS = 26, 64


IN_ORDER = ("week", "guideline_version")
"""Fields whose groups follow each other: they are drawn in that order."""


def list_drawn(report: AgreementReport) -> list[GroupAgreement]:
    """Return the groups to draw, first those that lower the dataset's agreement most.

    Of more than MOST_GROUPS, those with the most pairs are drawn.
    """
    largest = sorted(report.groups, key=lambda group: -group.measured.pairs)[:MOST_GROUPS]
    kept = {id(group) for group in largest}
    drawn = [group for group in report.groups if id(group) in kept]
    if drawn and drawn[0].by in IN_ORDER:
        return drawn
    return rank_groups(drawn, report.measured.cohen_kappa["unweighted"])


def list_points(report: AgreementReport) -> list[dict[str, Any]]:
    """Return a row for the dataset and one for each drawn group, if kappa is defined.

    `group`: the index of the group among the drawn ones; -1 for the dataset.
    """
    measured = report.measured
    rows = [
        (-1, tr("whole dataset"), measured.pairs, measured.cohen_kappa["unweighted"], None),
        *(
            (
                index,
                name_group(group),
                group.measured.pairs,
                group.measured.cohen_kappa["unweighted"],
                group.warning,
            )
            for index, group in enumerate(list_drawn(report))
        ),
    ]
    labels = label_counts([name for _, name, *_ in rows], [pairs for _, _, pairs, *_ in rows])
    return [
        {
            "group": index,
            "label": label,
            "name": name,
            "pairs": pairs,
            "value": value.value,
            "low": (value.ci95 or (value.value, value.value))[0],
            "high": (value.ci95 or (value.value, value.value))[1],
            "little": bool(warning),
            "warning": tr(warning) if warning else "",
            "whole": index < 0,
        }
        for label, (index, name, pairs, value, warning) in zip(labels, rows, strict=True)
        if value.value is not None
    ]


def chart_forest(report: AgreementReport) -> alt.LayerChart:
    """Chart each kappa with its interval; a click on a point picks its group (parameter `cell`: group)."""
    rows, target = list_points(report), report.kappa_target
    scale = scale_kappa([row["low"] for row in rows], target)
    y = alt.Y(
        "label:N",
        sort=[row["label"] for row in rows],
        title=None,
        axis=alt.Axis(labelLimit=190, **CELL_AXIS),
    )
    base = alt.Chart(alt.InlineData(rows)).encode(y=y)
    return alt.layer(
        draw_limit(target, scale),
        base.mark_rule(strokeWidth=2.5, color=TEAL).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        base.mark_point(size=130, stroke=TEAL, strokeWidth=2.5, opacity=1, fillOpacity=1, cursor="pointer")
        .encode(
            x=place_kappa(scale),
            fill=alt.condition("datum.little", alt.value("transparent"), alt.value(TEAL)),
            shape=alt.condition("datum.whole", alt.value("diamond"), alt.value("circle")),
            tooltip=list_kappa_tooltips(),
        )
        .add_params(pick_cell("group")),
    ).properties(height=len(rows) * ROW + AXIS)


def scale_kappa(lows: Sequence[float], target: float) -> alt.Scale:
    """Return the scale of an axis of kappas: from 0, or from the lowest value if that is below 0, to 1."""
    return alt.Scale(domain=[max(min([0.0, target, *lows]), -1.0), 1.0], nice=False, clamp=True)


def place_kappa(scale: alt.Scale) -> alt.X:
    """Return the horizontal position of a kappa (field `value`), with its axis."""
    axis = alt.Axis(tickCount=5, format=".1f", labelFlush=False)
    return alt.X("value:Q", scale=scale, title=tr("κ (dashed: the target)"), axis=axis)


def list_kappa_tooltips(*names: str) -> list[alt.Tooltip]:
    """Return the tooltips of a kappa with its interval. `names`: further fields without a title."""
    return [
        *(alt.Tooltip(name, title=" ") for name in ("name:N", *names)),
        alt.Tooltip("pairs:Q", title=tr("pairs"), format=",d"),
        alt.Tooltip("value:Q", title="κ", format=".2f"),
        alt.Tooltip("low:Q", title=tr("from"), format=".2f"),
        alt.Tooltip("high:Q", title=tr("to"), format=".2f"),
        alt.Tooltip("warning:N", title=tr("warning")),
    ]


def describe_forest(report: AgreementReport) -> str:
    """Return the forest plot in words, undefined values with their reason."""
    measured = report.measured
    sentences = [f"{tr('whole dataset')} {show_value(measured.cohen_kappa['unweighted'])}"]
    sentences += [
        f"{name_group(group)} {show_value(group.measured.cohen_kappa['unweighted'])}"
        for group in list_drawn(report)
    ]
    return tr(
        "Cohen's kappa, target {target:g}: {values}.", target=report.kappa_target, values="; ".join(sentences)
    )


MOST_PEOPLE, MOST_WRITTEN = 20, 10
CELL, EDGE = 30, 96
LEGEND, SHADES = 64, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
COUNTED, NOTHING = tint_neutral(0.22), tint_neutral(0.08)


def list_people(pairs: Sequence[PairAgreement]) -> list[str]:
    """Return all annotators who share a pair with another one, sorted by name."""
    return sorted({name for pair in pairs for name in pair.annotators})


def choose_pairs(pairs: Sequence[PairAgreement], person: str | None) -> list[PairAgreement]:
    """Return the annotator pairs to draw: all, or those near a person.

    With a person, at most MOST_PEOPLE annotators remain.
    """
    if person is None:
        return list(pairs)
    own = sorted(
        (pair for pair in pairs if person in pair.annotators), key=lambda pair: (-pair.pairs, pair.annotators)
    )
    near = {name for pair in own[: MOST_PEOPLE - 1] for name in pair.annotators}
    return [pair for pair in pairs if set(pair.annotators) <= near]


def list_shown(pairs: Sequence[PairAgreement]) -> list[str]:
    """Return the annotators to draw, sorted by name; of more than MOST_PEOPLE those who share the most pairs."""
    shared: dict[str, int] = {}
    for pair in pairs:
        for name in pair.annotators:
            shared[name] = shared.get(name, 0) + pair.pairs
    return sorted(sorted(shared, key=lambda name: (-shared[name], name))[:MOST_PEOPLE])


def list_matrix_cells(pairs: Sequence[PairAgreement], kind: str) -> list[dict[str, Any]]:
    """Return two cells for each annotator pair: kappa above the diagonal, the number of shared pairs below.

    Each cell has a row, a column, a text (`shown`), and the colours of its background (`fill`) and text
    (`ink`).
    """
    names = list_shown(pairs)
    cells = []
    for pair in pairs:
        if not set(pair.annotators) <= set(names):
            continue
        first, second = sorted(pair.annotators, key=names.index)
        value = pair.cohen_kappa[kind]
        fill, ink = _colour(value.value)
        figures = {
            "kappa": "–" if value.value is None else show_number(value.value, 2),
            "pairs": pair.pairs,
            "why": tr(value.why) if value.value is None and value.why else "",
        }
        cells += [
            {"row": row, "column": column, "shown": shown, "fill": ground, "ink": text, **figures}
            for row, column, shown, ground, text in (
                (first, second, figures["kappa"], fill, ink),
                (second, first, _short(pair.pairs), COUNTED, PALE),
            )
        ]
    return cells


def chart_matrix(pairs: Sequence[PairAgreement], kind: str) -> alt.LayerChart:
    """Chart the cells; a click on one picks its two annotators (parameter `cell`: row, column)."""
    names = list_shown(pairs)
    base = alt.Chart(alt.InlineData(list_matrix_cells(pairs, kind))).encode(
        y=alt.Y(
            "row:N",
            sort=names,
            title=None,
            scale=alt.Scale(domain=names),
            axis=alt.Axis(labelLimit=110, **CELL_AXIS),
        ),
        x=alt.X(
            "column:N",
            sort=names,
            title=None,
            scale=alt.Scale(domain=names),
            axis=alt.Axis(orient="bottom", **turn_labels(names, 110), **CELL_AXIS),
        ),
        tooltip=[
            alt.Tooltip("row:N", title=" "),
            alt.Tooltip("column:N", title="  "),
            alt.Tooltip("kappa:N", title=f"κ {name_word(kind)}"),
            alt.Tooltip("pairs:Q", title=tr("pairs"), format=",d"),
            alt.Tooltip("why:N", title=tr("undefined because")),
        ],
    )
    written = len(names) <= MOST_WRITTEN
    colour = alt.Color("fill:N", scale=None) if written else _colour_with_legend(alt, pairs, kind)
    drawn = [
        base.mark_rect(cursor="pointer", aria=False)
        .encode(color=colour)
        .add_params(pick_cell("row", "column"))
    ]
    if written:
        drawn.append(
            base.mark_text(fontSize=12, cursor="pointer", aria=False).encode(
                text="shown:N", color=alt.Color("ink:N", scale=None)
            )
        )
    return alt.layer(*drawn).properties(height=len(names) * CELL + EDGE + (0 if written else LEGEND))


def describe_matrix(pairs: Sequence[PairAgreement], kind: str) -> str:
    kappas = sorted(
        (value.value, pair.annotators)
        for pair in pairs
        for value in [pair.cohen_kappa[kind]]
        if value.value is not None and not pair.warning
    )
    few = sum(pair.warning is not None for pair in pairs)
    sentence = tr(
        "Cohen's κ ({kind}) of every two annotators who share pairs ({n:,} in all), and the number "
        "of shared pairs.",
        kind=name_word(kind),
        n=len(pairs),
    )
    left_out = (
        tr_n(
            "{n:,} of them shares too few pairs and is excluded below.",
            "{n:,} of them share too few pairs and are excluded below.",
            few,
        )
        if few
        else ""
    )
    if not kappas:
        return join_sentences([sentence, tr("None is defined.") if not few else left_out])
    (low, lowest), (high, highest) = kappas[0], kappas[-1]
    reach = tr(
        "Lowest {low:.2f} ({lowest}), highest {high:.2f} ({highest}).",
        low=low,
        lowest=" – ".join(lowest),
        high=high,
        highest=" – ".join(highest),
    )
    return join_sentences([sentence, left_out, reach] if few else [sentence, reach])


def list_shades() -> dict[str, str]:
    """Return the legend of the cells, by colour: some values of kappa, and the cells without a kappa."""
    shades = {
        _colour(-0.5)[0]: tr("below 0"),
        **{_colour(kappa)[0]: show_number(kappa, 1) for kappa in SHADES},
    }
    return {**shades, NOTHING: tr("undefined"), COUNTED: tr("pairs")}


def _colour_with_legend(alt: Any, pairs: Sequence[PairAgreement], kind: str) -> Any:
    """Return the colours of the cells with a legend. For a heat map without figures in its cells."""
    shades = list_shades()
    grounds = [*dict.fromkeys([*shades, *(cell["fill"] for cell in list_matrix_cells(pairs, kind))])]
    expression = " : ".join(
        f"datum.value === {json.dumps(fill)} ? {json.dumps(name)}" for fill, name in shades.items()
    )
    legend = alt.Legend(
        orient="top",
        title=f"κ {name_word(kind)}",
        values=list(shades),
        labelExpr=f"{expression} : ''",
        columns=5,
        symbolType="square",
        symbolStrokeColor="currentcolor",
        symbolStrokeWidth=0.5,
    )
    return alt.Color("fill:N", scale=alt.Scale(domain=grounds, range=grounds), legend=legend)


def _colour(kappa: float | None) -> tuple[str, str]:
    """Return background and text colour of a kappa: the deeper, the further from 0; another hue below 0."""
    if kappa is None:
        return NOTHING, PALE
    return tint_cell(abs(kappa), same=kappa >= 0)


def _short(pairs: int) -> str:
    """Return a count short enough for a cell: 950, 1.2k, 38k."""
    if pairs < 1_000:
        return str(pairs)
    return f"{pairs / 1000:.1f}k" if pairs < 9_950 else f"{pairs / 1000:.0f}k"


COLOURS = ("#dceef1", "#92c3cb", "#4793a0", "#1b5f69")
INKS = ("#000000", "#000000", "#000000", "#ffffff")
"""Of the bars and their texts, by grade. A grey line marks a bar off from any page."""
MOST_BARS, LEAST_WRITTEN = 30, 0.08
BAR_ROW, BAR_EDGE = 28, 140


def list_shares(counts: Mapping[str, Sequence[int]], grade_names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row for each grade of each annotator: all annotators together first, then each by name.

    Of more than MOST_BARS annotators, those with the most judgments. `place`: the grade. `whose`: the
    annotator's username; "" for all annotators.
    """
    names = name_grades(grade_names)
    chosen = sorted(sorted(counts, key=lambda name: (-sum(counts[name]), name))[:MOST_BARS])
    everybody = tuple(sum(column) for column in zip(*counts.values(), strict=True))
    people = [
        (tr("all annotators"), "", everybody),
        *((name, find_username(name), tuple(counts[name])) for name in chosen),
    ]
    labels = label_counts([name for name, *_ in people], [sum(given) for *_, given in people])
    drawn = []
    for label, (person, whose, given) in zip(labels, people, strict=True):
        total, begin = sum(given), 0.0
        for grade, count in enumerate(given):
            share = count / total if total else 0.0
            drawn.append(
                {
                    "label": label,
                    "name": person,
                    "place": grade,
                    "ink": INKS[grade],
                    "whose": whose,
                    "grade": names[grade],
                    "count": count,
                    "share": share,
                    "told": show_share(share, 1),
                    "begin": begin,
                    "end": begin + share,
                    "middle": begin + share / 2,
                    "shown": show_share(share) if share >= LEAST_WRITTEN else "",
                }
            )
            begin += share
    return drawn


def chart_grades(counts: Mapping[str, Sequence[int]], grade_names: Sequence[str]) -> alt.LayerChart:
    """Chart the shares as bars; a click picks grade and annotator (parameter `cell`: whose, place)."""
    rows, names = list_shares(counts, grade_names), name_grades(grade_names)
    people = list(dict.fromkeys(row["label"] for row in rows))
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y(
            "label:N",
            sort=people,
            title=None,
            axis=alt.Axis(labelLimit=190, ticks=False, domain=False, labelOverlap=False),
        ),
        tooltip=[
            alt.Tooltip("name:N", title=" "),
            alt.Tooltip("grade:N", title=tr("grade")),
            alt.Tooltip("count:Q", title=tr("judgments"), format=",d"),
            alt.Tooltip("told:N", title=tr("share")),
        ],
    )
    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X(
        "begin:Q",
        title=tr("share of grades"),
        scale=scale,
        axis=alt.Axis(**space_percent("%"), tickCount=5),
    )
    legend = alt.Legend(
        orient="top", title=None, columns=1, labelLimit=220, symbolType="square", symbolStrokeColor=GREY
    )
    bars = (
        base.mark_bar(size=BAR_ROW - 8, stroke=GREY, strokeWidth=1, cursor="pointer")
        .encode(
            x=x,
            x2="end:Q",
            color=alt.Color("grade:N", scale=alt.Scale(domain=names, range=list(COLOURS)), legend=legend),
        )
        .add_params(pick_cell("whose", "place"))
    )
    labels = base.mark_text(fontSize=11, cursor="pointer").encode(
        x=alt.X("middle:Q", scale=scale), text="shown:N", color=alt.Color("ink:N", scale=None)
    )
    return alt.layer(bars, labels).properties(height=len(people) * BAR_ROW + BAR_EDGE)


def describe_grades(counts: Mapping[str, Sequence[int]], grade_names: Sequence[str]) -> str:
    parts_by_name: dict[str, list[str]] = {}
    for row in list_shares(counts, grade_names):
        parts_by_name.setdefault(row["name"], []).append(f"{row['grade']} {show_share(row['share'])}")
    return tr(
        "Shares of grades: {list}.",
        list="; ".join(f"{name}: {', '.join(parts)}" for name, parts in parts_by_name.items()),
    )
