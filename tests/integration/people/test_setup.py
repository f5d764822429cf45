"""The first admin, made by the one-time link that the server prints, on both databases."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.domain.people import OPERATOR, LinkRefused, TooManyAttempts
from annotator.people.credentials import AccountRefused, NewAccount
from annotator.people.service import add_person, list_people
from annotator.people.setup_service import (
    LIFETIME,
    AlreadySetUp,
    check_setup_link,
    is_set_up,
    make_first_admin,
    make_setup_link,
)
from annotator.people.sign_in_service import find_session, sign_in
from annotator.storage.database import Database
from annotator.storage.tables.central import PersonRow
from annotator.storage.tables.sign_in import LoginAttemptRow, OneTimeLinkRow

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HERE = "192.0.2.1"
PASSWORD = "correct horse 電池"
ACCOUNT = NewAccount(name="Ada 에이다", username="ada", password=PASSWORD)


def make_token(database: Database, *, now: datetime = NOW) -> str:
    link = make_setup_link(database, now=now)
    assert link is not None
    return link.token


def make_admin(
    database: Database,
    token: str,
    account: NewAccount = ACCOUNT,
    *,
    now: datetime = NOW,
    address: str = HERE,
) -> str:
    return make_first_admin(database, token, account, address=address, now=now)


def test_the_link_makes_an_admin_of_everything_who_is_signed_in(database: Database) -> None:
    assert not is_set_up(database)
    session_token = make_admin(database, make_token(database))
    person = find_session(database, session_token, now=NOW)
    assert person is not None
    assert (person.actor.username, person.name, person.role_on(None)) == ("ada", "Ada 에이다", "admin")
    assert not person.must_change_password
    assert is_set_up(database)
    assert sign_in(database, "ada", PASSWORD, address=HERE, now=NOW)


def test_only_the_hash_of_the_token_is_stored_and_the_row_says_who_used_it(database: Database) -> None:
    token = make_token(database)
    make_admin(database, token)
    with database.read() as session:
        rows = session.scalars(select(OneTimeLinkRow)).all()
        user = session.scalars(select(PersonRow)).one()
    assert token not in repr([row.model_dump() for row in rows])
    assert [(row.used_at, row.user_pk) for row in rows] == [(NOW, user.pk)]


def test_no_link_is_made_once_anybody_has_an_account(database: Database) -> None:
    add_person(database, OPERATOR, "hanako", role="annotator", password=PASSWORD, now=NOW)
    assert make_setup_link(database, now=NOW) is None


def test_people_known_only_from_files_do_not_stand_in_the_way(database: Database) -> None:
    with database.write() as session:
        session.add(PersonRow.model_validate({"username": "민준", "created_at": NOW}))
    token = make_token(database)
    with pytest.raises(AccountRefused) as refused:
        make_admin(database, token, NewAccount("민준", "민준", PASSWORD))
    assert list(refused.value.problems) == ["username"]
    make_admin(database, token)
    assert is_set_up(database)


def test_every_problem_of_the_form_is_named_by_its_field_and_the_link_still_works(database: Database) -> None:
    token = make_token(database)
    with pytest.raises(AccountRefused) as refused:
        make_admin(database, token, NewAccount(" ", "a b", "short"))
    assert list(refused.value.problems) == ["name", "username", "password"]
    assert make_admin(database, token)


def test_a_person_added_by_the_operator_meanwhile_ends_the_link(database: Database) -> None:
    token = make_token(database)
    add_person(database, OPERATOR, "hanako", role="admin", password=PASSWORD, now=NOW)
    with pytest.raises(AlreadySetUp):
        check_setup_link(database, token, address=HERE, now=NOW)
    with pytest.raises(AlreadySetUp):
        make_admin(database, token)


class TestAttacks:
    def test_a_link_works_once(self, database: Database) -> None:
        token = make_token(database)
        make_admin(database, token)
        with pytest.raises(AlreadySetUp):
            make_admin(database, token, NewAccount("Eve", "eve", PASSWORD))
        assert [person.username for person in list_people(database, OPERATOR)] == ["ada"]

    def test_a_link_ends_after_a_day(self, database: Database) -> None:
        token = make_token(database)
        check_setup_link(database, token, address=HERE, now=NOW + LIFETIME - timedelta(seconds=1))
        with pytest.raises(LinkRefused, match="has expired"):
            make_admin(database, token, now=NOW + LIFETIME)
        assert not is_set_up(database)

    def test_the_next_start_of_the_server_replaces_the_link(self, database: Database) -> None:
        first, second = make_token(database), make_token(database)
        with pytest.raises(LinkRefused, match="replaced"):
            make_admin(database, first)
        assert make_admin(database, second)

    @pytest.mark.parametrize("token", ["", "guess", "\udcff\x00", "x" * 10_000])
    def test_a_guess_makes_nobody(self, database: Database, token: str) -> None:
        make_token(database)
        with pytest.raises(LinkRefused, match="not valid"):
            make_admin(database, token)
        assert not is_set_up(database)

    def test_guesses_are_limited_as_those_of_passwords_are(self, database: Database) -> None:
        token = make_token(database)
        for _ in range(5):
            with pytest.raises(LinkRefused):
                check_setup_link(database, "guess", address=HERE, now=NOW)
        with pytest.raises(TooManyAttempts):
            check_setup_link(database, "guess", address=HERE, now=NOW)
        check_setup_link(database, token, address=HERE, now=NOW)
        with pytest.raises(LinkRefused):
            check_setup_link(database, "guess", address=HERE, now=NOW + timedelta(minutes=15))

    def test_a_right_link_is_not_counted_as_a_guess(self, database: Database) -> None:
        token = make_token(database)
        for _ in range(20):
            check_setup_link(database, token, address=HERE, now=NOW)
        with database.read() as session:
            assert session.scalars(select(col(LoginAttemptRow.pk))).all() == []

    def test_two_browsers_at_the_same_moment_make_one_admin(self, database: Database) -> None:
        token, barrier = make_token(database), Barrier(2)

        def make(username: str) -> str | None:
            barrier.wait(120)
            try:
                return make_admin(database, token, NewAccount(username, username, PASSWORD), address=username)
            except (AlreadySetUp, LinkRefused):
                return None

        with ThreadPoolExecutor(2) as pool:
            sessions = list(pool.map(make, ("ada", "eve")))
        assert len([session for session in sessions if session]) == 1
        admins = list_people(database, OPERATOR)
        assert len(admins) == 1
        assert find_session(database, next(filter(None, sessions)), now=NOW) is not None

    def test_a_link_cannot_be_used_to_sign_in_as_somebody(self, database: Database) -> None:
        token = make_token(database)
        assert find_session(database, token, now=NOW) is None
        assert repr(make_setup_link(database, now=NOW)).count("token") == 0
