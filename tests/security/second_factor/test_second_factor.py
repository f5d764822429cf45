"""The second factor of local accounts, and the ways around it: replay, guessing, half sign-ins, old cookies, one-time links."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pyotp
import pytest
from sqlalchemy import event, text, update
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit.runtime import Runtime
from structlog.testing import capture_logs

from annotator.audit.records import AuditFilter
from annotator.audit.service import iterate_audit_log
from annotator.dataset.service import create_dataset
from annotator.domain.errors import NotAllowed, StateError
from annotator.domain.people import OPERATOR, Actor, SecondFactor, SignInTerms, TooManyAttempts
from annotator.people.invitations_service import invite, make_password_link
from annotator.people.roles_service import find_actor
from annotator.people.second_factor.codes import derive_secret
from annotator.people.second_factor.records import SecondFactorNeeded, SignInExpired, WrongCode
from annotator.people.second_factor.service import (
    begin_set_up,
    finish_sign_in,
    look_at_half_sign_in,
    remove_second_factor,
    reset_second_factor,
    set_up_second_factor,
    show_second_factor,
)
from annotator.people.service import add_person, change_person, disable_person, list_people
from annotator.people.setup_service import make_setup_link
from annotator.people.sign_in_service import HALF_LIFETIME, find_session, know_device, sign_in
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.tables.sign_in import (
    HalfSignInRow,
    LoginSessionRow,
    ProviderIdentityRow,
    SecondFactorRow,
)
from annotator.web.app import make_app
from annotator.web.server.gate import OPEN

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PASSWORD = "correct horse 電池"
HOME = "192.0.2.1"
STEP = timedelta(seconds=30)


@pytest.fixture
def lea(database: Database) -> Actor:
    create_dataset(database, OPERATOR, "demo", now=NOW)
    add_person(database, OPERATOR, "lea", role="lead", dataset="demo", password=PASSWORD, now=NOW)
    return act_as(database, "lea")


def act_as(database: Database, username: str) -> Actor:
    with database.read() as session:
        return find_actor(session, username)


def begin(
    database: Database,
    *,
    now: datetime = NOW,
    username: str = "lea",
    required: SecondFactor = "optional",
    **more: Any,
) -> str:
    """Sign in by the password; the token of the half sign-in."""
    with pytest.raises(SecondFactorNeeded) as needed:
        terms = SignInTerms(required=required)
        sign_in(database, username, PASSWORD, address=HOME, now=now, terms=terms, **more)
    return needed.value.token


def enrol(
    database: Database, actor: Actor, *, now: datetime = NOW, key: bytes | None = None
) -> tuple[str, list[str]]:
    """Set a second factor up; the app's key and the recovery codes. The code of `now` is used."""
    token = begin_set_up(database, actor, PASSWORD, "", now=now, key=key)
    secret = derive_secret(token)
    made = set_up_second_factor(
        database, token, pyotp.TOTP(secret).at(now), address=HOME, device=None, now=now, key=key
    )
    assert find_session(database, made.token, now=now, required="all") is not None
    return secret, list(made.recovery_codes)


def finish(
    database: Database, token: str | None, code: str, *, now: datetime = NOW, address: str = HOME, **more: Any
) -> str:
    return finish_sign_in(database, token, code, **{"device": None, "address": address, "now": now, **more})


def wrong_code(secret: str, now: datetime) -> str:
    right = {pyotp.TOTP(secret).at(now + STEP * number) for number in range(-3, 4)}
    return next(code for code in (f"{number:06}" for number in range(10)) if code not in right)


class TestCodes:
    def test_signing_in_takes_the_password_and_a_code(self, database: Database, lea: Actor) -> None:
        secret, _codes = enrol(database, lea)
        later = NOW + STEP
        half = begin(database, now=later)
        assert find_session(database, half, now=later) is None
        token = finish(database, half, pyotp.TOTP(secret).at(later), now=later)
        person = find_session(database, token, now=later, required="all")
        assert person is not None
        assert person.actor == lea

    def test_a_code_works_once_also_on_another_server(self, database: Database, lea: Actor) -> None:
        secret, _codes = enrol(database, lea)
        later = NOW + STEP * 2
        code = pyotp.TOTP(secret).at(later)
        finish(database, begin(database, now=later), code, now=later)
        other_server = Database(database.url.render_as_string(hide_password=False))
        for at in (later, later + STEP):
            with pytest.raises(WrongCode):
                finish(other_server, begin(other_server, now=at), code, now=at)
        before = pyotp.TOTP(secret).at(later - STEP)
        with pytest.raises(WrongCode):
            finish(database, begin(database, now=later), before, now=later)
        other_server.dispose()

    def test_the_code_that_set_it_up_signs_nobody_in(self, database: Database, lea: Actor) -> None:
        secret, _codes = enrol(database, lea)
        with pytest.raises(WrongCode):
            finish(database, begin(database), pyotp.TOTP(secret).at(NOW))

    def test_a_recovery_code_works_once_and_only_for_its_person(self, database: Database, lea: Actor) -> None:
        add_person(database, OPERATOR, "mia", role="annotator", password=PASSWORD, now=NOW)
        _secret, codes = enrol(database, lea)
        _secret, others = enrol(database, act_as(database, "mia"))
        with pytest.raises(WrongCode):
            finish(database, begin(database), others[0])
        assert finish(database, begin(database), codes[0].upper().replace("-", " "))
        with pytest.raises(WrongCode):
            finish(database, begin(database), codes[0])
        state = show_second_factor(database, lea, required="optional")
        assert (state.since, state.recovery_codes) == (NOW, 9)
        used = [
            (entry.name("actor"), entry.chained.details)
            for entry in iterate_audit_log(database, OPERATOR, AuditFilter(action="recovery_code_used"))
        ]
        assert used == [("lea", '{"left":9}')]

    def test_codes_and_keys_are_not_stored_as_they_are(self, database: Database, lea: Actor) -> None:
        from cryptography.fernet import Fernet

        key = Fernet.generate_key()
        secret, codes = enrol(database, lea, key=key)
        with database.read() as session:
            stored = [
                str(row)
                for table in ("second_factor", "recovery_code", "half_sign_in", "login_session")
                for row in session.execute(text(f"SELECT * FROM {table}")).all()
            ]
        assert len(stored) == 1 + 10 + 0 + 1
        assert not [row for row in stored for hidden in (secret, *codes) if hidden in row]
        later = NOW + STEP
        with pytest.raises(StateError, match="tell your admin"):
            finish(database, begin(database, now=later), pyotp.TOTP(secret).at(later), now=later)
        half = begin(database, now=later)
        assert finish(database, half, pyotp.TOTP(secret).at(later), now=later, key=key)


class TestGuessing:
    def test_codes_are_limited_for_the_person_from_wherever_they_come(
        self, database: Database, lea: Actor
    ) -> None:
        secret, _codes = enrol(database, lea)
        bad = wrong_code(secret, NOW)
        for number in range(5):
            with pytest.raises(WrongCode):
                finish(database, begin(database), bad, address=f"198.51.100.{number}")
        with pytest.raises(TooManyAttempts):  # and a right password clears nothing
            finish(database, begin(database), pyotp.TOTP(secret).at(NOW + STEP), address="203.0.113.9")
        later = NOW + timedelta(minutes=15, seconds=1)
        assert finish(database, begin(database, now=later), pyotp.TOTP(secret).at(later), now=later)

    def test_a_known_browser_has_its_own_limit(self, database: Database, lea: Actor) -> None:
        secret, codes = enrol(database, lea)
        opened = finish(database, begin(database), codes[0])
        device = know_device(database, opened, device=None, now=NOW)
        for _ in range(5):
            with pytest.raises(WrongCode):
                finish(database, begin(database), wrong_code(secret, NOW))
        with pytest.raises(TooManyAttempts):
            finish(database, begin(database), codes[1])
        assert finish(database, begin(database, device=device), codes[1], device=device)

    def test_the_password_alone_makes_no_browser_known_and_clears_no_failures(
        self, database: Database, lea: Actor
    ) -> None:
        _secret, codes = enrol(database, lea)
        for _ in range(4):
            with pytest.raises(NotAllowed):
                sign_in(database, "lea", "wrong", address=HOME, now=NOW)
        half = begin(database)
        know_device(database, half, device=None, now=NOW)
        with database.read() as session:
            assert session.execute(text("SELECT count(*) FROM known_device")).scalar() == 0
            assert session.execute(text("SELECT count(*) FROM login_attempt")).scalar() == 4
        finish(database, half, codes[0])
        with database.read() as session:
            assert session.execute(text("SELECT count(*) FROM login_attempt")).scalar() == 0

    def test_a_half_sign_in_ends_soon_and_with_every_change_of_the_account(
        self, database: Database, lea: Actor
    ) -> None:
        _secret, codes = enrol(database, lea)
        half = begin(database)
        with pytest.raises(SignInExpired):
            finish(database, half, codes[0], now=NOW + HALF_LIFETIME)
        half = begin(database)
        finish(database, half, codes[0])
        with pytest.raises(SignInExpired):
            finish(database, half, codes[1])
        for change in (
            lambda: change_person(database, OPERATOR, "lea", password=PASSWORD + "2", now=NOW),
            lambda: change_person(database, OPERATOR, "lea", password=PASSWORD, now=NOW),
            lambda: disable_person(database, OPERATOR, "lea", now=NOW),
        ):
            try:
                half = begin(database)
            except NotAllowed:
                half = ""
            change()
            for token in (half, "", None, "made-up"):
                with pytest.raises(SignInExpired):
                    finish(database, token, codes[2])

    def test_a_set_up_that_somebody_else_began_ends_when_the_owner_sets_it_up(
        self, database: Database, lea: Actor
    ) -> None:
        stolen = begin(database, required="leads")
        enrol(database, lea)
        with pytest.raises(SignInExpired):
            code = pyotp.TOTP(derive_secret(stolen)).at(NOW)
            set_up_second_factor(database, stolen, code, address=HOME, device=None, now=NOW)
        with pytest.raises(SignInExpired):  # and one token is not good for the other step
            set_up_second_factor(database, begin(database), "123456", address=HOME, device=None, now=NOW)
        with pytest.raises(SignInExpired):
            finish(database, begin_set_up(database, lea, PASSWORD, enrol_again(database, lea), now=NOW), "1")


def enrol_again(database: Database, actor: Actor) -> str:
    """Remove the second factor as the operator, and set it up again; a recovery code."""
    reset_second_factor(database, OPERATOR, actor.username, now=NOW)
    return enrol(database, actor)[1][0]


class TestRequired:
    def test_a_session_from_before_the_requirement_opens_nothing(
        self, database: Database, lea: Actor
    ) -> None:
        token = sign_in(database, "lea", PASSWORD, address=HOME, now=NOW)
        assert find_session(database, token, now=NOW, required="optional") is not None
        assert find_session(database, token, now=NOW, required="leads") is None
        add_person(database, OPERATOR, "mia", role="annotator", password=PASSWORD, now=NOW)
        token = sign_in(database, "mia", PASSWORD, address=HOME, now=NOW, terms=SignInTerms(required="leads"))
        assert find_session(database, token, now=NOW, required="leads") is not None
        assert find_session(database, token, now=NOW, required="all") is None
        change_person(database, OPERATOR, "mia", role="lead", dataset="demo", now=NOW)
        assert find_session(database, token, now=NOW, required="leads") is None

    def test_people_of_the_provider_are_not_asked(self, database: Database, lea: Actor) -> None:
        token = sign_in(database, "lea", PASSWORD, address=HOME, now=NOW)
        with database.write() as session:
            values = {
                "person_pk": lea.person_id,
                "issuer": "https://a.example",
                "subject": "1",
                "created_at": NOW,
            }
            identity = ProviderIdentityRow.model_validate(values)
            session.add(identity)
            session.flush()
            session.execute(update(LoginSessionRow).values(identity_pk=identity.pk))
        assert find_session(database, token, now=NOW, required="all") is not None

    def test_who_must_have_one_sets_it_up_before_anything_else(self, database: Database, lea: Actor) -> None:
        half = begin(database, required="leads")
        found = look_at_half_sign_in(database, half, now=NOW, required="leads")
        assert found is not None
        assert (found.need, found.is_required, found.removed_by) == ("set-up", True, None)
        code = pyotp.TOTP(derive_secret(half)).at(NOW)
        made = set_up_second_factor(database, half, code, address=HOME, device=None, now=NOW)
        assert find_session(database, made.token, now=NOW, required="leads") is not None
        assert [person.second_factor for person in list_people(database, OPERATOR)] == [True]


def test_the_audit_log_has_who_set_it_up_failed_removed_and_reset_it(database: Database, lea: Actor) -> None:
    secret, codes = enrol(database, lea)
    with pytest.raises(WrongCode):
        finish(database, begin(database), wrong_code(secret, NOW))
    token = finish(database, begin(database), codes[0])
    remove_second_factor(database, lea, PASSWORD, codes[1], token=token, required="optional", now=NOW)
    enrol_again_codes = enrol(database, lea)[1]
    reset_second_factor(database, OPERATOR, "lea", now=NOW)
    entries = [entry.describe() for entry in iterate_audit_log(database, OPERATOR, AuditFilter())]
    assert [entry["action"] for entry in entries if "second_factor" in str(entry["action"])] == [
        "second_factor_set_up",
        "second_factor_failed",
        "second_factor_removed",
        "second_factor_set_up",
        "second_factor_reset",
    ]
    written = str(entries)
    assert not [
        hidden for hidden in (secret, token, PASSWORD, *codes, *enrol_again_codes) if hidden in written
    ]


class TestRemoving:
    def test_ones_own_takes_password_and_code_and_ends_the_other_sessions(
        self, database: Database, lea: Actor
    ) -> None:
        _secret, codes = enrol(database, lea)
        here, elsewhere = (finish(database, begin(database), code) for code in codes[:2])
        given = {"token": here, "required": "optional", "now": NOW}
        for password, code in ((PASSWORD, "000000"), ("wrong", codes[2]), (PASSWORD, "")):
            with pytest.raises(NotAllowed):
                remove_second_factor(database, lea, password, code, **given)
        with pytest.raises(StateError, match="requires a second factor"):
            remove_second_factor(database, lea, PASSWORD, codes[2], **{**given, "required": "leads"})
        assert show_second_factor(database, lea, required="optional").since == NOW
        remove_second_factor(database, lea, PASSWORD, codes[2], **given)
        assert show_second_factor(database, lea, required="optional").since is None
        assert find_session(database, here, now=NOW) is not None
        assert find_session(database, elsewhere, now=NOW) is None
        assert sign_in(database, "lea", PASSWORD, address=HOME, now=NOW)

    def test_another_one_is_set_up_only_with_the_present_one(self, database: Database, lea: Actor) -> None:
        _secret, codes = enrol(database, lea)
        for code in ("", "000000"):
            with pytest.raises(WrongCode):
                begin_set_up(database, lea, PASSWORD, code, now=NOW)
        token = begin_set_up(database, lea, PASSWORD, codes[0], now=NOW)
        again = set_up_second_factor(
            database, token, pyotp.TOTP(derive_secret(token)).at(NOW), address=HOME, device=None, now=NOW
        )
        assert not set(again.recovery_codes) & set(codes)
        with pytest.raises(WrongCode):
            finish(database, begin(database), codes[1])

    def test_an_admin_resets_it_and_the_person_is_told_and_signed_out(
        self, database: Database, lea: Actor
    ) -> None:
        _secret, codes = enrol(database, lea)
        token = finish(database, begin(database), codes[0])
        for username, role in (("ada", "admin"), ("max", "lead")):
            add_person(
                database, OPERATOR, username, role=role, password=PASSWORD, name=username.title(), now=NOW
            )
        ada = act_as(database, "ada")
        for actor in (act_as(database, "max"), lea):
            with pytest.raises((NotAllowed, StateError)):
                reset_second_factor(database, actor, "lea", now=NOW)
        reset_second_factor(database, ada, "lea", now=NOW)
        assert find_session(database, token, now=NOW) is None
        with pytest.raises(StateError, match="has no second factor"):
            reset_second_factor(database, ada, "lea", now=NOW)
        found = look_at_half_sign_in(database, begin(database), now=NOW, required="optional")
        assert found is not None
        assert (found.need, found.is_required, found.removed_by) == ("set-up", False, "Ada")


@contextmanager
def serve(database: Database, settings: Settings) -> Iterator[TestClient]:
    Runtime._instance = None  # Streamlit allows one runtime a process
    with TestClient(make_app(database, settings), follow_redirects=False) as client:
        yield client
    Runtime._instance = None


def post_login(visitor: TestClient, username: str = "lea", **more: str) -> str:
    """Sign in by the form; where that leads."""
    answer = visitor.post("/login", data={"username": username, "password": PASSWORD, **more})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def read_key(page: str) -> str:
    shown = re.search(r'<code class="key"[^>]*>([A-Z2-7 ]+)</code>', page)
    assert shown is not None
    return shown[1].replace(" ", "")


def code_now(secret: str, *, step: int = 0) -> str:
    return pyotp.TOTP(secret).at(datetime.now(UTC) + STEP * step)


@pytest.mark.parametrize("required", ["optional", "leads"])
def test_the_whole_way_in_the_browser_and_around_it(
    database: Database, lea: Actor, required: SecondFactor
) -> None:
    with serve(database, Settings(second_factor=required)) as visitor:
        if required == "leads":
            assert (
                post_login(visitor, next="/account?dataset=demo")
                == "/login/set-up?next=/account%3Fdataset%3Ddemo"
            )
            page = visitor.get("/login/set-up?next=/account%3Fdataset%3Ddemo")
            assert "A second factor is required for your account." in page.text
            assert visitor.post("/login/set-up", data={"step": "decline"}).status_code == 400
        else:
            assert post_login(visitor) == "/overview?dataset=demo"
            assert 'name="password"' in visitor.get("/login/set-up").text
            wrong = visitor.post("/login/set-up", data={"step": "prove", "password": "wrong"})
            assert (wrong.status_code, "The current password is wrong." in wrong.text) == (401, True)
            proved = visitor.post("/login/set-up", data={"step": "prove", "password": PASSWORD})
            assert proved.headers["location"] == "/login/set-up?next=/account"
            page = visitor.get("/login/set-up?next=/account")
        assert page.headers["cache-control"] == "no-store"
        assert "<svg" in page.text
        secret = read_key(page.text)
        assert read_key(visitor.get("/login/set-up").text) == secret
        refused = visitor.post("/login/set-up", data={"code": wrong_code(secret, datetime.now(UTC))})
        assert (refused.status_code, read_key(refused.text)) == (401, secret)
        done = visitor.post("/login/set-up", data={"code": code_now(secret), "next": "/account?dataset=demo"})
        assert done.status_code == 200
        assert 'href="/account?dataset=demo"' in done.text
        codes = re.findall(r"<li><code>([a-z2-9-]{19})</code>", done.text)
        assert len(codes) == 10
        assert 'download="annotator-recovery-codes.txt"' in done.text
        assert visitor.get("/account").status_code == 200
        cookies = {cookie.name: cookie for cookie in visitor.cookies.jar}
        assert set(cookies) == {"annotator_session", "annotator_device"}
        visitor.post("/logout")

        assert post_login(visitor) == "/login/code"
        half = next(cookie for cookie in visitor.cookies.jar if cookie.name == "annotator_half_sign_in")
        assert (half.path, "HttpOnly" in half._rest) == ("/login", True)  # type: ignore[attr-defined]
        with capture_logs() as lines:
            refuse_everything(visitor, half.value or "")
        form = visitor.get("/login/code").text
        assert 'inputmode="numeric"' in form
        assert 'autocomplete="one-time-code"' in form
        wrong = visitor.post("/login/code", data={"code": wrong_code(secret, datetime.now(UTC))})
        assert (wrong.status_code, "annotator_session" in visitor.cookies) == (401, False)
        assert "The code is wrong" in wrong.text
        right = visitor.post("/login/code", data={"code": code_now(secret, step=1), "next": "/account"})
        assert right.headers["location"] == "/account"
        assert visitor.get("/account").status_code == 200
        assert visitor.get("/login/code").headers["location"] == "/"
        visitor.post("/logout")
        post_login(visitor)
        assert "Recovery code" in visitor.get("/login/code?recovery=1").text
        right = visitor.post("/login/code", data={"code": codes[0], "recovery": "1"})
        assert right.headers["location"] == "/overview?dataset=demo"
        secrets = (secret, PASSWORD, *codes, half.value or "-")
        assert not [line for line in lines for hidden in secrets if hidden in str(line)]


def refuse_everything(visitor: TestClient, half: str) -> None:
    """With the password alone nothing opens: no page, no API, no websocket, also with the half's token in the session's cookie."""
    for cookie in ({}, {"cookie": f"annotator_session={half}"}):
        for path in ("/", "/account", "/overview?dataset=demo", "/people", "/_stcore/health"):
            answer = visitor.get(path, headers=cookie)
            assert answer.status_code in (303, 401), path
            assert answer.headers.get("location", "/login").startswith("/login"), path
        body = {"dataset": "demo", "events": [], "have": [], "want": 1}
        assert visitor.post("/api/judgments", json=body, headers=cookie).status_code == 401
        with (
            pytest.raises(WebSocketDisconnect) as closed,
            visitor.websocket_connect("/_stcore/stream", headers={"origin": "http://testserver", **cookie}),
        ):
            pass
        assert closed.value.code == 1008


def test_an_old_cookie_opens_nothing_once_a_second_factor_is_required(database: Database, lea: Actor) -> None:
    with serve(database, Settings()) as visitor:
        post_login(visitor)
        cookies = dict(visitor.cookies)
        assert visitor.get("/account").status_code == 200
    with serve(database, Settings(second_factor="leads")) as visitor:
        visitor.cookies.update(cookies)
        refuse_everything(visitor, cookies["annotator_session"])
        assert visitor.get("/account").headers["location"] == "/login?next=/account"


def test_one_time_links_open_no_way_around_it(database: Database, lea: Actor) -> None:
    _secret, codes = enrol(database, lea, now=datetime.now(UTC) - STEP * 3)
    now = datetime.now(UTC)
    link = make_password_link(database, OPERATOR, "lea", days=1, now=now)
    invited = invite(database, OPERATOR, role="lead", dataset="demo", note="Mia", days=1, now=now)
    further = invite(database, OPERATOR, role="admin", dataset="demo", note="Léa", days=1, now=now)
    with serve(database, Settings(second_factor="leads")) as visitor:
        chosen = visitor.post("/join", data={"token": link.token, "how": "password", "password": PASSWORD})
        assert (chosen.status_code, chosen.headers["location"]) == (303, "/login/code")
        assert visitor.get("/account").status_code == 303
        visitor.cookies.clear()
        account = {"name": "Mia", "username": "mia", "password": PASSWORD}
        created = visitor.post("/join", data={"token": invited.token, "how": "create", **account})
        assert (created.status_code, created.headers["location"]) == (303, "/login/set-up")
        assert visitor.get("/account").status_code == 303
        visitor.cookies.clear()
        entered = visitor.post(
            "/join", data={"token": further.token, "how": "enter", "username": "lea", "password": PASSWORD}
        )
        assert entered.status_code == 200
        assert f'value="/join#{further.token}"' in entered.text
        assert further.token not in re.sub(r'value="[^"]*"', "", entered.text)
        done = visitor.post("/login/code", data={"code": codes[0], "next": f"/join#{further.token}"})
        assert done.headers["location"] == f"/join#{further.token}"
        assert visitor.get("/account").status_code == 200


def test_the_first_admin_sets_it_up_before_anything_else(database: Database) -> None:
    link = make_setup_link(database, now=datetime.now(UTC))
    assert link is not None
    with serve(database, Settings(second_factor="leads")) as visitor:
        account = {"name": "Ada", "username": "ada", "password": PASSWORD}
        made = visitor.post("/setup", data={"token": link.token, **account})
        assert (made.status_code, made.headers["location"]) == (303, "/login/set-up?next=/new-dataset")
        assert visitor.get("/account").status_code == 303


def test_who_removed_it_is_told_and_one_may_go_on_without(database: Database, lea: Actor) -> None:
    enrol(database, lea)
    reset_second_factor(database, OPERATOR, "lea", now=NOW)
    with serve(database, Settings()) as visitor:
        assert post_login(visitor) == "/login/set-up"
        page = visitor.get("/login/set-up").text
        assert "The operator removed your second factor. Set it up again." in page
        assert "Continue without it" in page
        declined = visitor.post("/login/set-up", data={"step": "decline"})
        assert declined.headers["location"] == "/overview?dataset=demo"
        visitor.post("/logout")
        assert post_login(visitor) == "/overview?dataset=demo"


def test_another_site_posts_neither_form_and_a_large_body_is_refused(database: Database, lea: Actor) -> None:
    enrol(database, lea)
    with serve(database, Settings()) as visitor:
        post_login(visitor)
        for path in ("/login/code", "/login/set-up"):
            assert path in OPEN
            for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
                assert visitor.post(path, data={"code": "1"}, headers=headers).status_code == 403
            assert visitor.post(path, data={"code": "1" * 20_000}).status_code == 413
        for _number in range(6):
            last = visitor.post("/login/code", data={"code": "000000", "next": "https://evil.example"})
            assert "evil" not in last.text
        assert last.status_code == 429
        assert 0 < int(last.headers["retry-after"]) <= 15 * 60


def test_signing_in_without_a_second_factor_takes_one_statement_more(database: Database, lea: Actor) -> None:
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        statements.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    token = sign_in(database, "lea", PASSWORD, address=HOME, now=NOW)
    of_sign_in = [statement for statement in statements if "second_factor" in statement]
    statements.clear()
    assert find_session(database, token, now=NOW, required="leads") is None
    of_look = [statement for statement in statements if not statement.startswith(("BEGIN", "CREATE TEMP"))]
    event.remove(database.engine, "before_cursor_execute", note)
    assert len([statement for statement in of_sign_in if statement.startswith("SELECT")]) == 1
    assert len(of_look) == 1


def test_the_tables_refuse_a_second_factor_without_a_key(database: Database, lea: Actor) -> None:
    from sqlalchemy.exc import IntegrityError

    with pytest.raises(IntegrityError), database.write() as session:
        session.add(SecondFactorRow.model_validate({"person_pk": lea.person_id}))
    with pytest.raises(IntegrityError), database.write() as session:
        values = {"token_sha256": "1", "person_pk": lea.person_id, "need": "nothing", "expires_at": NOW}
        session.add(HalfSignInRow.model_validate(values))
