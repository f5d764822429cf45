"""The part of a text around the best match: any language, any width, in long texts, shown as it is."""

import pytest

from annotator.pooling.proposals.snippets import LENGTH, cut_snippet

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
    offset = text.find(shown.strip("… ")[20:60])
    assert offset > 0
    assert len(shown) <= LENGTH + 4
    assert any(sign in shown for sign in ("設定", "지정", "RETRY", "queue"))
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_where_many_terms_stand_together_is_better_than_where_one_stands() -> None:
    text = "queue " + "x " * 300 + "handler queue order " + "y " * 300
    assert "handler queue order" in cut_snippet(text, "order handler queue")


@pytest.mark.parametrize(
    ("text", "searched", "shown"),
    [
        ("", "x", ""),
        ("短い文書", "", "短い文書"),
        ("a\n\n b", "zz", "a b"),
        ("<b>&</b>", "b", "<b>&</b>"),
        ("Queue\n=====\nA queue.\n\n---\n```java\nclass A {}\n```\n", "queue", "Queue A queue. class A {}"),
        ("a --- b\n--", "a", "a --- b --"),
    ],
)
def test_a_short_text_is_shown_whole_on_one_line(text: str, searched: str, shown: str) -> None:
    assert cut_snippet(text, searched) == shown


def test_a_snippet_begins_at_a_word_and_shows_what_stands_before_the_match() -> None:
    words = "alpha beta gamma delta epsilon "
    shown = cut_snippet(words * 40 + "needle " + words * 40, "NEEDLE")
    assert shown.startswith("… ")
    assert shown.removeprefix("… ").split()[0] in words.split()
    assert 30 <= shown.index("needle") <= 50 + len("… ") + 12
    assert len(shown) >= LENGTH - 20


@pytest.mark.parametrize("text", ["needle " + "x " * 300, "a needle " + "x " * 300])
def test_a_match_at_the_beginning_leaves_nothing_out_before_it(text: str) -> None:
    assert cut_snippet(text, "needle").startswith(text[:40])


@pytest.mark.parametrize("before", [396, 398, 399, 400, 401, 798, 800])
def test_a_match_is_found_wherever_in_a_long_text_it_stands(before: int) -> None:
    assert "needle" in cut_snippet("-" * before + "needle" + "-" * 900, "needle")
    assert "針" in cut_snippet("㍿" * before + "探す針" + "㍿" * 900, "探す針"), (
        "also where folding makes it longer"
    )


def test_a_rare_word_counts_for_more_than_one_that_stands_everywhere() -> None:
    assert "handler" in cut_snippet("queue is " * 60 + "handler " + "queue is " * 60, "queue handler")
    many = "queue is " * 200
    assert "handler" in cut_snippet(many + "handler", "queue handler"), "however often the other does"


def test_a_part_of_a_word_is_found_where_the_word_is_not() -> None:
    assert "リトライする" in cut_snippet(
        "説明。" * 200 + "リトライする処理" + "説明。" * 200, "リトライハンドラ"
    )
    assert "허가구역" in cut_snippet("머리 " * 200 + "허가구역 지정" + " 꼬리" * 200, "토지거래허가구역")
