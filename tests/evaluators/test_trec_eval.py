"""trec_eval (and what loads BEIR folders, CSV and JSONL) on our files: figures worked by hand.

These tell grade 0 from unjudged, so every one of these files lists it.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable

import pytest

from tests.evaluators.small_truth import RUN, dcg, mean, written

Qrels = dict[str, dict[str, int]]
ALL = {"Q1": {"가": 3, "나": 2, "다": 1, "라": 0}, "Q2": {"あ": 1, "い": 0}}


def load_trec() -> Qrels:
    """As trec_eval does: four fields between white space."""
    return gather(
        (query_id, doc_id, grade)
        for query_id, _, doc_id, grade in (line.split() for line in written("trec")[""].decode().splitlines())
    )


def load_beir() -> Qrels:
    """As BEIR's GenericDataLoader does: a header, then tab-separated rows."""
    text = written("beir")["qrels/test.tsv"].decode()
    rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_MINIMAL)
    assert next(rows) == ["query-id", "corpus-id", "score"]
    return gather((row[0], row[1], row[2]) for row in rows)


def load_csv() -> Qrels:
    rows = csv.DictReader(io.StringIO(written("csv")[""].decode(), newline=""))
    return gather((row["query_id"], row["doc_id"], row["grade"]) for row in rows)


def load_jsonl() -> Qrels:
    rows = [json.loads(line) for line in written("jsonl")[""].decode().split("\n") if line]
    return gather((row["query_id"], row["doc_id"], row["grade"]) for row in rows)


def gather(rows: Iterable[tuple[str, str, str]]) -> Qrels:
    qrels: Qrels = {}
    for query_id, doc_id, grade in rows:
        qrels.setdefault(query_id, {})[doc_id] = int(grade)
    return qrels


@pytest.fixture(params=[load_trec, load_beir, load_csv, load_jsonl], ids=["trec", "beir", "csv", "jsonl"])
def qrels(request: pytest.FixtureRequest) -> Qrels:
    load: Callable[[], Qrels] = request.param
    return load()


def ndcg(judged: dict[str, int], retrieved: list[str], k: int = 1_000) -> float:
    """trec_eval's ndcg and ndcg_cut: the grade is the gain; ideal over all grades of the query."""
    ideal = [float(grade) for grade in sorted(judged.values(), reverse=True)[:k] if grade > 0]
    return dcg([float(judged.get(doc_id, 0)) for doc_id in retrieved[:k]]) / dcg(ideal)


def average_precision(judged: dict[str, int], retrieved: list[str]) -> float:
    ranks = [rank for rank, doc_id in enumerate(retrieved, 1) if judged.get(doc_id, 0) >= 1]
    return sum(count / rank for count, rank in enumerate(ranks, 1)) / sum(
        grade >= 1 for grade in judged.values()
    )


def bpref(judged: dict[str, int], retrieved: list[str]) -> float:
    """For each relevant document found: the share of judged irrelevant ones above it; unjudged ones do not count."""
    relevant = sum(grade >= 1 for grade in judged.values())
    irrelevant = len(judged) - relevant
    above, total = 0, 0.0
    for doc_id in retrieved:
        if doc_id in judged and judged[doc_id] == 0:
            above += 1
        elif doc_id in judged:
            total += 1 - min(above, relevant) / min(irrelevant, relevant) if above else 1
    return total / relevant


def test_every_judged_document_is_there_grade_0_too(qrels: Qrels) -> None:
    assert qrels == ALL


def test_ndcg(qrels: Qrels) -> None:
    # Q1: 2/log2(3) + 3/log2(4) + 1/log2(6) = 1.261860 + 1.5 + 0.386853 = 3.148712; ideal 3 + 1.261860 + 0.5 = 4.761860:
    #     0.661236. Q2: 1/log2(3) = 0.630930; ideal 1. Mean 0.646083.
    assert ndcg(qrels["Q1"], RUN["Q1"]) == pytest.approx(0.661236, abs=1e-6)
    assert mean([ndcg(qrels[query], RUN[query]) for query in RUN]) == pytest.approx(0.646083, abs=1e-6)
    # ndcg_cut_2 of Q1: 나 alone, 1.261860, over 3 + 1.261860: 0.296082.
    assert ndcg(qrels["Q1"], RUN["Q1"], 2) == pytest.approx(0.296082, abs=1e-6)


def test_map(qrels: Qrels) -> None:
    # Q1: (1/2 + 2/3 + 3/5) / 3 = 0.588889. Q2: 1/2. Mean 0.544444.
    assert mean([average_precision(qrels[query], RUN[query]) for query in RUN]) == pytest.approx(
        0.544444, abs=1e-6
    )


def test_bpref_needs_grade_0_told_from_unjudged(qrels: Qrels) -> None:
    # Q1: 나 and 가 have no judged irrelevant document above them (X is unjudged): 1 each. 다 has 라 above it:
    #     1 - 1/min(1, 3) = 0. (1 + 1 + 0)/3 = 2/3. Q2: あ has い above it: 1 - 1/1 = 0.
    assert bpref(qrels["Q1"], RUN["Q1"]) == pytest.approx(2 / 3)
    assert bpref(qrels["Q2"], RUN["Q2"]) == 0


def test_the_texts_of_a_beir_folder_are_where_its_loader_looks() -> None:
    files = written("beir")
    queries = {line["_id"]: line.get("text") for line in map(json.loads, files["queries.jsonl"].splitlines())}
    assert queries == {"Q1": '17조 "검색" 🔎', "Q2": "ハンドラキュー: 構成"}
    assert set(load_beir()) <= set(queries)
    (document,) = map(json.loads, files["corpus.jsonl"].splitlines())
    assert (document["_id"], document["title"], document["text"]) == ("가", "제17조", "본문")
