"""Which words of a text are marked for a query, in the browser's own segmentation and without it."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from annotator.web import kit
from annotator.web.kit.components import join_modules

FIND = """([query, text]) => findTerms(text, extractTerms(query)).map(([start, end]) => text.slice(start, end))"""


@pytest.fixture
def marks(page: Page) -> Page:
    page.add_script_tag(content=join_modules(Path(kit.__file__).parent / "panel/query_terms.js"))
    return page


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("RESTful Webサービスのハンドラキュー構成", "ﾊﾝﾄﾞﾗキューの設定。構成を示す。restful ＷＥＢ", ["ﾊﾝﾄﾞﾗキュー", "構成", "restful", "ＷＥＢ"]),
        ("토지거래허가구역의 지정 기간", "허가구역의 지정은 토지거래를 제한. 기간은 5년", ["허가구역", "지정", "토지거래", "기간"]),
        ("토지거래허가구역의 지정", "가구 수와 지역의 경우, 있는 것", []),
        ("nablarch.fw.RetryHandler", "class RetryHandler extends Handler // NABLARCH myRetry my_retry_count retries", ["RetryHandler", "Handler", "NABLARCH", "Retry", "retry"]),
        ("guide/web/handler-queue.md", "the handler of Web; queued", ["handler", "Web"]),
        ("max_pool_size", "maxPoolSize MAX_POOL_SIZE max", ["maxPoolSize", "MAX_POOL_SIZE", "max"]),
        ("トランザクションについて の を は する方法", "トランザクションの方法について、する は を", ["トランザクション"]),
        ("어떻게 하는 경우 및 있는", "어떻게 하는 경우 및 있는 것", []),
        ("what is the how to of", "what is the how to of", []),
        ("วิธีติดตั้งโปรแกรม", "การติดตั้งโปรแกรมบนเครื่อง", ["ติดตั้งโปรแกรม"]),
        ("RetryHandler のリトライ 再試行", "リトライし、再試行する。", ["リトライ", "再試行"]),
        ("数据库的隔离级别", "隔离级别是数据库的", ["隔离级别", "数据库"]),
        ("Straße ÉTÉ", "STRASSE été e\u0301te\u0301 straße", ["été", "e\u0301te\u0301", "straße"]),
        ("שלום Привет", "שלום, привет!", ["שלום", "привет"]),
        ("🙂 (a|b) [c] \\d+ 100%", "🙂 (a|b) [c] \\d+ 100%", ["100"]),
    ],
)  # fmt: skip
def test_the_words_of_a_query_are_marked_whatever_their_script_case_and_width(
    marks: Page, query: str, text: str, expected: list[str]
) -> None:
    assert marks.evaluate(FIND, [query, text]) == expected


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("締め切り後の再度の申請", "今後の制度は後日、再度申請の度に", ["再度申請"]),
        ("年度の途中で入った人の税", "税は人の年に入る。年度", ["年度"]),
        ("집을 살 때 내는 세금의 신고", "집과 땅을 살 사람은 세금을 내는 신고", ["세금", "내는", "신고"]),
        ("이 법에서 말하는 개발행위를 하는 경우에 필요한", "법에서 이미 말하는 집에서 하는 필요한 경우에 고요한 개발행위", ["필요한", "개발행위"]),
        ("vitamin C in a T cell", "C, c and T: vitamin a cell", ["vitamin", "cell"]),
        ("あなたが行う後に使うこと", "あなたの後に行うこと、使う", []),
        ("X線と第17条、제3조 제2항", "x線。線と第17条、17条 제3조의 조 제2항", ["x線", "第17条", "17", "제3조", "제2항"]),
        ("5年", "15年と5年", ["5年"]),
        ("税", "税と課税", ["税", "税"]),
        ("数の すし", "この数、すしの", ["数", "すし"]),
        ("집", "집과 집", ["집", "집"]),
        ("C", "C and class c", ["C", "c"]),
        ("の を", "ここの本を", []),
        ("의 는", "나의 나는", []),
    ],
)  # fmt: skip
def test_words_of_one_character_are_marked_only_where_a_query_has_nothing_else_and_particles_never(
    marks: Page, query: str, text: str, expected: list[str]
) -> None:
    assert marks.evaluate(FIND, [query, text]) == expected


def test_without_the_browsers_segmentation_pairs_of_characters_are_marked(marks: Page) -> None:
    marks.evaluate("() => { delete Intl.Segmenter; }")
    evaluation = marks.evaluate(FIND, ["取引先の独立性を設定", "独立した取引先と性。RetryHandler"])
    assert evaluation == ["独立", "取引先"]
    assert marks.evaluate(FIND, ["RetryHandler の設定", "retry handler, 設定"]) == [
        "retry",
        "handler",
        "設定",
    ]


def test_words_looked_for_are_found_whatever_their_case_and_width_and_at_their_very_places(
    marks: Page,
) -> None:
    find = "([needle, text]) => findWords(text, needle).map(([start, end]) => text.slice(start, end))"
    assert marks.evaluate(find, ["ハンドラ", "🙂ﾊﾝﾄﾞﾗとハンドラ"]) == ["ﾊﾝﾄﾞﾗ", "ハンドラ"]
    assert marks.evaluate(find, ["ab c", "ＡＢ C ab\nc"]) == ["ＡＢ C"]
    assert marks.evaluate(find, ["½", "1½ 1⁄2"]) == ["½", "1⁄2"]
    assert marks.evaluate(find, ["  ", "a  b"]) == []
    assert marks.evaluate(find, [".*", "a.*b"]) == [".*"]
