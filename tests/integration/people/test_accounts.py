"""People, roles, passwords and sessions, on both databases."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import product
from threading import Barrier, BrokenBarrierError, Thread, get_ident
from typing import Any

import pytest
from sqlalchemy import event, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.dataset.service import change_settings, create_dataset, list_datasets, show_dataset
from annotator.domain.errors import ConflictError, NotAllowed, NotFound, StateError, ValidationError
from annotator.domain.people import (
    OPERATOR,
    Actor,
    Membership,
    SignedIn,
    SignInTerms,
    TooManyAttempts,
    WrongSignIn,
)
from annotator.people import roles_service as storage_roles
from annotator.people.roles_service import find_actor, require_admin
from annotator.people.service import (
    add_person,
    change_person,
    disable_person,
    has_anybody_who_signs_in,
    list_people,
    list_role_givers,
    remove_role,
)
from annotator.people.sign_in_service import (
    change_password,
    find_session,
    find_sessions,
    list_sessions,
    replace_one_time_password,
    revoke_sessions,
    sign_in,
    sign_out,
)
from annotator.storage.database import Database
from annotator.storage.tables.central import PersonRow
from annotator.storage.tables.sign_in import LoginAttemptRow, LoginSessionRow
from tests.integration.held_roles import list_memberships

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PASSWORD = "correct horse 電池"
HERE = "192.0.2.1"


@pytest.fixture
def datasets(database: Database) -> Database:
    create_dataset(database, OPERATOR, "law", now=NOW)
    create_dataset(database, OPERATOR, "nablarch", now=NOW)
    return database


def add(database: Database, username: str, role: str = "annotator", dataset: str | None = None) -> Actor:
    add_person(database, OPERATOR, username, role=role, dataset=dataset, password=PASSWORD, now=NOW)
    with database.read() as session:
        return find_actor(session, username)


def enter(
    database: Database, username: str, password: str = PASSWORD, *, now: datetime = NOW, address: str = HERE
) -> str:
    return sign_in(database, username, password, address=address, now=now)


def who(database: Database, token: str, *, now: datetime = NOW) -> SignedIn | None:
    return find_session(database, token, now=now)


def stored(database: Database) -> str:
    """Everything the database keeps about people, as one text."""
    with database.read() as session:
        tables = (PersonRow, LoginSessionRow, LoginAttemptRow)
        rows = [row.model_dump(mode="json") for table in tables for row in session.scalars(select(table))]
    return json.dumps(rows, ensure_ascii=False)


class TestSigningIn:
    def test_the_right_password_opens_a_session(self, datasets: Database) -> None:
        add(datasets, "花子", "lead", "law")
        person = who(datasets, enter(datasets, "花子"))
        assert person is not None
        assert person.actor.username == "花子"
        assert person.memberships == (Membership("law", "lead"),)
        assert (person.role_on("law"), person.role_on("nablarch"), person.role_on(None)) == (
            "lead",
            None,
            None,
        )
        assert person.expires_at == NOW + timedelta(hours=12)

    def test_neither_password_nor_token_is_stored(self, datasets: Database) -> None:
        add(datasets, "hanako")
        token = enter(datasets, "hanako")
        assert len(token) >= 43
        assert token not in stored(datasets)
        assert PASSWORD not in stored(datasets)

    def test_many_sessions_are_looked_up_by_one_statement_and_each_is_its_own(
        self, datasets: Database
    ) -> None:
        for name in ("hanako", "minjun", "gone", "away"):
            add(datasets, name, dataset="law")
        tokens = {name: enter(datasets, name) for name in ("hanako", "minjun", "gone", "away")}
        again = enter(datasets, "hanako")
        sign_out(datasets, tokens["gone"], now=NOW)
        disable_person(datasets, OPERATOR, "away", now=NOW)
        asked = [tokens["gone"], again, "unknown", tokens["minjun"], tokens["away"], tokens["hanako"], again]
        statements: list[str] = []

        def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
            statements.append(statement)

        event.listen(datasets.engine, "before_cursor_execute", note)
        found = find_sessions(datasets, asked, now=NOW)
        event.remove(datasets.engine, "before_cursor_execute", note)
        names = [person and person.actor.username for person in found]
        assert names == [None, "hanako", None, "minjun", None, "hanako", "hanako"]
        assert all(person.memberships == (Membership("law", "annotator"),) for person in found if person)
        assert len([statement for statement in statements if not statement.startswith("BEGIN")]) == 1

    def test_every_sign_in_has_a_token_of_its_own(self, datasets: Database) -> None:
        add(datasets, "hanako")
        assert enter(datasets, "hanako") != enter(datasets, "hanako")

    @pytest.mark.parametrize("username", ["hanako", "nobody", "", "nul\x00", "x" * 5_000, "gone", "imported"])
    def test_every_wrong_sign_in_is_refused_with_the_same_words(
        self, datasets: Database, username: str
    ) -> None:
        add(datasets, "hanako")
        add(datasets, "gone")
        disable_person(datasets, OPERATOR, "gone", now=NOW)
        with datasets.write() as session:
            session.add(PersonRow.model_validate({"username": "imported", "created_at": NOW}))
        password = "wrong" if username == "hanako" else PASSWORD
        with pytest.raises(WrongSignIn, match=r"^the username or the password is wrong$"):
            enter(datasets, username, password)

    def test_an_unknown_name_costs_a_password_check_too(
        self, datasets: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        checked: list[str] = []
        monkeypatch.setattr(
            "annotator.people.sign_in_service.is_password", lambda _password, kept: bool(checked.append(kept))
        )
        with pytest.raises(WrongSignIn):
            enter(datasets, "nobody")
        assert len(checked) == 1
        assert checked[0].startswith("$argon2id$")

    def test_a_session_ends_by_itself(self, datasets: Database) -> None:
        add(datasets, "hanako")
        token = sign_in(
            datasets, "hanako", PASSWORD, address=HERE, now=NOW, terms=SignInTerms(timedelta(hours=1))
        )
        assert who(datasets, token, now=NOW + timedelta(minutes=59)) is not None
        assert who(datasets, token, now=NOW + timedelta(hours=1)) is None

    def test_expired_sessions_are_cleaned_away(self, datasets: Database) -> None:
        add(datasets, "hanako")
        for day in range(3):
            enter(datasets, "hanako", now=NOW + timedelta(days=day))
        with datasets.read() as session:
            assert len(session.scalars(select(LoginSessionRow)).all()) == 1

    def test_signing_out_ends_this_session_only(self, datasets: Database) -> None:
        add(datasets, "hanako")
        here, there = enter(datasets, "hanako"), enter(datasets, "hanako")
        sign_out(datasets, here, now=NOW)
        sign_out(datasets, "unknown", now=NOW)
        sign_out(datasets, None, now=NOW)
        assert who(datasets, here) is None
        assert who(datasets, there) is not None

    def test_signing_out_everywhere_spares_others_and_the_one_to_keep(self, datasets: Database) -> None:
        hanako = add(datasets, "hanako")
        add(datasets, "minjun")
        tokens = [enter(datasets, "hanako") for _ in range(3)]
        other = enter(datasets, "minjun")
        listed = list_sessions(datasets, hanako, token=tokens[0], now=NOW)
        assert [item.current for item in listed].count(True) == 1
        assert len(listed) == 3
        assert revoke_sessions(datasets, hanako, keep_token=tokens[0], now=NOW) == 2
        assert [who(datasets, token) is not None for token in (*tokens, other)] == [True, False, False, True]
        assert revoke_sessions(datasets, hanako, now=NOW) == 1

    @pytest.mark.parametrize("token", [None, "", "x", "'; DROP TABLE person", "\ud800"])
    def test_any_other_token_is_nobody(self, datasets: Database, token: str | None) -> None:
        assert find_session(datasets, token, now=NOW) is None


class TestGuessing:
    def fail(
        self, database: Database, username: str, *, times: int, address: str = HERE, now: datetime = NOW
    ) -> None:
        for _ in range(times):
            with pytest.raises(WrongSignIn):
                enter(database, username, "wrong", address=address, now=now)

    def test_after_five_failures_a_name_waits_at_that_address_even_with_the_right_password(
        self, datasets: Database
    ) -> None:
        add(datasets, "hanako")
        self.fail(datasets, "hanako", times=5)
        with pytest.raises(TooManyAttempts):
            enter(datasets, "hanako")
        assert enter(datasets, "hanako", address="198.51.100.9")
        assert enter(datasets, "hanako", now=NOW + timedelta(minutes=15))

    def test_others_at_the_same_address_go_on(self, datasets: Database) -> None:
        add(datasets, "minjun")
        self.fail(datasets, "hanako", times=5)
        assert enter(datasets, "minjun")

    def test_after_twenty_failures_an_address_has_one_guess_for_each_name(self, datasets: Database) -> None:
        add(datasets, "minjun")
        for number in range(20):
            self.fail(datasets, f"guess{number}", times=1)
        self.fail(datasets, "minjun", times=1)
        with pytest.raises(TooManyAttempts):
            enter(datasets, "minjun")
        add(datasets, "hanako")
        assert enter(datasets, "hanako"), "the right password comes in at the first try"

    def test_a_sign_in_that_succeeds_clears_its_own_failures_only(self, datasets: Database) -> None:
        add(datasets, "minjun")
        self.fail(datasets, "hanako", times=4)
        self.fail(datasets, "minjun", times=4)
        enter(datasets, "minjun")
        self.fail(datasets, "minjun", times=5)
        self.fail(datasets, "hanako", times=1)
        with pytest.raises(TooManyAttempts):
            self.fail(datasets, "hanako", times=1)

    def test_guesses_at_the_same_moment_all_count(self, datasets: Database) -> None:
        add(datasets, "hanako")

        together = Barrier(16)

        def guess(_number: int) -> str:
            together.wait()
            try:
                enter(datasets, "hanako", "wrong")
            except (WrongSignIn, TooManyAttempts) as error:
                return type(error).__name__
            return "in"

        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(guess, range(16)))
        assert answers.count("WrongSignIn") == 5
        assert answers.count("TooManyAttempts") == 11

    def test_what_is_refused_for_its_number_does_not_lengthen_the_wait(self, datasets: Database) -> None:
        add(datasets, "hanako")
        self.fail(datasets, "hanako", times=5)
        for minute in range(14):
            with pytest.raises(TooManyAttempts):
                enter(datasets, "hanako", now=NOW + timedelta(minutes=minute))
        assert enter(datasets, "hanako", now=NOW + timedelta(minutes=15))


class TestPasswords:
    def test_a_one_time_password_is_made_returned_once_and_must_be_changed(self, datasets: Database) -> None:
        made = add_person(datasets, OPERATOR, "hanako", role="annotator", now=NOW)
        assert made.one_time_password is not None
        assert made.one_time_password not in repr(made)
        token = enter(datasets, "hanako", made.one_time_password)
        person = who(datasets, token)
        assert person is not None
        assert person.must_change_password
        change_password(datasets, person.actor, made.one_time_password, PASSWORD, keep_token=token, now=NOW)
        person = who(datasets, token)
        assert person is not None
        assert not person.must_change_password
        with pytest.raises(WrongSignIn):
            enter(datasets, "hanako", made.one_time_password)

    @pytest.mark.parametrize(
        ("password", "requested", "must"),
        [(None, False, False), (PASSWORD, True, True), (PASSWORD, None, False)],
    )
    def test_whether_it_must_be_changed_can_be_said(
        self, datasets: Database, password: str | None, requested: bool | None, must: bool
    ) -> None:
        made = add_person(
            datasets, OPERATOR, "x", role="lead", password=password, must_change_password=requested, now=NOW
        )
        assert made.person.must_change_password is must

    def test_a_new_password_ends_the_other_sessions(self, datasets: Database) -> None:
        hanako = add(datasets, "hanako")
        here, there = enter(datasets, "hanako"), enter(datasets, "hanako")
        change_password(datasets, hanako, PASSWORD, "another one 次", keep_token=here, now=NOW)
        assert who(datasets, here) is not None
        assert who(datasets, there) is None
        assert enter(datasets, "hanako", "another one 次")

    def test_the_old_password_is_needed_and_guessing_it_is_limited(self, datasets: Database) -> None:
        hanako = add(datasets, "hanako")
        for _ in range(5):
            with pytest.raises(WrongSignIn):
                change_password(datasets, hanako, "wrong", "another one 次", now=NOW)
        with pytest.raises(TooManyAttempts):
            change_password(datasets, hanako, PASSWORD, "another one 次", now=NOW)

    @pytest.mark.parametrize("new", ["short", PASSWORD])
    def test_a_weak_or_the_same_password_is_refused(self, datasets: Database, new: str) -> None:
        hanako = add(datasets, "hanako")
        with pytest.raises(ValidationError):
            change_password(datasets, hanako, PASSWORD, new, now=NOW)
        assert enter(datasets, "hanako")

    def test_a_password_set_by_an_admin_signs_the_person_out_and_lifts_the_wait(
        self, datasets: Database
    ) -> None:
        add(datasets, "hanako")
        token = enter(datasets, "hanako")
        for _ in range(5):
            with pytest.raises(WrongSignIn):
                enter(datasets, "hanako", "wrong")
        changed = change_person(datasets, OPERATOR, "hanako", new_password=True, now=NOW)
        assert who(datasets, token) is None
        assert changed.one_time_password is not None
        assert changed.person.must_change_password
        assert enter(datasets, "hanako", changed.one_time_password)

    def test_an_empty_password_is_refused_not_taken_for_none(self, datasets: Database) -> None:
        add(datasets, "hanako")
        with pytest.raises(ValidationError):
            change_person(datasets, OPERATOR, "hanako", password="", now=NOW)
        with pytest.raises(ValidationError):
            add_person(datasets, OPERATOR, "minjun", role="lead", password="", now=NOW)

    def test_a_password_changed_meanwhile_lets_nobody_in(
        self, datasets: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        add(datasets, "hanako")

        def change_meanwhile(_password: str, _kept: str) -> bool:
            monkeypatch.undo()
            change_person(datasets, OPERATOR, "hanako", password="another one 次", now=NOW)
            return True

        monkeypatch.setattr("annotator.people.sign_in_service.is_password", change_meanwhile)
        with pytest.raises(WrongSignIn):
            enter(datasets, "hanako")


class TestDisabling:
    def test_somebody_disabled_neither_signs_in_nor_acts(self, datasets: Database) -> None:
        hanako = add(datasets, "hanako", "lead", "law")
        token = enter(datasets, "hanako")
        change_settings(datasets, hanako, "law", {"overlap": "3"}, now=NOW)
        disable_person(datasets, OPERATOR, "hanako", now=NOW)
        assert who(datasets, token) is None
        with pytest.raises(WrongSignIn):
            enter(datasets, "hanako")
        with pytest.raises(NotAllowed):
            change_settings(datasets, hanako, "law", {"overlap": "4"}, now=NOW)
        with datasets.read() as session, pytest.raises(NotAllowed):
            find_actor(session, "hanako")
        with pytest.raises(WrongSignIn):
            change_password(datasets, hanako, PASSWORD, "another one 次", now=NOW)

    def test_a_session_of_somebody_disabled_counts_for_nothing_even_when_not_revoked(
        self, datasets: Database
    ) -> None:
        add(datasets, "hanako")
        token = enter(datasets, "hanako")
        with datasets.write() as session:
            session.execute(
                update(PersonRow).where(col(PersonRow.username) == "hanako").values(disabled_at=NOW)
            )
        assert who(datasets, token) is None

    def test_enabling_gives_the_same_roles_back_but_no_session(self, datasets: Database) -> None:
        add(datasets, "hanako", "lead", "law")
        token = enter(datasets, "hanako")
        disable_person(datasets, OPERATOR, "hanako", now=NOW)
        person = change_person(datasets, OPERATOR, "hanako", enable=True, now=NOW).person
        assert person.memberships == (Membership("law", "lead"),)
        assert who(datasets, token) is None
        assert enter(datasets, "hanako")

    def test_nobody_disables_themselves(self, datasets: Database) -> None:
        ada = add(datasets, "ada", "admin")
        with pytest.raises(StateError):
            disable_person(datasets, ada, "ada", now=NOW)
        with pytest.raises(StateError):
            remove_role(datasets, ada, "ada", dataset=None, now=NOW)


class TestWhoManagesWhom:
    """`law` has an admin of its own (lawadmin), a lead and an annotator; ada is admin everywhere."""

    @pytest.fixture
    def people(self, datasets: Database) -> dict[str, Actor]:
        return {
            "ada": add(datasets, "ada", "admin"),
            "lawadmin": add(datasets, "lawadmin", "admin", "law"),
            "lawlead": add(datasets, "lawlead", "lead", "law"),
            "hanako": add(datasets, "hanako", "annotator", "law"),
            "jens": add(datasets, "jens", "annotator", "nablarch"),
            "biglead": add(datasets, "biglead", "lead"),
        }

    @pytest.mark.parametrize("who", ["lawlead", "hanako", "jens", "biglead"])
    def test_only_admins_give_roles(self, datasets: Database, people: dict[str, Actor], who: str) -> None:
        for role, dataset in product(("annotator", "lead", "admin"), ("law", "nablarch", None)):
            with pytest.raises(NotAllowed):
                change_person(datasets, people[who], who, role=role, dataset=dataset, now=NOW)
            with pytest.raises(NotAllowed):
                add_person(
                    datasets, people[who], "new", role=role, dataset=dataset, password=PASSWORD, now=NOW
                )
        assert "new" not in [person.username for person in list_people(datasets, OPERATOR)]

    def test_an_admin_of_a_dataset_gives_roles_there_and_nowhere_else(
        self, datasets: Database, people: dict[str, Actor]
    ) -> None:
        lawadmin = people["lawadmin"]
        assert add_person(datasets, lawadmin, "new", role="admin", dataset="law", now=NOW).one_time_password
        change_person(datasets, lawadmin, "jens", role="lead", dataset="law", now=NOW)
        assert list_memberships(datasets, people["jens"]) == (
            Membership("law", "lead"),
            Membership("nablarch", "annotator"),
        )
        for dataset in ("nablarch", None):
            with pytest.raises(NotAllowed):
                add_person(datasets, lawadmin, "newer", role="annotator", dataset=dataset, now=NOW)
            with pytest.raises(NotAllowed):
                change_person(datasets, lawadmin, "lawadmin", role="admin", dataset=dataset, now=NOW)
            with pytest.raises(NotAllowed):
                remove_role(datasets, lawadmin, "jens", dataset=dataset, now=NOW)

    @pytest.mark.parametrize("username", ["ada", "jens", "biglead", "imported", "both"])
    def test_an_admin_of_a_dataset_cannot_become_somebody_with_a_role_elsewhere(
        self, datasets: Database, people: dict[str, Actor], username: str
    ) -> None:
        with datasets.write() as session:
            session.add(PersonRow.model_validate({"username": "imported", "created_at": NOW}))
        add(datasets, "both", "annotator", "law")
        change_person(datasets, OPERATOR, "both", role="annotator", dataset="nablarch", now=NOW)
        for change in ({"password": PASSWORD}, {"new_password": True}, {"name": "x"}, {"enable": True}):
            with pytest.raises(NotAllowed):
                change_person(datasets, people["lawadmin"], username, now=NOW, **change)  # type: ignore[arg-type]
        with pytest.raises(NotAllowed):
            disable_person(datasets, people["lawadmin"], username, now=NOW)

    def test_an_admin_of_a_dataset_manages_its_own_people(
        self, datasets: Database, people: dict[str, Actor]
    ) -> None:
        lawadmin = people["lawadmin"]
        assert change_person(
            datasets, lawadmin, "hanako", name="花子", new_password=True, now=NOW
        ).one_time_password
        assert disable_person(datasets, lawadmin, "hanako", now=NOW).disabled
        assert not change_person(datasets, lawadmin, "hanako", enable=True, now=NOW).person.disabled
        assert remove_role(datasets, lawadmin, "hanako", dataset="law", now=NOW).memberships == ()

    def test_a_refused_change_changes_nothing(self, datasets: Database, people: dict[str, Actor]) -> None:
        before = list_people(datasets, OPERATOR)
        with pytest.raises(NotAllowed):
            change_person(datasets, people["lawadmin"], "jens", role="lead", dataset="law", name="x", now=NOW)
        assert list_people(datasets, OPERATOR) == before

    def test_a_lead_sees_the_people_of_the_dataset_and_their_roles_there_only(
        self, datasets: Database, people: dict[str, Actor]
    ) -> None:
        change_person(datasets, OPERATOR, "hanako", role="lead", dataset="nablarch", now=NOW)
        seen = list_people(datasets, people["lawlead"], dataset="law")
        assert [person.username for person in seen] == ["ada", "biglead", "hanako", "lawadmin", "lawlead"]
        assert seen[2].memberships == (Membership("law", "annotator"),)
        for dataset in ("nablarch", None):
            with pytest.raises(NotAllowed):
                list_people(datasets, people["lawlead"], dataset=dataset)
        with pytest.raises(NotAllowed):
            list_people(datasets, people["hanako"], dataset="law")
        assert len(list_people(datasets, people["biglead"])) == 6

    def test_a_role_everywhere_holds_on_every_dataset(
        self, datasets: Database, people: dict[str, Actor]
    ) -> None:
        assert [dataset.name for dataset in list_datasets(datasets, people["biglead"])] == ["law", "nablarch"]
        assert [dataset.name for dataset in list_datasets(datasets, people["jens"])] == ["nablarch"]
        with pytest.raises(NotAllowed):
            show_dataset(datasets, people["jens"], "law")

    def test_a_role_is_replaced_not_added(self, datasets: Database, people: dict[str, Actor]) -> None:
        for role in ("lead", "admin", "annotator"):
            change_person(datasets, OPERATOR, "hanako", role=role, dataset="law", now=NOW)
            change_person(datasets, OPERATOR, "biglead", role=role, now=NOW)
        assert list_memberships(datasets, people["hanako"]) == (Membership("law", "annotator"),)
        assert list_memberships(datasets, people["biglead"]) == (Membership(None, "annotator"),)


class TestNames:
    def test_a_username_is_given_once_whatever_its_case(self, datasets: Database) -> None:
        add(datasets, "Hanako")
        for username in ("Hanako", "hanako", "HANAKO"):
            with pytest.raises(ConflictError):
                add(datasets, username)

    def test_a_person_known_from_a_file_is_given_a_sign_in(self, datasets: Database) -> None:
        with datasets.write() as session:
            session.add(PersonRow.model_validate({"username": "민준", "created_at": NOW}))
        assert not has_anybody_who_signs_in(datasets)
        changed = change_person(
            datasets, OPERATOR, "민준", role="annotator", dataset="law", new_password=True, now=NOW
        )
        assert changed.one_time_password is not None
        assert changed.person.can_sign_in
        assert has_anybody_who_signs_in(datasets)
        assert enter(datasets, "민준", changed.one_time_password)

    def test_a_name_and_a_dataset_that_do_not_exist_are_named(self, datasets: Database) -> None:
        with pytest.raises(NotFound, match="nobody"):
            change_person(datasets, OPERATOR, "nobody", name="x", now=NOW)
        with pytest.raises(NotFound, match="there is no dataset named 'lore'"):
            add(datasets, "x", "lead", "lore")
        with pytest.raises(ValidationError, match="annotator, lead or admin"):
            add(datasets, "x", "root")
        with pytest.raises(ValidationError):
            change_person(datasets, OPERATOR, "x", dataset="law", now=NOW)


class TestTheLastAdmin:
    @pytest.fixture
    def ada(self, datasets: Database) -> Actor:
        return add(datasets, "ada", role="admin")

    def test_cannot_step_down_by_themselves_or_by_the_operator(self, datasets: Database, ada: Actor) -> None:
        for actor in (ada, OPERATOR):
            with pytest.raises(StateError, match="there would be no admin left"):
                change_person(datasets, actor, "ada", role="lead", now=NOW)
        for leave in (
            lambda: remove_role(datasets, OPERATOR, "ada", dataset=None, now=NOW),
            lambda: disable_person(datasets, OPERATOR, "ada", now=NOW),
        ):
            with pytest.raises(StateError, match="there would be no admin left"):
                leave()
        with datasets.read() as session:
            require_admin(session, ada)

    @pytest.mark.parametrize("other", ["imported", "disabled"])
    def test_somebody_who_cannot_sign_in_is_no_other_admin(
        self, datasets: Database, ada: Actor, other: str
    ) -> None:
        add(datasets, "bo", role="admin")
        if other == "disabled":
            disable_person(datasets, OPERATOR, "bo", now=NOW)
        else:
            with datasets.write() as session:
                session.execute(
                    update(PersonRow).where(col(PersonRow.username) == "bo").values(password_hash=None)
                )
        with pytest.raises(StateError, match="there would be no admin left"):
            change_person(datasets, ada, "ada", role="annotator", now=NOW)

    def test_of_a_dataset_stays_where_nobody_is_admin_everywhere(self, datasets: Database) -> None:
        dora = add(datasets, "dora", role="admin", dataset="law")
        with pytest.raises(StateError, match="law would have no admin left"):
            change_person(datasets, dora, "dora", role="lead", dataset="law", now=NOW)
        add(datasets, "ada", role="admin")
        change_person(datasets, dora, "dora", role="lead", dataset="law", now=NOW)

    def test_may_step_down_once_there_is_another(self, datasets: Database, ada: Actor) -> None:
        add(datasets, "bo", role="admin")
        change_person(datasets, ada, "ada", role="lead", now=NOW)
        with pytest.raises(NotAllowed), datasets.read() as session:
            require_admin(session, ada)

    @pytest.mark.usefixtures("ada")
    def test_of_two_who_step_down_in_the_same_moment_one_stays(
        self, datasets: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each has looked who is left before the other's change is there, unless one waits for the other."""
        actors = {"bo": add(datasets, "bo", role="admin")}
        with datasets.read() as session:
            actors["ada"] = find_actor(session, "ada")
        both_looked, look = Barrier(2), storage_roles._is_administered
        looked, refusals = set[int](), list[Exception]()

        def look_together(session: Session) -> bool:
            result = look(session)
            if get_ident() in looked:
                with suppress(BrokenBarrierError):
                    both_looked.wait(timeout=0.3)
            looked.add(get_ident())
            return result

        def step_down(username: str) -> None:
            try:
                change_person(datasets, actors[username], username, role="lead", now=NOW)
            except StateError as error:
                refusals.append(error)

        monkeypatch.setattr(storage_roles, "_is_administered", look_together)
        threads = [Thread(target=step_down, args=(username,)) for username in actors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        monkeypatch.undo()
        assert len(refusals) == 1
        roles = [item.memberships[0].role for item in list_people(datasets, OPERATOR)]
        assert sorted(roles) == ["admin", "lead"]


class TestFirstPassword:
    """Who signs in with a one-time password chooses their own, without typing the one-time password again."""

    @pytest.fixture
    def newcomer(self, datasets: Database) -> tuple[Actor, str, str]:
        """The person, the one-time password, and the token of the first sign-in."""
        made = add_person(datasets, OPERATOR, "hanako", role="annotator", dataset="law", now=NOW)
        password = made.one_time_password or ""
        with datasets.read() as session:
            actor = find_actor(session, "hanako")
        return actor, password, enter(datasets, "hanako", password)

    def test_it_replaces_the_one_time_password_and_ends_other_sessions(
        self, datasets: Database, newcomer: tuple[Actor, str, str]
    ) -> None:
        actor, one_time, token = newcomer
        other = enter(datasets, "hanako", one_time)
        replace_one_time_password(datasets, actor, PASSWORD, keep_token=token, now=NOW)
        person = who(datasets, token)
        assert person is not None
        assert not person.must_change_password
        assert who(datasets, other) is None
        with pytest.raises(WrongSignIn):
            enter(datasets, "hanako", one_time)
        assert enter(datasets, "hanako")

    def test_a_bad_password_and_the_one_time_password_itself_are_refused(
        self, datasets: Database, newcomer: tuple[Actor, str, str]
    ) -> None:
        actor, one_time, token = newcomer
        for password in ("short", one_time):
            with pytest.raises(ValidationError):
                replace_one_time_password(datasets, actor, password, keep_token=token, now=NOW)
        person = who(datasets, token)
        assert person is not None
        assert person.must_change_password

    def test_a_password_of_their_own_is_not_replaced_without_being_typed(
        self, datasets: Database, newcomer: tuple[Actor, str, str]
    ) -> None:
        actor, _one_time, token = newcomer
        replace_one_time_password(datasets, actor, PASSWORD, keep_token=token, now=NOW)
        with pytest.raises(StateError, match="was replaced"):
            replace_one_time_password(datasets, actor, "another password 1", keep_token=token, now=NOW)
        assert enter(datasets, "hanako")


def test_who_can_give_a_role_are_admins_of_all_datasets_who_can_sign_in(datasets: Database) -> None:
    nora = add(datasets, "nora", dataset="law")
    remove_role(datasets, OPERATOR, "nora", dataset="law", now=NOW)
    assert list_role_givers(datasets, nora) == ()
    for username, role, dataset in (
        ("ada", "admin", None),
        ("eve", "admin", None),
        ("lea", "lead", None),
        ("local", "admin", "law"),
    ):
        add(datasets, username, role, dataset)
    change_person(datasets, OPERATOR, "ada", name="Ada 에이다", now=NOW)
    disable_person(datasets, OPERATOR, "eve", now=NOW)
    assert list_role_givers(datasets, nora) == ("Ada 에이다",)
    with pytest.raises(NotAllowed):
        list_role_givers(datasets, OPERATOR)
