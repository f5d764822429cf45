"""The part of a text around the best match: any language, any width, in long texts, shown as it is."""

import pytest

from annotator.proposals.snippets import LENGTH, cut_snippet

LONG = "導入の文。" * 400


@pytest.mark.parametrize(
    ("text", "searched"),
    [
        (LONG + "リトライハンドラの設定は次のとおり。" + LONG, "リトライハンドラ"),
        (LONG + "ﾘﾄﾗｲﾊﾝﾄﾞﾗの設定は次のとおり。" + LONG, "リトライハンドラ"),
        ("머리말. " * 400 + "토지거래허가구역의 지정 기간" + " 꼬리말." * 400, "토지거래허가구역"),
        ("intro " * 500 + "class RETRYHandler {}" + " outro" * 500, "retryhandler"),
        ("㍿" * 3000 + "queue ハンドラ" + "㍿" * 3000, "ハンドラ queue"),
    ],
)  # fmt: skip
def test_the_best_match_stands_in_the_snippet(text: str, searched: str) -> None:
    shown = cut_snippet(text, searched)
    place = text.find(shown.strip("… ")[20:60])
    assert place > 0
    assert len(shown) <= LENGTH + 4
    assert any(sign in shown for sign in ("設定", "지정", "RETRY", "queue"))
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_where_many_terms_stand_together_is_better_than_where_one_stands() -> None:
    text = "queue " + "x " * 300 + "handler queue order " + "y " * 300
    assert "handler queue order" in cut_snippet(text, "order handler queue")


@pytest.mark.parametrize(
    ("text", "searched", "shown"),
    [("", "x", ""), ("短い文書", "", "短い文書"), ("a\n\n b", "zz", "a b"), ("<b>&</b>", "b", "<b>&</b>")],
)
def test_a_short_text_is_shown_whole_on_one_line(text: str, searched: str, shown: str) -> None:
    assert cut_snippet(text, searched) == shown
