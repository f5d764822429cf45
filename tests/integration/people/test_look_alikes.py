"""Usernames that look alike: a new account gets none, an older one keeps its own. On both databases."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier

import pytest
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.dataset.service import create_dataset
from annotator.domain.errors import ConflictError, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.installation.upgrade_service import check_upgrade
from annotator.people.credentials import AccountRefused, NewAccount, hash_password
from annotator.people.invitations_service import create_invited_account, invite
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person, change_person, list_people
from annotator.people.sign_in_service import find_session, sign_in
from annotator.people.single_sign_on.service import choose_username
from annotator.storage.database import Database
from annotator.storage.tables.central import PersonRow

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HERE = "192.0.2.1"
PASSWORD = "correct horse 電池"


@pytest.fixture
def world(database: Database) -> Database:
    """Two datasets with an admin each; paul judges law."""
    for name in ("law", "nablarch"):
        create_dataset(database, OPERATOR, name, now=NOW)
    add(database, "ada", role="admin", dataset="law")
    add(database, "noa", role="admin", dataset="nablarch")
    add(database, "paul", role="annotator", dataset="law")
    return database


def add(
    database: Database,
    username: str,
    actor: Actor = OPERATOR,
    *,
    role: str = "annotator",
    dataset: str = "law",
) -> None:
    add_person(database, actor, username, role=role, dataset=dataset, password=PASSWORD, now=NOW)


def store(database: Database, username: str) -> None:
    """Store an account as an earlier version of the program accepted it."""
    values = {"username": username, "password_hash": hash_password(PASSWORD), "created_at": NOW}
    with database.write() as session:
        session.add(PersonRow.model_validate(values))


def list_usernames(database: Database) -> list[str]:
    return [person.username for person in list_people(database, OPERATOR)]


def test_a_look_alike_is_refused_and_the_other_named(world: Database) -> None:
    for username in ("PauI", "Paul", "ｐaul"):  # an i, other case, full width
        with pytest.raises(ConflictError, match=f"{username} looks like paul"):
            add(world, username)
    for username in ("pa\u200bul", "paul\u00ad", "раul"):
        with pytest.raises(ValidationError):
            add(world, username)
    add(world, "paul-2")
    add(world, "сосо")  # all Cyrillic
    with pytest.raises(ConflictError, match="coco looks like сосо"):
        add(world, "coco")
    assert list_usernames(world) == ["ada", "noa", "paul", "paul-2", "сосо"]


def test_an_admin_of_one_dataset_does_not_learn_names_of_people_elsewhere(world: Database) -> None:
    with world.read() as session:
        here, elsewhere = find_actor(session, "ada"), find_actor(session, "noa")
    with pytest.raises(ConflictError, match="looks like paul"):
        add(world, "PauI", here)
    with pytest.raises(ConflictError) as refused:
        add(world, "PauI", elsewhere, dataset="nablarch")
    assert "paul" not in str(refused.value)


def test_an_invited_person_learns_only_that_the_username_cannot_be_used(world: Database) -> None:
    token = invite(world, OPERATOR, role="annotator", dataset="law", now=NOW).token
    messages = set()
    for username in ("paul", "PauI", "ｐaul"):
        with pytest.raises(AccountRefused) as refused:
            create_invited_account(world, token, NewAccount("P", username, PASSWORD), address=HERE, now=NOW)
        messages.add(refused.value.problems["username"])
    assert messages == {"This username is taken or looks like one that is. Choose another."}
    create_invited_account(world, token, NewAccount("P", "pia", PASSWORD), address=HERE, now=NOW)


def test_an_account_of_the_provider_gets_a_number_and_is_never_refused(world: Database) -> None:
    with world.write() as session:
        chosen = [
            choose_username(session, wanted)
            for wanted in ("PauI", "pa\u200bul", "pia\u202e", "раul", "\u200b")
        ]
    assert chosen == ["PauI-2", "paul-2", "pia", "person", "person"]


def test_older_accounts_that_look_alike_sign_in_and_are_changed(world: Database) -> None:
    for username in ("PauI", "pa\u200bul", "раul"):
        store(world, username)
        change_person(world, OPERATOR, username, name="Other", now=NOW)
        signed_in = find_session(world, sign_in(world, username, PASSWORD, address=HERE, now=NOW), now=NOW)
        assert signed_in is not None
        assert signed_in.actor.username == username


def test_of_two_look_alikes_added_at_the_same_moment_one_is_stored(world: Database) -> None:
    names = ["marna", "mama", "Mama", "rnama", "MAMA", "ｍama"]
    barrier = Barrier(len(names))

    def try_to_add(username: str) -> bool:
        barrier.wait(60)
        try:
            add(world, username)
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(len(names)) as pool:
        stored = list(pool.map(try_to_add, names))
    assert sum(stored) == 1
    assert len(list_usernames(world)) == 4


def test_people_who_look_alike_are_pointed_out_in_the_list_and_before_an_upgrade(world: Database) -> None:
    sentence = "'paul ' looks like 'paul'. If they are one person, each of their judgments counts twice."
    url = world.url.render_as_string(hide_password=False)
    listed = CliRunner().invoke(app, ["--database", url, "people", "list"])
    assert (listed.exit_code, listed.stderr) == (0, "")
    store(world, "paul ")
    assert CliRunner().invoke(app, ["--database", url, "people", "list"]).stderr == f"{sentence}\n"
    check = check_upgrade(world, backup=None, rehearse=False)
    assert (check.is_ready, check.look_alikes) == (True, (sentence,))
