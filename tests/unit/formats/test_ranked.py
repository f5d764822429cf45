"""Ranked JSON: order in place of grades, places in place of ids."""

import json

import pytest

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.formats import ranked
from annotator.formats.registry import read_truth, write_files
from annotator.formats.source import Source

TEXT = '[{"query": "顧客満足度", "relevant_documents": ["a", "b", "c"], "language": "ja", "team": 1}, {"query": "x", "relevant_documents": ["a"]}]'


def read(grades_by: str | None) -> GroundTruth:
    return read_truth(Source("r.json", TEXT.encode()), grades_by=grades_by)[1]


def write(truth: GroundTruth) -> list[dict[str, object]]:
    loaded: list[dict[str, object]] = json.loads(write_files(ranked.FORMAT, truth, list_grade_0=True)[""])
    return loaded


def test_without_a_word_on_grades_nothing_is_read_and_the_option_is_named() -> None:
    with pytest.raises(ValidationError, match=r"--grades-by position .* or --grades-by all=N, N from 1 to 3"):
        read(None)
    for other in ("all=4", "all=0", "all", "positions", ""):
        with pytest.raises(ValidationError, match="expected position or all=N"):
            read(other)


def test_by_position_the_first_document_has_the_length_of_the_list_and_the_last_has_1() -> None:
    found = [(qrel.query_id, qrel.doc_id, qrel.grade) for qrel in read("position").qrels]
    assert found == [("q1", "a", 3), ("q1", "b", 2), ("q1", "c", 1), ("q2", "a", 1)]


def test_all_gives_every_document_the_same_grade() -> None:
    assert {qrel.grade for qrel in read("all=2").qrels} == {2}


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
