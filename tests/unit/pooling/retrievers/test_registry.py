"""The way into all retrievers: systems, ranks, signals, notes, and how often the documents are read."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.domain.errors import ValidationError
from annotator.pooling.retrievers.fusion import ListedDocument
from annotator.pooling.retrievers.records import (
    Retrieval,
    RetrievalOptions,
    RetrieverNote,
    SearchedDocument,
    SearchedQuery,
)
from annotator.pooling.retrievers.registry import retrieve_candidates

QUERIES = [SearchedQuery("Q1", "ハンドラの設定"), SearchedQuery("Q2", "🔎"), SearchedQuery("Q3", "zzz")]
TEXTS = {
    "a": "ハンドラを設定する",
    "b": "ハンドラ\nこの文書は全く別の話ばかりである",
    "c": "メールの設定",
    "d": "ハンドラの設定",
}


def _read() -> Iterator[SearchedDocument]:
    return (SearchedDocument(doc_id, text.split("\n")[0], text) for doc_id, text in TEXTS.items())


def _retrieve(*names: str, depth: int = 2, **options: object) -> Retrieval:
    runs = options.pop("runs", {})
    return retrieve_candidates(
        names, QUERIES, _read, RetrievalOptions(**options), depth=depth, runs=runs, expected=len(TEXTS)
    )


@pytest.mark.parametrize("name", ["bm25", "tfidf", "lsa"])
def test_each_retriever_returns_candidates_and_notes_on_unanswered_queries(name: str) -> None:
    retrieval = _retrieve(name)
    assert [item[:4] for item in retrieval.candidates] == [
        ("Q1", "d", f"annotator:{name}", 1),
        ("Q1", "a", f"annotator:{name}", 2),
    ]
    assert retrieval.candidates[0].score > retrieval.candidates[1].score > 0
    assert retrieval.notes == (
        RetrieverNote(f"annotator:{name}", "too_short", ("Q2",)),
        RetrieverNote(f"annotator:{name}", "no_candidate", ("Q3",)),
    )


def test_a_retriever_named_twice_answers_once() -> None:
    assert _retrieve("bm25", "bm25") == _retrieve("bm25")


def test_hybrid_fuses_the_other_lists_and_keeps_their_contributions() -> None:
    retrieval = _retrieve("bm25", "tfidf", "hybrid", depth=1)
    by_system = {item.system: item for item in retrieval.candidates}
    assert set(by_system) == {"annotator:bm25", "annotator:tfidf", "annotator:hybrid"}
    fused = by_system["annotator:hybrid"]
    assert (fused.doc_id, fused.rank, fused.score) == ("d", 1, pytest.approx(2 / 61))
    assert fused.signals == {
        name: {"rank": 1, "score": by_system[f"annotator:{name}"].score, "contribution": 1 / 61}
        for name in ("bm25", "tfidf")
    }


def test_only_the_fused_list_is_proposed_when_only_hybrid_is_named() -> None:
    retrieval = _retrieve("hybrid", weights={"tfidf": 0.5})
    assert {item.system for item in retrieval.candidates} == {"annotator:hybrid"}
    assert retrieval.candidates[0].score == pytest.approx(0.5 / 61)
    assert RetrieverNote("annotator:hybrid", "no_candidate", ("Q2", "Q3")) in retrieval.notes


def test_lists_below_the_depth_of_the_pool_count_for_the_fused_order() -> None:
    ranked = [ListedDocument("b", 1, 3.0), ListedDocument("c", 2, 2.0)]
    retrieval = _retrieve(
        "hybrid", depth=1, weights={"bm25": 1.0, "run:s": 3.0}, runs={"s": {"Q1": ranked, "Q3": ranked}}
    )
    first, second = retrieval.candidates
    assert (first.query_id, first.doc_id) == ("Q1", "b")  # first of the run, fourth of BM25
    assert first.signals["bm25"]["rank"] == 4
    assert first.signals["run:s"] == {"rank": 1, "score": 3.0, "contribution": 3 / 61}
    assert (second.query_id, second.signals.keys()) == ("Q3", {"run:s"})
    assert RetrieverNote("run:s", "no_candidate", ("Q2",)) in retrieval.notes


def test_title_matches_are_lists_of_their_own() -> None:
    retrieval = _retrieve(
        "hybrid", depth=4, weights={"bm25": 0.6}, title_boost={"exact": 1.2, "partial": 0.6}
    )
    best = retrieval.candidates[0]
    assert best.doc_id == "d"
    assert best.signals["title:exact"] == {"rank": 1, "score": 1.0, "contribution": 1.2 / 61}
    assert best.score == pytest.approx(1.8 / 61)
    assert {item.doc_id for item in retrieval.candidates if "title:partial" in item.signals} == {"b"}
    exact_only = _retrieve("hybrid", depth=4, weights={"bm25": 0.6}, title_boost={"exact": 1.2})
    assert not any("title:partial" in item.signals for item in exact_only.candidates)


def test_progress_names_the_retriever_and_ends_at_1() -> None:
    steps: list[tuple[str, float]] = []
    retrieve_candidates(
        ["bm25", "lsa"],
        QUERIES,
        _read,
        RetrievalOptions(),
        depth=2,
        runs={},
        expected=4,
        progress=lambda *step: steps.append(step),
    )
    assert dict(steps) == {
        f"{name}: {work}": 1.0 for name in ("bm25", "lsa") for work in ("reading documents", "ranking")
    }


def _write(path: Path, rows: dict[str, list[float]]) -> Path:
    lines = [json.dumps({"id": name, "vector": row}) for name, row in rows.items()]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_vectors_rank_documents_and_report_those_without_a_vector(tmp_path: Path) -> None:
    documents = _write(tmp_path / "d.jsonl", {"d": [1, 0], "b": [1, 1], "a": [-1, 0]})
    queries = _write(tmp_path / "q.jsonl", {"Q3": [-1, 0], "Q2": [0, 1], "Q1": [1, 0]})
    files = {"vectors": documents, "query_vectors": queries}
    retrieval = _retrieve("vectors", **files)
    assert [(item.query_id, item.doc_id, item.system, item.rank) for item in retrieval.candidates] == [
        ("Q1", "d", "annotator:vectors", 1),
        ("Q1", "b", "annotator:vectors", 2),
        ("Q2", "b", "annotator:vectors", 1),
        ("Q2", "a", "annotator:vectors", 2),  # as far from it as d
        ("Q3", "a", "annotator:vectors", 1),
        ("Q3", "b", "annotator:vectors", 2),
    ]
    assert retrieval.notes == (RetrieverNote("annotator:vectors", "no_vector", ("c",)),)
    fused = _retrieve("hybrid", depth=1, **files).candidates[0]
    assert (fused.doc_id, fused.signals["vectors"]["score"]) == ("d", pytest.approx(1.0))


def test_vectors_are_checked_before_any_text_is_compared(tmp_path: Path) -> None:
    files = {"vectors": tmp_path / "d.npy", "query_vectors": tmp_path / "q.npy"}
    steps: list[str] = []
    with pytest.raises(ValidationError, match="expected a file of vectors, found none"):
        retrieve_candidates(
            ["bm25", "vectors"],
            QUERIES,
            _read,
            RetrievalOptions(**files),
            depth=2,
            runs={},
            progress=lambda work, _share: steps.append(work),
        )
    assert steps == []
