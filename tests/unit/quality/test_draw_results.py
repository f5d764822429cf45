"""Test what each draw of quality control led to, and what became of each error."""

from datetime import UTC, datetime
from typing import Any

from annotator.quality.records import QualityDraw, SampledPair
from annotator.quality.report import count_draw_results, list_errors, list_undecided

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def draw(number: int, sample_round: int, pairs: int) -> QualityDraw:
    return QualityDraw(number, sample_round, "cho", None, 0.1, 0, 100, 0, pairs, NOON)


def sampled(pair_pk: int, settled: int = 2, grade: int | None = 0, **changes: Any) -> SampledPair:
    """A pair of the first draw of the first round, which the expert grades otherwise unless told so."""
    pair = SampledPair(
        draw=1, round=1, pair_pk=pair_pk, key=f"k{pair_pk}", query_id="Q", doc_id=f"d{pair_pk}", category=None,
        settled_grade=settled, settled_by="unanimous", outcome=None if grade is None else "graded", grade=grade,
        answered_at=None if grade is None else NOON, note=None, decided=None, barred=False, retired=False,
    )  # fmt: skip
    return pair._replace(**changes)


def test_each_draw_has_the_results_of_its_own_pairs() -> None:
    pairs = [
        sampled(1), sampled(2, grade=2), sampled(3, grade=None, outcome="unrateable", answered_at=NOON), sampled(4, grade=None),
        sampled(5, draw=3, round=2, settled=0, grade=1), sampled(6, draw=3, round=2, settled=0, grade=0),
    ]  # fmt: skip
    draws = count_draw_results([draw(1, 1, 4), draw(2, 1, 9), draw(3, 2, 2)], pairs)
    assert [(draw.number, draw.checked, draw.unrateable, draw.errors) for draw in draws] == [
        (1, 2, 1, 1), (2, 0, 0, 0), (3, 2, 0, 1),
    ]  # fmt: skip
    assert [draw.pairs for draw in draws] == [4, 9, 2]


def test_only_an_error_in_the_pool_that_nobody_decided_is_undecided() -> None:
    pairs = [
        sampled(1), sampled(2, grade=2), sampled(3, grade=None), sampled(4, decided=0), sampled(5, retired=True),
        sampled(6, settled=1),
    ]  # fmt: skip
    assert list_undecided(pairs) == [1, 6]


def test_the_state_of_an_error() -> None:
    pairs = [
        sampled(1), sampled(2, decided=0), sampled(3, decided=2), sampled(4), sampled(5, retired=True),
        sampled(6, retired=True, decided=0), sampled(7, grade=2), sampled(8, grade=None),
    ]  # fmt: skip
    errors = list_errors(pairs, {1: None, 4: 0})
    assert {item.doc_id: (item.state, item.decided_grade) for item in errors} == {
        "d1": ("reopened", None), "d2": ("decided", 0), "d3": ("decided", 2), "d4": ("decided", 0),
        "d5": ("retired", None), "d6": ("decided", 0),
    }  # fmt: skip


def test_another_grade_that_the_pair_has_now_leaves_the_error_open() -> None:
    (error,) = list_errors([sampled(1)], {1: 3})
    assert (error.state, error.decided_grade) == ("reopened", None)


def test_errors_are_ordered_by_waiting_round_and_distance() -> None:
    pairs = [
        sampled(1, settled=1), sampled(2, settled=3, decided=0), sampled(3, settled=3), sampled(4, draw=2, settled=3),
        sampled(5, draw=3, round=2, settled=1), sampled(6, draw=3, round=2, settled=2),
    ]  # fmt: skip
    assert [error.doc_id for error in list_errors(pairs, {})] == ["d6", "d5", "d3", "d4", "d1", "d2"]
    assert [(error.draw, error.round) for error in list_errors(pairs, {})][:3] == [(3, 2), (3, 2), (1, 1)]
