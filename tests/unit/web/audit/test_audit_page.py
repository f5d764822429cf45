"""The page Audit log: only for admins of every dataset, filtered, page by page, in words, and verified when asked."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text
from streamlit.testing.v1 import AppTest

from annotator.audit.records import AuditFilter, AuditVerification
from annotator.audit.service import (
    find_audit_head,
    read_audit_page,
    remove_old_personal_data,
    verify_audit_log,
)
from annotator.dataset.service import change_settings
from annotator.domain.audit import AuditAction
from annotator.domain.people import OPERATOR, Actor
from annotator.people.service import add_person
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import note_act
from annotator.web.audit.page import ACTION_NAMES, describe_details, describe_target, name_action, name_actor
from annotator.web.kit.lists import EVERYTHING
from annotator.web.kit.messages import use_language
from annotator.web.navigation import PAGES
from tests.unit.web.conftest import NOW, PASSWORD
from tests.unit.web.test_pages import open_page as open_page
from tests.unit.web.test_pages import say
from tests.unit.web.test_pages import tokens as tokens

Open = Callable[..., AppTest]


def note(database: Database, action: AuditAction, **values: object) -> None:
    with database.write() as session:
        note_act(session, action, "program", at=NOW, **values)  # type: ignore[arg-type]


def describe_newest(database: Database) -> str:
    (entry,) = read_audit_page(database, OPERATOR, AuditFilter(), limit=1).entries
    parts = (name_action(entry.chained.action), describe_target(entry), describe_details(entry))
    return " | ".join(part for part in parts if part)


def test_every_action_has_its_name() -> None:
    assert set(ACTION_NAMES) == set(AuditAction)
    assert len({str(name) for name in ACTION_NAMES.values()}) == len(ACTION_NAMES)
    assert name_action("of a newer version") == "of a newer version"


def test_only_admins_of_every_dataset_find_the_page(database: Database, open_page: Open) -> None:
    add_person(database, OPERATOR, "dora", role="admin", dataset="demo", password=PASSWORD, now=NOW)
    for username in ("hanako", "lea", "dora"):
        app = open_page(username, "audit-log")
        assert "Audit log" not in [link.proto.label for link in app.sidebar.get("page_link")]
        assert [error.value for error in app.error] == ["This page needs the role admin on every dataset."]
        assert "Sign-in succeeded" not in say(app)
    app = open_page("ada", "audit-log")
    assert "Audit log" in [link.proto.label for link in app.sidebar.get("page_link")]
    assert "Sign-in succeeded" in say(app)


def test_entries_are_in_words_the_newest_first_and_texts_of_people_are_escaped(
    database: Database, open_page: Open
) -> None:
    note(database, AuditAction.imported, dataset="demo", target="<b>runs</b>.trec",
         details={"kind": "run", "system": "bm25", "sha256": "a" * 64, "added": 1200, "changed": 0, "failed_queries": 2})  # fmt: skip
    note(database, AuditAction.role_given, subject=1, details={"role": "admin", "everywhere": True})
    shown = say(open_page("ada", "audit-log"))
    assert "&lt;b&gt;runs&lt;/b&gt;.trec" in shown.replace("<wbr>", "")
    assert "Run, system: bm25, added: 1,200, failed queries: 2, SHA-256: aaaaaaaaaaaa…" in shown.replace(
        "<wbr>", ""
    )
    assert shown.index("Sign-in succeeded") < shown.index("admin, every dataset") < shown.index("bm25")
    assert "command line" in shown and PASSWORD not in shown


def test_a_change_of_settings_names_both_values(database: Database) -> None:
    change_settings(database, OPERATOR, "demo", {"overlap": "3", "contact": "x@example.org"}, now=NOW)
    assert describe_newest(database) == "Changed settings | contact, overlap: 2 → 3"
    use_language("ja")
    try:
        assert describe_newest(database) == "設定の変更 | contact、overlap: 2 → 3"
    finally:
        use_language("en")


@pytest.mark.parametrize(
    ("action", "values", "words"),
    [
        (AuditAction.signed_in, {"details": {"by": "password", "second_factor": True}},
         "Sign-in succeeded | by password, with a second factor"),
        (AuditAction.recovery_code_used, {"details": {"left": 0}}, "Used a recovery code | codes left: 0"),
        (AuditAction.schema_migrated, {"details": {"schema": "0029", "earlier": "0021"}},
         "Updated the database schema | earlier schema: 0021, schema: 0029"),
        (AuditAction.pool_round_made, {"target": "3", "details": {"strategy": "depth", "pairs": 40}},
         "Made a round of the pool | 3 | First results of each system, pairs: 40"),
        (AuditAction.release_published, {"target": "1.0.0", "details": {"overridden": [], "signed": False}},
         "Published a release | 1.0.0"),
        (AuditAction.expertise_changed, {"subject": 2, "details": {"categories": ["法", "税"], "languages": None}},
         "Changed what a person judges | lea | categories: 法, 税"),
        (AuditAction.account_pseudonymised, {"details": {"removed": {"person": 1}, "kept": {"release": 2}}},
         "Pseudonymised an account | removed: person 1"),
    ],
)  # fmt: skip
def test_details_are_in_words(
    database: Database, action: AuditAction, values: dict[str, object], words: str
) -> None:
    note(database, action, **values)
    assert describe_newest(database) == words


def test_a_person_whose_name_was_removed_from_the_log_is_called_removed(database: Database) -> None:
    with database.write() as session:
        note_act(session, AuditAction.signed_in, 1, at=NOW, subject=2)
    newest = AuditFilter(action=AuditAction.signed_in)

    def describe() -> tuple[str, str]:
        entry = read_audit_page(database, OPERATOR, newest, limit=1).entries[0]
        return name_actor(entry), describe_target(entry)

    assert "removed" not in describe()
    remove_old_personal_data(database, OPERATOR, before=NOW + timedelta(days=1), now=NOW + timedelta(days=2))
    assert describe() == ("removed", "removed")


def test_filters_choose_and_begin_at_the_newest_again(database: Database, open_page: Open) -> None:
    for number in range(120):
        note(database, AuditAction.checks_changed, dataset="law", target=str(number))
    app = open_page("ada", "audit-log")
    assert "1–50 of" in say(app)
    app.button(key="audit next 0").click().run()
    assert "51–100 of" in say(app)
    app.selectbox(key="audit action").set_value(AuditAction.checks_changed).run()
    assert "1–50 of 120" in say(app)
    assert "action=checks_changed" in say(app)
    app.selectbox(key="audit dataset").set_value("demo").run()
    assert "No entry matches." in say(app)
    app.selectbox(key="audit action").set_value(EVERYTHING)
    app.selectbox(key="audit dataset").set_value(EVERYTHING)
    app.selectbox(key="audit person").set_value("hanako").run()
    shown = say(app)
    assert "person=hanako" in shown and "Changed training or gold pairs" not in shown
    day = (NOW - timedelta(days=1)).date()
    app.selectbox(key="audit person").set_value(EVERYTHING)
    app.date_input(key="audit until").set_value(day).run()
    assert "No entry matches." in say(app)


def test_a_part_behind_the_end_is_the_last_one(database: Database, open_page: Open) -> None:
    app = open_page("ada", "audit-log")
    total = read_audit_page(database, OPERATOR, AuditFilter()).total
    app.session_state["audit from"] = 50 * (total // 50 + 7)
    assert f"of {total}" in say(app.run()) and "No entry matches." not in say(app)


def test_nothing_is_verified_before_it_is_asked_for_and_then_up_to_the_newest_entry(
    database: Database, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[object] = []

    def verify(*given: Database | Actor, report_progress: Callable[[int, int], None]) -> AuditVerification:
        calls.append(given)
        report_progress(1_000, 4_000)
        return verify_audit_log(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("annotator.web.audit.page.verify_audit_log", verify)
    app = open_page("ada", "audit-log")
    head = find_audit_head(database, OPERATOR)
    assert not calls and not app.success and head is not None
    (press,) = [button for button in app.button if button.label == "Verify all entries"]
    app = press.click().run()
    assert len(calls) == 1
    assert f"No entry was changed, up to entry {head.sequence}." in app.success[0].value.replace("\\", "")


def test_a_verification_reports_how_far_it_is_and_stops_with_the_page(
    database: Database, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    class LeftPage(Exception):
        pass

    def leave(done: int, total: int) -> None:
        reported.append((done, total))
        raise LeftPage

    reported: list[tuple[int, int]] = []
    with database.write() as session:
        for _ in range(6):
            note_act(session, AuditAction.signed_in, 1, at=NOW)
    monkeypatch.setattr("annotator.audit.service.STEP", 2)
    head = find_audit_head(database, OPERATOR)
    assert head is not None
    verify_audit_log(database, OPERATOR, report_progress=lambda *given: reported.append(given))
    assert reported == [(done, head.sequence) for done in range(2, head.sequence, 2)]
    reported.clear()
    with pytest.raises(LeftPage):
        verify_audit_log(database, OPERATOR, report_progress=leave)
    assert reported == [(2, head.sequence)]


def test_a_verification_says_how_many_names_were_removed(database: Database, open_page: Open) -> None:
    with database.write() as session:
        note_act(session, AuditAction.signed_in, 1, at=NOW, subject=2)
    remove_old_personal_data(database, OPERATOR, before=NOW + timedelta(days=1), now=NOW + timedelta(days=2))
    removed = verify_audit_log(database, OPERATOR).removed
    assert removed >= 2
    app = open_page("ada", "audit-log")
    (press,) = [button for button in app.button if button.label == "Verify all entries"]
    assert f"{removed} usernames and addresses were removed or replaced" in say(press.click().run())


def test_a_log_that_was_changed_outside_the_program_is_told(database: Database, open_page: Open) -> None:
    with database.write() as session:
        created = session.execute(
            text("SELECT sql FROM sqlite_master WHERE name = 'audit_entry_no_update'")
        ).scalar_one()
        session.execute(text("DROP TRIGGER audit_entry_no_update"))
        session.execute(text("UPDATE audit_entry SET dataset = 'other' WHERE sequence = 2"))
        session.execute(text(created))
    app = open_page("ada", "audit-log")
    (press,) = [button for button in app.button if button.label == "Verify all entries"]
    app = press.click().run()
    assert "Entry 2 does not fit the ones before" in app.error[0].value.replace("\\", "")


def test_the_page_is_for_the_role_everywhere_not_on_one_dataset() -> None:
    (page,) = [page for page in PAGES if page.address == "audit-log"]
    assert page.everywhere and page.least == "admin"
    assert not replace(page, everywhere=False).is_open_to("lead")
