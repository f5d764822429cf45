"""The survey-template search evaluator (Python) on our ranked.json: figures worked by hand."""

import json

import pytest

from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from tests.evaluators.small_truth import dcg, written

TEXT = "顧客満足度の調査"
TRUTH = GroundTruth(
    (Query("Q1", TEXT), Query("Q2", "없음")),
    (
        Qrel("Q1", "다", 2),
        Qrel("Q1", "가", 3),
        Qrel("Q1", "나", 3),
        Qrel("Q1", "라", 0),
        Qrel("Q1", "마", 1),
        Qrel("Q2", "라", 0),
    ),
)
FOUND = ["X", "나", "가", "마", "다"]


def load(data: bytes) -> dict[str, list[str]]:
    return {item["query"]: item["relevant_documents"] for item in json.loads(data.decode("utf-8"))}


def precision(relevant: list[str], retrieved: list[str], k: int) -> float:
    return round(len(set(relevant) & set(retrieved[:k])) / k, 2)


def recall(relevant: list[str], retrieved: list[str], k: int) -> float:
    return round(len(set(relevant) & set(retrieved[:k])) / len(relevant), 2)


def ndcg(relevant: list[str], retrieved: list[str], k: int) -> float:
    gain = {doc_id: 2.0 ** (len(relevant) - index) - 1 for index, doc_id in enumerate(relevant)}
    return dcg([gain.get(doc_id, 0.0) for doc_id in retrieved[:k]]) / dcg(
        [gain[doc_id] for doc_id in relevant[:k]]
    )


LISTED = load(written("ranked", truth=TRUTH)[""])


def test_documents_stand_best_first_ties_in_the_order_of_the_truth_and_grade_0_is_left_out() -> None:
    assert LISTED == {TEXT: ["가", "나", "다", "마"]}


def test_precision_and_recall_are_rounded_to_two_decimals() -> None:
    # The top 3 (X, 나, 가) holds 2 of the 4 listed: P@3 = 2/3 = 0.67, Recall@3 = 2/4 = 0.5.
    assert (precision(LISTED[TEXT], FOUND, 3), recall(LISTED[TEXT], FOUND, 3)) == (0.67, 0.5)


def test_ndcg_takes_the_grade_from_the_place_in_the_list() -> None:
    # Places give 가 4, 나 3, 다 2, 마 1. X 0, 나 (2^3 - 1)/log2(3) = 7/1.584963 = 4.416508, 가 (2^4 - 1)/log2(4) = 7.5:
    # DCG@3 = 11.916508. Ideal: 15 + 7/1.584963 + 3/2 = 20.916508. NDCG@3 = 0.569718.
    assert ndcg(LISTED[TEXT], FOUND, 3) == pytest.approx(0.569718, abs=1e-6)


def test_every_query_listed_can_be_divided_by_the_number_of_its_documents() -> None:
    # The truth has a query (없음) whose only document is graded 0: with an empty list its recall would be 0 / 0.
    assert [recall(relevant, FOUND, 3) for relevant in LISTED.values()] == [0.5]
    assert [ndcg(relevant, FOUND, 3) for relevant in LISTED.values()] == [pytest.approx(0.569718, abs=1e-6)]
