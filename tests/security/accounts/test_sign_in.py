"""Guessing passwords: a stranger never locks somebody out, and guessing from many addresses stays slow."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from annotator.domain.people import DEVICE_LIFETIME, OPERATOR, Actor, TooManyAttempts, WrongSignIn
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person, change_person, disable_person
from annotator.people.sign_in_limits import ATTACKED, PER_ADDRESS_AND_NAME, PER_DEVICE
from annotator.people.sign_in_service import (
    change_password,
    count_known_browsers,
    find_session,
    know_device,
    revoke_sessions,
    sign_in,
)
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.tables.sign_in import KnownDeviceRow
from annotator.web import auth
from annotator.web.server.gate import RequestGate

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PASSWORD = "correct horse 電池"
HOME = "192.0.2.1"


@pytest.fixture
def hanako(database: Database) -> Actor:
    add_person(database, OPERATOR, "hanako", role="annotator", password=PASSWORD, now=NOW)
    with database.read() as session:
        return find_actor(session, "hanako")


def enter(
    database: Database,
    password: str = PASSWORD,
    *,
    address: str = HOME,
    device: str | None = None,
    now: datetime = NOW,
) -> tuple[str, str]:
    """Sign hanako in as the form does; the tokens of the session and of the browser."""
    token = sign_in(database, "hanako", password, address=address, device=device, now=now)
    return token, know_device(database, token, device=device, now=now)


def guess(
    database: Database, *addresses: str, times: int = 1, device: str | None = None, now: datetime = NOW
) -> int:
    """Guess wrongly from each address; how many guesses were checked."""
    checked = 0
    for address in addresses:
        for _often in range(times):
            try:
                enter(database, "wrong", address=address, device=device, now=now)
            except WrongSignIn:
                checked += 1
            except TooManyAttempts:
                pass
    return checked


def list_addresses(count: int) -> list[str]:
    return [f"203.0.{number // 250}.{number % 250}" for number in range(count)]


@pytest.mark.usefixtures("hanako")
class TestNobodyIsLockedOut:
    def test_by_guesses_from_elsewhere_however_many(self, database: Database) -> None:
        guess(database, *list_addresses(ATTACKED + 5), times=2)
        assert enter(database)

    def test_in_a_known_browser_not_even_by_guesses_from_the_same_address(self, database: Database) -> None:
        _token, device = enter(database)
        guess(database, HOME, times=20)
        with pytest.raises(TooManyAttempts):
            enter(database)
        assert enter(database, device=device)

    def test_while_an_attack_goes_on_a_new_address_has_its_try_again_after_a_while(
        self, database: Database
    ) -> None:
        guess(database, *list_addresses(ATTACKED + 2))
        assert guess(database, HOME) == 1
        with pytest.raises(TooManyAttempts) as refused:
            enter(database)
        assert refused.value.seconds <= 15 * 60
        later = NOW + timedelta(minutes=15)
        guess(database, *list_addresses(ATTACKED + 2), now=later)
        assert enter(database, now=later)

    def test_by_a_clock_that_was_ahead(self, database: Database) -> None:
        guess(database, HOME, times=5, now=NOW + timedelta(days=400))
        assert enter(database)


@pytest.mark.usefixtures("hanako")
class TestGuessingIsSlow:
    def test_from_one_address(self, database: Database) -> None:
        assert guess(database, HOME, times=12) == 5

    def test_from_many_addresses_there_is_one_guess_for_each(self, database: Database) -> None:
        guess(database, *list_addresses(ATTACKED))
        assert guess(database, *list_addresses(ATTACKED + 10)[ATTACKED:], times=2) == 10

    def test_from_the_networks_of_one_customer_there_is_one_guess_for_all(self, database: Database) -> None:
        guess(database, *list_addresses(ATTACKED))
        assert guess(database, *(f"2001:db8:1:{number:x}::1" for number in range(10)), times=2) == 1

    def test_in_a_known_browser(self, database: Database) -> None:
        _token, device = enter(database)
        assert guess(database, HOME, times=15, device=device) == 10

    def test_a_success_of_the_person_gives_the_attacker_no_new_guesses(self, database: Database) -> None:
        _token, device = enter(database)
        addresses = list_addresses(ATTACKED)
        guess(database, *addresses, times=2)
        enter(database, device=device)
        assert guess(database, *addresses) == 0

    def test_a_made_up_token_makes_no_browser_known(self, database: Database) -> None:
        enter(database)
        assert guess(database, HOME, times=12, device="made-up") == 5


class TestKnownBrowsers:
    def test_the_token_is_new_at_each_sign_in_and_only_its_hash_is_kept(
        self, database: Database, hanako: Actor
    ) -> None:
        _first, device = enter(database)
        token, newer = enter(database, device=device)
        with database.read() as session:
            rows = session.scalars(select(KnownDeviceRow)).all()
        assert [row.token_sha256 for row in rows if row.token_sha256 not in (device, newer)] == [
            rows[0].token_sha256
        ]
        assert guess(database, HOME, times=12, device=device) == 5, "the token before is known no more"
        assert count_known_browsers(database, hanako, token=token, now=NOW) == 0

    def test_a_token_that_somebody_planted_is_not_known_after_the_sign_in(
        self, database: Database, hanako: Actor
    ) -> None:
        """The attacker has an account, puts the token of their own browser into hanako's, and waits."""
        del hanako
        add_person(database, OPERATOR, "mallory", role="annotator", password=PASSWORD, now=NOW)
        token = sign_in(database, "mallory", PASSWORD, address="198.51.100.9", now=NOW)
        planted = know_device(database, token, device=None, now=NOW)
        enter(database, device=planted)
        guess(database, "198.51.100.9", times=5)
        with pytest.raises(TooManyAttempts):
            enter(database, address="198.51.100.9", device=planted)

    def test_one_browser_is_known_for_everybody_who_signs_in_with_it(
        self, database: Database, hanako: Actor
    ) -> None:
        del hanako
        add_person(database, OPERATOR, "minjun", role="annotator", password=PASSWORD, now=NOW)
        _token, device = enter(database)
        token = sign_in(database, "minjun", PASSWORD, address=HOME, device=device, now=NOW)
        device = know_device(database, token, device=device, now=NOW)
        guess(database, HOME, times=5)
        assert enter(database, device=device)

    @pytest.mark.parametrize(
        "later", [DEVICE_LIFETIME, -timedelta(days=400)], ids=["180 days later", "clock put back"]
    )
    def test_it_is_known_for_180_days_after_the_latest_sign_in(
        self, database: Database, hanako: Actor, later: timedelta
    ) -> None:
        del hanako
        _token, device = enter(database)
        assert guess(database, HOME, times=12, device=device, now=NOW + later) == 5

    @pytest.mark.parametrize(
        "how", ["own password", "password by an admin", "sign out everywhere", "disabled"]
    )
    def test_it_is_known_no_more_after(self, database: Database, hanako: Actor, how: str) -> None:
        here, _device = enter(database)
        _there, lost = enter(database)
        assert count_known_browsers(database, hanako, token=here, now=NOW) == 1
        if how == "own password":
            change_password(database, hanako, PASSWORD, "another one 次", keep_token=here, now=NOW)
        elif how == "password by an admin":
            change_person(database, OPERATOR, "hanako", password="another one 次", now=NOW)
        elif how == "sign out everywhere":
            revoke_sessions(database, hanako, keep_token=here, now=NOW)
        else:
            disable_person(database, OPERATOR, "hanako", now=NOW)
        assert guess(database, "198.51.100.9", times=12, device=lost) == 5
        with database.read() as session:
            left = session.scalar(select(func.count()).select_from(KnownDeviceRow))
        assert left == (1 if how in ("own password", "sign out everywhere") else 0), (
            "this browser stays known"
        )


class TestTheForm:
    def make_browser(self, database: Database, peer: str) -> TestClient:
        """Behind a proxy that is trusted, as uvicorn has it by FORWARDED_ALLOW_IPS."""
        app = Starlette(
            routes=auth.routes(database, Settings()),
            middleware=[Middleware(RequestGate, database=database, settings=Settings())],
        )
        proxied = ProxyHeadersMiddleware(app, trusted_hosts="10.0.0.1")
        return TestClient(proxied, follow_redirects=False, client=(peer, 5_000))  # type: ignore[arg-type]

    def guess(self, browser: TestClient, forwarded: str, password: str = "wrong") -> int:
        headers = {"X-Forwarded-For": forwarded, "X-Real-IP": forwarded, "Forwarded": f"for={forwarded}"}
        form = {"username": "hanako", "password": password}
        return browser.post("/login", data=form, headers=headers).status_code

    @pytest.mark.usefixtures("hanako")
    def test_behind_the_proxy_everybody_has_their_own_address(self, database: Database) -> None:
        browser = self.make_browser(database, "10.0.0.1")
        assert [self.guess(browser, "203.0.113.7") for _often in range(6)] == [401] * 5 + [429]
        assert self.guess(browser, "192.0.2.8", PASSWORD) == 303

    @pytest.mark.usefixtures("hanako")
    def test_who_lies_in_front_of_the_proxy_has_the_address_that_the_proxy_saw(
        self, database: Database
    ) -> None:
        browser = self.make_browser(database, "10.0.0.1")
        answers = [self.guess(browser, f"192.0.2.{number}, 203.0.113.7") for number in range(6)]
        assert answers == [401] * 5 + [429]

    @pytest.mark.usefixtures("hanako")
    def test_who_comes_past_the_proxy_cannot_choose_an_address(self, database: Database) -> None:
        browser = self.make_browser(database, "203.0.113.7")
        assert [self.guess(browser, f"192.0.2.{number}") for number in range(6)] == [401] * 5 + [429]

    @pytest.mark.usefixtures("hanako")
    def test_a_browser_is_known_again_after_signing_out(self, database: Database) -> None:
        browser = self.make_browser(database, "10.0.0.1")
        assert self.guess(browser, HOME, PASSWORD) == 303
        assert browser.post("/logout", headers={"X-Forwarded-For": HOME}).status_code == 303
        stranger = self.make_browser(database, "10.0.0.1")
        assert [self.guess(stranger, HOME) for _often in range(6)] == [401] * 5 + [429]
        assert self.guess(browser, HOME, PASSWORD) == 303


@pytest.mark.usefixtures("hanako")
class TestAfterTheClockCameBack:
    """A session that was made in the future of the present clock."""

    def test_it_counts_no_longer_than_it_would_have(self, database: Database) -> None:
        token, _device = enter(database, now=NOW + timedelta(days=400))
        assert find_session(database, token, now=NOW + timedelta(days=400)) is not None
        for day in range(0, 399, 21):
            assert find_session(database, token, now=NOW + timedelta(days=day)) is None

    def test_it_does_not_come_to_life_when_its_time_comes(self, database: Database) -> None:
        token, _device = enter(database, now=NOW + timedelta(days=400))
        with suppress(WrongSignIn):
            enter(database, "wrong")  # any attempt to sign in clears away what is not of this time
        assert find_session(database, token, now=NOW + timedelta(days=400)) is None

    def test_a_clock_that_is_put_right_by_a_minute_signs_nobody_out(self, database: Database) -> None:
        token, _device = enter(database, now=NOW + timedelta(minutes=1))
        assert find_session(database, token, now=NOW) is not None


class TestWhoComesIn:
    """Takes only their own failures back."""

    def test_in_a_known_browser_its_own_limit_begins_anew(self, database: Database, hanako: Actor) -> None:
        _, device = enter(database)
        for _time in range(3):
            assert guess(database, HOME, times=PER_DEVICE - 1, device=device) == PER_DEVICE - 1
            _, device = enter(database, device=device)

    def test_in_an_unknown_browser_the_limit_of_its_address_begins_anew(
        self, database: Database, hanako: Actor
    ) -> None:
        for _time in range(3):
            failed = PER_ADDRESS_AND_NAME - 1
            assert guess(database, HOME, times=failed, device="made up") == failed
            enter(database, device="made up")

    def test_in_a_known_browser_what_others_tried_at_its_address_stays_counted(
        self, database: Database, hanako: Actor
    ) -> None:
        _, device = enter(database)
        assert guess(database, HOME, times=PER_ADDRESS_AND_NAME) == PER_ADDRESS_AND_NAME
        enter(database, device=device)
        assert guess(database, HOME) == 0

    def test_strangers_do_not_keep_anybody_from_changing_their_password(
        self, database: Database, hanako: Actor
    ) -> None:
        guess(database, *list_addresses(2 * PER_ADDRESS_AND_NAME))
        change_password(database, hanako, PASSWORD, "another good 電池", now=NOW)
