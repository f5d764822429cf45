"""The order of a run's results."""

import numpy as np
import pytest

from annotator.domain.errors import ValidationError
from annotator.evaluation.records import Order
from annotator.evaluation.scores.ranking import check_order, find_duplicate_row, order_columns
from tests.unit.evaluation.small_runs import make_columns, make_scored_run


def list_order(
    results: dict[str, list[tuple[str, float]]], order: Order, ranks: dict[str, list[int]]
) -> list[str]:
    columns = make_columns(results, ranks)
    found = order_columns(columns, order)
    return [columns.doc_ids[columns.documents[row]] for row in found.rows]


def test_scores_decide_the_order_and_equal_ones_go_by_id_last_first() -> None:
    run = make_scored_run("s", {"q": [("b", 1.0), ("c", 2.0), ("a", 1.0), ("d", 1.0)]})
    assert run.list_documents(0) == ["c", "d", "b", "a"]


def test_scores_that_differ_only_beyond_32_bits_are_equal() -> None:
    run = make_scored_run("s", {"q": [("a", 1.00000001), ("b", 1.0)]})
    assert run.list_documents(0) == ["b", "a"]
    apart = make_scored_run("s", {"q": [("a", 1.0001), ("b", 1.0)]})
    assert apart.list_documents(0) == ["a", "b"]


def test_ids_compare_by_their_bytes() -> None:
    run = make_scored_run("s", {"q": [("\uffee", 1.0), ("𠮷", 1.0), ("Z", 1.0), ("a", 1.0)]})
    assert run.list_documents(0) == sorted(
        ["\uffee", "𠮷", "Z", "a"], key=lambda doc_id: doc_id.encode(), reverse=True
    )


def test_queries_stand_in_the_order_in_which_they_first_come_and_need_not_stand_together() -> None:
    columns = make_columns({"q2": [("a", 1.0)], "q1": [("b", 2.0), ("c", 3.0)]})
    mixed = type(columns)(
        columns.query_ids,
        np.array([1, 0, 1]),
        columns.doc_ids,
        np.array([1, 0, 2]),
        np.array([2.0, 1.0, 3.0]),
        columns.ranks,
    )
    found = order_columns(mixed, "score")
    assert [columns.query_ids[code] for code in found.queries] == ["q1", "q2"]
    assert [columns.doc_ids[mixed.documents[row]] for row in found.rows] == ["c", "b", "a"]
    assert found.starts.tolist() == [0, 2, 3]


def test_by_rank_the_rank_decides_and_contradicting_scores_are_counted() -> None:
    results = {"q": [("a", 1.0), ("b", 2.0)], "r": [("c", 2.0), ("d", 1.0)]}
    ranks = {"q": [1, 2], "r": [1, 2]}
    assert list_order(results, "rank", ranks) == ["a", "b", "c", "d"]
    assert list_order(results, "score", ranks) == ["b", "a", "c", "d"]
    assert order_columns(make_columns(results, ranks), "score").contradictions == 1


def test_equal_scores_or_equal_ranks_contradict_nothing() -> None:
    results = {"q": [("a", 1.0), ("b", 1.0), ("c", 0.5)], "r": [("a", 1.0), ("b", 2.0)]}
    assert order_columns(make_columns(results, {"q": [1, 2, 3], "r": [1, 1]}), "score").contradictions == 0


def test_a_query_with_a_result_without_score_goes_by_rank() -> None:
    results = {"q": [("a", float("nan")), ("b", 2.0)], "r": [("c", 1.0), ("d", 2.0)]}
    assert list_order(results, "score", {"q": [1, 2], "r": [1, 2]}) == ["a", "b", "d", "c"]


def test_without_scores_and_ranks_results_stay_as_they_come() -> None:
    results = {"q": [("b", float("nan")), ("a", float("nan"))]}
    assert list_order(results, "score", {"q": [-1, -1]}) == ["b", "a"]


def test_a_document_that_stands_twice_in_a_query_is_found() -> None:
    assert (
        find_duplicate_row(make_columns({"q": [("a", 2.0), ("b", 1.5), ("a", 1.0)], "r": [("a", 1.0)]})) == 2
    )
    assert find_duplicate_row(make_columns({"q": [("a", 2.0)], "r": [("a", 1.0)]})) is None


def test_an_unknown_order_is_refused() -> None:
    assert check_order("rank") == "rank"
    with pytest.raises(ValidationError, match="expected the order score or rank, found 'id'"):
        check_order("id")
