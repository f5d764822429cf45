"""What a browser keeps until the server has it, without a server."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from annotator.web.kit.components import join_modules
from annotator.web.labeling.api import MAX_BODY
from annotator.web.labeling.label_page import FOLDER

FILL = """(notes) => {
  const box = new Outbox('花子', 'd');
  notes.forEach((note, at) => box.put({ id: `e${at}`, pair: `p${at}`, note, pressed_at: new Date(1e12 + at * 1000).toISOString() }));
  const sizes = [], ids = [];
  while (box.list().length) {
    const batch = box.batch();
    sizes.push(new TextEncoder().encode(JSON.stringify(batch)).length);
    ids.push(...batch.map((event) => event.id));
    box.remove(batch.map((event) => event.id));
  }
  return [sizes, ids];
}"""


@pytest.fixture
def outbox(browser: Browser) -> Iterator[Page]:
    page = browser.new_context().new_page()
    page.route("http://box.test/", lambda route: route.fulfill(body="<p>", content_type="text/html"))
    page.goto("http://box.test/")  # a page that has a storage
    page.add_script_tag(content=join_modules(FOLDER / "outbox.js"))
    yield page
    page.context.close()


def test_what_waits_goes_in_requests_that_the_server_takes_oldest_first(outbox: Page) -> None:
    notes = ["あ" * 10_000] * 150 + ["short"] * 120
    sizes, ids = outbox.evaluate(FILL, notes)
    assert ids == [f"e{at}" for at in range(len(notes))]
    assert max(sizes) < MAX_BODY - 100_000
    assert len(sizes) == 5


def test_one_note_that_alone_is_too_long_does_not_hold_up_the_rest(outbox: Page) -> None:
    sizes, ids = outbox.evaluate(FILL, ["x" * 600_000, "after"])
    assert (len(sizes), ids) == (2, ["e0", "e1"])


NUMBERS = """([username, clocks]) => clocks.map((clock) => {
  const now = Date.now;
  Date.now = () => clock;
  const event = { id: newId(), pair: 'p', pressed_at: new Date(clock).toISOString() };
  new Outbox(username, 'd').put(event);  // as after a reload: it remembers nothing but what is stored
  Date.now = now;
  return [event.browser, event.browser_number];
})"""


def test_a_browser_numbers_its_presses_in_their_order_whatever_its_clock_says(outbox: Page) -> None:
    day = 86_400_000
    evaluation = outbox.evaluate(NUMBERS, ["花子", [10**12, 10**12 + 400 * day, 10**12 - 3 * day, 10**12]])
    numbers = [number for _browser, number in evaluation]
    assert numbers == sorted(set(numbers))
    assert len({browser for browser, _number in evaluation}) == 1
    waiting = outbox.evaluate("() => new Outbox('花子', 'd').list().map((event) => event.browser_number)")
    assert waiting == numbers, "what waits is submitted in that order"
    ((other, _number),) = outbox.evaluate(NUMBERS, ["민준", [10**12]])
    assert other != evaluation[0][0], "nothing tells that two people used one browser"
