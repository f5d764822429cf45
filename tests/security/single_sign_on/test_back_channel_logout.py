"""The provider's server ends sessions here by logout tokens: a real provider's, and forged, foreign, stale and used ones."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text, update
from starlette.testclient import TestClient

from annotator.domain.people import OPERATOR
from annotator.people.service import add_person
from annotator.people.sign_in_service import add_session, find_session
from annotator.people.single_sign_on.provider import KEYS_AGAIN_SECONDS, LOGOUT_AGE, LOGOUT_EVENT
from annotator.people.single_sign_on.records import SingleSignOnRefused
from annotator.people.single_sign_on.service import end_provider_sessions, use_logout_token
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.lookup import find_person
from annotator.storage.tables.sign_in import LoginSessionRow, ProviderIdentityRow
from annotator.web import single_sign_on
from tests.security.single_sign_on.conftest import RealProvider
from tests.security.single_sign_on.test_id_tokens import (
    CLAIMS,
    KEY,
    NOW,
    OTHER_KEY,
    SECONDS,
    FakedProvider,
    forge,
    sign,
)
from tests.security.single_sign_on.test_single_sign_on import enter, is_signed_in

LOGOUT = "/oidc/back-channel-logout"
RIGHT: dict[str, Any] = {
    "nonce": None,
    "events": {LOGOUT_EVENT: {}},
    "jti": "j1",
    "sid": "s1",
    "exp": SECONDS + 120,
}


def test_who_signs_out_at_the_provider_is_signed_out_here_at_once(
    visitor: TestClient, provider: RealProvider, logout_tokens: list[str]
) -> None:
    enter(visitor, provider, "1001")
    cookies = dict(visitor.cookies)
    other = RealProvider(provider.issuer)
    visitor.cookies.clear()
    enter(visitor, other, "1001")
    elsewhere = dict(visitor.cookies)
    provider.sign_out()
    (token,) = logout_tokens
    visitor.cookies.clear()
    ended = visitor.post(LOGOUT, data={"logout_token": token})
    assert (ended.status_code, ended.content, ended.headers["cache-control"]) == (200, b"", "no-store")
    visitor.cookies.update(cookies)
    assert not is_signed_in(visitor)
    visitor.cookies.clear()
    visitor.cookies.update(elsewhere)
    assert is_signed_in(visitor), "another session at the provider"
    used = visitor.post(LOGOUT, data={"logout_token": token})
    assert (used.status_code, used.json()) == (400, {"error": "invalid_request"})


def test_an_id_token_and_nonsense_end_nothing(
    visitor: TestClient, provider: RealProvider, database: Database
) -> None:
    enter(visitor, provider, "1001")
    with database.read() as session:
        id_token = session.execute(text("SELECT id_token FROM login_session")).scalars().first()
    for token in (id_token, "", "a.b.c", "\x00"):
        assert visitor.post(LOGOUT, data={"logout_token": token}).status_code == 400
    assert visitor.post(LOGOUT, data={"logout_token": "x" * 20_000}).status_code == 413
    headers = {"origin": "https://evil.example"}
    assert visitor.post(LOGOUT, data={"logout_token": "x"}, headers=headers).status_code == 403
    for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS"):
        refused = visitor.request(method, LOGOUT)
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    assert is_signed_in(visitor)


def test_it_is_off_unless_configured(database: Database, settings: Settings) -> None:
    paths = {
        configured: [
            route.path
            for route in single_sign_on.routes(
                database, Settings(oidc_back_channel_logout=configured), FakedProvider()
            )
        ]
        for configured in (False, True)
    }
    assert LOGOUT not in paths[False]
    assert LOGOUT in paths[True]
    assert Settings().oidc_back_channel_logout is False


def check(token: str) -> Any:
    return FakedProvider().check_logout_token(token, now=NOW)


def test_a_right_token_names_the_person_or_the_session_or_both() -> None:
    notice = check(sign(**RIGHT))
    assert (notice.token_id, notice.subject, notice.session_id) == ("j1", "1001", "s1")
    assert check(sign(**{**RIGHT, "sid": None})).session_id is None
    assert check(sign(**{**RIGHT, "sub": None})).subject is None
    assert check(sign(**{**RIGHT, "aud": ["other", "annotator"], "exp": None}))


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "other"},
        {"aud": None},
        {"aud": ["other"]},
        {"nonce": "n"},
        {"events": None},
        {"events": {}},
        {"events": {LOGOUT_EVENT: True}},
        {"events": [LOGOUT_EVENT]},
        {"jti": None},
        {"jti": ""},
        {"jti": 7},
        {"jti": "x" * 256},
        {"sub": None, "sid": None},
        {"sub": 7},
        {"sid": ""},
        {"sid": ["s1"]},
        {"iat": None},
        {"iat": True},
        {"iat": "1"},
        {"iat": SECONDS + 61},
        {"iat": SECONDS - 601},
        {"exp": SECONDS - 61},
        {"exp": "never"},
    ],
    ids=repr,
)
def test_a_token_that_says_something_else_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(SingleSignOnRefused) as refused:
        check(sign(**{**RIGHT, **changes}))
    assert refused.value.refusal == "refused"
    assert "evil" not in refused.value.why


def test_a_token_that_the_provider_did_not_sign_is_refused() -> None:
    for token in (
        sign(OTHER_KEY, **RIGHT),
        sign(OTHER_KEY, kid="2", **RIGHT),
        forge(KEY.as_pem(private=False)),
        sign(),
    ):
        with pytest.raises(SingleSignOnRefused):
            check(token)
    assert "nonce" in CLAIMS


def test_strangers_cannot_make_the_server_ask_for_keys_all_the_time() -> None:
    provider = FakedProvider()
    unknown = sign(OTHER_KEY, kid="2", **RIGHT)
    provider.check_logout_token(sign(**RIGHT), now=NOW)
    asked = len(provider.asked)
    for _ in range(5):
        with pytest.raises(SingleSignOnRefused):
            provider.check_logout_token(unknown, now=NOW)
    assert len(provider.asked) == asked
    provider.keys, provider.seconds = [OTHER_KEY], KEYS_AGAIN_SECONDS
    assert provider.check_logout_token(unknown, now=NOW).subject == "1001"


def test_only_the_named_sessions_of_this_issuer_end(database: Database) -> None:
    tokens: dict[str, str] = {}
    for username, issuer, subject in (("ann", "a", "1"), ("bob", "a", "2"), ("eve", "b", "1")):
        add_person(database, OPERATOR, username, role="annotator", now=NOW)
        with database.write() as session:
            pk = find_person(session, username).pk or 0
            values = {"person_pk": pk, "issuer": issuer, "subject": subject, "created_at": NOW}
            identity = ProviderIdentityRow.model_validate(values)
            session.add(identity)
            session.flush()
            for place in ("s1", "s2"):
                kept = {"identity_pk": identity.pk, "provider_session": place, "id_token": "t"}
                tokens[username + place] = add_session(
                    session, pk, now=NOW, lifetime=timedelta(hours=1), by_provider=kept
                )
            tokens[username] = add_session(session, pk, now=NOW, lifetime=timedelta(hours=1))

    def end(subject: str | None, session_id: str | None) -> set[str]:
        with database.write() as session:
            count = end_provider_sessions(session, "a", subject=subject, session_id=session_id, now=NOW)
        ended = {name for name, token in tokens.items() if find_session(database, token, now=NOW) is None}
        assert len(ended) == count
        with database.write() as session:
            session.execute(update(LoginSessionRow).values(revoked_at=None))
        return ended

    assert end("1", None) == {"anns1", "anns2"}
    assert end("1", "s2") == {"anns2"}
    assert end(None, "s1") == {"anns1", "bobs1"}
    assert end("3", None) == end(None, "s3") == end("1", "s3") == set()


def test_a_token_is_used_once_and_forgotten_when_it_is_too_old(database: Database) -> None:
    def use(digest: str, now: datetime) -> bool:
        with database.write() as session:
            return use_logout_token(session, digest, now=now, expires_at=now + LOGOUT_AGE)

    assert use("1", NOW)
    assert not use("1", NOW)
    assert use("2", NOW + LOGOUT_AGE)
    with database.read() as session:
        assert session.execute(text("SELECT token_sha256 FROM used_logout_token")).scalars().all() == ["2"]
