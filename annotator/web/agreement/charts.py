"""Chart agreement: a forest plot of groups, a heat map of every two annotators, and grades per annotator.

The forest plot draws groups with little evidence hollow. The heat map shows kappa above the diagonal and the number
of shared pairs below. Large sets are cut to the largest groups, or to the annotators who share the most; the table
beside has all. Colours read on light and dark pages and for colour-blind readers; no information is in colour alone.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.agreement.ranking import rank_groups
from annotator.agreement.records import AgreementReport, GroupAgreement, PairAgreement
from annotator.domain.figures import show_number
from annotator.web.agreement.tables import name_group
from annotator.web.kit.charts import AMBER, TEAL, label_counts, show_value, space_percent
from annotator.web.kit.figures import show_share
from annotator.web.kit.heat_map import PALE, name_grades, tint_cell, tint_neutral
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.person_names import find_username
from annotator.web.kit.words import name_word

if TYPE_CHECKING:
    import altair as alt


MOST_GROUPS = 40
ROW, AXIS = 26, 64


IN_ORDER = ("week", "guideline_version")
"""Fields whose groups follow each other: they are drawn in that order."""


def list_drawn(report: AgreementReport) -> list[GroupAgreement]:
    """Return the groups to draw, first those that lower the dataset's agreement most; of more than MOST_GROUPS those with the most pairs."""
    largest = sorted(report.groups, key=lambda group: -group.measured.pairs)[:MOST_GROUPS]
    kept = {id(group) for group in largest}
    drawn = [group for group in report.groups if id(group) in kept]
    if drawn and drawn[0].by in IN_ORDER:
        return drawn
    return rank_groups(drawn, report.measured.cohen_kappa["unweighted"])


def list_points(report: AgreementReport) -> list[dict[str, Any]]:
    """Return a row for the dataset and one for each drawn group, where kappa is defined.

    `group`: the index of the group among those drawn, -1 for the dataset.
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


def chart_forest(report: AgreementReport) -> "alt.LayerChart":
    """Chart each kappa with its interval; a click on a point picks its group (parameter `cell`: group)."""
    import altair as alt

    rows, target = list_points(report), report.kappa_target
    low = min([0.0, target, *(row["low"] for row in rows)])
    scale = alt.Scale(domain=[max(low, -1.0), 1.0], nice=False, clamp=True)
    y = alt.Y(
        "label:N",
        sort=[row["label"] for row in rows],
        title=None,
        axis=alt.Axis(labelLimit=190, ticks=False, domain=False, labelOverlap=False, labelFlush=False),
    )
    x = alt.X(
        "value:Q",
        scale=scale,
        title=tr("κ (dashed: the target)"),
        axis=alt.Axis(tickCount=5, format=".1f", labelFlush=False),
    )
    tooltip = [
        alt.Tooltip("name:N", title=" "),
        alt.Tooltip("pairs:Q", title=tr("pairs"), format=",d"),
        alt.Tooltip("value:Q", title="κ", format=".3f"),
        alt.Tooltip("low:Q", title=tr("from"), format=".3f"),
        alt.Tooltip("high:Q", title=tr("to"), format=".3f"),
        alt.Tooltip("warning:N", title=tr("warning")),
    ]
    base = alt.Chart(alt.InlineData(rows)).encode(y=y)
    goal = alt.Chart(alt.InlineData([{"target": target}])).mark_rule(
        strokeDash=[5, 4], strokeWidth=2, color=AMBER
    )
    picked = alt.selection_point(name="cell", fields=["group"], on="click", clear=False)
    return alt.layer(
        goal.encode(x=alt.X("target:Q", scale=scale)),
        base.mark_rule(strokeWidth=2.5, color=TEAL).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        base.mark_point(size=130, stroke=TEAL, strokeWidth=2.5, opacity=1, fillOpacity=1, cursor="pointer")
        .encode(
            x=x,
            fill=alt.condition("datum.little", alt.value("transparent"), alt.value(TEAL)),
            shape=alt.condition("datum.whole", alt.value("diamond"), alt.value("circle")),
            tooltip=tooltip,
        )
        .add_params(picked),
    ).properties(height=len(rows) * ROW + AXIS)


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
    """Return everybody who shares a pair with somebody, sorted by name."""
    return sorted({name for pair in pairs for name in pair.annotators})


def choose_pairs(pairs: Sequence[PairAgreement], person: str | None) -> list[PairAgreement]:
    """Return the annotator pairs to draw: all, or those among one person and the annotators who share most with them.

    At most MOST_PEOPLE annotators remain.
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
    """Return two cells for each two annotators: kappa above the diagonal, the number of shared pairs below.

    Each has its row and column, its text (`shown`), and the colours of its ground (`fill`) and its text (`ink`).
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
            {
                "row": first,
                "column": second,
                "shown": figures["kappa"],
                "fill": fill,
                "ink": ink,
                **figures,
            },
            {
                "row": second,
                "column": first,
                "shown": _short(pair.pairs),
                "fill": COUNTED,
                "ink": PALE,
                **figures,
            },
        ]
    return cells


def chart_matrix(pairs: Sequence[PairAgreement], kind: str) -> "alt.LayerChart":
    """Chart the cells; a click on one picks its two annotators (parameter `cell`: row, column)."""
    import altair as alt

    names = list_shown(pairs)
    axis: dict[str, Any] = {
        "ticks": False,
        "domain": False,
        "labelLimit": 110,
        "labelOverlap": False,
        "labelFlush": False,
    }
    base = alt.Chart(alt.InlineData(list_matrix_cells(pairs, kind))).encode(
        y=alt.Y("row:N", sort=names, title=None, scale=alt.Scale(domain=names), axis=alt.Axis(**axis)),
        x=alt.X(
            "column:N",
            sort=names,
            title=None,
            scale=alt.Scale(domain=names),
            axis=alt.Axis(labelAngle=-40, orient="bottom", **axis),
        ),
        tooltip=[
            alt.Tooltip("row:N", title=" "),
            alt.Tooltip("column:N", title="  "),
            alt.Tooltip("kappa:N", title=f"κ {name_word(kind)}"),
            alt.Tooltip("pairs:Q", title=tr("pairs"), format=",d"),
            alt.Tooltip("why:N", title=tr("undefined because")),
        ],
    )
    picked = alt.selection_point(name="cell", fields=["row", "column"], on="click", clear=False)
    written = len(names) <= MOST_WRITTEN
    colour = alt.Color("fill:N", scale=None) if written else _colour_with_legend(alt, pairs, kind)
    drawn = [base.mark_rect(cursor="pointer", aria=False).encode(color=colour).add_params(picked)]
    if written:
        drawn.append(
            base.mark_text(fontSize=12, cursor="pointer", aria=False).encode(
                text="shown:N", color=alt.Color("ink:N", scale=None)
            )
        )
    return alt.layer(*drawn).properties(height=len(names) * CELL + EDGE + (0 if written else LEGEND))


def describe_matrix(pairs: Sequence[PairAgreement], kind: str) -> str:
    """Return the heat map in words."""
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
    """Return the legend of the cells' colours, by colour: some values of kappa, and what is no kappa."""
    shades = {
        _colour(-0.5)[0]: tr("below 0"),
        **{_colour(kappa)[0]: show_number(kappa, 1) for kappa in SHADES},
    }
    return {**shades, NOTHING: tr("undefined"), COUNTED: tr("pairs")}


def _colour_with_legend(alt: Any, pairs: Sequence[PairAgreement], kind: str) -> Any:
    """Return the cells' own colours with a legend of some of them, for a heat map without figures in its cells."""
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
    """Return the ground of a kappa, and the colour of its figure.

    The higher, the deeper; below chance in another hue.
    """
    if kappa is None:
        return NOTHING, PALE
    return tint_cell(abs(kappa), same=kappa >= 0)


def _short(pairs: int) -> str:
    """Return a count short enough for a cell: 950, 1.2k, 38k."""
    if pairs < 1_000:
        return str(pairs)
    return f"{pairs / 1000:.1f}k" if pairs < 9_950 else f"{pairs / 1000:.0f}k"


COLOURS = ("#7f8985", "#b7791f", "#3a7cd0", "#b05aa3")
MOST_BARS, LEAST_WRITTEN = 30, 0.08
BAR_ROW, BAR_EDGE = 28, 140


def list_shares(counts: Mapping[str, Sequence[int]], grade_names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row for each grade of each annotator: all annotators together first, then each by name.

    Of more than MOST_BARS annotators, those who judged the most. `place`: the grade; `whose`: the annotator's username, ""
    for all of them.
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


def chart_grades(counts: Mapping[str, Sequence[int]], grade_names: Sequence[str]) -> "alt.LayerChart":
    """Chart the shares as bars; a click on a part picks its grade and annotator (parameter `cell`: whose, place)."""
    import altair as alt

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
    legend = alt.Legend(orient="top", title=None, columns=1, labelLimit=220, symbolStrokeWidth=0)
    picked = alt.selection_point(name="cell", fields=["whose", "place"], on="click", clear=False)
    bars = (
        base.mark_bar(size=BAR_ROW - 8, stroke="#ffffff", strokeWidth=1, cursor="pointer")
        .encode(
            x=x,
            x2="end:Q",
            color=alt.Color("grade:N", scale=alt.Scale(domain=names, range=list(COLOURS)), legend=legend),
        )
        .add_params(picked)
    )
    labels = base.mark_text(fontSize=11, color="#000000", cursor="pointer").encode(
        x=alt.X("middle:Q", scale=scale), text="shown:N"
    )
    return alt.layer(bars, labels).properties(height=len(people) * BAR_ROW + BAR_EDGE)


def describe_grades(counts: Mapping[str, Sequence[int]], grade_names: Sequence[str]) -> str:
    """Return the shares in words."""
    parts_by_name: dict[str, list[str]] = {}
    for row in list_shares(counts, grade_names):
        parts_by_name.setdefault(row["name"], []).append(f"{row['grade']} {show_share(row['share'])}")
    return tr(
        "Shares of grades: {list}.",
        list="; ".join(f"{name}: {', '.join(parts)}" for name, parts in parts_by_name.items()),
    )
