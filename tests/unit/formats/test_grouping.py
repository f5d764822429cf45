"""Qrels under their queries, or in stretches where a file's lines mix the queries."""

import pytest

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.formats.format import Group, group_qrels, list_runs

QUERIES = tuple(Query(name, "検索") for name in ("a", "b", "c", "d"))


def shape(groups: list[Group]) -> list[tuple[str, str]]:
    return [(query.query_id, "".join(qrel.doc_id for qrel in qrels)) for query, qrels in groups]


def runs(*qrels: Qrel, list_grade_0: bool = True) -> list[tuple[str, str]]:
    truth = GroundTruth(QUERIES, qrels)
    groups = group_qrels(truth, list_grade_0=list_grade_0)
    return shape(list(list_runs(truth, groups, list_grade_0=list_grade_0)))


def test_qrels_in_the_order_of_their_queries_are_one_stretch_each() -> None:
    assert runs(Qrel("a", "1", 1), Qrel("a", "2", 0), Qrel("c", "3", 1)) == [
        ("a", "12"),
        ("b", ""),
        ("c", "3"),
        ("d", ""),
    ]


def test_mixed_qrels_keep_their_order_and_a_query_without_any_stands_before_the_next_one() -> None:
    mixed = (Qrel("a", "1", 1), Qrel("c", "2", 1), Qrel("a", "3", 1), Qrel("a", "4", 0))
    assert runs(*mixed) == [("a", "1"), ("b", ""), ("c", "2"), ("a", "34"), ("d", "")]
    assert runs(*mixed, list_grade_0=False) == [("a", "1"), ("b", ""), ("c", "2"), ("a", "3"), ("d", "")]


def test_a_qrel_of_no_query_and_a_query_twice_are_refused() -> None:
    with pytest.raises(ValidationError, match="found none for 'x'"):
        group_qrels(GroundTruth(QUERIES, (Qrel("x", "1", 1),)), list_grade_0=True)
    with pytest.raises(ValidationError, match="every query_id once"):
        group_qrels(GroundTruth((*QUERIES, Query("a", "again"))), list_grade_0=True)
