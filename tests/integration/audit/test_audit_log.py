"""The audit log of the installation on both databases: what is entered, what the database refuses, and the command."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from threading import Thread

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError, IntegrityError
from typer.testing import CliRunner

from annotator.audit.records import AuditEntry, AuditFilter
from annotator.audit.service import (
    find_audit_head,
    iterate_audit_log,
    list_audit_choices,
    read_audit_page,
    verify_audit_log,
)
from annotator.cli.main import app
from annotator.dataset.service import archive_dataset, change_settings, create_dataset
from annotator.domain.audit import AuditAction, AuditOrigin, audit_origin
from annotator.domain.errors import GateNotMet, NotAllowed, NotFound
from annotator.domain.people import OPERATOR, Actor, TooManyAttempts, WrongSignIn
from annotator.people.credentials import NewAccount
from annotator.people.invitations_service import create_invited_account, invite
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person, change_person, disable_person, remove_role
from annotator.people.sign_in_service import change_password, revoke_sessions, sign_in, sign_out
from annotator.people.sign_in_sql import FAILURES_PER_MINUTE
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import note_act

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
PASSWORD = "grüne Wiesen 27"


def read(database: Database, **wanted: str) -> list[AuditEntry]:
    return list(iterate_audit_log(database, OPERATOR, AuditFilter(**wanted)))  # type: ignore[arg-type]


def list_actions(database: Database) -> list[str]:
    return [entry.chained.action for entry in read(database)]


def detail(entry: AuditEntry) -> dict[str, object]:
    return json.loads(entry.chained.details)  # type: ignore[no-any-return]


@pytest.fixture
def hanako(database: Database) -> Actor:
    create_dataset(database, OPERATOR, "law", now=NOW)
    add_person(database, OPERATOR, "花子", now=NOW, role="lead", dataset="law", password=PASSWORD)
    with database.read() as session:
        return find_actor(session, "花子")


def act(database: Database, **values: object) -> None:
    with database.write() as session:
        note_act(session, AuditAction.imported, "program", at=NOW, **values)  # type: ignore[arg-type]


def test_accounts_roles_and_sign_ins_are_entered_with_who_did_it_to_whom(
    database: Database, hanako: Actor
) -> None:
    token = sign_in(database, "花子", PASSWORD, address="192.0.2.7", now=NOW)
    sign_out(database, token, now=NOW)
    sign_out(database, token, now=NOW)  # it is over already
    change_password(database, hanako, PASSWORD, "blaue Berge 28 hoch", now=NOW)
    revoke_sessions(database, hanako, now=NOW)
    add_person(database, OPERATOR, "ada", now=NOW, role="admin", password=PASSWORD)
    with database.read() as session:
        ada = find_actor(session, "ada")
    change_person(database, ada, "花子", role="annotator", dataset="law", new_password=True, now=NOW)
    remove_role(database, ada, "花子", dataset="law", now=NOW)
    disable_person(database, ada, "花子", now=NOW)
    disable_person(database, ada, "花子", now=NOW)  # nothing changes
    change_person(database, ada, "花子", enable=True, now=NOW)
    entries = read(database)
    assert [entry.chained.action for entry in entries] == [
        "dataset_made",
        "account_made",
        "role_given",
        "signed_in",
        "signed_out",
        "password_changed",
        "signed_out_everywhere",
        "account_made",
        "role_given",
        "role_given",
        "password_reset",
        "role_taken",
        "account_disabled",
        "account_enabled",
    ]
    made, given, signed = entries[1:4]
    assert (made.chained.actor_kind, made.name("actor"), made.name("subject")) == ("operator", None, "花子")
    assert (given.chained.dataset, detail(given)) == ("law", {"everywhere": False, "role": "lead"})
    assert (signed.name("actor"), signed.name("address"), signed.chained.at) == ("花子", "192.0.2.7", NOW)
    taken = entries[11]
    assert (taken.name("actor"), taken.name("subject")) == ("ada", "花子")
    assert detail(taken) == {"everywhere": False, "role": "annotator"}
    assert verify_audit_log(database, OPERATOR).problem is None


def test_no_entry_holds_a_password_a_token_or_the_note_of_an_invitation(
    database: Database, hanako: Actor
) -> None:
    made = invite(database, hanako, role="annotator", dataset="law", note="민준에게", now=NOW)
    account = NewAccount("민준", "minjun", PASSWORD)
    token, _ = create_invited_account(database, made.token, account, address="192.0.2.8", now=NOW)
    with pytest.raises(WrongSignIn):
        sign_in(database, "minjun", "my secret guess 1", address="192.0.2.8", now=NOW)
    assert list_actions(database)[-5:] == [
        "invited",
        "account_made",
        "invitation_used",
        "signed_in",
        "sign_in_failed",
    ]
    said = json.dumps([entry.describe() for entry in read(database)], ensure_ascii=False)
    for secret in (PASSWORD, token, made.token, "my secret guess 1", "민준에게"):
        assert secret not in said


def test_failed_sign_ins_are_entered_once_a_minute_for_an_account_from_an_address(
    database: Database, hanako: Actor
) -> None:
    for second in range(3):
        with pytest.raises(WrongSignIn):
            sign_in(database, "花子", "wrong", address="192.0.2.7", now=NOW + timedelta(seconds=second))
    with pytest.raises(WrongSignIn):
        sign_in(database, "花子", "wrong", address="192.0.2.8", now=NOW)
    with pytest.raises(WrongSignIn):
        sign_in(database, "nobody", "wrong", address="192.0.2.7", now=NOW)
    with pytest.raises(WrongSignIn):
        sign_in(database, "花子", "wrong", address="192.0.2.7", now=NOW + timedelta(minutes=1))
    with pytest.raises(WrongSignIn):
        sign_in(database, "花子", "wrong", address="192.0.2.7", now=NOW + timedelta(minutes=1))
    with pytest.raises(TooManyAttempts):
        sign_in(database, "花子", "wrong", address="192.0.2.7", now=NOW + timedelta(minutes=1))
    failed = [entry for entry in read(database) if entry.chained.action.startswith("sign_in_")]
    assert [(entry.chained.action, entry.name("subject"), entry.name("address")) for entry in failed] == [
        ("sign_in_failed", "花子", "192.0.2.7"),
        ("sign_in_failed", "花子", "192.0.2.8"),
        ("sign_in_failed", None, "192.0.2.7"),
        ("sign_in_failed", "花子", "192.0.2.7"),
        ("sign_in_limited", "花子", "192.0.2.7"),
    ]
    assert {entry.chained.actor_kind for entry in failed} == {"unknown"}
    assert "nobody" not in json.dumps([entry.describe() for entry in failed])


def test_an_attack_from_many_addresses_does_not_fill_the_disk(
    database: Database, hanako: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.people.sign_in_service.is_password", lambda *_: False)
    monkeypatch.setattr("annotator.people.sign_in_sql.FAILURES_PER_MINUTE", 5)
    for number in range(8):
        with pytest.raises(WrongSignIn):
            sign_in(database, f"user{number}", "wrong", address=f"198.51.100.{number}", now=NOW)
    assert list_actions(database).count("sign_in_failed") == 5
    assert FAILURES_PER_MINUTE == 60


def test_an_attack_from_one_network_does_not_keep_others_out_of_the_audit_log(
    database: Database, hanako: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.people.sign_in_service.is_password", lambda *_: False)
    monkeypatch.setattr("annotator.people.sign_in_sql.FAILURES_OF_AN_ADDRESS", 3)
    for number in range(5):
        add_person(database, OPERATOR, f"user{number}", role="annotator", dataset="law", now=NOW)
        with pytest.raises(WrongSignIn):
            sign_in(database, f"user{number}", "wrong", address=f"2001:db8::{number}", now=NOW)
    assert list_actions(database).count("sign_in_failed") == 3
    with pytest.raises(WrongSignIn):
        sign_in(database, "user0", "wrong", address="192.0.2.7", now=NOW)
    assert list_actions(database).count("sign_in_failed") == 4


def test_a_change_that_fails_leaves_no_entry_and_an_entry_that_fails_leaves_no_change(
    database: Database, hanako: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = list_actions(database)
    with pytest.raises(NotFound):
        change_person(database, OPERATOR, "nobody", role="lead", dataset="law", now=NOW)

    def refuse(*_: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr("annotator.storage.logs.audit_log._insert", refuse)
    with pytest.raises(RuntimeError):
        change_settings(database, hanako, "law", {"overlap": "3"}, now=NOW)
    monkeypatch.undo()
    assert list_actions(database) == before
    change_settings(database, hanako, "law", {"overlap": "2"}, now=NOW)
    assert list_actions(database) == before  # it was 2 all the time


def test_a_change_of_settings_is_entered_with_old_and_new_values_but_not_whom_to_contact(
    database: Database, hanako: Actor
) -> None:
    changes = {"overlap": "3", "contact": "hanako@example.org", "authors": "花子"}
    change_settings(database, hanako, "law", changes, now=NOW)
    archive_dataset(database, hanako, "law", now=NOW)
    changed, archived = read(database)[-2:]
    assert detail(changed) == {
        "settings": ["authors", "contact", "overlap"],
        "before": {"overlap": 2},
        "after": {"overlap": 3},
    }
    assert (changed.chained.action, changed.chained.dataset, changed.name("actor")) == (
        "settings_changed",
        "law",
        "花子",
    )
    assert archived.chained.action == "dataset_archived"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_entry SET dataset = 'other'",
        "DELETE FROM audit_entry",
        "UPDATE audit_personal SET value = 'somebody'",
        "UPDATE audit_personal SET salt = 'x'",
    ],
)
def test_the_database_refuses_to_change_entries(database: Database, hanako: Actor, statement: str) -> None:
    with pytest.raises((IntegrityError, DatabaseError)), database.write() as session:
        session.execute(text(statement))
    assert verify_audit_log(database, OPERATOR).problem is None


def test_an_entry_that_was_changed_behind_the_triggers_is_found(database: Database, hanako: Actor) -> None:
    head = find_audit_head(database, OPERATOR)
    drop = "DROP TRIGGER audit_entry_no_update" + ("" if database.is_sqlite else " ON audit_entry")
    with database.write() as session:
        session.execute(text(drop))
        session.execute(text("UPDATE audit_entry SET actor_kind = 'program' WHERE sequence = 2"))
    problem = verify_audit_log(database, OPERATOR, head_was=head).problem
    assert problem is not None and problem.sequence == 2


def test_only_admins_of_everything_and_the_operator_read_it(database: Database, hanako: Actor) -> None:
    for read_it in (
        lambda: read_audit_page(database, hanako, AuditFilter()),
        lambda: list(iterate_audit_log(database, hanako, AuditFilter())),
        lambda: find_audit_head(database, hanako),
        lambda: verify_audit_log(database, hanako),
        lambda: list_audit_choices(database, hanako),
    ):
        with pytest.raises(NotAllowed):
            read_it()


def test_entries_are_filtered_and_read_in_parts(
    database: Database, hanako: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.audit.service.AT_ONCE", 2)
    for number in range(5):
        act(database, dataset="law", target=str(number), details={"n": number})
    assert [entry.chained.object for entry in read(database, dataset="law", action="imported")] == list(
        "01234"
    )
    assert len(read(database, person="花子")) == 2
    assert [entry.sequence for entry in read(database)] == list(range(1, 9))
    limited = iterate_audit_log(database, OPERATOR, AuditFilter(after=4), limit=3)
    assert [entry.sequence for entry in limited] == [5, 6, 7]
    page = read_audit_page(database, OPERATOR, AuditFilter(action="imported"), offset=1, limit=2)
    assert ([entry.chained.object for entry in page.entries], page.total) == (["3", "2"], 5)
    assert list_audit_choices(database, OPERATOR) == (["花子"], ["law"])
    assert verify_audit_log(database, OPERATOR).entries == 8


def test_people_who_act_at_once_make_one_chain(database: Database) -> None:
    def append() -> None:
        for _ in range(5):
            act(database)

    threads = [Thread(target=append) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = verify_audit_log(database, OPERATOR)
    assert (found.entries, found.problem) == (20, None)


@pytest.fixture
def from_browser() -> Iterator[None]:
    began = audit_origin.set(AuditOrigin("web", "abc123def456", "192.0.2.9"))
    yield
    audit_origin.reset(began)


@pytest.mark.usefixtures("from_browser")
def test_an_entry_says_where_an_act_came_from(database: Database) -> None:
    act(database)
    (entry,) = read(database)
    assert (entry.chained.source, entry.chained.request_id, entry.name("address")) == (
        "web",
        "abc123def456",
        "192.0.2.9",
    )


class Command:
    """`annotator audit` on a database."""

    def __init__(self, database: Database) -> None:
        self.url = database.url.render_as_string(hide_password=False)

    def __call__(self, *words: str) -> str:
        done = CliRunner().invoke(app, ["audit", *words, "--database", self.url])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == 0, done.output
        return done.stdout


def test_the_command_shows_lines_verifies_and_prints_the_head(database: Database, hanako: Actor) -> None:
    audit = Command(database)
    assert "role_given" in audit() and "花子" in audit("law")
    lines = [json.loads(line) for line in audit("--json").splitlines()]
    assert [line["sequence"] for line in lines] == [1, 2, 3]
    assert json.loads(audit("--json", "--after", "2")) == lines[2]
    assert lines[2]["details"] == {"everywhere": False, "role": "lead"}
    assert audit("--since", "2027-01-01").strip() == "The audit log has no such entry."
    head = audit("--head").strip()
    assert head == f"3:{lines[-1]['sha256']}"
    assert "holds: 3 entries" in audit("--verify", "--head-was", head)
    assert json.loads(audit("--verify", "--json"))["head"] == head
    with pytest.raises(GateNotMet, match="entry 4"):
        audit("--verify", "--head-was", f"9:{'a' * 64}")


def test_what_is_done_by_a_command_says_so(database: Database) -> None:
    url = database.url.render_as_string(hide_password=False)
    done = CliRunner().invoke(app, ["dataset", "create", "law", "--database", url])
    assert done.exit_code == 0
    (entry,) = read(database)
    assert (entry.chained.source, entry.chained.actor_kind) == ("cli", "operator")
    assert audit_origin.get().source == "program"
