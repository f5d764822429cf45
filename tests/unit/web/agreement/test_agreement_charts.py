"""The charts of the agreement page: what is drawn is what was given, to be read by every eye, and cut where it is too much."""

import dataclasses
import json
from typing import Any

import pytest

from annotator.agreement.records import (
    AgreementPeriod,
    AgreementReport,
    CoefficientValue,
    GroupAgreement,
    Leaning,
    MeasuredAgreement,
    PairAgreement,
)
from annotator.web.agreement import charts, time_tabs
from annotator.web.agreement.charts import chart_forest, describe_forest, list_points
from annotator.web.agreement.figures import choose_hidden_columns, choose_rows
from annotator.web.agreement.tables import TableRequest, list_period_rows, list_rows
from annotator.web.kit.charts import GREY, label_counts
from annotator.web.kit.messages import use_language
from annotator.web.kit.text import shorten
from tests.unit.web.kit.test_charts import GROUNDS, contrast, read_cell, rows_of

KNOWN, UNKNOWN = CoefficientValue(0.5, (0.4, 0.6)), CoefficientValue(None, why="no variation")
NAMES = ("Not relevant", "少し", "매우", "Perfect")
# How dichromats see a colour, in linear light: Machado, Oliveira & Fernandes 2009, severity 1.
BLINDNESS = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}  # fmt: skip


def comparison(first: str, second: str, pairs: int = 10, kappa: CoefficientValue = KNOWN) -> PairAgreement:
    kinds = dict.fromkeys(("unweighted", "linear", "quadratic"), kappa)
    return PairAgreement((first, second), pairs, 0.5, kinds, ((pairs, 0, 0, 0), *[(0, 0, 0, 0)] * 3))


def measured(kappa: CoefficientValue = KNOWN, pairs: int = 10) -> MeasuredAgreement:
    kinds = dict.fromkeys(("unweighted", "linear", "quadratic"), kappa)
    return MeasuredAgreement(
        pairs, 0, 5, 0.5, kinds, kappa, {"ordinal": kappa}, kappa, kappa, (), (), (), (1, 2, 3, 4)
    )


def report(groups: tuple[GroupAgreement, ...]) -> AgreementReport:
    return AgreementReport("d", ("a", "b"), False, 0.7, 1000, 0, measured(), groups, ())


def test_the_lowest_kappa_that_is_told_is_not_of_two_who_share_too_little() -> None:
    low = dataclasses.replace(comparison("a", "b", 1, CoefficientValue(-1.0)), warning="too few to say much")
    sentence = charts.describe_matrix(
        [low, comparison("a", "c"), comparison("b", "c", kappa=CoefficientValue(0.7))], "linear"
    )
    assert "1 of them shares too few pairs" in sentence
    assert sentence.endswith("Lowest 0.50 (a – c), highest 0.70 (b – c).")


def test_the_matrix_has_kappa_above_the_diagonal_and_its_pairs_below() -> None:
    pairs = [
        comparison("ann", "花子", 1234),
        comparison("ann", "🦊", 7, UNKNOWN),
        comparison("花子", "🦊", 30, CoefficientValue(-0.2, (-0.4, 0.1))),
    ]
    cells = {(cell["row"], cell["column"]): cell for cell in charts.list_matrix_cells(pairs, "linear")}
    assert {cell_name: cell["shown"] for cell_name, cell in cells.items()} == {
        ("ann", "花子"): "0.50", ("花子", "ann"): "1.2k", ("ann", "🦊"): "–", ("🦊", "ann"): "7",
        ("花子", "🦊"): "-0.20", ("🦊", "花子"): "30",
    }  # fmt: skip
    assert cells["ann", "🦊"]["why"] == "no variation"
    assert all(read_cell(cell) >= 4.5 for cell in cells.values())
    assert "Lowest −0.20 (花子 – 🦊), highest 0.50 (ann – 花子)." in charts.describe_matrix(pairs, "linear")
    drawn = charts.chart_matrix(pairs, "linear").to_dict()
    assert drawn["params"][0]["name"] == "cell" and drawn["params"][0]["select"]["fields"] == [
        "row",
        "column",
    ]


def test_of_two_hundred_annotators_those_who_share_the_most_are_drawn() -> None:
    people = [f"p{at:03}" for at in range(200)]
    pairs = [
        comparison(person, other, 5 + (person < "p010"))
        for at, person in enumerate(people)
        for other in people[at + 1 :]
    ]
    shown = charts.list_shown(pairs)
    assert len(shown) == charts.MOST_PEOPLE and shown[:10] == people[:10]
    assert len(charts.list_matrix_cells(pairs, "unweighted")) == 20 * 19
    drawn = charts.chart_matrix(pairs, "unweighted")
    assert len(drawn.layer) == 1, "no figures in cells that small"
    colour = drawn.to_dict()["layer"][0]["encoding"]["color"]
    shades = charts.list_shades()
    assert list(shades.values()) == [
        "below 0",
        "0.0",
        "0.2",
        "0.4",
        "0.6",
        "0.8",
        "1.0",
        "undefined",
        "pairs",
    ]
    assert colour["legend"]["values"] == list(shades) and all(
        name in colour["legend"]["labelExpr"] for name in shades.values()
    )
    assert colour["scale"]["domain"] == colour["scale"]["range"], "each cell keeps its own ground"


def test_the_forest_begins_with_the_dataset_then_what_is_worst_and_says_n_and_what_is_too_small() -> None:
    groups = (
        GroupAgreement("category", "設定", measured(pairs=1234)),
        GroupAgreement("category", "small", measured(pairs=3), "too few"),
        GroupAgreement("category", "none", measured(UNKNOWN)),
        GroupAgreement("category", None, measured()),
        GroupAgreement("category", "worst", measured(CoefficientValue(0.1, (0.0, 0.2)), pairs=50)),
    )
    points = list_points(report(groups))
    assert [(point["group"], point["label"], point["little"]) for point in points] == [
        (-1, "whole dataset (10)", False), (0, "worst (50)", False), (1, "(no category) (10)", False),
        (2, "設定 (1,234)", False), (4, "small (3)", True),
    ]  # fmt: skip
    weeks = tuple(dataclasses.replace(group, by="week", value=f"{at}") for at, group in enumerate(groups))
    assert [point["name"] for point in list_points(report(weeks))] == ["whole dataset", "0", "1", "3", "4"]
    assert "none undefined: no variation" in describe_forest(report(groups))
    many = tuple(GroupAgreement("team", f"t{at}", measured(pairs=at)) for at in range(300))
    kept = [point["name"] for point in list_points(report(many))]
    assert len(kept) == 41 and kept[1] == "t260" and kept[-1] == "t299"
    assert chart_forest(report(many)).to_dict()["height"] < 1300


def test_names_that_are_cut_alike_stay_two() -> None:
    assert shorten("設定とハンドラキューの構成") == "設定とハンドラキ…"
    labels = label_counts(["x" * 40 + "1", "x" * 40 + "2"], [5, 5])
    assert len(set(labels)) == 2 and {label.rstrip("\u200b") for label in labels} == {"x" * 24 + "… (5)"}
    assert label_counts(["framework_configuration"], [45]) == ["framework_configuration (45)"]


def test_drift_is_drawn_where_kappa_is_known_and_those_who_lean_furthest_are_told_apart_by_form_too() -> None:
    people = [Leaning(f"p{at}", 40, at / 10, (0.0, at / 5)) for at in range(9)]
    periods = (
        AgreementPeriod("2026-01-05", "2026-01-11", 40, KNOWN, 0.5, tuple(people)),
        AgreementPeriod("2026-01-12", "2026-01-18", 40, UNKNOWN, 1.0, tuple(people[:4])),
        AgreementPeriod("2026-01-19", "2026-01-25", 40, KNOWN, 0.5),
    )
    drawn = time_tabs.chart_drift(periods, 0.7).to_dict()
    assert [row["period"] for row in rows_of(drawn)] == ["Jan 5, 2026", "Jan 19, 2026"]
    assert "Jan 12, 2026 undefined: no variation" in time_tabs.describe_drift(periods, 0.7)
    assert time_tabs.list_leaning_people(periods) == [f"p{at}" for at in range(3, 9)]
    leanings = time_tabs.chart_leanings(periods).to_dict()
    scales = leanings["layer"][2]["encoding"]
    assert len(set(scales["shape"]["scale"]["range"])) == len(set(scales["color"]["scale"]["range"])) == 6
    assert "p8 from +0.80 to +0.80" in time_tabs.describe_leanings(periods)
    assert [row["at"] for row in rows_of(drawn)] == [0, 2], "a click names a period by its place among all"
    assert [chart["params"][0]["select"]["fields"] for chart in (drawn, leanings)] == [["at"], ["at", "name"]]


def test_every_bar_of_grades_is_whole_and_all_annotators_come_first() -> None:
    counts = {"花子": (10, 0, 0, 10), "민준": (0, 5, 5, 0), "new": (0, 0, 0, 0)}
    rows = charts.list_shares(counts, NAMES)
    assert [row["name"] for row in rows[::4]] == ["all annotators", "new", "花子", "민준"]
    assert [row["share"] for row in rows if row["name"] == "花子"] == [0.5, 0.0, 0.0, 0.5]
    assert [row["shown"] for row in rows if row["name"] == "민준"] == ["", "50\u00a0%", "50\u00a0%", ""]
    assert [(row["whose"], row["place"]) for row in rows[3:6]] == [("", 3), ("new", 0), ("new", 1)]
    drawn = charts.chart_grades(counts, NAMES).to_dict()
    assert drawn["params"][0]["select"]["fields"] == ["whose", "place"]


@pytest.mark.parametrize("colour", [GREY, *time_tabs.COLOURS])
def test_the_colours_stand_out_from_both_grounds(colour: str) -> None:
    assert min(contrast(colour, ground) for ground in GROUNDS) >= 3


@pytest.mark.parametrize(("colour", "ink"), zip(charts.COLOURS, charts.INKS, strict=True))
def test_the_share_written_in_a_bar_can_be_read(colour: str, ink: str) -> None:
    assert contrast(colour, ink) >= 4.5


def test_a_higher_grade_is_deeper_and_each_bar_has_an_outline() -> None:
    assert sorted(charts.COLOURS, key=lambda colour: contrast(colour, "#ffffff")) == list(charts.COLOURS)
    drawn: dict[str, Any] = charts.chart_grades({"ann": (1, 1, 1, 1)}, NAMES).to_dict()
    assert drawn["layer"][0]["mark"]["stroke"] == GREY


def see(colour: str, kind: str) -> tuple[float, ...]:
    """The colour in CIELAB as somebody with this colour-blindness sees it."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    light = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    if kind in BLINDNESS:
        light = [
            min(1.0, max(0.0, sum(a * b for a, b in zip(row, light, strict=True)))) for row in BLINDNESS[kind]
        ]
    red, green, blue = light
    x, y, z = (
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505, 0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
    )  # fmt: skip
    fx, fy, fz = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@pytest.mark.parametrize("kind", ["all colours", *BLINDNESS])
def test_neighbouring_grades_are_told_apart_by_colour_blind_eyes(kind: str) -> None:
    colours = charts.COLOURS
    for at, colour in enumerate(colours):
        for other in colours[at + 1 :]:
            apart = sum((a - b) ** 2 for a, b in zip(see(colour, kind), see(other, kind), strict=True)) ** 0.5
            assert apart >= 15, (colour, other, apart)


def test_a_report_of_nothing_is_still_drawn() -> None:
    empty = dataclasses.replace(report(()), measured=measured(UNKNOWN, 0))
    drawn: dict[str, Any] = chart_forest(empty).to_dict()
    assert drawn["layer"]
    assert charts.describe_matrix([comparison("a", "b", kappa=UNKNOWN)], "linear").endswith(
        "None is defined."
    )


def test_a_person_is_found_in_the_heat_map_of_a_crowd() -> None:
    crowd = [
        comparison(f"a{first:02}", f"b{second:02}", 10 + second)
        for first in range(30)
        for second in range(30)
    ]
    assert charts.choose_pairs(crowd, None) == crowd
    shown = charts.list_shown(charts.choose_pairs(crowd, "a07"))
    assert shown == ["a07", *(f"b{second:02}" for second in range(11, 30))]
    assert len(charts.list_people(crowd)) == 60


def test_of_a_long_table_those_stand_on_the_page_that_weigh_most() -> None:
    pairs = tuple(
        comparison(f"a{number:03}", "z", 100, CoefficientValue(number / 200)) for number in range(150)
    )
    pairs = (dataclasses.replace(pairs[0], warning="too few"), *pairs[1:])
    leanings = tuple(Leaning(f"a{number:03}", 40, number / 100, None) for number in range(150))
    given = {f"a{number:03}": (number, 0, 0, 0) for number in range(150)}
    crowd = dataclasses.replace(
        report(()),
        measured=dataclasses.replace(
            measured(), annotator_pairs=pairs, leanings=leanings, grades_by_annotator=given
        ),
    )
    positions, sentence = choose_rows(crowd, TableRequest("annotators"), 150)
    assert positions == list(range(1, 101))
    assert sentence.startswith("Showing 100 of 150, sorted by how much they lower κ")
    assert "1 annotator pair is excluded" in sentence and sentence.endswith("The file has all of them.")
    few = tuple(dataclasses.replace(pair, warning="too few") for pair in pairs * 10)
    nobody = dataclasses.replace(crowd, measured=dataclasses.replace(crowd.measured, annotator_pairs=few))
    positions, sentence = choose_rows(nobody, TableRequest("annotators"), 1_500)
    assert positions == [] and sentence.startswith("1,500 annotator pairs are excluded: fewer than")
    assert choose_rows(crowd, TableRequest("leanings"), 150)[0] == list(range(149, 49, -1))
    assert choose_rows(crowd, TableRequest("grades"), 151)[0] == [0, *range(150, 51, -1)]


def test_of_many_groups_those_stand_on_the_page_that_lower_kappa_most_beside_the_dataset() -> None:
    groups = [
        GroupAgreement("annotator", f"a{number:03}", measured(CoefficientValue(number / 200), 100))
        for number in range(150)
    ]
    groups[0] = dataclasses.replace(groups[0], warning="too few")
    groups[1] = GroupAgreement("annotator", None, measured(UNKNOWN))
    groups.reverse()
    positions, sentence = choose_rows(report(tuple(groups)), TableRequest("groups", by="annotator"), 151)
    assert positions == [0, *range(148, 49, -1)]
    assert sentence == (
        "Showing 99 of 150 groups, sorted by how much they lower κ (difference times pairs); 51 not shown. The file "
        "has all of them."
    )


def test_of_hundreds_of_annotators_few_have_a_column_in_the_table_of_periods_and_the_file_has_all() -> None:
    leanings = tuple(Leaning(f"a{number:03}", 40, number / 100, None) for number in range(150))
    periods = tuple(
        AgreementPeriod(day, day, 40, KNOWN, 0.5, leanings) for day in ("2026-01-01", "2026-01-02")
    )
    crowd = dataclasses.replace(
        report(()), periods=periods, measured=dataclasses.replace(measured(), leanings=leanings)
    )
    hidden, sentence = choose_hidden_columns(crowd, TableRequest("periods"))
    assert hidden == {f"leniency of a{number:03}" for number in range(130)}
    assert sentence.startswith("Showing 20 of 150, sorted by leniency over the whole time.")
    assert hidden < set(list_rows(crowd, TableRequest("periods"), NAMES)[0])
    few = tuple(dataclasses.replace(period, leanings=leanings[:100]) for period in periods)
    assert choose_hidden_columns(dataclasses.replace(crowd, periods=few), TableRequest("periods")) == (
        set(),
        "",
    )
    assert choose_hidden_columns(crowd, TableRequest("leanings")) == (set(), "")


@pytest.mark.parametrize(
    ("language", "first", "last"),
    [("en", "first day", "last day"), ("ja", "開始日", "終了日"), ("ko", "시작일", "종료일")],
)
def test_the_days_of_a_period_are_not_called_the_limits_of_an_interval(
    language: str, first: str, last: str
) -> None:
    period = AgreementPeriod("2026-01-05", "2026-01-11", 10, KNOWN, 0.5, (), (0, 1))
    use_language(language)
    try:
        (row,) = list_period_rows(dataclasses.replace(report(()), periods=(period,)))
        drawn = json.dumps(time_tabs.chart_drift((period,), 0.7).to_dict(), ensure_ascii=False)
    finally:
        use_language("en")
    assert (row[first], row[last]) == ("2026-01-05", "2026-01-11")
    assert f'"title": "{first}"' in drawn
    assert f'"title": "{last}"' in drawn
