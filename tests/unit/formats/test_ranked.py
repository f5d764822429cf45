"""Ranked JSON: order in place of grades, places in place of ids."""

import json

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.formats import ranked
from annotator.formats.registry import read_truth
from annotator.formats.syntax.source import InputSource
from tests.written_formats import write_files

TEXT = '[{"query": "顧客満足度", "relevant_documents": ["a", "b", "c"], "language": "ja", "team": 1}, {"query": "x", "relevant_documents": ["a"]}]'


def read(grades_by: str | None) -> GroundTruth:
    return read_truth(InputSource("r.json", TEXT.encode()), grades_by=grades_by)[1]


def write(truth: GroundTruth) -> list[dict[str, object]]:
    loaded: list[dict[str, object]] = json.loads(write_files(ranked.FORMAT, truth, list_grade_0=True)[""])
    return loaded


def test_without_a_word_on_grades_nothing_is_read_and_the_option_is_named() -> None:
    with pytest.raises(ValidationError, match=r"--grades-by position .* or --grades-by all=N, N from 1 to 3"):
        read(None)
    for other in ("all=4", "all=0", "all", "positions", "", "places", "places=", "places=3", "places=0:3", "places=3:4", "places=3:0", "places=3:3,",
                  "places=x:1", "places=3:3;6:2", "places=٣:3"):  # fmt: skip
        with pytest.raises(ValidationError, match="expected position, all=N, or places=PLACE:GRADE"):
            read(other)


def test_by_position_the_first_document_has_the_length_of_the_list_and_the_last_has_1() -> None:
    qrels = [(qrel.query_id, qrel.doc_id, qrel.grade) for qrel in read("position").qrels]
    assert qrels == [("q1", "a", 3), ("q1", "b", 2), ("q1", "c", 1), ("q2", "a", 1)]


def test_all_gives_every_document_the_same_grade() -> None:
    assert {qrel.grade for qrel in read("all=2").qrels} == {2}


def read_list(length: int, grades_by: str) -> list[int]:
    doc_ids = json.dumps([f"d{number}" for number in range(length)])
    data = f'[{{"query": "x", "relevant_documents": {doc_ids}}}]'.encode()
    return [qrel.grade for qrel in read_truth(InputSource("r.json", data), grades_by=grades_by)[1].qrels]


def test_places_give_each_document_the_grade_of_its_step() -> None:
    assert read_list(10, "places=3:3,6:2,10:1") == [3, 3, 3, 2, 2, 2, 1, 1, 1, 1]
    assert read_list(2, "places=3:3,6:2,10:1") == [3, 3]
    assert read_list(4, "places=1:3,2:1,999999999:1") == [3, 1, 1, 1]
    assert read_list(2, "places=2:1") == [1, 1]


def test_a_document_behind_the_last_place_is_refused_and_never_dropped() -> None:
    with pytest.raises(
        BadInput,
        match=r"r\.json:1: .*10 documents at most, since places=3:3,6:2,10:1 gives no grade.*found 11",
    ):
        read_list(11, "places=3:3,6:2,10:1")


@pytest.mark.parametrize("rule", ["places=3:3,3:2", "places=6:3,3:2", "places=3:1,6:2"])
def test_places_that_do_not_go_on_are_refused(rule: str) -> None:
    with pytest.raises(ValidationError, match="places that go up and grades that do not"):
        read_list(1, rule)


def test_a_query_without_a_relevant_document_is_left_out_wherever_it_stands() -> None:
    queries = tuple(Query(f"Q{number}", f"text {number}") for number in range(1, 5))
    qrels = (Qrel("Q1", "a", 0), Qrel("Q2", "a", 1), Qrel("Q4", "b", 3))
    assert [item["query"] for item in write(GroundTruth(queries, qrels))] == ["text 2", "text 4"]
    assert write(GroundTruth(queries, (Qrel("Q1", "a", 0),))) == []
    assert write_files(ranked.FORMAT, GroundTruth(queries))[""] == b"[]\n"


def test_a_list_converted_by_any_rule_comes_back_in_its_order() -> None:
    doc_ids = ["z", "a", "m", "b", "y", "c", "x"]
    data = json.dumps([{"query": "x", "relevant_documents": doc_ids}]).encode()
    for rule in ("position", "all=1", "all=3", "places=3:3,6:2,10:1"):
        truth = read_truth(InputSource("r.json", data), grades_by=rule)[1]
        assert write(truth) == [{"query": "x", "relevant_documents": doc_ids}]


def test_queries_are_numbered_and_keep_their_further_keys() -> None:
    assert read("all=1").queries == (
        Query("q1", "顧客満足度", language="ja", metadata={"team": 1}),
        Query("q2", "x"),
    )


def test_documents_are_written_best_first_ties_as_they_came_and_irrelevant_ones_not_at_all() -> None:
    qrels = tuple(
        Qrel("Q", doc_id, grade) for doc_id, grade in [("z", 1), ("y", 3), ("x", 0), ("w", 3), ("v", 1)]
    )
    (item,) = write(GroundTruth((Query("Q", "t"),), qrels))
    assert item == {"query": "t", "relevant_documents": ["y", "w", "z", "v"]}
