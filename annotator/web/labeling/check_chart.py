"""What the checks show of each annotator, as a chart, in words and as rows. Pure functions from the service's records.

People stand in the order of their names; nothing here is sorted by how well somebody did.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.labeling.domain_calibration import AnnotatorResult
from annotator.labeling.records import Times
from annotator.web.kit.chart_labels import space_percent
from annotator.web.kit.charts import AMBER, TEAL, VIOLET
from annotator.web.kit.figures import show_number
from annotator.web.kit.messages import tr
from annotator.web.kit.web_figures import show_difference, show_median, show_share

if TYPE_CHECKING:
    import altair as alt

LEGEND, ROOM = 96, 18


def name_result(one: AnnotatorResult) -> str:
    """The username, marked when it is nobody."""
    return tr("{name} (simulated)", name=one.annotator) if one.simulated else one.annotator


def list_shares(results: Sequence[AnnotatorResult]) -> list[tuple[str, str, float, int]]:
    """(person, which check, share, number of answers) for every share that is defined, by name."""
    found = []
    for one in results:
        for check, share, n in (
            (
                tr("training"),
                one.training.latest if one.training else None,
                one.training.done if one.training else 0,
            ),
            (tr("gold"), one.gold.exact, one.gold.answered),
            (tr("repeat"), one.repeats.equal, one.repeats.n),
        ):
            if share is not None:
                found.append((name_result(one), check, share, n))
    return found


def chart_shares(results: Sequence[AnnotatorResult]) -> "alt.Chart":
    """For each person the share right in training, right on gold, and equal on repeats, from 0 to 1. What the axis counts
    stands below the chart: a long title would leave no room for the points on a narrow screen."""
    import altair as alt

    rows = [
        {"name": name, "check": check, "share": share, "shown": show_share(share), "n": n}
        for name, check, share, n in list_shares(results)
    ]
    checks = [tr("training"), tr("gold"), tr("repeat")]
    people = list(dict.fromkeys(row["name"] for row in rows))
    kinds = [check for check in checks if any(row["check"] == check for row in rows)]
    scale = alt.Scale(domain=checks, range=[TEAL, AMBER, VIOLET])
    shape = alt.Scale(domain=checks, range=["circle", "diamond", "square"])
    legend = alt.Legend(
        orient="top", title=None, columns=2, symbolFillColor="transparent", symbolStrokeWidth=2.5
    )
    return (
        alt.Chart(alt.InlineData(rows))
        .mark_point(size=120, strokeWidth=2.5, opacity=1)
        .encode(
            x=alt.X(
                "share:Q",
                title=None,
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(**space_percent("%"), values=[0, 0.25, 0.5, 0.75, 1], labelFlush=False),
            ),
            y=alt.Y(
                "name:N", sort=people, title=None, scale=alt.Scale(type="band", padding=0.2),
                axis=alt.Axis(labelLimit=180, ticks=False),
            ),
            yOffset=alt.YOffset("check:N", sort=kinds, scale=alt.Scale(domain=kinds)),
            color=alt.Color("check:N", scale=scale, legend=legend),
            shape=alt.Shape("check:N", scale=shape, legend=legend),
            tooltip=[
                alt.Tooltip("name:N", title=" "),
                alt.Tooltip("check:N", title=tr("check")),
                alt.Tooltip("shown:N", title=tr("share")),
                alt.Tooltip("n:Q", title=tr("answers")),
            ],
        )
        .properties(height=max(len(people), 1) * ROOM * len(kinds) + LEGEND)
    )  # fmt: skip


def describe_shares(results: Sequence[AnnotatorResult]) -> str:
    """The same in words."""
    said = [
        tr("{name}: {check} {share} of {n:,}", name=name, check=check, share=show_share(share), n=n)
        for name, check, share, n in list_shares(results)
    ]
    return tr("Share of right or equal answers: {list}.", list="; ".join(said))


def list_result_rows(results: Sequence[AnnotatorResult]) -> list[dict[str, object]]:
    """The figures behind the chart; what is undefined is a dash with its reason."""
    return [
        {
            tr("annotator"): name_result(one),
            tr("training pairs answered"): "–" if one.training is None else f"{one.training.done}/{one.training.total}",
            tr("right at the first try"): show_share(one.training.first if one.training else None),
            tr("right at the latest try"): show_share(one.training.latest if one.training else None),
            tr("gold pairs answered"): one.gold.answered,
            tr("exactly right"): show_share(one.gold.exact),
            tr("mean difference, + is more generous"): show_difference(one.gold.difference, signed=True),
            tr("repeats answered"): one.repeats.n,
            tr("equal to one's own"): show_share(one.repeats.equal),
            tr("mean distance"): show_difference(one.repeats.difference),
            tr("undefined because"): "; ".join(tr(why) for why in (one.gold.why, one.repeats.why) if why),
        }
        for one in results
    ]  # fmt: skip


def list_miss_rows(results: Sequence[AnnotatorResult]) -> list[dict[str, object]]:
    """Every answer on a gold pair that is not the right grade."""
    return [
        {
            tr("annotator"): name_result(one), tr("query"): miss.query_id, tr("document"): miss.doc_id,
            tr("right grade"): miss.right, tr("given"): tr("unrateable") if miss.given is None else str(miss.given),
        }
        for one in results
        for miss in one.gold.misses
    ]  # fmt: skip


def list_time_rows(times: Times) -> list[tuple[str, str, str]]:
    """(what, median, answers): all, each category, each annotator; by name."""
    rows = [(tr("all"), times.overall)]
    rows += [
        (tr("category: {name}", name=name or tr("none")), found) for name, found in times.categories.items()
    ]
    rows += [
        (tr("{name} (simulated)", name=name) if name in times.simulated else name, found)
        for name, found in times.annotators.items()
    ]  # fmt: skip
    return [(name, show_median(found), show_number(found.n)) for name, found in rows]
