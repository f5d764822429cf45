"""Invitations by one-time links: who may make, see, revoke and accept them. On both databases."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from sqlalchemy import select, text

from annotator.adjudication.history.history import describe_entry
from annotator.adjudication.history.history_service import read_audit_log
from annotator.dataset.service import archive_dataset, create_dataset
from annotator.domain.errors import DatasetArchived, NotAllowed, NotFound, StateError, ValidationError
from annotator.domain.people import OPERATOR, Actor, LinkRefused, TooManyAttempts, WrongSignIn
from annotator.people.credentials import AccountRefused, NewAccount
from annotator.people.invitations_service import (
    accept_invitation,
    choose_password,
    create_invited_account,
    invite,
    list_invitations,
    look_at_link,
    make_password_link,
    revoke_invitation,
)
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person, change_person, disable_person, remove_role
from annotator.people.setup_service import make_setup_link
from annotator.people.sign_in_service import change_password, find_session, sign_in
from annotator.storage.database import Database
from annotator.storage.tables.sign_in import OneTimeLinkRow
from tests.integration.held_roles import list_memberships

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HERE = "192.0.2.1"
PASSWORD = "correct horse 電池"
HANA = NewAccount(name="하나", username="hana", password=PASSWORD)


@pytest.fixture
def world(database: Database) -> Database:
    """Two datasets; lea leads law, ada is its admin, noa leads nablarch, root is admin of all, mika annotates law."""
    for name in ("law", "nablarch"):
        create_dataset(database, OPERATOR, name, title=f"{name} データ", now=NOW)
    for username, role, dataset in (
        ("lea", "lead", "law"), ("ada", "admin", "law"), ("noa", "lead", "nablarch"), ("root", "admin", None), ("mika", "annotator", "law"),
    ):  # fmt: skip
        add_person(database, OPERATOR, username, role=role, dataset=dataset, password=PASSWORD, now=NOW)
    return database


def actor(database: Database, username: str) -> Actor:
    with database.read() as session:
        return find_actor(session, username)


def make_link(
    database: Database,
    username: str = "lea",
    role: str = "annotator",
    dataset: str | None = "law",
    **more: object,
) -> str:
    return invite(database, actor(database, username), role=role, dataset=dataset, now=NOW, **more).token  # type: ignore[arg-type]


def create(database: Database, token: str, account: NewAccount = HANA, *, now: datetime = NOW) -> str:
    return create_invited_account(database, token, account, address=HERE, now=now)[0]


def look(database: Database, token: str, *, now: datetime = NOW):  # type: ignore[no-untyped-def]
    return look_at_link(database, token, address=HERE, now=now)


def held(database: Database, username: str) -> list[tuple[str | None, str]]:
    return [(item.dataset, item.role) for item in list_memberships(database, actor(database, username))]


class TestMaking:
    @pytest.mark.parametrize(
        ("username", "role", "dataset", "allowed"),
        [
            ("lea", "annotator", "law", True), ("lea", "lead", "law", False), ("lea", "admin", "law", False),
            ("lea", "annotator", "nablarch", False), ("lea", "annotator", None, False), ("noa", "annotator", "law", False),
            ("ada", "lead", "law", True), ("ada", "admin", "law", True), ("ada", "lead", "nablarch", False),
            ("ada", "annotator", None, False), ("root", "admin", None, True), ("root", "lead", "nablarch", True),
            ("mika", "annotator", "law", False),
        ],
    )  # fmt: skip
    def test_a_lead_invites_annotators_of_her_dataset_an_admin_everybody(
        self, world: Database, username: str, role: str, dataset: str | None, allowed: bool
    ) -> None:
        if allowed:
            assert make_link(world, username, role, dataset)
            return
        with pytest.raises(NotAllowed):
            make_link(world, username, role, dataset)
        assert list_invitations(world, OPERATOR, now=NOW) == []

    def test_only_the_hash_of_the_token_is_stored(self, world: Database) -> None:
        made = invite(world, OPERATOR, role="annotator", dataset="law", note="Hana", now=NOW)
        with world.read() as session:
            rows = [row.model_dump() for row in session.scalars(select(OneTimeLinkRow))]
            events = session.execute(text("SELECT * FROM audit_event")).all()
        assert made.token not in repr((rows, events, made, made.invitation))

    @pytest.mark.parametrize("days", [0, -1, 61])
    def test_it_ends_within_two_months(self, world: Database, days: int) -> None:
        with pytest.raises(ValidationError, match="from 1 to 60"):
            make_link(world, days=days)

    def test_a_note_is_one_line_and_a_role_is_known(self, world: Database) -> None:
        with pytest.raises(ValidationError):
            make_link(world, note="a\nb")
        with pytest.raises(ValidationError, match="expected a role"):
            make_link(world, role="root")


class TestListing:
    def test_a_lead_sees_those_of_her_dataset_and_an_admin_of_all_also_the_others(
        self, world: Database
    ) -> None:
        make_link(world, "root", "lead", "law", note="L")
        make_link(world, "root", "admin", None, note="everywhere")
        make_link(world, "root", "lead", "nablarch", note="N")
        for username, dataset, notes in (
            ("lea", "law", ["L"]), ("root", "law", ["everywhere", "L"]), ("root", None, ["N", "everywhere", "L"]), ("noa", "nablarch", ["N"]),
        ):  # fmt: skip
            listed = list_invitations(world, actor(world, username), dataset=dataset, now=NOW)
            assert [item.note for item in listed] == notes, (username, dataset)
        for username, dataset in (("lea", "nablarch"), ("lea", None), ("mika", "law"), ("ada", None)):
            with pytest.raises(NotAllowed):
                list_invitations(world, actor(world, username), dataset=dataset, now=NOW)

    def test_the_state_says_what_became_of_it(self, world: Database) -> None:
        used = make_link(world, note="used")
        create(world, used)
        make_link(world, note="expired", days=1)
        make_link(world, note="open")
        revoked = invite(world, actor(world, "lea"), role="annotator", dataset="law", note="revoked", now=NOW)
        revoke_invitation(world, actor(world, "ada"), revoked.invitation.number, now=NOW)
        later = NOW + timedelta(days=2)
        listed = {
            item.note: item for item in list_invitations(world, actor(world, "lea"), dataset="law", now=later)
        }
        assert {note: item.state for note, item in listed.items()} == {
            note: note for note in ("used", "expired", "open", "revoked")
        }
        assert (listed["used"].user, listed["used"].author) == ("hana", "lea")
        assert listed["revoked"].revoker == "ada"


class TestAccepting:
    def test_a_new_account_gets_the_role_and_is_signed_in(self, world: Database) -> None:
        token = make_link(world)
        offer = look(world, token)
        assert (offer.role, offer.dataset, offer.title, offer.author) == (
            "annotator",
            "law",
            "law データ",
            "lea",
        )
        person = find_session(world, create(world, token), now=NOW)
        assert person is not None
        assert (person.actor.username, person.name, person.must_change_password) == ("hana", "하나", False)
        assert held(world, "hana") == [("law", "annotator")]
        assert sign_in(world, "hana", PASSWORD, address=HERE, now=NOW)

    def test_an_account_that_is_there_gets_the_role_too(self, world: Database) -> None:
        noa = actor(world, "noa")
        assert accept_invitation(world, noa, make_link(world), address=HERE, now=NOW) == "law"
        assert held(world, "noa") == [("law", "annotator"), ("nablarch", "lead")]

    def test_a_role_is_raised_and_never_lowered(self, world: Database) -> None:
        link = make_link(world)
        for username in ("lea", "ada", "root", "mika"):
            with pytest.raises(StateError, match="there already"):
                accept_invitation(world, actor(world, username), link, address=HERE, now=NOW)
        assert look(world, link).role == "annotator", "it was not used up"
        accept_invitation(world, actor(world, "mika"), make_link(world, "ada", "lead"), address=HERE, now=NOW)
        assert held(world, "mika") == [("law", "lead")]

    def test_problems_are_named_by_field_and_the_link_still_works(self, world: Database) -> None:
        token = make_link(world)
        with pytest.raises(AccountRefused) as refused:
            create(world, token, NewAccount("Mika", "MIKA", PASSWORD))
        assert list(refused.value.problems) == ["username"]
        with pytest.raises(AccountRefused):
            create(world, token, NewAccount("", "x", "short"))
        assert create(world, token)

    def test_the_audit_log_says_who_invited_revoked_and_joined(self, world: Database) -> None:
        create(world, make_link(world, note="Hana"))
        made = invite(world, actor(world, "ada"), role="lead", dataset="law", now=NOW)
        revoke_invitation(world, actor(world, "ada"), made.invitation.number, now=NOW)
        with world.read() as session:
            events = session.execute(
                text(
                    "SELECT e.action, p.username FROM audit_event e JOIN person p ON p.pk = e.person_pk ORDER BY e.pk"
                )
            ).all()
        assert [tuple(event) for event in events] == [
            ("invited", "lea"), ("joined", "hana"), ("invited", "ada"), ("revoked invitation", "ada"),
        ]  # fmt: skip
        page = read_audit_log(world, actor(world, "lea"), "law", now=NOW)
        assert [str(describe_entry(entry.action, entry.before, entry.after)) for entry in page.events] == [
            "revoked an invitation as lead", "invited a person as lead",
            "accepted an invitation as annotator", "invited a person as annotator: Hana",
        ]  # fmt: skip


class TestAttacks:
    def test_a_link_works_once(self, world: Database) -> None:
        token = make_link(world)
        create(world, token)
        for _ in range(2):
            with pytest.raises(LinkRefused, match="used already"):
                create(world, token, NewAccount("Eve", "eve", PASSWORD))
        with pytest.raises(LinkRefused, match="used already"):
            accept_invitation(world, actor(world, "noa"), token, address=HERE, now=NOW)

    def test_an_expired_link_lets_nobody_in(self, world: Database) -> None:
        token = make_link(world, days=7)
        look(world, token, now=NOW + timedelta(days=7, seconds=-1))
        with pytest.raises(LinkRefused, match="has expired"):
            create(world, token, now=NOW + timedelta(days=7))

    def test_a_revoked_link_lets_nobody_in(self, world: Database) -> None:
        made = invite(world, actor(world, "lea"), role="annotator", dataset="law", now=NOW)
        revoke_invitation(world, actor(world, "lea"), made.invitation.number, now=NOW)
        for act in (look, create):
            with pytest.raises(LinkRefused, match="was revoked"):
                act(world, made.token)

    @pytest.mark.parametrize("token", ["", "guess", "\udcff\x00", "x" * 9_000])
    def test_a_guess_lets_nobody_in(self, world: Database, token: str) -> None:
        make_link(world)
        with pytest.raises(LinkRefused, match="not valid"):
            create(world, token)

    def test_guesses_are_limited_over_all_links(self, world: Database) -> None:
        token = make_link(world)
        for number in range(5):
            with pytest.raises(LinkRefused):
                look(world, f"guess {number}")
        with pytest.raises(TooManyAttempts):
            look(world, "guess 5")
        assert look_at_link(world, token, address="192.0.2.9", now=NOW)

    def test_nobody_who_guesses_keeps_an_invited_person_out(self, world: Database) -> None:
        token = make_link(world)
        for number in range(120):  # more than an address may fail, on links and on passwords together
            with pytest.raises((LinkRefused, TooManyAttempts)):
                look(world, f"guess {number}")
        for number in range(30):
            with pytest.raises((LinkRefused, TooManyAttempts)):
                look_at_link(world, "guess", address=f"198.51.100.{number}", now=NOW)
        assert look(world, token).role
        with pytest.raises(TooManyAttempts):
            look(world, "guess")

    def test_the_link_of_the_first_admin_is_no_invitation_nor_the_other_way(self, database: Database) -> None:
        setup = make_setup_link(database, now=NOW)
        assert setup is not None
        with pytest.raises(LinkRefused, match="not valid"):
            create(database, setup.token)

    def test_a_password_link_gives_no_role_and_an_invitation_no_password(self, world: Database) -> None:
        password = make_password_link(world, actor(world, "ada"), "mika", now=NOW)
        with pytest.raises(LinkRefused, match="not valid"):
            create(world, password.token)
        with pytest.raises(LinkRefused, match="not valid"):
            accept_invitation(world, actor(world, "noa"), password.token, address=HERE, now=NOW)
        with pytest.raises(LinkRefused, match="not valid"):
            choose_password(world, make_link(world), "another password 1", address=HERE, now=NOW)

    @pytest.mark.parametrize("how", ["disabled", "no role", "annotator"])
    def test_a_link_ends_when_its_author_may_not_invite_any_more(self, world: Database, how: str) -> None:
        token = make_link(world)
        if how == "disabled":
            disable_person(world, OPERATOR, "lea", now=NOW)
        elif how == "no role":
            remove_role(world, OPERATOR, "lea", dataset="law", now=NOW)
        else:
            change_person(world, OPERATOR, "lea", role="annotator", dataset="law", now=NOW)
        with pytest.raises(LinkRefused, match="was revoked"):
            create(world, token)

    def test_a_lead_of_another_dataset_neither_revokes_nor_learns_of_it(self, world: Database) -> None:
        law = invite(world, actor(world, "lea"), role="annotator", dataset="law", now=NOW).invitation
        lead = invite(world, actor(world, "ada"), role="lead", dataset="law", now=NOW).invitation
        everywhere = invite(world, OPERATOR, role="annotator", dataset=None, now=NOW).invitation
        for username, number in (
            ("noa", law.number),
            ("noa", 99),
            ("lea", everywhere.number),
            ("mika", law.number),
        ):
            with pytest.raises(NotFound, match=f"no invitation with the number {number}"):
                revoke_invitation(world, actor(world, username), number, now=NOW)
        with pytest.raises(NotAllowed):
            revoke_invitation(world, actor(world, "lea"), lead.number, now=NOW)
        assert revoke_invitation(world, actor(world, "lea"), law.number, now=NOW).state == "revoked"

    def test_an_accepted_invitation_cannot_be_revoked(self, world: Database) -> None:
        made = invite(world, actor(world, "lea"), role="annotator", dataset="law", now=NOW)
        create(world, made.token)
        with pytest.raises(StateError, match="accepted already"):
            revoke_invitation(world, actor(world, "lea"), made.invitation.number, now=NOW)

    def test_two_people_at_the_same_moment_one_gets_in(self, world: Database) -> None:
        token, barrier = make_link(world), Barrier(2)

        def join(username: str) -> bool:
            barrier.wait(120)
            try:
                create_invited_account(
                    world, token, NewAccount(username, username, PASSWORD), address=username, now=NOW
                )
            except LinkRefused:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(join, ("hana", "eve"))) == [False, True]
        assert len([item for item in list_invitations(world, OPERATOR, now=NOW) if item.state == "used"]) == 1

    def test_an_archived_dataset_takes_nobody_in(self, world: Database) -> None:
        token = make_link(world)
        archive_dataset(world, OPERATOR, "law", now=NOW)
        with pytest.raises(DatasetArchived):
            create(world, token)
        with pytest.raises(DatasetArchived):
            make_link(world)


class TestPasswordLinks:
    def test_its_person_chooses_a_password_once_and_is_signed_out_elsewhere(self, world: Database) -> None:
        before = sign_in(world, "mika", PASSWORD, address=HERE, now=NOW)
        link = make_password_link(world, actor(world, "ada"), "mika", now=NOW)
        assert look(world, link.token).username == "mika"
        after = choose_password(world, link.token, "another password 1", address=HERE, now=NOW)
        assert find_session(world, before, now=NOW) is None
        assert find_session(world, after, now=NOW) is not None
        with pytest.raises(WrongSignIn):
            sign_in(world, "mika", PASSWORD, address=HERE, now=NOW)
        with pytest.raises(LinkRefused, match="used already"):
            choose_password(world, link.token, "another password 2", address=HERE, now=NOW)

    @pytest.mark.parametrize(
        ("username", "of"), [("lea", "mika"), ("mika", "mika"), ("ada", "root"), ("ada", "noa")]
    )
    def test_nobody_gets_hold_of_an_account_that_they_do_not_manage(
        self, world: Database, username: str, of: str
    ) -> None:
        with pytest.raises(NotAllowed):
            make_password_link(world, actor(world, username), of, now=NOW)

    def test_a_password_that_is_changed_otherwise_a_newer_link_or_no_sign_in_ends_it(
        self, world: Database
    ) -> None:
        mika = actor(world, "mika")
        first = make_password_link(world, OPERATOR, "mika", now=NOW)
        second = make_password_link(world, OPERATOR, "mika", now=NOW)
        change_password(world, mika, PASSWORD, "another password 1", now=NOW)
        third = make_password_link(world, OPERATOR, "mika", now=NOW)
        change_person(world, OPERATOR, "mika", new_password=True, now=NOW)
        fourth = make_password_link(world, OPERATOR, "mika", now=NOW)
        disable_person(world, OPERATOR, "mika", now=NOW)
        for link in (first, second, third, fourth):
            with pytest.raises(LinkRefused, match="was revoked"):
                choose_password(world, link.token, "another password 2", address="192.0.2.7", now=NOW)

    def test_a_bad_password_is_refused_at_its_field_and_the_link_still_works(self, world: Database) -> None:
        link = make_password_link(world, OPERATOR, "mika", now=NOW)
        with pytest.raises(AccountRefused) as refused:
            choose_password(world, link.token, "short", address=HERE, now=NOW)
        assert list(refused.value.problems) == ["password"]
        assert choose_password(world, link.token, "another password 1", address=HERE, now=NOW)
