"""What leads did, as a part of their page: closed at first, filtered, a page of it at a time, escaped."""

from datetime import timedelta
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from annotator.adjudication.history.history import describe_entry
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import AuditEvent, add_events
from annotator.storage.lookup import key_of
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables.central import PairRow
from annotator.web.kit.messages import tr, use_language
from tests.integration.judged_world import NOW, JudgedWorld
from tests.unit.web.lead_pages import find, make_world, run, words


@pytest.fixture
def world(tmp_path: Path) -> JudgedWorld:
    database = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(database)
    return make_world(database)


def note(world: JudgedWorld, *events: AuditEvent) -> None:
    with world.database.write() as session:
        add_events(session, list(events))


def draw_part(url: str, person_id: int) -> None:
    from datetime import UTC, datetime

    from annotator.domain.people import Actor, Membership, SignedIn
    from annotator.settings import Settings
    from annotator.storage.database import Database
    from annotator.web.adjudication.queue_page import draw_audit_log
    from annotator.web.page_context import PageContext

    person = SignedIn(Actor(person_id, "lead"), "lead", (Membership("d", "lead"),), False, datetime.now(UTC))
    draw_audit_log(PageContext(Database(url), Settings(), person, "", (), "d", datetime.now(UTC)), "d")


def draw(world: JudgedWorld, *, opened: bool = True) -> AppTest:
    url = world.database.url.render_as_string(hide_password=False)
    app = AppTest.from_function(draw_part, args=(url, find(world, "lead").person_id))
    if opened:
        app.session_state["trail d"] = True
    return run(app)


def test_nothing_is_read_before_the_part_is_opened(world: JudgedWorld) -> None:
    app = draw(world, opened=False)
    assert [item.label for item in app.expander] == ["Activity log"]
    assert words(app) == ""
    assert "No activity matches." in words(draw(world))


def test_a_record_shows_who_when_the_pair_and_a_sentence_with_texts_of_people_escaped(
    world: JudgedWorld,
) -> None:
    lead_pk = find(world, "lead").person_id
    with world.database.read() as session:
        pair_pk = key_of(session.get_one(PairRow, 1).pk)
    values = {"outcome": "graded", "grade": 2, "rationale": "<script>alert(1)</script> 第17条"}
    note(world, AuditEvent("decided", world.dataset_pk, lead_pk, NOW, pair_pk, None, values))
    note(world, AuditEvent("exported queue", world.dataset_pk, None, NOW, after={"pairs": 3}))
    shown = words(draw(world))
    assert "decided 2: &lt;script&gt;alert(1)&lt;/script&gt; 第17条" in shown
    for piece in (
        "lead Realname",
        "exported 3 pairs of the queue",
        "command line",
        "/disagreements?dataset=d&amp;pair=",
    ):
        assert piece in shown
    assert "/api/trail?dataset=d&amp;format=csv" in shown


def test_filters_choose_and_begin_at_the_latest_again(world: JudgedWorld) -> None:
    lead_pk = find(world, "lead").person_id
    events = [
        AuditEvent("put off", world.dataset_pk, lead_pk, NOW + timedelta(minutes=at)) for at in range(60)
    ]
    note(world, *events, AuditEvent("exported queue", world.dataset_pk, None, NOW, after={"pairs": 3}))
    app = draw(world)
    assert "1–50 of 61" in words(app)
    app.button(key="trail from d next 0").click()
    assert "51–61 of 61" in words(run(app))
    app.selectbox[0].set_value("exported queue")
    shown = words(run(app))
    assert "exported 3 pairs" in shown and "set the pair to later" not in shown
    assert "action=exported+queue" in shown


def test_a_decision_with_its_cause_is_one_sentence_in_japanese() -> None:
    values = {"outcome": "graded", "grade": 2, "rationale": "§ 3", "cause": "slip", "in_guideline": True}
    use_language("ja")
    try:
        sentence = tr(describe_entry("decided", None, values))
    finally:
        use_language("en")
    assert sentence == "2と裁定しました（うっかりミス、ガイドラインに追記）: § 3"
