"""Forged, foreign and stale id tokens: each is refused. The provider's keys and addresses are this file's."""

import hmac
import json
from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from annotator.people.single_sign_on.provider import ALGORITHMS, KEPT_SECONDS, Provider
from annotator.people.single_sign_on.records import ProviderSettings, SingleSignOnRefused

ISSUER = "https://login.example.org"
KEY, OTHER_KEY = (RSAKey.generate_key(2048, {"kid": kid}, private=True) for kid in ("1", "2"))
NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
SECONDS = int(NOW.timestamp())
CLAIMS = {
    "iss": ISSUER,
    "sub": "1001",
    "aud": "annotator",
    "nonce": "n",
    "iat": SECONDS,
    "exp": SECONDS + 300,
}
METADATA = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/auth",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/keys",
}


class FakedProvider(Provider):
    """A provider whose answers are these, without a server."""

    def __init__(self, metadata: dict[str, Any] | None = None) -> None:
        settings = ProviderSettings(
            issuer=ISSUER, client_id="annotator", client_secret="s" * 40, name="", scopes=("openid",),
            groups_claim="groups", username_claim="preferred_username", roles={},
        )  # fmt: skip
        self.seconds = 0.0
        super().__init__(settings, clock=lambda: self.seconds)
        self.metadata, self.keys, self.asked = metadata or METADATA, [KEY], list[str]()

    def _fetch(self, address: str, what: str, headers: Any) -> dict[str, Any]:
        self.asked.append(address)
        if address.endswith("/keys"):
            return {"keys": [key.as_dict(private=False) for key in self.keys]}
        return self.metadata


def sign(key: Any = KEY, *, alg: str = "RS256", kid: str = "1", **changes: Any) -> str:
    claims = {name: value for name, value in {**CLAIMS, **changes}.items() if value is not None}
    return jwt.encode({"alg": alg, "kid": kid}, claims, key, algorithms=[alg])


def forge(known: bytes) -> str:
    """A token signed by HMAC with what an attacker knows."""
    head = {"alg": "HS256", "kid": "1"}
    signed = b".".join(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (head, CLAIMS))
    signature = urlsafe_b64encode(hmac.digest(known, signed, "sha256")).rstrip(b"=")
    return f"{signed.decode()}.{signature.decode()}"


def check(token: str, provider: Provider | None = None) -> dict[str, Any]:
    return (provider or FakedProvider()).check_id_token(token, nonce="n", now=NOW)


def test_a_right_token_is_accepted() -> None:
    assert check(sign())["sub"] == "1001"
    assert check(sign(aud=["annotator", "other"], azp="annotator"))["sub"] == "1001"


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example"}, {"iss": None}, {"aud": "other"}, {"aud": None}, {"aud": ["other", "more"]},
        {"aud": ["annotator", "other"]}, {"azp": "other"}, {"nonce": "m"}, {"nonce": None}, {"exp": SECONDS - 61}, {"exp": None},
        {"iat": SECONDS + 3_600}, {"nbf": SECONDS + 3_600}, {"sub": None}, {"sub": ""}, {"sub": 7}, {"sub": "x" * 256},
    ],
    ids=repr,
)  # fmt: skip
def test_a_token_for_somebody_else_or_another_time_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(SingleSignOnRefused) as refused:
        check(sign(**changes))
    assert refused.value.refusal == "refused"
    assert "evil" not in refused.value.why


def test_a_token_that_another_key_signed_is_refused() -> None:
    with pytest.raises(SingleSignOnRefused):
        check(sign(OTHER_KEY, kid="1"))
    with pytest.raises(SingleSignOnRefused):
        check(sign(OTHER_KEY, kid="2"))


def test_a_token_without_a_signature_or_signed_with_what_everybody_knows_is_refused() -> None:
    unsigned = jwt.encode({"alg": "none"}, CLAIMS, None, algorithms=["none"])  # type: ignore[arg-type]
    head, payload, _signature = sign().split(".")
    for token in (
        unsigned, forge(KEY.as_pem(private=False)), forge(b"s" * 40), f"{head}.{payload}.", "", "a.b.c", "\x00",
    ):  # fmt: skip
        with pytest.raises(SingleSignOnRefused):
            check(token)
    assert not any(name == "none" or name.startswith("HS") for name in ALGORITHMS)


def test_new_keys_of_the_provider_are_asked_for_when_a_token_names_one() -> None:
    provider = FakedProvider()
    check(sign(), provider)
    asked = len(provider.asked)
    check(sign(), provider)
    assert len(provider.asked) == asked, "kept"
    provider.keys = [OTHER_KEY]
    assert check(sign(OTHER_KEY, kid="2"), provider)["sub"] == "1001"
    with pytest.raises(SingleSignOnRefused):
        check(sign(), provider)
    provider.seconds = KEPT_SECONDS
    asked = len(provider.asked)
    check(sign(OTHER_KEY, kid="2"), provider)
    assert len(provider.asked) == asked + 2, "configuration and keys, after an hour"


@pytest.mark.parametrize(
    "changes",
    [{"issuer": "https://evil.example"}, {"token_endpoint": "http://login.example.org/token"}, {"jwks_uri": "file:///etc/passwd"},
     {"userinfo_endpoint": "http://10.0.0.1/"}, {"end_session_endpoint": "javascript:alert(1)"}, {"token_endpoint": None}],
    ids=repr,
)  # fmt: skip
def test_a_configuration_that_leads_elsewhere_or_without_encryption_is_refused(
    changes: dict[str, Any],
) -> None:
    with pytest.raises(SingleSignOnRefused):
        FakedProvider({**METADATA, **changes}).make_sign_in_address(
            "https://a.example/oidc/callback", state="s", nonce="n", code_verifier="v" * 43
        )
