"""What a key press does at once and what waits until the next pair is on the screen, on a real Chromium and server."""

from playwright.sync_api import Page

from annotator.storage.database import Database
from tests.browser.conftest import SignIn
from tests.browser.panel_world import fill_pool, open_panel, panel, press, pressed, stored, wait_saved

# One press, and what has happened before its event is over. Counts the questions that make the browser lay out the page.
PRESS = """() => {
  const root = window.panel(), before = root.dataset.pairId, asked = [], sent = [];
  const watch = (prototype, name) => {
    const own = Object.getOwnPropertyDescriptor(prototype, name);
    const note = (work) => function (...values) { asked.push(name); return work.apply(this, values); };
    Object.defineProperty(prototype, name, own.get ? { ...own, get: note(own.get) } : { ...own, value: note(own.value) });
    return () => Object.defineProperty(prototype, name, own);
  };
  const fetch = window.fetch;
  window.fetch = (...values) => { sent.push(String(values[0])); return fetch(...values); };
  const names = ["getBoundingClientRect", "scrollHeight", "clientHeight", "scrollTop"];
  const restore = names.map((name) => watch(Element.prototype, name));
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "2", code: "Digit2", bubbles: true, cancelable: true }));
  restore.forEach((put) => put());
  const kept = Object.keys(localStorage).filter((key) => key.startsWith("annotator/outbox/")).map((key) => JSON.parse(localStorage[key]));
  return {
    asked, sent: sent.length, before, after: root.dataset.pairId, unsaved: root.dataset.unsaved,
    kept: kept.map((event) => [event.pair, event.grade]), marks: root.querySelectorAll(".document mark").length,
  };
}"""


def test_a_press_is_kept_and_the_next_pair_shown_before_anything_else_is_done(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    open_panel(page)
    press(page, "1")
    wait_saved(page)
    done = page.evaluate(PRESS)
    assert done["kept"] == [[done["before"], 2]], "what was pressed is in the browser's storage"
    assert done["unsaved"] == "1"
    assert done["after"] not in ("", done["before"])
    assert done["marks"] > 0, "the query's terms are marked from the first paint on"
    assert done["asked"] == ["scrollTop"], (
        "before anything has changed; then the page is laid out once, to be painted"
    )
    assert done["sent"] == 0, "the request waits for the paint"
    wait_saved(page)
    assert stored(database)[-1] == (done["before"], 2)


def test_where_the_browser_paints_nothing_a_press_is_submitted_all_the_same(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    open_panel(page)
    page.evaluate("() => { window.requestAnimationFrame = () => 0; }")
    press(page, "123")
    seen = pressed(page)
    assert panel(page).get_attribute("data-pair-id") not in {pair for pair, _grade in seen}
    wait_saved(page)
    assert stored(database) == seen
