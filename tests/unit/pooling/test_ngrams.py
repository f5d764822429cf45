"""Character n-grams: what counts as matching, in every script."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.pooling.retrievers import grams as grams_module
from annotator.pooling.retrievers.grams import list_grams


def _grams(*texts: str) -> list[list[str]]:
    """The grams of each text as strings, sorted."""
    grams_by_text: list[list[str]] = [[] for _ in texts]
    for batch in list_grams(texts):
        for number, code in zip(batch.texts.tolist(), batch.codes.tolist(), strict=True):
            points = [code >> 42, (code >> 21) & 0x1FFFFF, code & 0x1FFFFF]
            grams_by_text[number].append("".join(chr(point) for point in points if point))
    return [sorted(grams) for grams in grams_by_text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("検索機能", {"検索", "索機", "機能", "検索機", "索機能"}),
        ("농지법", {"농지", "지법", "농지법"}),
        ("a.Foo x", {"fo", "oo", "foo"}),
        ("list_0", {"li", "is", "st", "t_", "_0", "lis", "ist", "st_", "t_0"}),
        ("ﾊﾝﾄﾞﾗ", {"ハン", "ンド", "ドラ", "ハンド", "ンドラ"}),
        ("ＡＢ", {"ab"}),
        ("ภาษา", {"ภา", "าษ", "ษา", "ภาษ", "าษา"}),
        ("「手順」、3-A", {"手順"}),
        ("🔎🔎", {"🔎🔎"}),
        ("税", set()),
        ("", set()),
        ("שלום", {"של", "לו", "ום", "שלו", "לום"}),
    ],
)
def test_grams_stay_within_words_and_ignore_case_and_width(text: str, expected: set[str]) -> None:
    assert _grams(text) == [sorted(expected)]


def test_each_gram_counts_as_often_as_it_occurs_and_for_its_own_text() -> None:
    assert _grams("abab", "", "ab") == [["ab", "ab", "aba", "ba", "bab"], [], ["ab"]]


def test_an_unstorable_character_ends_a_word() -> None:
    assert _grams("ab\x00cd\x01ef", "gh") == [["ab", "cd", "ef"], ["gh"]]


@given(st.lists(st.text("ab 字.", max_size=12), max_size=8), st.integers(1, 9))
def test_batches_and_windows_lose_and_double_nothing(texts: list[str], size: int) -> None:
    whole = _grams(*texts)
    for text, grams in zip(texts, whole, strict=True):
        words = text.replace(".", " ").split()
        expected = [a + b for word in words for a, b in pairwise(word)]
        expected += [a + b + c for word in words for a, b, c in zip(word, word[1:], word[2:], strict=False)]
        assert grams == sorted(expected)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(grams_module, "BATCH", size)
        assert _grams(*texts) == whole


def test_no_two_grams_share_a_number() -> None:
    (batch,) = list_grams(["\U0010ffff\U0010ffff\U0010ffff \U0010ffff\U0010fffe"])
    assert len(np.unique(batch.codes)) == 3
