"""What the panel says when something is in the way, and that nothing typed or pressed is lost by it."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from annotator.dataset.service import change_settings
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.service import list_judgments, submit_judgments
from annotator.people.service import change_person, disable_person
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_decided
from annotator.storage.lookup import find_person, key_of
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import JudgmentRow, MembershipRow, PairRow
from annotator.storage.tables.labeling import DisclosureRow, LeaseRow
from annotator.web.labeling.api import EXCHANGE_VERSION
from tests.browser.conftest import Server, SignIn, wait_until
from tests.browser.panel_world import fill_pool, open_panel, panel, press, pressed, stored, wait_saved
from tests.integration.labeling_world import hand_out

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def start(page: Page, database: Database, sign_in: SignIn) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    open_panel(page)


def alert(page: Page, text: str) -> Locator:
    return page.get_by_role("alert").filter(has_text=text)


def on_screen(page: Page) -> str:
    return str(panel(page).get_attribute("data-pair-id"))


def settle(database: Database, key: str) -> None:
    with database.write() as session:
        pair = session.query(PairRow).filter_by(key=key).one()
        row = AdjudicationRow(
            pair_pk=key_of(pair.pk), revision=1, lead_pk=key_of(find_person(session, "lea").pk), rubric_pk=1,
            grade=2, rationale="決定", decided_at=NOW,
        )  # fmt: skip
        session.add(row)
        derive_decided(session, [row.pair_pk])


def test_nothing_is_stored_under_the_name_of_somebody_who_signed_in_in_another_tab(
    page: Page, context: BrowserContext, database: Database, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    other = context.new_page()
    context.clear_cookies()
    sign_in(other, "minjun", to="/help")
    page.bring_to_front()
    press(page, "23")
    seen = pressed(page)
    expect(alert(page, "Another person has signed in with this browser.")).to_be_visible()
    assert stored(database) == stored(database, "minjun") == []
    context.clear_cookies()
    sign_in(other, "hanako", to="/help")
    wait_saved(page)
    assert stored(database) == seen
    assert stored(database, "minjun") == []


def test_a_role_taken_and_a_disabled_account_are_said_and_what_was_pressed_is_kept(
    page: Page, context: BrowserContext, database: Database, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    with database.write() as session:
        hanako = key_of(find_person(session, "hanako").pk)
        membership = session.query(MembershipRow).filter_by(person_pk=hanako).one()
        kept = membership.model_dump()
        session.delete(membership)
    press(page, "2")
    expect(
        alert(page, "They are kept in this browser. You can no longer label this dataset.")
    ).to_be_visible()
    with database.write() as session:
        session.add(MembershipRow.model_validate(kept))
    wait_saved(page)
    disable_person(database, OPERATOR, "hanako", now=NOW)
    press(page, "3")
    expect(alert(page, "your account was disabled")).to_be_visible()
    change_person(database, OPERATOR, "hanako", enable=True, now=NOW)
    sign_in(context.new_page(), "hanako", to="/help")
    wait_saved(page)
    assert stored(database) == pressed(page)


def test_a_judgment_that_is_refused_keeps_its_note_on_the_screen_also_over_a_reload(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    seen = on_screen(page)
    with database.write() as session:
        pair, person = session.query(PairRow).filter_by(key=seen).one(), find_person(session, "hanako")
        session.add(DisclosureRow(pair_pk=key_of(pair.pk), person_pk=key_of(person.pk), disclosed_at=NOW))
    page.keyboard.press("n")
    page.keyboard.type("三行 메모")
    page.keyboard.press("Escape")
    press(page, "1")
    for _ in range(2):
        expect(alert(page, "you have seen others' judgments")).to_contain_text("Your note: 三行 메모")
        page.reload()
        open_panel(page)
    page.get_by_role("button", name="Got it").click()
    expect(page.get_by_role("alert")).to_be_hidden()
    assert stored(database) == []


def test_an_answered_pair_opens_by_its_address_or_by_z_after_a_reload_and_says_when_it_can_no_longer_change(
    page: Page, database: Database, server: Server, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    press(page, "12")
    wait_saved(page)
    (first, _), (second, _) = stored(database)
    open_panel(page, f"{server.address}/label?dataset=demo&pair={first}")
    strip = page.get_by_role("group", name="About this pair")
    expect(strip).to_contain_text("Your grade: 1 Marginally relevant.")
    assert on_screen(page) == first
    press(page, "3")
    expect(panel(page)).not_to_have_attribute("data-pair-id", first)
    assert "pair=" not in page.url
    wait_saved(page)
    page.reload()
    open_panel(page)
    settle(database, first)
    press(page, "z")
    expect(page.get_by_text("This pair cannot be opened: a lead has settled this pair")).to_be_visible()
    press(page, "z")
    expect(panel(page)).to_have_attribute("data-pair-id", second)
    expect(strip).to_contain_text("Your grade: 2 Highly relevant.")
    settle(database, second)
    press(page, "0")
    expect(alert(page, "a lead has settled this pair; it can no longer be judged.")).to_be_visible()
    assert stored(database, history=False) == [(second, 2), (first, 3)]


def test_a_lease_that_ran_out_while_offline_keeps_the_judgment(
    page: Page, context: BrowserContext, database: Database, sign_in: SignIn
) -> None:
    change_settings(database, OPERATOR, "demo", {"overlap": "1"}, now=NOW)
    start(page, database, sign_in)
    pair = on_screen(page)
    context.set_offline(True)
    press(page, "2")
    with database.write() as session:
        session.query(LeaseRow).update({"expires_at": NOW})
        minjun = find_person(session, "minjun")
        actor = Actor(key_of(minjun.pk), minjun.username)
    event = {
        "id": str(uuid4()),
        "pair": pair,
        "outcome": "graded",
        "grade": 1,
        "pressed_at": "2026-01-05T00:00:00Z",
    }
    now = datetime.now(UTC)
    hand_out(database, actor, [pair], now=now)
    response = submit_judgments(database, actor, "demo", events=[event], have=[], want=0, now=now)
    assert response.acknowledged
    context.set_offline(False)
    wait_saved(page)
    assert (stored(database), stored(database, "minjun")) == ([(pair, 2)], [(pair, 1)])


@pytest.mark.long(
    "browser/labeling/test_panel_loses_nothing.py::test_two_tabs_of_one_annotator_each_label_the_pair_they_show",
    "integration/labeling/test_at_the_same_time.py",
)
def test_two_devices_of_one_annotator_show_different_pairs_and_keep_all_answers(
    page: Page, browser: Browser, database: Database, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    device = browser.new_context(locale="en-US")
    other = device.new_page()
    sign_in(other, "hanako")
    open_panel(other)
    for key in "23123":
        press(page, key)
        press(other, key)
    seen = pressed(page) + pressed(other)
    wait_saved(page)
    wait_saved(other)
    device.close()
    assert sorted(stored(database)) == sorted(seen)
    assert len({pair for pair, _grade in seen}) == 10


def test_a_clock_that_is_set_back_undoes_no_change_and_idle_or_unfocused_time_is_not_counted(
    browser: Browser, database: Database, sign_in: SignIn
) -> None:
    page = browser.new_context(locale="en-US").new_page()  # a clock is for the whole context
    page.set_default_timeout(60_000)
    page.clock.install(time=datetime.now(UTC) + timedelta(days=2))
    start(page, database, sign_in)
    pair = on_screen(page)
    page.clock.fast_forward(600_000)
    press(page, "1")
    wait_saved(page)
    page.clock.set_system_time(datetime.now(UTC) - timedelta(days=3))
    page.reload()  # a page that knows nothing of the press before
    open_panel(page)
    press(page, "z")
    expect(panel(page)).to_have_attribute("data-pair-id", pair)
    page.evaluate("() => { document.hasFocus = () => false; window.dispatchEvent(new Event('blur')); }")
    page.clock.fast_forward(60_000)
    page.evaluate("() => { delete document.hasFocus; window.dispatchEvent(new Event('focus')); }")
    press(page, "3")
    wait_saved(page)
    assert stored(database, history=False) == [(pair, 3)]
    with database.read() as session:
        rows = session.query(JudgmentRow).order_by(JudgmentRow.pk).all()  # type: ignore[arg-type]
        idle, unfocused = (row.seconds for row in rows)
        assert all(abs(row.judged_at - datetime.now(UTC)) < timedelta(hours=1) for row in rows)
    assert 119 <= (idle or 0) < 180
    assert (unfocused or 0) < 50
    page.context.close()


def test_forbidden_storage_is_said_before_the_first_press_and_an_answer_of_another_version_loses_nothing(
    page: Page, browser: Browser, database: Database, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    page.evaluate(
        """() => { window.own = fetch;
        window.fetch = (to, asked) => to === '/api/judgments' ? Promise.resolve(Response.json({ anything: 'else' })) : own(to, asked); }"""
    )
    press(page, "2")
    seen = pressed(page)
    expect(alert(page, "The server has another version than this page.")).to_be_visible()
    page.evaluate(
        """() => { window.sent = null;
        window.fetch = (to, asked) => to === '/api/judgments'
          ? (window.sent = JSON.parse(asked.body), Promise.resolve(Response.json({ error: 'older' }, { status: 426 }))) : own(to, asked); }"""
    )
    wait_until(page, "() => window.sent?.events.length === 1")
    assert page.evaluate("window.sent.version") == EXCHANGE_VERSION
    expect(alert(page, "Reload the page: nothing will be lost.")).to_be_visible()
    page.evaluate("window.fetch = own")
    wait_saved(page)
    page.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('no', 'SecurityError') }"
    )
    page.reload()
    open_panel(page)
    expect(alert(page, "This browser cannot store judgments")).to_be_visible()
    before = on_screen(page)
    press(page, "1")
    assert on_screen(page) == before
    assert stored(database) == seen


@pytest.mark.long(
    "browser/labeling/test_panel_keys.py::test_going_back_changes_the_grade_of_the_pair_before_and_then_goes_on"
)
def test_the_history_keeps_both_values_of_a_changed_judgment(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    press(page, "1z")
    expect(page.get_by_role("group", name="About this pair")).to_contain_text("Your grade: 1")
    press(page, "u1")
    wait_saved(page)
    history = sorted(list_judgments(database, OPERATOR, "demo", history=True), key=lambda j: j.judged_at)
    assert [(j.outcome, j.grade) for j in history] == [("graded", 1), ("unrateable", None)]


@pytest.mark.parametrize("width", [1280, 400])
def test_no_notice_moves_the_query_or_the_grades(
    page: Page, context: BrowserContext, database: Database, sign_in: SignIn, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    start(page, database, sign_in)
    places = measure(page)
    strip = page.get_by_role("group", name="About this pair")
    press(page, "2")
    wait_saved(page)
    press(page, "z")
    expect(strip).to_contain_text("Your grade: 2 Highly relevant.")
    assert measure(page) == places
    press(page, "3")
    wait_saved(page)
    context.set_offline(True)
    press(page, "1")
    expect(alert(page, "This computer is offline.")).to_be_visible()
    assert measure(page) == places
    press(page, "z")
    expect(strip).to_be_visible()
    assert measure(page) == places, "two notices at once"
    context.set_offline(False)
    press(page, "0")
    wait_saved(page)
    context.clear_cookies()
    press(page, "2")
    expect(alert(page, "You are signed out")).to_be_visible()
    assert measure(page) == places


def measure(page: Page) -> dict[str, float]:
    """Return where the query and the buttons begin, in pixels from the top of the window."""
    places: dict[str, float] = panel(page).evaluate(
        """(root) => Object.fromEntries([".query", ".querytext", ".viewer", ".grades", ".actions", ".notebox"]
          .map((name) => [name, root.querySelector(name).getBoundingClientRect().top]))"""
    )
    return places
