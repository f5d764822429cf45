"""The Nablarch search evaluator (SearchEvaluationRunner, Java) on our nablarch.yaml: figures worked by hand."""

import pytest
import yaml

from tests.evaluators.small_truth import RUN, dcg, mean, written

Expected = dict[str, dict[str, int]]


def load(data: bytes) -> Expected:
    """As SnakeYAML loads it: the grade of each expected document, by query."""
    queries = yaml.safe_load(data)["queries"]
    return {
        query["id"]: {item["doc_id"]: item["relevance"] for item in query["expected_docs"]}
        for query in queries
    }


def reciprocal_rank(expected: dict[str, int], retrieved: list[str]) -> float:
    return next((1 / rank for rank, doc_id in enumerate(retrieved, 1) if doc_id in expected), 0.0)


def recall(expected: dict[str, int], retrieved: list[str], k: int) -> float:
    relevant = {doc_id for doc_id, grade in expected.items() if grade >= 2}
    return len(relevant & set(retrieved[:k])) / len(relevant) if relevant else 0.0


def ndcg(expected: dict[str, int], retrieved: list[str], k: int) -> float:
    gains = [2.0 ** expected.get(doc_id, 0) - 1 for doc_id in retrieved[:k]]
    ideal = sorted((2.0**grade - 1 for grade in expected.values()), reverse=True)[:k]
    return dcg(gains) / dcg(ideal) if dcg(ideal) else 0.0


EXPECTED = load(written("nablarch")[""])


def test_only_documents_with_a_grade_from_1_are_expected() -> None:
    assert EXPECTED == {"Q1": {"가": 3, "나": 2, "다": 1}, "Q2": {"あ": 1}}


def test_mrr() -> None:
    # Q1: the first expected document is 나 at rank 2: 1/2. Q2: あ at rank 2: 1/2. Mean 1/2.
    assert mean([reciprocal_rank(EXPECTED[query], RUN[query]) for query in RUN]) == 0.5


def test_a_grade_0_in_the_file_would_count_as_expected() -> None:
    # Q2 with い listed: い stands at rank 1 and counts: 1 instead of 1/2. Q1 stays: 라 stands below 나.
    listed = load(written("nablarch", list_grade_0=True)[""])
    assert listed["Q2"] == {"あ": 1, "い": 0}
    assert mean([reciprocal_rank(listed[query], RUN[query]) for query in RUN]) == (1 / 2 + 1) / 2


def test_recall_counts_grades_from_2_and_a_query_without_any_as_0() -> None:
    # Q1: relevant are 가 and 나; the top 2 (X, 나) holds one: 1/2; the top 3 both: 1. Q2 has none: 0, and counts.
    assert mean([recall(EXPECTED[query], RUN[query], 2) for query in RUN]) == (1 / 2 + 0) / 2
    assert mean([recall(EXPECTED[query], RUN[query], 3) for query in RUN]) == (1 + 0) / 2


def test_ndcg_with_gain_2_to_the_grade_minus_1() -> None:
    # Q1: X 0, 나 (2^2 - 1)/log2(3) = 3/1.584963 = 1.892789, 가 (2^3 - 1)/log2(4) = 7/2 = 3.5: DCG@3 = 5.392789.
    #     Ideal 가, 나, 다: 7/1 + 3/1.584963 + 1/2 = 9.392789. NDCG@3 = 5.392789/9.392789 = 0.574141.
    assert ndcg(EXPECTED["Q1"], RUN["Q1"], 3) == pytest.approx(0.574141, abs=1e-6)
    # Q2: い 0, あ 1/log2(3) = 0.630930; ideal 1. NDCG@3 = 0.630930.
    assert ndcg(EXPECTED["Q2"], RUN["Q2"], 3) == pytest.approx(0.630930, abs=1e-6)


def test_coverage_counts_queries_with_a_result() -> None:
    assert mean([float(bool(RUN.get(query))) for query in EXPECTED]) == 1.0
