"""The decision panel in a real browser: by keyboard, words that are owed, what changed meanwhile, back, outages, phones."""

import re
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Locator, Page, expect

from annotator.adjudication.discussion.discussion_service import object_to_decision
from annotator.adjudication.records import Decision
from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.questions_service import answer_question, ask_question
from annotator.people.roles_service import find_actor
from annotator.people.service import change_person, choose_language
from annotator.storage.database import Database
from annotator.storage.pairs.pool import pair_key
from tests.browser.conftest import Server, SignIn
from tests.browser.web.test_accessibility import list_violations, use_theme
from tests.integration.judged_world import NOW, JudgedWorld

NEXT = "/disagreements?dataset=d&pair=next"
TEXT = "<script>document.title = 'taken'</script>\n__init__ $5 $x$ -> :red[赤] مرحبا 끝" + "\n長い本文" * 60
DOCUMENTS = (("Q1", "遠い", (0, 3)), ("Q2", "中間", (0, 2)), ("Q2", "近い", (2, 3)), ("Q2", "隣", (1, 2)))


@pytest.fixture
def world(database: Database) -> JudgedWorld:
    """Four disagreements in the dataset `d`, which lea and ada lead: three grades apart, two, one and one."""
    made = JudgedWorld(database)
    for lead in ("lea", "ada"):
        change_person(database, OPERATOR, lead, role="lead", dataset="d", now=NOW)
    first, second = made.person("first"), made.person("second", simulated=True)
    made.query("Q1", "ハンドラキュー 🔎 :red[*x*]", narrative="順序を知りたい")
    made.query("Q2", "토지거래허가구역")
    for query_id, doc_id, grades in DOCUMENTS:
        made.pair(query_id, doc_id, rank=2, title=f"題 {doc_id}", text=f"{doc_id}\n{TEXT}")
        made.judge(first, query_id, doc_id, grades[0], note=f"ノート <i>{doc_id}</i>")
        made.judge(second, query_id, doc_id, grades[1])
    return made


def key_of(doc_id: str) -> str:
    return next(pair_key("d", query_id, name) for query_id, name, _ in DOCUMENTS if name == doc_id)


def decisions_on(world: JudgedWorld, doc_id: str) -> tuple[Decision, ...]:
    return show_disagreement(world.database, OPERATOR, "d", key_of(doc_id), now=NOW).decisions


def panel(page: Page) -> Locator:
    return page.locator(".deciding")


def part(page: Page, name: str) -> Locator:
    return page.locator(f'.deciding [data-at="{name}"]')


def wait_for(page: Page, doc_id: str) -> None:
    """Until the disagreement on this document is on the screen."""
    expect(panel(page)).to_have_attribute("data-pair-id", key_of(doc_id))


def wait_saved(page: Page) -> None:
    expect(panel(page)).to_have_attribute("data-unsaved", "0")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def focused(page: Page) -> Any:
    return page.evaluate("document.activeElement.shadowRoot?.activeElement?.dataset.at")


def find_person(world: JudgedWorld, username: str) -> Actor:
    with world.database.read() as session:
        return find_actor(session, username)


def test_a_lead_decides_one_after_the_other_by_keyboard_alone(
    world: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to=NEXT)
    wait_for(page, "遠い")
    expect(page.get_by_role("region", name="Document", exact=True)).to_contain_text(TEXT.splitlines()[0])
    expect(part(page, "told")).to_contain_text("ノート <i>遠い</i>")
    assert "first" not in panel(page).inner_text()
    press(
        page, "2", "Enter"
    )  # nobody's grade, three apart: words are owed, and the field for them has the focus
    expect(part(page, "hint")).to_contain_text("3 apart")
    expect(part(page, "hint")).to_have_attribute("data-kind", "error")
    assert focused(page) == "rationale"
    assert decisions_on(world, "遠い") == ()
    page.keyboard.type("第17条 2 🎯")
    press(page, "Escape", "r", "g", "Enter")
    wait_for(page, "中間")
    press(page, "n")
    page.keyboard.type("手順がある")
    press(page, "Control+Enter")  # nothing is chosen yet
    expect(part(page, "hint")).to_contain_text("Choose a grade")
    press(page, "Escape", "u", "u")
    wait_for(page, "近い")
    press(page, "3", "3", "3")  # the third chooses on what came next, and stores nothing there
    wait_for(page, "隣")
    wait_saved(page)
    (far,), (middle,), (near,) = (decisions_on(world, doc_id) for doc_id in ("遠い", "中間", "近い"))
    assert (far.grade, far.rationale, far.cause, far.in_guideline) == (
        2,
        "第17条 2 🎯",
        "guideline_gap",
        True,
    )
    assert (middle.outcome, middle.grade, middle.rationale) == ("unrateable", None, "手順がある")
    assert (near.grade, near.rationale, near.cause) == (3, "", None)
    assert decisions_on(world, "隣") == ()
    press(page, "2", "Enter")
    expect(part(page, "empty")).to_contain_text("No disagreements are waiting for you")
    expect(part(page, "empty").get_by_role("link", name="Overview")).to_be_visible()
    expect(part(page, "doings").get_by_role("button")).to_have_count(
        1
    )  # the guideline: no pair is left to assign


def test_enter_on_the_button_of_a_grade_chooses_it_and_then_decides(
    world: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to=NEXT)
    wait_for(page, "遠い")
    press(page, "n")
    page.keyboard.type("理由")
    button = page.locator('button[data-act="3"]')
    button.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "true")
    assert decisions_on(world, "遠い") == ()
    button.press("Enter")
    wait_for(page, "中間")
    wait_saved(page)
    assert [decision.grade for decision in decisions_on(world, "遠い")] == [3]


def test_a_pair_is_offered_to_other_leads_only(world: JudgedWorld, page: Page, sign_in: SignIn) -> None:
    world.person("another", "lead")
    sign_in(page, "lea", to=NEXT)
    wait_for(page, "遠い")
    press(page, "a")
    choices = page.get_by_role("dialog").locator(".choices button")
    expect(choices.filter(has_text="another")).to_have_count(1)
    expect(choices.filter(has_text="lea")).to_have_count(0)


def test_what_changed_under_a_decision_brings_it_back_with_what_was_written(
    world: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to=NEXT)
    wait_for(page, "遠い")
    world.judge(find_person(world, "first"), "Q1", "遠い", 1, note="見直した")
    press(page, "3", "n")
    page.keyboard.type("長い説明")
    press(page, "Control+Enter")
    wait_for(page, "中間")
    expect(part(page, "alert")).to_contain_text("Your text is kept")
    assert decisions_on(world, "遠い") == ()
    part(page, "alert").get_by_role("button", name="Show now").click()
    wait_for(page, "遠い")
    expect(part(page, "told")).to_contain_text("changed the judgment to 1")
    expect(part(page, "told")).to_contain_text("見直した")
    expect(part(page, "rationale")).to_have_value("長い説明")
    press(page, "Enter")
    wait_for(page, "中間")
    wait_saved(page)
    expect(part(page, "alert")).to_be_hidden()
    (decision,) = decisions_on(world, "遠い")
    assert (decision.grade, decision.rationale) == (3, "長い説明")
    world.add_decision(find_person(world, "ada"), "Q2", "中間", 2)
    press(page, "0", "n")
    page.keyboard.type("別の考え")
    press(page, "Control+Enter")
    part(page, "alert").get_by_role("button", name="Show now").click()
    wait_for(page, "中間")
    expect(part(page, "told")).to_contain_text("Ada has decided this pair in the meantime")
    press(page, "l")  # the other lead's decision may stand: it does not come back with the next reload
    expect(panel(page)).not_to_have_attribute("data-pair-id", key_of("中間"))
    assert "refused" not in page.evaluate("JSON.stringify(localStorage)")


def test_one_goes_back_sees_what_was_decided_and_decides_anew(
    world: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/disagreements?dataset=d&pair=next&distance=1")
    expect(panel(page)).to_have_attribute("data-pair-id", re.compile("."))
    first, other = (
        ("近い", "隣") if panel(page).get_attribute("data-pair-id") == key_of("近い") else ("隣", "近い")
    )
    press(page, "2", "2")
    wait_for(page, other)
    wait_saved(page)
    press(page, "z")
    wait_for(page, first)
    expect(part(page, "told")).to_contain_text("Earlier decisions")
    expect(part(page, "told")).not_to_contain_text(
        "Previously settled"
    )  # it is, and stands among what was decided
    expect(part(page, "told")).not_to_contain_text("just now")  # it has come anew from the server
    press(page, "t")
    expect(panel(page).locator(".trail li .small").first).to_have_text(re.compile("^[^·]+$"))  # nobody did it
    press(page, "Escape", "0", "r")
    expect(part(page, "hint")).to_contain_text("Nobody gave this grade")
    press(page, "n")
    page.keyboard.type("見直し")
    press(page, "Control+Enter")
    wait_for(page, other)
    wait_saved(page)
    before, after = decisions_on(world, first)
    assert (before.revision, before.grade, after.revision, after.grade) == (1, 2, 2, 0)
    press(page, "z")
    expect(part(page, "told").locator(".history li")).to_have_count(2)
    press(page, "x", "x")
    wait_for(page, other)
    wait_saved(page)
    assert decisions_on(world, first)[-1].outcome == "withdrawn"


def test_objections_questions_and_the_decision_come_first_and_are_in_sight_and_leads_are_called_by_their_names(
    world: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    ada, first = find_person(world, "ada"), find_person(world, "first")
    seen = show_disagreement(world.database, ada, "d", key_of("遠い"), now=NOW).seen
    adjudicate(world.database, ada, "d", key_of("遠い"), grade=3, rationale="第17条", seen=seen, now=NOW)
    object_to_decision(world.database, first, "d", key_of("遠い"), text="見出しだけです", seen=1, now=NOW)
    question = ask_question(
        world.database,
        first,
        "d",
        pair=key_of("遠い"),
        text="第2章ですか",
        event_id=str(UUID(int=7, version=4)),
        now=NOW,
    )
    answer_question(
        world.database, ada, "d", question, "はい、第2章です", seen=None, in_guideline=False, now=NOW
    )
    page.set_viewport_size({"width": 1280, "height": 800})
    sign_in(page, "lea", to=f"/disagreements?dataset=d&pair={key_of('遠い')}")
    wait_for(page, "遠い")
    told = part(page, "told")
    assert told.locator("section").evaluate_all("parts => parts.slice(0, 3).map(part => part.className)") == [
        "objections",
        "questions",
        "decided",
    ]
    box = told.bounding_box() or {}
    for words in ("見出しだけです", "はい、第2章です", "Ada ·", "第17条"):
        line = told.get_by_text(words, exact=False).last.bounding_box() or {}
        assert box["y"] <= line["y"] and line["y"] + line["height"] <= min(box["y"] + box["height"], 800)
    expect(told.locator(".history li")).to_contain_text("Ada ·")


def test_what_was_decided_while_the_server_was_away_is_stored_once_it_is_back(
    world: JudgedWorld, page: Page, sign_in: SignIn, server: Server
) -> None:
    sign_in(page, "lea", to=NEXT)
    wait_for(page, "遠い")
    server.kill()
    press(page, "3", "n")
    page.keyboard.type("そのまま")
    press(page, "Control+Enter")
    wait_for(page, "中間")
    press(page, "2", "n")
    page.keyboard.type("途中まで")
    expect(part(page, "alert")).to_contain_text("kept in this browser")
    server.start()
    page.reload()
    wait_for(page, "中間")
    wait_saved(page)
    expect(part(page, "rationale")).to_have_value("途中まで")
    (decision,) = decisions_on(world, "遠い")
    assert (decision.grade, decision.rationale) == (3, "そのまま")
    assert decisions_on(world, "中間") == ()


def test_on_a_phone_nothing_is_out_of_reach_in_any_language(
    world: JudgedWorld, page: Page, sign_in: SignIn, server: Server, is_long_run: bool
) -> None:
    """In `make test` in one: Japanese has the longest words that cannot be broken."""
    lea = find_person(world, "lea")
    sign_in(page, "lea", to="/login.css")
    page.set_viewport_size({"width": 400, "height": 800})
    spoken = (("en", "light"), ("ja", "dark"), ("ko", "light"))
    for language, theme in spoken if is_long_run else spoken[1:2]:
        choose_language(world.database, lea, language)
        page.goto(server.address + NEXT)
        wait_for(page, "遠い")
        expect(page.locator("html")).to_have_attribute("lang", language)
        use_theme(page, theme)
        press(page, "n")
        expect(part(page, "rationale")).to_be_in_viewport()
        expect(panel(page).locator('[data-act="decide"]')).to_be_in_viewport(ratio=1)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        assert panel(page).evaluate("e => e.scrollWidth <= e.clientWidth")
        assert list_violations(page) == []
