"""What the quality page shows of a sample, from the records alone: who comes first, which errors, in which words."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from annotator.domain.messages import say
from annotator.quality.records import (
    ErrorRate,
    QualityError,
    QualityExpert,
    QualityPreview,
    QualityStatus,
    QualityStratum,
)
from annotator.quality.sampling import is_proven
from annotator.web.kit.charts import space_percent
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import use_language
from annotator.web.navigation import make_url
from annotator.web.quality.charts import (
    chart_further,
    chart_rates,
    describe_further,
    describe_rates,
    list_rate_rows,
    show_percent,
)
from annotator.web.quality.form import choose_size, list_preview_rows, sort_experts
from annotator.web.quality.page import list_limits, name_state

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
NONE = ErrorRate(0, 0, None, None, None)
THREE = ErrorRate(3, 100, 0.03, (0.0062, 0.0852), 0.0757)
STATUS = QualityStatus(
    dataset="d", rule="bound", round=1, population=1000, outside=0, settled_since=0, drawn=100, checked=90,
    unrateable=2, barred=0, waiting=8, rates={"any": THREE, "far": NONE, "relevance": NONE},
    verdicts={"bound": "undecided", "rate": "passed"}, further=53, sentences=(), draws=(), errors=(),
)  # fmt: skip


def find_error(
    pair: str, settled: int, expert: int, *, minute: int = 0, decided: int | None = None
) -> QualityError:
    return QualityError(
        pair, "Q1", f"文書 {pair}", "設定", settled, "unanimous", expert, None, 1, 1, NOW.replace(minute=minute),
        "reopened" if decided is None else "decided", decided,
    )  # fmt: skip


def test_experts_without_judgments_come_first_and_those_without_pairs_are_left_out() -> None:
    people = [
        QualityExpert("busy", "", 90, 10), QualityExpert("done", "", 100, 0), QualityExpert("fresh", "", 0, 80),
        QualityExpert("free", "", 0, 100), QualityExpert("less", "", 20, 90),
    ]  # fmt: skip
    assert [expert.username for expert in sort_experts(people)] == ["free", "fresh", "less", "busy"]


def test_the_number_offered_is_what_would_decide_and_counts_those_that_wait() -> None:
    assert choose_size(STATUS, 900) == 145  # 100 drawn, of which 8 wait; 53 are needed
    assert choose_size(replace(STATUS, waiting=60), 900) == 100
    assert choose_size(replace(STATUS, population=120), 900) == 120
    assert choose_size(replace(STATUS, further=0), 900) is None
    assert choose_size(replace(STATUS, further=None), 900) is None


def test_a_first_sample_or_a_new_round_offers_what_can_pass_where_a_tenth_cannot() -> None:
    first = replace(STATUS, round=0, rule="bound")
    for population, size in ((20, 19), (100, 46), (500, 57)):
        assert choose_size(first, population) == size
        assert choose_size(STATUS, population, new_round=True) == size
        assert is_proven(0, size, population) and not is_proven(0, size - 1, population)
    assert choose_size(first, 900) is None, "a tenth is enough"
    assert choose_size(replace(first, rule="rate"), 100) is None, "the observed rate needs a tenth"


def test_a_preview_for_oneself_shows_no_grades() -> None:
    strata = (
        QualityStratum("設定", 0, 30, 0, 3), QualityStratum("設定", 3, 10, 0, 1), QualityStratum(None, 2, 20, 5, 2),
    )  # fmt: skip
    preview = QualityPreview(1, "lea", 0.1, 0, 60, 0, 5, 6, strata)
    assert list_preview_rows(preview, hide_grades=False) == (
        ["category", "grade 0", "grade 1", "grade 2", "grade 3", "all"],
        [["設定", "3 / 30", "–", "–", "1 / 10", "4 / 40"], ["none", "–", "–", "2 / 20", "–", "2 / 20"]],
    )
    assert list_preview_rows(preview, hide_grades=True) == (
        ["category", "all"],
        [["設定", "4 / 40"], ["none", "2 / 20"]],
    )


def test_an_error_shows_its_state() -> None:
    assert name_state(find_error("a", 0, 3)) == "waiting for a decision"
    assert name_state(find_error("a", 0, 3, decided=3)) == "decided 3, same as the checker"
    assert name_state(find_error("a", 0, 3, decided=0)) == "decided 0, unchanged"
    assert name_state(find_error("a", 0, 3, decided=2)) == "decided 2"
    assert name_state(replace(find_error("a", 0, 3), state="retired")) == "left the pool"


def test_the_url_of_a_disagreement_escapes_names() -> None:
    assert (
        make_url("/disagreements", dataset="d & é", pair="ab12")
        == "/disagreements?dataset=d+%26+%C3%A9&pair=ab12"
    )


def test_unknown_figures_are_dashes_and_not_drawn() -> None:
    assert [row["observed error rate"] for row in list_rate_rows(STATUS.rates)] == ["3.0\u00a0%", "–", "–"]
    assert [row["guaranteed maximum"] for row in list_rate_rows(STATUS.rates)] == ["7.6\u00a0%", "–", "–"]
    assert list_rate_rows(STATUS.rates)[0]["95 % interval"] == "0.6\u00a0% – 8.5\u00a0%"
    assert describe_rates(STATUS.rates) == (
        "Error rates and the limit of 5 %: another grade: 3 of 100, 3.0\u00a0% (95\u00a0% confidence interval 0.6\u00a0% – 8.5\u00a0%), "
        "guaranteed maximum 7.6\u00a0%."
    )
    drawn = chart_rates(STATUS.rates).to_dict()
    points = [row for rows in drawn["datasets"].values() for row in rows if "reading" in row]
    assert [(point["reading"], point["share"]) for point in points] == [
        ("observed error rate", 0.03),
        ("guaranteed maximum", 0.0757),
    ]


def test_a_share_is_written_so_that_one_sees_on_which_side_of_the_limit_it_lies() -> None:
    texts = {
        0.0: "0.0\u00a0%",
        0.0757: "7.6\u00a0%",
        0.05: "5.0\u00a0%",
        0.0496: "4.96\u00a0%",
        0.04998: "4.998\u00a0%",
        0.05004: "5.004\u00a0%",
    }
    assert {share: show_percent(share) for share in texts} == texts
    assert show_percent(None) == "–"


@pytest.mark.parametrize(("language", "expected"), [("en", "12.5\u00a0%"), ("ja", "12.5%"), ("ko", "12.5%")])
def test_a_share_is_written_as_its_language_writes_it(language: str, expected: str) -> None:
    use_language(language)
    try:
        assert show_percent(0.125) == show_share(0.125, 1) == expected
    finally:
        use_language("en")


def test_a_bound_is_rounded_up() -> None:
    texts = {
        0.0: "0.0\u00a0%",
        0.0751: "7.6\u00a0%",
        0.05: "5.0\u00a0%",
        0.04911: "4.92\u00a0%",
        0.04998: "4.998\u00a0%",
        1.0: "100.0\u00a0%",
    }
    assert {share: show_percent(share, at_most=True) for share in texts} == texts


def test_the_limits_of_the_sample_are_shown_without_commands() -> None:
    sentences = [
        say("verdict"),
        say("rate"),
        say("bound"),
        say("draw: {command}", command="x"),
        say("drawn in two steps"),
    ]
    assert list_limits(replace(STATUS, sentences=tuple(sentences))) == [say("drawn in two steps")]
    assert list_limits(replace(STATUS, checked=0, sentences=tuple(sentences[:3]))) == [say("bound")]


def test_the_limit_is_always_within_the_chart() -> None:
    small = {"any": ErrorRate(0, 5000, 0.0, (0.0, 0.0007), 0.0005)}
    for layer in chart_rates(small).to_dict()["layer"]:
        assert layer["encoding"]["x"]["scale"]["domain"][1] > 0.05
    close = ((0, 0.0517), (35, 0.04999), (44, 0.0495))
    low, high = chart_further(close, 35).to_dict()["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert low < 0.0495 < 0.05 < 0.0517 < high
    assert describe_further(close, 35) == (
        "The guaranteed maximum is 5.2\u00a0%. 35 more pairs without an error would bring it below 5 %."
    )


@pytest.mark.parametrize(("language", "spaced"), [("en", True), ("ja", False), ("ko", False)])
def test_the_axis_of_a_chart_of_shares_is_spaced_as_its_sentences_are(language: str, spaced: bool) -> None:
    use_language(language)
    try:
        assert ("labelExpr" in space_percent("~%")) is spaced
    finally:
        use_language("en")
