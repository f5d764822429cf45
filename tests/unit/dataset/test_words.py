"""How many words a query has is the same everywhere, in Japanese and Korean too."""

import unicodedata

import pytest

from annotator.dataset.query_counts import count_words, name_length


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("handler queue order constraints for web application", 7),
        ("don't stop", 2),
        ("", 0),
        (" \t\n", 0),
        ("🔎 – …", 0),
        ("emoji 🔎 between", 2),
    ],
)
def test_white_space_separates_words_and_what_holds_no_letter_is_none(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("RESTful Webサービスのハンドラキュー構成", 6),  # RESTful Web サービス の ハンドラキュー 構成
        ("ハンドラの実行順序が正しくない場合のデバッグ方法", 10),
        ("ファイルダウンロードの実装方法（StreamResponse）", 4),
        ("メッセージ管理（多言語対応メッセージの定義と取得）", 8),
        ("設計、バッチ・Web", 3),
        ("APIﾊﾝﾄﾞﾗ設定", 3),
        ("ユーザー", 1),
        ("佐々木さん", 2),
    ],
)
def test_japanese_is_counted_by_runs_of_one_script(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("17조 검색", 2),
        ("도시계획을 수립하는 절차는 무엇인가", 4),
        ("국토計劃법", 1),  # Hangul with hanja: one eojeol
        ("API를 호출", 2),
    ],
)
def test_korean_is_counted_by_eojeol(text: str, words: int) -> None:
    assert count_words(text) == words


def test_a_full_name_of_a_class_is_one_word() -> None:
    assert count_words("nablarch.fw.handler.GlobalErrorHandler") == 1
    assert count_words("nablarch.fw.web.HttpResponse のステータスコード設定") == 4


@pytest.mark.parametrize("text", ["ハンドラガイド設定", "도시계획을 수립", "ベトナム（ぶんか）"])
def test_composed_and_decomposed_texts_have_as_many_words(text: str) -> None:
    assert count_words(unicodedata.normalize("NFD", text)) == count_words(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("words", "length"), [(1, "short"), (3, "short"), (4, "medium"), (8, "medium"), (9, "long")]
)
def test_the_classes_are_up_to_3_then_4_to_8_then_9_and_more(words: int, length: str) -> None:
    assert name_length(" ".join(["단어"] * words)) == length
