"""The code-search evaluator (TypeScript) on our assay.yaml and assay-queries.yaml: figures worked by hand."""

from typing import Any

import pytest
import yaml

from tests.evaluators.small_truth import RUN, dcg, written

Paths = dict[str, dict[str, int]]


def load(name: str, data: bytes) -> Paths:
    """Either file; a plain path is relevance 1."""
    content = yaml.safe_load(data)
    if name == "assay":
        return {item["id"]: dict(map(read_path, item["reference"]["paths"])) for item in content["expected"]}
    return {item["id"]: dict(map(read_path, item["expected"])) for item in content}


def read_path(item: Any) -> tuple[str, int]:
    return (item, 1) if isinstance(item, str) else (item["path"], item["relevance"])


def hits(expected: dict[str, int], retrieved: list[str], k: int) -> float:
    return float(any(path in expected for path in retrieved[:k]))


def precision(expected: dict[str, int], retrieved: list[str], k: int) -> float:
    return sum(path in expected for path in retrieved[:k]) / k


def recall(expected: dict[str, int], retrieved: list[str], k: int) -> float:
    return sum(path in expected for path in retrieved[:k]) / len(expected)


def reciprocal_rank(expected: dict[str, int], retrieved: list[str]) -> float:
    return next((1 / rank for rank, path in enumerate(retrieved, 1) if path in expected), 0.0)


def average_precision(expected: dict[str, int], retrieved: list[str]) -> float:
    ranks = [rank for rank, path in enumerate(retrieved, 1) if path in expected]
    return sum(count / rank for count, rank in enumerate(ranks, 1)) / len(expected)


def ndcg(expected: dict[str, int], retrieved: list[str], k: int) -> float:
    ideal = [float(grade) for grade in sorted(expected.values(), reverse=True)[:k]]
    return dcg([float(expected.get(path, 0)) for path in retrieved[:k]]) / dcg(ideal)


@pytest.fixture(params=["assay", "assay-queries"])
def expected(request: pytest.FixtureRequest) -> Paths:
    return load(request.param, written(request.param)[""])


def test_only_paths_with_a_grade_from_1_are_expected(expected: Paths) -> None:
    assert expected == {"Q1": {"가": 3, "나": 2, "다": 1}, "Q2": {"あ": 1}}


def test_the_list_form_carries_the_texts() -> None:
    texts = [item["text"] for item in yaml.safe_load(written("assay-queries")[""])]
    assert texts == ['17조 "검색" 🔎', "ハンドラキュー: 構成"]


def test_mrr_map_and_hits(expected: Paths) -> None:
    # First expected path at rank 2 in both queries: MRR 1/2, Hits@1 = 0, Hits@2 = 1.
    assert [reciprocal_rank(expected[query], RUN[query]) for query in RUN] == [0.5, 0.5]
    assert [hits(expected[query], RUN[query], 1) for query in RUN] == [0, 0]
    assert [hits(expected[query], RUN[query], 2) for query in RUN] == [1, 1]
    # Q1: ranks 2, 3, 5: (1/2 + 2/3 + 3/5) / 3 = 0.588889. Q2: 1/2. MAP = 1.088889/2 = 0.544444.
    values = [average_precision(expected[query], RUN[query]) for query in RUN]
    assert values == pytest.approx([0.588889, 0.5], abs=1e-6)


def test_precision_recall_and_f1(expected: Paths) -> None:
    # Q1, top 3 (X, 나, 가): two of three found, two of three expected: P = R = F1 = 2/3.
    p, r = precision(expected["Q1"], RUN["Q1"], 3), recall(expected["Q1"], RUN["Q1"], 3)
    assert (p, r, 2 * p * r / (p + r)) == pytest.approx((2 / 3, 2 / 3, 2 / 3))


def test_ndcg_with_the_grade_as_gain(expected: Paths) -> None:
    # Q1: 2/log2(3) + 3/log2(4) + 1/log2(6) = 1.261860 + 1.5 + 0.386853 = 3.148712; ideal 3 + 1.261860 + 0.5 = 4.761860.
    assert ndcg(expected["Q1"], RUN["Q1"], 5) == pytest.approx(0.661236, abs=1e-6)
    # At 2: 나 alone, 1.261860; ideal 3 + 1.261860 = 4.261860: 0.296082.
    assert ndcg(expected["Q1"], RUN["Q1"], 2) == pytest.approx(0.296082, abs=1e-6)


@pytest.mark.parametrize("name", ["assay", "assay-queries"])
def test_a_grade_0_in_the_file_would_count_as_expected(name: str) -> None:
    # Q2 with い listed: it stands at rank 1: Hits@1 = 1 instead of 0.
    listed = load(name, written(name, list_grade_0=True)[""])
    assert hits(listed["Q2"], RUN["Q2"], 1) == 1
