"""Which disagreement is on the screen, and which comes next."""

from datetime import UTC, datetime

from annotator.domain.queue import Disagreement
from annotator.web.case_choice import choose_case, filter_queue, find_next

NOW = datetime(2026, 3, 4, tzinfo=UTC)


def item(pair: str, status: str = "open", *, yours: bool = False) -> Disagreement:
    return Disagreement(pair, "質問", pair, None, {}, 1, 1.0, status, NOW, yours=yours)  # type: ignore[arg-type]


QUEUE = [item("甲", yours=True), item("乙"), item("丙"), item("丁", "decided")]


def test_the_pair_asked_for_is_shown_whether_open_decided_or_ones_own() -> None:
    assert [choose_case(QUEUE, pair) for pair in ("甲", "丙", "丁")] == ["甲", "丙", "丁"]


def test_otherwise_the_first_open_one_that_the_lead_may_decide_is_shown() -> None:
    assert choose_case(QUEUE, None) == "乙"
    assert choose_case(QUEUE, "nowhere") == "乙"


def test_where_only_ones_own_are_open_the_first_of_them_is_shown() -> None:
    assert choose_case([item("丁", "decided"), item("甲", yours=True)], None) == "甲"
    assert choose_case([item("丁", "decided")], None) is None
    assert choose_case([], "甲") is None


def test_the_next_is_the_one_below_and_after_the_last_the_first() -> None:
    assert find_next(QUEUE, "乙") == "丙"
    assert find_next(QUEUE, "丙") == "乙"
    assert find_next(QUEUE, "丁") == "乙"


def test_the_next_is_never_the_same_nor_ones_own_nor_a_decided_one() -> None:
    assert find_next([item("甲", yours=True), item("乙"), item("丁", "decided")], "乙") is None
    assert find_next([], "乙") is None


def test_the_queue_is_filtered_in_its_order() -> None:
    assert [one.pair for one in filter_queue(QUEUE, "open")] == ["甲", "乙", "丙"]
    assert [one.pair for one in filter_queue(QUEUE, "decided")] == ["丁"]
    assert filter_queue(QUEUE, "all") == QUEUE
