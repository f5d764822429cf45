"""The index for searching as one types: the scores of BM25, any script, bounded work, room shared fairly."""

import random

import pytest

from annotator.pooling.proposals import search_index
from annotator.pooling.proposals.search_index import build_index, choose_most_characters
from annotator.pooling.retrievers.gram_rankers import rank_bm25

WORDS = [
    "ハンドラ",
    "キュー",
    "構成",
    "용도지역",
    "건폐율",
    "handler",
    "RetryHandler",
    "queue",
    "第17条",
    "🙂",
    "שלום",
]


def make_texts(number: int) -> list[str]:
    draw = random.Random(5)
    return [" ".join(draw.choices(WORDS, k=draw.randrange(1, 12))) for _ in range(number)]


def search(texts: list[str], query: str, limit: int = 10) -> list[int]:
    return [match.text for match in build_index(texts).search(query, limit=limit)]


def test_the_order_is_that_of_bm25_over_the_same_grams() -> None:
    texts = make_texts(60)
    matches = build_index(texts).search("RetryHandler ハンドラキュー", limit=10)
    ranked = rank_bm25(
        ["RetryHandler ハンドラキュー"], ((f"{n:04}", text) for n, text in enumerate(texts)), depth=10
    )
    assert [match.text for match in matches] == [hit.document for hit in ranked.hits[0]]
    for match, hit in zip(matches, ranked.hits[0], strict=True):
        assert match.score == pytest.approx(hit.score, rel=1e-4)


def test_many_segments_find_what_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = make_texts(60)
    whole = build_index(texts).search("용도지역 handler", limit=10)
    monkeypatch.setattr(search_index, "CHARACTERS_PER_SEGMENT", 200)
    split = build_index(texts)
    assert len(split.segments) > 5
    assert [m.text for m in split.search("용도지역 handler", limit=10)] == [m.text for m in whole]


@pytest.mark.parametrize(
    ("query", "expected"),
    [("retryh", [1]), ("ﾊﾝﾄﾞﾗ", [0]), ("지역", [2]), ("x", []), ("", []), ("!? ", []), ("zzzz", [])],
)
def test_part_of_a_word_is_found_in_any_script_from_two_characters_on(
    query: str, expected: list[int]
) -> None:
    assert search(["ハンドラ", "RetryHandler", "용도지역"], query) == expected


def test_equal_texts_are_in_order_and_limited() -> None:
    assert search(["queue"] * 9, "queue", limit=3) == [0, 1, 2]


def test_common_grams_are_left_out_when_the_work_would_be_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "MOST_POSTINGS", 3)
    assert search([*["common"] * 50, "common rare"], "common rare") == [50]


def test_an_empty_dataset_and_empty_texts_find_nothing() -> None:
    assert search([], "queue") == []
    assert search(["", " "], "queue") == []


def test_a_very_long_text_is_indexed_with_progress() -> None:
    sizes: list[int] = []
    index = build_index(["あい" * 2_000_000, "queue"], report_progress=sizes.append)
    assert [match.text for match in index.search("queue", limit=5)] == [1]
    assert sizes == [1]


def test_room_is_shared_so_that_short_texts_are_searched_whole() -> None:
    assert choose_most_characters([5, 5], room=10) is None
    assert choose_most_characters([1, 20, 20], room=10) == 4
    assert choose_most_characters([100] * 10, room=5) == 1
