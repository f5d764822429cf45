"""How each annotator spreads the four grades: bars of the same length, cut by the share of each grade.

The grades stand in their order in every bar and their shares are written in it, so that nothing rests on colour alone; the
colours stay apart for colour-blind eyes, and stand out from a light and from a dark ground.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.web.kit.chart_labels import label_counts, space_percent
from annotator.web.kit.heat_map import name_grades
from annotator.web.kit.messages import tr
from annotator.web.kit.web_figures import show_share

if TYPE_CHECKING:
    import altair as alt

COLOURS = ("#7f8985", "#b7791f", "#3a7cd0", "#b05aa3")
MOST, LEAST_WRITTEN = 30, 0.08
ROW, EDGE = 28, 140


def list_shares(counts: Mapping[str, Sequence[int]], grade_names: Sequence[str]) -> list[dict[str, Any]]:
    """A piece for each grade of each annotator: all of them first, then by name; of a crowd those who judged the most.
    `place`: the grade; `whose`: the annotator, "" for all."""
    names = name_grades(grade_names)
    chosen = sorted(sorted(counts, key=lambda one: (-sum(counts[one]), one))[:MOST])
    everybody = tuple(sum(column) for column in zip(*counts.values(), strict=True))
    people = [(tr("all annotators"), "", everybody), *((one, one, tuple(counts[one])) for one in chosen)]
    labels = label_counts([name for name, *_ in people], [sum(given) for *_, given in people])
    found = []
    for label, (person, whose, given) in zip(labels, people, strict=True):
        total, begin = sum(given), 0.0
        for grade, count in enumerate(given):
            share = count / total if total else 0.0
            found.append({
                "label": label, "name": person, "place": grade, "whose": whose, "grade": names[grade], "count": count, "share": share,
                "told": show_share(share, 1), "begin": begin, "end": begin + share, "middle": begin + share / 2,
                "shown": show_share(share) if share >= LEAST_WRITTEN else "",
            })  # fmt: skip
            begin += share
    return found


def chart_grades(counts: Mapping[str, Sequence[int]], grade_names: Sequence[str]) -> "alt.LayerChart":
    """The bars; a click on a piece picks its grade and its annotator (parameter `cell`: whose, place)."""
    import altair as alt

    rows, names = list_shares(counts, grade_names), name_grades(grade_names)
    people = list(dict.fromkeys(row["label"] for row in rows))
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y(
            "label:N", sort=people, title=None,
            axis=alt.Axis(labelLimit=190, ticks=False, domain=False, labelOverlap=False),
        ),
        tooltip=[
            alt.Tooltip("name:N", title=" "), alt.Tooltip("grade:N", title=tr("grade")),
            alt.Tooltip("count:Q", title=tr("judgments"), format=",d"), alt.Tooltip("told:N", title=tr("share")),
        ],
    )  # fmt: skip
    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X(
        "begin:Q",
        title=tr("share of the grades"),
        scale=scale,
        axis=alt.Axis(**space_percent("%"), tickCount=5),
    )
    legend = alt.Legend(orient="top", title=None, columns=1, labelLimit=220, symbolStrokeWidth=0)
    picked = alt.selection_point(name="cell", fields=["whose", "place"], on="click", clear=False)
    bars = (
        base.mark_bar(size=ROW - 8, stroke="#ffffff", strokeWidth=1, cursor="pointer")
        .encode(
            x=x,
            x2="end:Q",
            color=alt.Color("grade:N", scale=alt.Scale(domain=names, range=list(COLOURS)), legend=legend),
        )
        .add_params(picked)
    )
    told = base.mark_text(fontSize=11, color="#000000", cursor="pointer").encode(
        x=alt.X("middle:Q", scale=scale), text="shown:N"
    )
    return alt.layer(bars, told).properties(height=len(people) * ROW + EDGE)


def describe_grades(counts: Mapping[str, Sequence[int]], grade_names: Sequence[str]) -> str:
    """The same in words."""
    said: dict[str, list[str]] = {}
    for row in list_shares(counts, grade_names):
        said.setdefault(row["name"], []).append(f"{row['grade']} {show_share(row['share'])}")
    return tr(
        "Shares of the grades: {list}.",
        list="; ".join(f"{name}: {', '.join(told)}" for name, told in said.items()),
    )
