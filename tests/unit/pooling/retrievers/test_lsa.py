"""Latent semantic analysis: what it finds that shares no word, and what never changes its result."""

import random

import numpy as np
import pytest

from annotator.pooling.retrievers import gram_rankers
from annotator.pooling.retrievers.gram_rankers import rank_lsa, rank_tfidf, weigh_documents
from annotator.pooling.retrievers.records import Ranking

WORDS = {
    "sea": ["船舶", "入港", "海運", "harbour", "vessel"],
    "law": ["農地", "転用", "許可", "permit", "parcel"],
    "web": ["検索", "画面", "遷移", "browser", "request"],
}


def _make_documents(number: int, seed: int = 0) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    return [
        (f"{topic}{index}", " ".join(draw.choices(words, k=4)))
        for topic, words in WORDS.items()
        for index in range(number)
    ]


def _rank(query: str, documents: list[tuple[str, str]], **options: int) -> list[tuple[str, float]]:
    (hits,) = rank_lsa([query], documents, **{"depth": 5, "seed": 0, **options}).hits
    return [(documents[hit.document][0], hit.score) for hit in hits]


def test_a_document_of_the_same_topic_is_found_without_a_shared_gram(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram_rankers, "DIMENSIONS", 3)
    documents = [*_make_documents(20), ("only", "vessel")]
    scores = dict(_rank("船舶", documents, depth=100))
    assert scores["only"] > 0.9
    assert all(doc_id.startswith("sea") or doc_id == "only" for doc_id in list(scores)[:20])
    (by_grams,) = rank_tfidf(["船舶"], documents, depth=100).hits
    assert "only" not in {documents[hit.document][0] for hit in by_grams}


def test_lsa_with_all_dimensions_equals_tfidf() -> None:
    documents = _make_documents(3)
    (expected,) = rank_tfidf(["検索 request"], documents, depth=9).hits
    scores = dict(_rank("検索 request", documents, depth=9))
    weights = weigh_documents(documents)
    assert weights is not None
    dimensions = np.linalg.matrix_rank(weights.matrix.toarray())
    assert dimensions < gram_rankers.DIMENSIONS
    ratios = [scores[documents[hit.document][0]] / hit.score for hit in expected]
    assert ratios == pytest.approx([ratios[0]] * len(ratios), rel=1e-4)  # the query's part outside the space


@pytest.mark.parametrize("sample", [10, 1_000])
def test_the_order_of_documents_changes_nothing(monkeypatch: pytest.MonkeyPatch, sample: int) -> None:
    monkeypatch.setattr(gram_rankers, "SAMPLE", sample)
    documents = _make_documents(15)
    expected = _rank("農地 vessel", documents, depth=40)
    for seed in range(5):
        random.Random(seed).shuffle(documents)
        assert _rank("農地 vessel", documents, depth=40) == expected


def test_the_seed_draws_the_documents_of_the_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram_rankers, "SAMPLE", 10)
    documents = _make_documents(15)
    first, again, other = (_rank("農地 vessel", documents, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert [round(score, 3) for _, score in first] != [round(score, 3) for _, score in other]


def test_equal_scores_are_ordered_by_doc_id() -> None:
    documents = [(name, "同じ本文") for name in ("b", "가", "a")] + [("x", "他の")]
    assert [doc_id for doc_id, _ in _rank("本文", documents)] == ["a", "b", "가"]


def test_queries_without_an_answer_are_reported() -> None:
    ranking = rank_lsa(["!", "zzz", "農地"], _make_documents(9), depth=3, seed=0)
    assert ranking.without_grams == (0,)
    assert [len(hits) for hits in ranking.hits][:2] == [0, 0]
    assert ranking.hits[2]


@pytest.mark.parametrize("documents", [[], [("a", ""), ("b", "!")], [("a", "何もない")]])
def test_documents_without_a_match_give_an_empty_ranking(documents: list[tuple[str, str]]) -> None:
    assert rank_lsa(["検索", "x"], documents, depth=5, seed=0) == Ranking(((), ()), (1,))


def test_without_queries_nothing_is_ranked() -> None:
    assert rank_lsa([], _make_documents(2), depth=5, seed=0) == Ranking((), ())
