"""TF-IDF over n-grams: held to scikit-learn's own vectorizer over the same grams."""

from collections.abc import Iterator

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from annotator.pooling.retrievers import grams
from annotator.pooling.retrievers.gram_rankers import rank_tfidf
from annotator.pooling.retrievers.grams import list_grams
from annotator.pooling.retrievers.records import Ranking

DOCUMENTS = [
    (
        "ja/handler.rst",
        "ハンドラキューの構成\nトランザクション制御ハンドラはトランザクションを開始する。" * 3,
    ),
    ("ja/mail.rst", "メール送信\n常駐バッチでメールを送信する。"),
    ("ko/농지법.md", "농지법 제2조\n농지의 전용이란 농지를 농업생산 외의 용도로 사용하는 것을 말한다."),
    ("src/HttpRequest.java", "package nablarch.fw.web; public interface HttpRequest {}"),
    ("en/survey.md", "Survey templates for employee satisfaction"),
    ("empty", ""),
]


def _cut(text: str) -> Iterator[str]:
    return (str(code) for batch in list_grams([text]) for code in batch.codes.tolist())


@pytest.mark.parametrize("batch", [40, 1_000_000])
def test_the_scores_equal_those_of_scikit_learn_over_all_grams(
    monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(grams, "BATCH", batch)
    queries = ["トランザクションを送信する農地 nablarch", "농지를 사용", "zzz", "!"]
    vectorizer = TfidfVectorizer(analyzer=lambda text: list(_cut(text)), sublinear_tf=True)
    documents = vectorizer.fit_transform([text for _, text in DOCUMENTS])
    expected = (vectorizer.transform(queries) @ documents.T).toarray()
    ranking = rank_tfidf(queries, DOCUMENTS, depth=6)
    assert ranking.without_grams == (3,)
    for scores, hits in zip(expected, ranking.hits, strict=True):
        assert [hit.document for hit in hits] == [
            int(number) for number in np.argsort(-scores) if scores[number] > 0
        ]
        assert [hit.score for hit in hits] == pytest.approx([scores[hit.document] for hit in hits], rel=1e-5)


def test_depth_limits_the_hits_and_equal_scores_are_ordered_by_doc_id() -> None:
    documents = [(name, "同じ本文") for name in ("b", "가", "a", "Z", "é")]
    (hits,) = rank_tfidf(["本文"], documents, depth=2).hits
    assert [documents[hit.document][0] for hit in hits] == ["Z", "a"]


@pytest.mark.parametrize("documents", [[], [("a", ""), ("b", "!")], [("a", "何もない")]])
def test_documents_without_a_match_give_an_empty_ranking(documents: list[tuple[str, str]]) -> None:
    assert rank_tfidf(["検索", "x"], documents, depth=5) == Ranking(((), ()), (1,))


def test_without_queries_nothing_is_ranked() -> None:
    assert rank_tfidf([], DOCUMENTS, depth=5) == Ranking((), ())
