"""The leads' charts: what is drawn is what was given, in colours that can be read on any ground."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from annotator.adjudication.queue.queue_records import QueueSummary
from annotator.agreement.records import CoefficientValue, PairAgreement
from annotator.domain.judgments import AnnotatorProgress, QueryProgress
from annotator.web.adjudication.queue_table import chart_grades
from annotator.web.agreement.annotators_tab import chart_confusion, describe_confusion, list_cells
from annotator.web.agreement.charts import chart_matrix
from annotator.web.kit import charts
from annotator.web.kit.charts import tint_cell, turn_labels
from annotator.web.overview import charts as overview_charts

NAMES = ("該当なし", "Marginally relevant", "매우 관련", "Perfect")
MATRIX = PairAgreement(("花子", "민준"), 6, 0.5, {}, ((3, 0, 0, 1), (0, 0, 0, 0), (0, 2, 0, 0), (0, 0, 0, 0)))
GROUNDS = ("#ffffff", "#14181a")
TEXTS = ("#1c2326", "#e8ebe8")


def rows_of(drawn: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of the chart's largest data set."""
    return max(drawn["datasets"].values(), key=len)


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, other: str) -> float:
    dark, light = sorted((luminance(first), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def read_cell(cell: dict[str, Any]) -> float:
    """The lower contrast of a heat map's figure on its cell, on a light page and on a dark one."""
    return min(
        contrast(
            lay_over(cell["fill"], ground), {"currentcolor": text, "#ffffff": "#ffffff"}[str(cell["ink"])]
        )
        for ground, text in zip(GROUNDS, TEXTS, strict=True)
    )


def lay_over(colour: str, ground: str) -> str:
    """What is seen of #rrggbbaa over the ground."""
    opacity = int(colour[7:9], 16) / 255
    parts = [(int(colour[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(below + (own - below) * opacity):02x}" for own, below in parts)


@pytest.mark.parametrize("same", [True, False])
def test_a_cell_is_as_deep_as_its_share_on_both_pages_and_its_figure_can_be_read(same: bool) -> None:
    cells = [dict(zip(("fill", "ink"), tint_cell(at / 200, same=same), strict=True)) for at in range(201)]
    assert min(map(read_cell, cells)) >= 4.5
    for ground in GROUNDS:
        depths = [contrast(lay_over(cell["fill"], ground), ground) for cell in cells]
        assert all(after >= before - 0.02 for before, after in pairwise(depths))
        assert depths[0] < 1.1 and depths[-1] > 2.5


@pytest.mark.parametrize("colour", [charts.TEAL, charts.AMBER, charts.RED, charts.GREY, charts.VIOLET])
def test_every_colour_stands_out_from_the_light_and_from_the_dark_ground(colour: str) -> None:
    assert min(contrast(colour, ground) for ground in GROUNDS) >= 3


@pytest.mark.parametrize("count", [1, 2, 5, 30, 1000])
def test_the_number_in_a_cell_can_be_read_whatever_its_ground(count: int) -> None:
    for most in (1, 7, 30, 1000):
        pair = PairAgreement(("a", "b"), 9, 0.5, {}, ((most, count, 0, 0), *[(0, count, 0, 0)] * 3))
        for cell in list_cells(pair, NAMES):
            assert read_cell(cell) >= 4.5


def test_a_heat_map_has_rows_of_the_first_and_columns_of_the_second_annotator() -> None:
    drawn = chart_confusion(MATRIX, NAMES).to_dict()
    cells = {(cell["first"], cell["second"]): cell["pairs"] for cell in rows_of(drawn)}
    assert len(cells) == 16
    assert cells["0 該当なし", "3 Perfect"] == 1
    assert cells["2 매우 관련", "1 Marginally relevant"] == 2
    axes = drawn["layer"][0]["encoding"]
    assert (axes["y"]["title"], axes["x"]["title"]) == ("花子", "민준")
    assert "the same grade on 3, different grades on 3" in describe_confusion(MATRIX)


def test_only_defined_kappas_are_drawn_and_the_words_hold_the_others() -> None:
    named = [
        ("設定", CoefficientValue(-0.2, (-0.5, 0.1))),
        ("法", CoefficientValue(None, why="no variation")),
        ("x", CoefficientValue(0.4, None, "one query")),
    ]
    drawn = overview_charts.chart_kappas(named, 0.7).to_dict()
    points = rows_of(drawn)
    assert [(row["name"], row["low"], row["high"]) for row in points] == [
        ("設定", -0.5, 0.1),
        ("x", 0.4, 0.4),
    ]
    assert drawn["layer"][0]["encoding"]["x"]["scale"]["domain"] == [-0.5, 1.0]
    assert overview_charts.describe_kappas(named, 0.7) == (
        "Cohen's kappa, target 0.7: 設定 −0.20 [−0.50, 0.10]; 法 undefined: no variation; x 0.40 (one query)."
    )


def test_queries_stand_in_the_order_of_their_file_and_many_of_them_without_their_ids() -> None:
    few = [QueryProgress(f"Q{9 - n}", "검색", None, 10, 4, 3) for n in range(3)]
    drawn = overview_charts.chart_queries(few).to_dict()
    assert [row["query"] for row in rows_of(drawn)[::3]] == ["Q9", "Q8", "Q7"]
    assert [(row["state"], row["pairs"]) for row in rows_of(drawn)[:3]] == [
        ("complete", 4), ("begun", 3), ("untouched", 3),
    ]  # fmt: skip
    assert drawn["encoding"]["x"]["sort"] is None
    assert drawn["encoding"]["x"]["axis"]["labels"]
    many = overview_charts.chart_queries(
        [QueryProgress(f"Q{n}", "", None, 1, 0, 0) for n in range(100)]
    ).to_dict()
    assert not many["encoding"]["x"]["axis"]["labels"]
    assert len(rows_of(many)) == 300


def test_a_column_stands_for_neighbouring_queries_where_there_are_more_than_a_screen_has_room_for() -> None:
    queries = [QueryProgress(f"Q{n}", "検索", None, 3, n % 2, 1) for n in range(1_000)]
    drawn = overview_charts.chart_queries(queries).to_dict()
    rows = rows_of(drawn)
    assert len(rows) <= 3 * overview_charts.MOST_COLUMNS
    assert [row["query"] for row in rows[::3]][:2] == ["Q0 – Q8", "Q9 – Q17"]
    assert (rows[-1]["query"], rows[0]["text"]) == ("Q999", "9 queries")
    assert [(row["state"], row["pairs"]) for row in rows[:3]] == [
        ("complete", 4),
        ("begun", 9),
        ("untouched", 14),
    ]
    assert sum(row["pairs"] for row in rows) == 3_000
    assert drawn["encoding"]["x"]["title"] == "queries, in the order of their file, 9 in each column"


def test_a_screen_reader_hears_no_colours_of_a_heat_map() -> None:
    """Vega reads out every field of a cell; the chart's words and its table say what the cells show."""
    matrix = replace(MATRIX, cohen_kappa={"unweighted": CoefficientValue(0.5)})
    for drawn in (
        chart_confusion(MATRIX, NAMES),
        chart_matrix([matrix], "unweighted"),
        chart_grades(QueueSummary({}, {(0, 3): 2}, {}, 0, 0, {}, 0), NAMES),
    ):
        assert [layer["mark"]["aria"] for layer in drawn.to_dict()["layer"]] == [False, False]


def test_who_is_simulated_is_named_so() -> None:
    people = [
        AnnotatorProgress("花子", "", False, 3, 0, 0, None),
        AnnotatorProgress("bot", "", True, 4, 0, 0, None),
    ]
    drawn = overview_charts.chart_annotators(people, 10).to_dict()
    assert [row["name"] for row in rows_of(drawn)] == ["bot (simulated)", "花子"]


def test_annotators_have_the_names_that_people_know_with_numbers_in_order_and_namesakes_apart() -> None:
    named = [("a", "Expert-10"), ("b", "expert-2"), ("c", "Kim"), ("d", "Kim"), ("e", "")]
    people = [AnnotatorProgress(username, name, False, 3, 0, 0, None) for username, name in named]
    shown = [name for name, _ in overview_charts.name_people(people)]
    assert shown == ["e", "expert-2", "Expert-10", "Kim (c)", "Kim (d)"]
    drawn = overview_charts.chart_annotators(people, 10).to_dict()
    assert [row["name"] for row in rows_of(drawn)] == shown


def test_a_chart_waits_for_a_pandas_that_another_thread_is_still_importing() -> None:
    script = """
import sys, threading
import altair, annotator.labeling.service
from annotator.agreement.records import CoefficientValue

assert "pandas" not in sys.modules
begun, go_on = threading.Event(), threading.Event()

class Hold:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas.core.api":
            begun.set()
            go_on.wait(30)

sys.meta_path.insert(0, Hold())
threading.Thread(target=lambda: __import__("pandas")).start()
begun.wait(30)
threading.Timer(1, go_on.set).start()
from annotator.web.overview.charts import chart_kappas
try:
    chart_kappas([("linear", CoefficientValue(0.5, (0.4, 0.6)))], 0.7).to_dict()
finally:
    go_on.set()
print("drawn")
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.stdout == "drawn\n", ran.stderr


def test_labels_are_level_where_all_names_have_room() -> None:
    options = turn_labels(["a" * 10, "日本"], most=40)
    assert options["labelLimit"] == 40
    assert options["labelAngle"] == {"expr": "width > 94 ? 0 : -40"}
