"""BM25 over n-grams: held to bm25s over everything, and what is found in each language."""

import bm25s
import pytest

from annotator.pooling.retrievers import grams
from annotator.pooling.retrievers.gram_rankers import rank_bm25
from annotator.pooling.retrievers.grams import list_grams
from annotator.pooling.retrievers.records import Ranking

DOCUMENTS = [
    ("ja/handler.rst", "ハンドラキューの構成\nトランザクション制御ハンドラはトランザクションを開始する。"),
    ("ja/mail.rst", "メール送信\n常駐バッチでメールを送信する。"),
    ("ko/농지법.md", "농지법 제2조\n농지의 전용이란 농지를 농업생산 외의 용도로 사용하는 것을 말한다."),
    ("src/HttpRequest.java", "package nablarch.fw.web; public interface HttpRequest {}"),
    ("en/survey.md", "Survey templates for employee satisfaction"),
    ("empty", ""),
]


def _found(query: str, depth: int = 3) -> list[str]:
    (hits,) = rank_bm25([query], DOCUMENTS, depth=depth).hits
    return [DOCUMENTS[hit.document][0] for hit in hits]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("トランザクションの制御", "ja/handler.rst"),
        ("ﾒｰﾙを送る", "ja/mail.rst"),
        ("농지 전용 허가", "ko/농지법.md"),
        ("nablarch.fw.web.HttpRequest", "src/HttpRequest.java"),
        ("httprequest", "src/HttpRequest.java"),
        ("SATISFACTION surveys", "en/survey.md"),
    ],
)
def test_every_language_is_matched_without_a_tokenizer(query: str, expected: str) -> None:
    assert _found(query)[0] == expected


def test_a_document_without_a_shared_gram_is_no_hit() -> None:
    assert _found("농지", depth=6) == ["ko/농지법.md"]
    assert _found("zzz", depth=6) == []


def test_depth_limits_the_hits_and_scores_fall() -> None:
    documents = [(f"d{n}", "検索 " * n + "他の言葉 " * 5) for n in range(1, 9)]
    (hits,) = rank_bm25(["検索"], documents, depth=3).hits
    assert [hit.document for hit in hits] == [7, 6, 5]
    assert hits[0].score > hits[1].score > hits[2].score > 0


@pytest.mark.parametrize("depth", [2, 5])
def test_equal_scores_are_ordered_by_doc_id(depth: int) -> None:
    documents = [(name, "同じ本文") for name in ("b", "가", "a", "Z", "é")]
    (hits,) = rank_bm25(["本文"], documents, depth=depth).hits
    assert [documents[hit.document][0] for hit in hits] == ["Z", "a", "b", "é", "가"][:depth]


def test_the_scores_equal_those_of_bm25s_over_all_grams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grams, "BATCH", 40)
    queries = ["トランザクションを送信する農地 nablarch", "농지를 사용"]
    index = bm25s.BM25(backend="numpy", csc_backend="numpy", dtype="float64")
    index.index([_list_words(text) for _, text in DOCUMENTS], show_progress=False)
    for query, hits in zip(queries, rank_bm25(queries, DOCUMENTS, depth=6).hits, strict=True):
        expected = index.get_scores(_list_words(query))
        assert {hit.document for hit in hits} == {
            position for position, score in enumerate(expected) if score > 0
        }
        for hit in hits:
            assert hit.score == pytest.approx(expected[hit.document])


def _list_words(text: str) -> list[str]:
    return [str(code) for batch in list_grams([text]) for code in batch.codes.tolist()]


def test_a_query_without_grams_is_reported_and_the_others_are_answered() -> None:
    ranking = rank_bm25(["🔎", "メール", "?!", ""], DOCUMENTS, depth=2)
    assert ranking.without_grams == (0, 2, 3)
    assert [len(hits) for hits in ranking.hits] == [0, 1, 0, 0]


@pytest.mark.parametrize("documents", [[], [("a", ""), ("b", "!")], [("a", "何もない")]])
def test_documents_without_a_match_give_an_empty_ranking(documents: list[tuple[str, str]]) -> None:
    assert rank_bm25(["検索", "x"], documents, depth=5) == Ranking(((), ()), (1,))


def test_without_queries_nothing_is_ranked() -> None:
    assert rank_bm25([], DOCUMENTS, depth=5) == Ranking((), ())


def test_the_share_of_answered_queries_is_reported() -> None:
    shares: list[float] = []
    rank_bm25(["メール", "検索"], DOCUMENTS, depth=5, report_share=shares.append)
    assert shares == [0.5, 1.0]
