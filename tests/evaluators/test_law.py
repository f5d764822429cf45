"""The law-search evaluator (Python) on our law.json and law-compact.json: figures worked by hand."""

import json
from typing import Any

import pytest

from tests.evaluators.small_truth import RUN, dcg, written

FILES = ["law", "law-compact"]


def load(data: bytes) -> dict[str, dict[str, int]]:
    """As the evaluator does: either form of `ground_truth`; every document listed is relevant."""
    queries = json.loads(data.decode("utf-8"))["queries"]
    return {
        query["query_id"]: {doc_id: grade(item) for doc_id, item in query["ground_truth"].items()}
        for query in queries
    }


def grade(item: Any) -> int:
    return int(item["relevance"] if isinstance(item, dict) else item)


def precision(relevant: dict[str, int], retrieved: list[str], k: int) -> float:
    return sum(doc_id in relevant for doc_id in retrieved[:k]) / k


def recall(relevant: dict[str, int], retrieved: list[str], k: int) -> float:
    return sum(doc_id in relevant for doc_id in retrieved[:k]) / len(relevant)


def average_precision(relevant: dict[str, int], retrieved: list[str]) -> float:
    hits = [rank for rank, doc_id in enumerate(retrieved, 1) if doc_id in relevant]
    return sum(count / rank for count, rank in enumerate(hits, 1)) / len(relevant)


def ndcg(relevant: dict[str, int], retrieved: list[str], k: int) -> float:
    ideal = sorted(relevant.values(), reverse=True)[:k]
    return dcg([relevant.get(doc_id, 0) for doc_id in retrieved[:k]]) / dcg([float(value) for value in ideal])


@pytest.fixture(params=FILES)
def truth(request: pytest.FixtureRequest) -> dict[str, dict[str, int]]:
    return load(written(request.param)[""])


def test_only_documents_with_a_grade_from_1_are_listed(truth: dict[str, dict[str, int]]) -> None:
    assert truth == {"Q1": {"가": 3, "나": 2, "다": 1}, "Q2": {"あ": 1}}


def test_precision_recall_and_f1(truth: dict[str, dict[str, int]]) -> None:
    # Q1: of X 나 가 라 다 three are listed: P@5 = 3/5, Recall@5 = 3/3, F1@5 = 2 * 0.6 * 1 / (0.6 + 1) = 0.75.
    p, r = precision(truth["Q1"], RUN["Q1"], 5), recall(truth["Q1"], RUN["Q1"], 5)
    assert (p, r, 2 * p * r / (p + r)) == (0.6, 1.0, pytest.approx(0.75))
    # Q2: い あ: P@5 = 1/5, Recall@5 = 1/1.
    assert (precision(truth["Q2"], RUN["Q2"], 5), recall(truth["Q2"], RUN["Q2"], 5)) == (0.2, 1.0)


def test_average_precision_over_the_number_of_relevant_documents(truth: dict[str, dict[str, int]]) -> None:
    # Q1: hits at ranks 2, 3, 5: (1/2 + 2/3 + 3/5) / 3 = 1.766667/3 = 0.588889. Q2: 1/2. MAP = 0.544444.
    values = [average_precision(truth[query], RUN[query]) for query in ("Q1", "Q2")]
    assert values == pytest.approx([0.588889, 0.5], abs=1e-6)


def test_ndcg_with_the_grade_as_gain(truth: dict[str, dict[str, int]]) -> None:
    # Q1: 나 2/log2(3) = 1.261860, 가 3/log2(4) = 1.5, 다 1/log2(6) = 0.386853: DCG@5 = 3.148712.
    #     Ideal: 3/1 + 2/1.584963 + 1/2 = 4.761860. NDCG@5 = 0.661236.
    assert ndcg(truth["Q1"], RUN["Q1"], 5) == pytest.approx(0.661236, abs=1e-6)
    assert ndcg(truth["Q2"], RUN["Q2"], 5) == pytest.approx(0.630930, abs=1e-6)  # 1/log2(3), ideal 1


@pytest.mark.parametrize("name", FILES)
def test_a_grade_0_in_the_file_would_count_as_relevant(name: str) -> None:
    # Q1 with 라 listed: 4 of 5 found are listed: P@5 = 4/5 instead of 3/5; NDCG does not change.
    listed = load(written(name, list_grade_0=True)[""])
    assert precision(listed["Q1"], RUN["Q1"], 5) == 0.8
    assert ndcg(listed["Q1"], RUN["Q1"], 5) == pytest.approx(0.661236, abs=1e-6)


@pytest.mark.parametrize("name", FILES)
def test_the_fields_of_its_further_figures_are_there(name: str) -> None:
    first = json.loads(written(name)[""])["queries"][0]
    assert first["query_text"] == '17조 "검색" 🔎'
    assert (first["primary_domain"], first["needs_a2a"], first["needs_rne"]) == ("도시계획", False, True)


def test_the_long_form_says_who_judged_what_and_how_many_are_relevant() -> None:
    first = json.loads(written("law", list_grade_0=True)[""])["queries"][0]
    assert first["total_relevant"] == 3  # 가, 나, 다: grade 0 is not counted
    assert first["ground_truth"]["가"] == {
        "relevance": 3,
        "law_type": "법률",
        "annotator_1": 3,
        "annotator_2": 2,
    }
