"""Retrieval, held to a few plain lines; and the order of documents never matters."""

import math
import random
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.pooling.retrievers import vectors
from annotator.pooling.retrievers.fusion import ListedDocument, fuse_lists
from annotator.pooling.retrievers.grams import rank_doc_ids
from annotator.pooling.retrievers.records import RetrievalOptions, SearchedDocument, SearchedQuery
from annotator.pooling.retrievers.registry import retrieve_candidates
from annotator.pooling.retrievers.vectors import VectorsInMemory, rank_by_cosine

DOC_IDS = st.sampled_from("abcdefgh가字")
LISTS = st.dictionaries(st.sampled_from("XYZ"), st.lists(DOC_IDS, unique=True), max_size=3)
WEIGHTS = st.fixed_dictionaries({name: st.sampled_from([0.6, 0.8, 1.0, 1.2]) for name in "XYZ"})


@given(LISTS, WEIGHTS, st.integers(1, 10))
def test_fusion_is_the_sum_of_reciprocal_ranks(
    lists: dict[str, list[str]], weights: dict[str, float], depth: int
) -> None:
    sums: dict[str, float] = defaultdict(float)
    for name, doc_ids in lists.items():
        for rank, doc_id in enumerate(doc_ids, start=1):
            sums[doc_id] += weights[name] / (60 + rank)
    listed = {
        name: [ListedDocument(doc_id, rank, -rank) for rank, doc_id in enumerate(doc_ids, start=1)]
        for name, doc_ids in lists.items()
    }
    fused = fuse_lists(listed, weights, depth=depth)
    expected = sorted(sums.values(), reverse=True)[:depth]
    assert [document.score for document in fused] == pytest.approx(expected)
    for document in fused:
        assert document.score == pytest.approx(sums[document.doc_id])
        assert math.fsum(signal["contribution"] for signal in document.signals.values()) == document.score
        for name, signal in document.signals.items():
            assert lists[name][signal["rank"] - 1] == document.doc_id
            assert signal["score"] == -signal["rank"]
    keys = [(-document.score, document.doc_id) for document in fused]
    assert keys == sorted(keys)
    assert fuse_lists(dict(reversed(listed.items())), weights, depth=depth) == fused


@given(
    st.integers(1, 60), st.integers(1, 6), st.integers(1, 5), st.integers(1, 70), st.integers(0, 2**32 - 1)
)
def test_cosines_are_those_of_brute_force_whatever_the_blocks(
    documents: int, queries: int, dimensions: int, depth: int, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    # Few different numbers, so that many documents have equal scores, and sizes that no float32 could square.
    rows = draw.integers(-2, 3, (documents, dimensions)) * 10.0 ** draw.integers(-30, 30, (documents, 1))
    rows[~rows.any(axis=1), 0] = 1.0
    searched = draw.integers(-2, 3, (queries, dimensions)).astype(np.float32)
    searched[~searched.any(axis=1), 0] = 1.0
    doc_ids = [f"{number * 7 % 101}" for number in range(documents)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(vectors, "MOST_SCORES", 1)
        patched.setattr(vectors, "LEAST_ROWS", 1 + seed % 13)
        patched.setattr(vectors, "RESCORED", 1 + seed % 5)
        ranked = rank_by_cosine(VectorsInMemory(rows), searched, rank_doc_ids(doc_ids), depth=depth)
    assert len(ranked) == queries
    for query, hits in zip(searched.astype(float), ranked, strict=True):
        scores = [
            math.fsum(a * b for a, b in zip(query / math.hypot(*query), row / math.hypot(*row), strict=True))
            for row in rows
        ]
        assert len(hits) == min(depth, documents)
        assert [hit.score for hit in hits] == pytest.approx(sorted(scores, reverse=True)[:depth], abs=1e-12)
        assert [hit.score for hit in hits] == pytest.approx([scores[hit.document] for hit in hits], abs=1e-12)
        keys = [(-hit.score, doc_ids[hit.document]) for hit in hits]
        assert keys == sorted(keys)


TEXTS = st.lists(st.text("ab 字検索가나", max_size=12), min_size=1, max_size=12)


@given(TEXTS, st.lists(st.text("ab 字検索가나", max_size=6), min_size=1, max_size=3), st.randoms())
def test_the_order_of_documents_changes_no_candidate(
    texts: list[str], queries: list[str], draw: random.Random
) -> None:
    documents = [SearchedDocument(f"{number}", text[:3], text) for number, text in enumerate(texts)]
    shuffled = documents.copy()
    draw.shuffle(shuffled)
    options = RetrievalOptions(title_boost={"exact": 1.2, "partial": 0.6})
    names = ["bm25", "tfidf", "lsa", "hybrid"]
    searched = [SearchedQuery(f"Q{number}", query) for number, query in enumerate(queries)]
    retrievals = []
    for order in (documents, shuffled):
        read = order.copy
        retrievals.append(retrieve_candidates(names, searched, read, options, depth=4, runs={}))
    assert retrievals[0] == retrievals[1]
