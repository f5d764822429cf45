"""A person is removed for ever: nothing names them any more, their judgments stay, and the chain of the audit log holds."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import inspect, text
from typer.testing import CliRunner

from annotator.audit.records import REMOVED, AuditFilter
from annotator.audit.service import (
    iterate_audit_log,
    pseudonymise_person,
    remove_old_personal_data,
    verify_audit_log,
)
from annotator.cli.main import app
from annotator.domain.errors import NotAllowed, StateError, ValidationError
from annotator.domain.people import OPERATOR, Actor, WrongSignIn
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person, change_person
from annotator.people.sign_in_service import find_session, sign_in
from annotator.storage.database import Database
from tests.integration.judged_world import JudgedWorld
from tests.integration.labeling_world import World

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
PASSWORD = "grüne Wiesen 27"


@pytest.fixture
def judged(database: Database) -> JudgedWorld:
    made = JudgedWorld(database)
    hanako = made.person("hanako")
    made.query("Q1", "検索")
    made.pair("Q1", "d1")
    made.judge(hanako, "Q1", "d1", 2)
    change_person(database, OPERATOR, "hanako", name="花子 山田", password=PASSWORD, now=NOW)
    with pytest.raises(WrongSignIn):
        sign_in(database, "hanako", "wrong", address="192.0.2.77", now=NOW)
    return made


def read_everything(database: Database) -> str:
    """Every value of every table, as text."""
    with database.read() as session:
        names = inspect(session.connection()).get_table_names()
        return "\n".join(
            str(row) for name in names for row in session.execute(text(f'SELECT * FROM "{name}"'))
        )


def test_nothing_names_the_person_any_more_and_their_judgments_stay(
    database: Database, judged: JudgedWorld
) -> None:
    token = sign_in(database, "hanako", PASSWORD, address="192.0.2.77", now=NOW)
    assert "192.0.2.77" in read_everything(database)
    report = pseudonymise_person(database, OPERATOR, "hanako", now=NOW)
    everything = read_everything(database)
    for name in ("hanako", "花子", "192.0.2.77"):
        assert name not in everything
    assert find_session(database, token, now=NOW) is None
    with pytest.raises(WrongSignIn):
        sign_in(database, report.pseudonym, PASSWORD, address="192.0.2.1", now=NOW)
    with database.read() as session:
        grades = session.execute(
            text("SELECT j.grade, a.username FROM judgment j JOIN person a ON a.pk = j.annotator_pk")
        ).all()
        assert [tuple(row) for row in grades] == [(2, report.pseudonym)]
    assert report.removed["login_session"] == 1 and not report.kept


def test_their_pairs_are_free_for_others_at_once(database: Database) -> None:
    world = World(database, queries=1, documents=2, overlap=1)
    hanako, minjun = world.person("hanako"), world.person("minjun")
    assert len(world.send(hanako, want=2).pairs) == 2
    assert not world.send(minjun, want=2).pairs
    pseudonymise_person(database, OPERATOR, "hanako", now=world.now)
    assert len(world.send(minjun, want=2).pairs) == 2


def test_the_chain_holds_and_an_entry_proves_what_was_removed(
    database: Database, judged: JudgedWorld
) -> None:
    before = verify_audit_log(database, OPERATOR)
    report = pseudonymise_person(database, OPERATOR, "hanako", now=NOW)
    found = verify_audit_log(database, OPERATOR, head_was=before.head)
    assert (found.problem, found.entries) == (None, before.entries + 1)
    assert found.removed == report.removed["audit_personal"] > 0
    *_, last = iterate_audit_log(database, OPERATOR, AuditFilter())
    details = json.loads(last.chained.details)
    assert (last.chained.action, last.name("subject")) == ("account_pseudonymised", report.pseudonym)
    assert details == {REMOVED: found.removed, "removed": dict(report.removed), "kept": {}}
    again = pseudonymise_person(database, OPERATOR, report.pseudonym, now=NOW)
    assert verify_audit_log(database, OPERATOR).problem is None
    assert again.pseudonym == report.pseudonym


def test_a_value_that_is_removed_without_an_entry_is_found(database: Database, judged: JudgedWorld) -> None:
    with database.write() as session:
        session.execute(text("DELETE FROM audit_personal WHERE field = 'address'"))
    problem = verify_audit_log(database, OPERATOR).problem
    assert problem is not None and "personal values" in problem.expected


def test_old_entries_forget_names_and_addresses(database: Database, judged: JudgedWorld) -> None:
    later = NOW + timedelta(days=400)
    sign_in(database, "hanako", PASSWORD, address="192.0.2.78", now=later)
    with pytest.raises(ValidationError):
        remove_old_personal_data(database, OPERATOR, before=later + timedelta(days=1), now=later)
    gone = remove_old_personal_data(database, OPERATOR, before=later, now=later)
    assert gone > 0
    assert remove_old_personal_data(database, OPERATOR, before=later, now=later) == 0
    pseudonymise_person(database, OPERATOR, "hanako", now=later)
    found = verify_audit_log(database, OPERATOR)
    assert found.problem is None and found.removed > gone
    entries = list(iterate_audit_log(database, OPERATOR, AuditFilter()))
    assert [entry.is_removed("address") for entry in entries if entry.chained.action == "sign_in_failed"] == [
        True
    ]
    assert "192.0.2.77" not in read_everything(database)


def test_only_admins_of_everything_remove_and_never_themselves_or_the_last_admin(
    database: Database, judged: JudgedWorld
) -> None:
    add_person(database, OPERATOR, "ada", now=NOW, role="admin", password=PASSWORD)
    with database.read() as session:
        ada, hanako = find_actor(session, "ada"), find_actor(session, "hanako")
    with pytest.raises(NotAllowed):
        pseudonymise_person(database, hanako, "ada", now=NOW)
    with pytest.raises(NotAllowed):
        remove_old_personal_data(database, hanako, before=NOW, now=NOW)
    for actor in (ada, OPERATOR):
        with pytest.raises(StateError):
            pseudonymise_person(database, actor, "ada", now=NOW)
    assert isinstance(ada, Actor) and verify_audit_log(database, OPERATOR).removed == 0


def test_the_commands_say_what_they_removed(database: Database, judged: JudgedWorld) -> None:
    url = database.url.render_as_string(hide_password=False)

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, [*words, "--database", url], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    tried = json.loads(run("people", "pseudonymise", "hanako", "--dry-run", "--json"))
    assert tried["dry_run"] and "hanako" in run("people", "list")
    assert "Their judgments stay" in run("people", "pseudonymise", "hanako")
    assert "hanako" not in run("people", "list")
    assert "The entries stay" in run("audit", "--delete-personal-before", "2026-03-05")
    assert "holds" in run("audit", "--verify")
