"""The view of a document: formatted and as its source, marks, find, long documents, and that nothing jumps or runs."""

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from annotator.storage.database import Database
from annotator.storage.tables.central import DocumentRow
from tests.browser.conftest import SignIn
from tests.browser.document_world import Answers, list_marks, open_view, prepare, show
from tests.browser.panel_world import fill_pool, open_panel

FILLER = "何も書いていない行が続く。\n" * 40


@pytest.fixture
def answers(page: Page) -> Answers:
    return open_view(page)


def region(page: Page) -> Any:
    return page.locator(".document")


def rendered(html: str, kind: str = "markdown", **changes: Any) -> dict[str, Any]:
    return {"html": html, "kind": kind, "blocked": 0, "cut": False, **changes}


def is_in_view(page: Page, selector: str) -> bool:
    """Whether the first such element stands within the scrolling region."""
    inside: bool = page.locator(selector).first.evaluate(
        """(e) => { const v = document.querySelector('.document').getBoundingClientRect(), r = e.getBoundingClientRect();
        return r.top >= v.top && r.bottom <= v.bottom; }"""
    )
    return inside


def test_plain_text_is_shown_exactly_as_it_is(page: Page, answers: Answers) -> None:
    text = "<b>x</b>  \n\n\ttab __init__ $5 \u202etxet\u202c 🙂\n" * 200 + "end without a line end"
    show(page, text)
    assert page.locator(".text").evaluate("(e) => e.textContent") == text
    assert page.locator(".text b").count() == 0
    assert answers.asked == ["http://view.test/"]


@pytest.mark.parametrize(("text", "message"), [(None, "was not imported"), ("", "This document is empty.")])
def test_a_document_without_text_says_so(
    page: Page, answers: Answers, text: str | None, message: str
) -> None:
    show(page, text, media_type="text/markdown")
    expect(region(page)).to_contain_text(message)
    expect(page.get_by_role("button", name="Find")).to_be_hidden()


def test_what_the_server_rendered_is_shown_formatted_and_its_source_by_a_button_that_is_remembered(
    page: Page, answers: Answers
) -> None:
    answers.renderings["p1"] = rendered("<h3>題</h3><p>The <b>Retry</b>Handler</p>", blocked=2)
    show(page, "# 題\nThe **Retry**Handler", media_type="text/markdown", query="RetryHandler")
    expect(page.locator(".formatted h3")).to_have_text("題")
    assert "".join(list_marks(page)) == "RetryHandler"
    expect(region(page)).to_contain_text("Images and embedded content not shown: 2")
    page.get_by_role("button", name="Source").click()
    expect(page.locator(".text")).to_have_text("# 題 The **Retry**Handler")
    assert page.get_by_role("button", name="Source").get_attribute("aria-pressed") == "true"
    answers.renderings["p2"] = rendered("<p>two</p>")
    show(page, "*two*", pair="p2", media_type="text/markdown")
    expect(page.locator(".text")).to_have_text("*two*")
    answers.renderings["p3"] = rendered("<p>three</p>", kind="rst")
    show(page, "*three*", pair="p3", media_type="text/x-rst")
    expect(page.locator(".formatted")).to_have_text("three")


def test_the_source_of_markdown_shows_no_escapes_but_those_in_code(page: Page, answers: Answers) -> None:
    answers.renderings["p1"] = rendered("<p>x</p>")
    text = "**①** 항\n1\\. 호 \\* \\\\ `a\\.b`\n```\nc\\.d\n```\n2\\) **강조** \\가"
    show(page, text, media_type="text/markdown")
    page.get_by_role("button", name="Source").click()
    shown = "① 항\n1. 호 * \\ `a\\.b`\n```\nc\\.d\n```\n2) **강조** \\가"
    assert page.locator(".text").evaluate("(e) => e.textContent") == shown
    show(page, "1\\. x", pair="p2")
    assert page.locator(".text").evaluate("(e) => e.textContent") == "1\\. x"


def test_a_rendering_that_comes_late_does_not_replace_what_is_being_read(
    page: Page, answers: Answers
) -> None:
    show(page, "first")
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/api/rendering*", hold)
    show(page, "*text*", pair="p2", media_type="text/markdown")
    expect(page.locator(".text")).to_have_text("*text*")
    waiting[0].fulfill(json=rendered("<p>late</p>"))
    expect(page.get_by_role("button", name="Source")).to_be_visible()
    expect(page.locator(".text")).to_have_text("*text*")
    page.get_by_role("button", name="Source").click()
    expect(page.locator(".formatted")).to_have_text("late")


def test_a_document_prepared_ahead_is_there_at_once(page: Page, answers: Answers) -> None:
    answers.renderings["p2"] = rendered("<p>ready</p>")
    show(page, "one")
    prepare(page, "*ready*", pair="p2", media_type="text/markdown")
    page.wait_for_function("() => window.view.prepared.get('p2').texts.formatted?.parts.length === 1")
    now = page.evaluate(
        "() => { window.view.show(window.ahead); return document.querySelector('.formatted').textContent; }"
    )
    assert now == "ready"


def test_the_title_the_id_the_metadata_and_a_link_that_opens_beside_are_shown(
    page: Page, answers: Answers
) -> None:
    show(
        page,
        "x",
        doc_id="a/<b>",
        url="https://x.example/?<q>",
        metadata={"制定": "2026-01-02", "leer": None, "번호": "<3>"},
    )
    expect(page.get_by_role("heading", name="題")).to_be_visible()
    expect(page.get_by_role("table", name="About this document").get_by_role("row")).to_have_count(2)
    expect(page.get_by_role("row", name="번호 <3>")).to_be_visible()
    link = page.get_by_role("link", name="https://x.example/?<q>")
    assert (link.get_attribute("target"), link.get_attribute("rel")) == ("_blank", "noopener noreferrer")
    show(page, "x", pair="p2", url="javascript:alert(1)")
    expect(page.get_by_role("link")).to_have_count(0)


def test_a_long_document_opens_where_most_of_the_query_stands_and_leads_back_to_its_beginning(
    page: Page, answers: Answers
) -> None:
    text = FILLER + "リトライ\n" + FILLER * 3 + "リトライハンドラの上限を設定する\n" + FILLER * 3 + "設定\n"
    show(page, text, query="リトライハンドラの上限の設定")
    expect(page.locator("mark.here").first).to_be_visible()
    assert is_in_view(page, "mark.here")
    assert "上限" in "".join(list_marks(page))
    page.get_by_role("button", name="From the beginning").click()
    assert region(page).evaluate("(e) => e.scrollTop") == 0
    page.get_by_role("button", name="Best match").click()
    assert is_in_view(page, "mark.here")
    show(page, "short リトライ", pair="p2", query="リトライ")
    assert region(page).evaluate("(e) => e.scrollTop") == 0
    expect(page.get_by_role("button", name="From the beginning")).to_be_hidden()


def test_matches_are_counted_and_stepped_through_around_the_end(page: Page, answers: Answers) -> None:
    show(page, FILLER.join(["", "alpha\n", "beta alpha\n", ""]), query="alpha beta")
    expect(page.get_by_text("Matches: 3")).to_be_visible()
    seen = []
    for _ in range(4):
        page.evaluate("() => window.view.goToMatch(1)")
        seen.append(page.locator("mark.here").text_content())
        assert is_in_view(page, "mark.here")
    assert seen == ["alpha", "beta", "alpha", "alpha"]
    expect(page.get_by_text("1 of 3").first).to_be_visible()
    page.get_by_role("button", name="Previous match").click()
    expect(page.get_by_text("3 of 3").first).to_be_visible()


def test_find_goes_through_the_whole_loaded_text_and_ends_by_escape(page: Page, answers: Answers) -> None:
    show(page, FILLER * 20 + "ﾊﾝﾄﾞﾗ and ハンドラ\n" + FILLER * 20 + "the ハンドラ\n", query="ハンドラ")
    page.evaluate("() => window.view.openFind()")
    field = page.get_by_role("searchbox", name="Find in the document")
    expect(field).to_be_focused()
    field.fill("ハンドラ")
    expect(page.get_by_text("1 of 3").first).to_be_visible()
    assert is_in_view(page, "mark.hit.here")
    field.press("Enter")
    field.press("Enter")
    expect(page.get_by_text("3 of 3").first).to_be_visible()
    assert is_in_view(page, "mark.hit.here")
    field.press("Shift+Enter")
    expect(page.get_by_text("2 of 3").first).to_be_visible()
    field.fill("nirgends")
    expect(page.get_by_text("Not found").first).to_be_visible()
    assert page.locator("mark.hit").count() == 0
    field.fill("")
    field.press("Enter")
    expect(region(page)).to_be_focused()
    page.evaluate("() => window.view.openFind()")
    field.press("Escape")
    expect(region(page)).to_be_focused()
    expect(page.get_by_text("Matches: 3")).to_be_visible()


def test_find_crosses_inline_elements_and_leaves_the_text_as_it_was(page: Page, answers: Answers) -> None:
    html = "<p>a <b>Ret</b><i>ry</i> b</p><p>Retry</p>"
    answers.renderings["p1"] = rendered(html)
    show(page, "x", media_type="text/markdown", query="retry b")
    expect(page.locator(".formatted p")).to_have_count(2)
    page.evaluate("() => window.view.openFind()")
    page.get_by_role("searchbox").fill("try")
    expect(page.get_by_text("1 of 2").first).to_be_visible()
    assert list_marks(page, "mark.hit") == ["t", "ry", "try"]
    assert list_marks(page, "mark:not(.hit)") == ["Re", "Re"]
    page.get_by_role("searchbox").press("Escape")
    assert list_marks(page) == ["Ret", "ry", "Retry"]
    assert page.locator(".formatted").evaluate("(e) => e.textContent") == "a Retry bRetry"


def test_the_whole_of_a_document_that_was_handed_cut_comes_behind_what_is_read(
    page: Page, answers: Answers
) -> None:
    whole = "".join(f"{number} 行 🙂\n" for number in range(60_000)) + "終わり"
    answers.texts["p1"] = whole
    show(page, whole[:200_000], length=len(whole), query="終わり")
    page.evaluate("() => window.view.openFind()")
    page.get_by_role("searchbox").fill("終わり")
    expect(page.get_by_text("Only the loaded part was searched").first).to_be_visible()
    page.get_by_role("searchbox").press("Escape")
    region(page).evaluate("(e) => { e.scrollTop = 1000; }")
    page.get_by_role("button", name="Show the whole document").evaluate("(e) => e.click()")
    expect(page.get_by_text("Matches: 1")).to_be_visible()
    assert region(page).evaluate("(e) => e.scrollTop") == 1000
    assert page.locator(".text").evaluate("(e) => e.textContent") == whole
    page.evaluate("() => window.view.goToMatch(1)")
    assert is_in_view(page, "mark.here")


def test_numbers_are_written_as_in_the_language_of_the_page_not_of_the_browser(page: Page) -> None:
    answers = open_view(page, "de")
    answers.renderings["p1"] = rendered("<p>alpha</p>" * 1_200, blocked=1_300)
    show(page, "alpha " * 1_200, length=1_234_567, query="alpha", media_type="text/markdown")
    expect(page.get_by_text("Matches: 1.200")).to_be_visible()
    expect(page.get_by_text("not shown: 1.300")).to_be_visible()
    show(page, "alpha " * 1_200, pair="p2", length=1_234_567, query="alpha")
    expect(page.get_by_role("button", name="(1.234.567 characters)")).to_be_attached()
    page.evaluate("() => window.view.openFind()")
    page.get_by_role("searchbox").fill("alpha")
    expect(page.get_by_text("1 of 1.200").first).to_be_visible()


def test_a_very_long_document_is_built_piece_by_piece_marked_near_the_view_only_and_let_go(
    page: Page, answers: Answers
) -> None:
    line = "第一条　この法律は、都市計画の内容を定める。\n"
    show(page, line * 8_000, length=len(line) * 120_000, query="都市計画")
    page.evaluate(
        "(line) => { window.fetch = async () => new Response(new Blob([line.repeat(120000)]).stream()); }",
        line,
    )
    page.get_by_role("button", name="Show the whole document").evaluate("(e) => e.click()")
    whole = "(n) => window.view.current.shown.length === n"
    page.wait_for_function(whole, arg=len(line) * 120_000, timeout=60_000)
    assert page.evaluate("() => window.view.current.shown.matches") == 120_000
    assert page.locator("mark").count() < 5_000
    assert 2_000 <= page.locator(".part").count() < 3_000
    show(page, "next", pair="p2")
    assert page.evaluate("() => window.view.prepared.has('p1')") is False


def test_only_the_documents_used_last_are_kept(page: Page, answers: Answers) -> None:
    show(page, "first", pair="p0")
    for number in range(1, 40):
        prepare(page, "x", pair=f"p{number}")
    kept = page.evaluate("() => [...window.view.prepared.keys()]")
    assert len(kept) <= 12
    assert {"p0", "p39"} <= set(kept)


CONTRASTS = """(theme) => {
  for (const [name, value] of Object.entries(theme)) document.querySelector('.panel').style.setProperty(name, value);
  const pen = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
  const light = (color) => {
    pen.fillStyle = color; pen.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const worst = {};
  for (const e of document.querySelectorAll('.formatted span, .docid, .docnote, .doctools button, .doctools .count, mark')) {
    const ground = e.matches('mark') ? getComputedStyle(e).backgroundColor : theme[e.closest('pre') ? '--st-secondary-background-color' : '--st-background-color'];
    const [a, b] = [light(getComputedStyle(e).color), light(ground)].sort((x, y) => y - x);
    worst[e.className || e.tagName] = Math.min(worst[e.className || e.tagName] ?? 99, (a + 0.05) / (b + 0.05));
  }
  return worst;
}"""
LIGHT = {
    "--st-text-color": "#1d232b",
    "--st-background-color": "#ffffff",
    "--st-secondary-background-color": "#f1f3f0",
}
DARK = {
    "--st-text-color": "#e8ebe8",
    "--st-background-color": "#14181a",
    "--st-secondary-background-color": "#1f2629",
}


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_code_notes_and_marks_can_be_read_on_light_and_dark_ground(
    page: Page, answers: Answers, theme: dict[str, str]
) -> None:
    names = ("keyword", "string", "number", "name", "comment")
    spans = "".join(f'<span class="dx-{name}">{name}</span> ' for name in names)
    html = f'<pre>{spans}</pre><p>term <span class="dx-image">図</span></p>'
    answers.renderings["p1"] = rendered(html, blocked=1)
    show(page, "x", media_type="text/markdown", query="term")
    expect(page.locator(".formatted mark")).to_be_visible()
    contrasts = page.evaluate(CONTRASTS, theme)
    assert {f"dx-{name}" for name in names} <= set(contrasts)
    assert {name: value for name, value in contrasts.items() if value < 4.5} == {}


def test_a_hostile_page_runs_and_fetches_nothing_in_the_panel(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    text = (
        "<h1>題</h1><script>window.hacked = 1</script><img src=https://evil.example/x.png onerror='window.hacked = 2' alt='図'>"
        "<p onclick='window.hacked = 3' style='position:fixed'>本文</p><iframe src=https://evil.example></iframe>"
    )
    fill_pool(database, documents=1, queries=("本文",), texts=(text,))
    with database.write() as session:
        session.query(DocumentRow).update({"media_type": "text/html"})
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    sign_in(page, "hanako")
    open_panel(page)
    expect(page.locator(".formatted h3")).to_have_text("題")
    expect(page.locator(".formatted .dx-image")).to_have_text("図")
    assert page.locator(".formatted :is(img, script, iframe, [style], [onclick])").count() == 0
    assert page.evaluate("() => window.hacked") is None
    assert not [url for url in fetched if "evil" in url]
