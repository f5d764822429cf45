"""Talk to the OpenID Connect provider: discovery, keys, code exchange, and checked id tokens.

Authlib makes the requests and checks the claims, joserfc the signatures. Metadata and keys are fetched when first needed, so
the server starts while the provider is down. They are kept for an hour; keys are fetched again when a token names an unknown
key. No proxy, `.netrc` or other setting of the environment is used, and no redirect is
followed. Addresses are https, or http on this machine. Nothing of an answer is in a log or an error.
"""

import json
import math
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any

from annotator.people.single_sign_on.records import (
    LogoutNotice,
    ProviderAnswer,
    ProviderSettings,
    SingleSignOnRefused,
    is_safe_address,
)

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
"""Signatures with a private key that the provider alone has: neither `none` nor HMAC."""
KEPT_SECONDS = 3_600.0
TIMEOUT = (5.0, 10.0)  # seconds to connect, and between two parts of an answer
MOST_BYTES = 1_000_000
LEEWAY = 60  # seconds that the two clocks may differ
REQUIRED = ("authorization_endpoint", "token_endpoint", "jwks_uri")
OPTIONAL = ("userinfo_endpoint", "end_session_endpoint")
MOST_GROUPS = 1_000
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
LOGOUT_TYPES = ("jwt", "logout+jwt")
LOGOUT_AGE = timedelta(minutes=10)  # of a logout token
KEYS_AGAIN_SECONDS = 30.0


class Provider:
    """The provider of these settings. One per process; used by several threads."""

    def __init__(self, settings: ProviderSettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.settings, self._clock, self._lock = settings, clock, Lock()
        self._kept: dict[str, tuple[float, dict[str, Any]]] = {}

    def make_sign_in_address(self, redirect_uri: str, *, state: str, nonce: str, code_verifier: str) -> str:
        """Return the provider's address where the person signs in, which leads back to `redirect_uri`."""
        metadata = self._load_metadata()
        with self._open_client(metadata, redirect_uri) as client:
            address, _state = client.create_authorization_url(
                metadata["authorization_endpoint"], state=state, nonce=nonce, code_verifier=code_verifier
            )
        return str(address)

    def make_sign_out_address(self, id_token: str, *, back: str) -> str | None:
        """Return the provider's address that ends the session there and leads `back`; None if it has none."""
        from authlib.common.urls import add_params_to_uri

        endpoint = self._load_metadata().get("end_session_endpoint")
        if endpoint is None:
            return None
        parameters = {
            "id_token_hint": id_token,
            "client_id": self.settings.client_id,
            "post_logout_redirect_uri": back,
        }
        return str(add_params_to_uri(endpoint, parameters))

    def redeem_code(
        self, code: str, *, redirect_uri: str, code_verifier: str, nonce: str, now: datetime
    ) -> ProviderAnswer:
        """Exchange the code for an id token, check it, and return its claims about the person."""
        from authlib.integrations.base_client import OAuthError

        metadata = self._load_metadata()
        with self._open_client(metadata, redirect_uri) as client:
            try:
                token = client.fetch_token(
                    metadata["token_endpoint"],
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=code_verifier,
                    timeout=TIMEOUT,
                    allow_redirects=False,
                )
            except OAuthError as error:
                raise SingleSignOnRefused(
                    "refused", f"the code was not accepted: {error.error!s:.100}"
                ) from None
            except (OSError, ValueError) as error:
                raise _unavailable("the token endpoint", error) from None
        id_token, access_token = token.get("id_token"), token.get("access_token")
        if not isinstance(id_token, str):
            raise SingleSignOnRefused("refused", "the answer has no id token")
        claims = self.check_id_token(id_token, nonce=nonce, access_token=access_token, now=now)
        wanted = (self.settings.username_claim, self.settings.groups_claim)
        if "userinfo_endpoint" in metadata and any(name not in claims for name in wanted):
            claims = {**self._ask_userinfo(metadata, access_token, claims["sub"]), **claims}
        return self._to_answer(claims, id_token)

    def check_id_token(
        self, id_token: str, *, nonce: str, access_token: str | None = None, now: datetime
    ) -> dict[str, Any]:
        """Return the claims of the id token.

        Raises SingleSignOnRefused if its signature, issuer, audience, authorized party, a time or the nonce is wrong."""
        from authlib.oidc.core import CodeIDToken
        from joserfc.errors import JoseError

        try:
            token = self._read_token(id_token)
            claims = CodeIDToken(
                token.claims,
                token.header,
                {
                    "iss": {"essential": True, "value": self.settings.issuer},
                    "aud": {"essential": True, "value": self.settings.client_id},
                    "nonce": {"essential": True, "value": nonce},
                },
                {"nonce": nonce, "client_id": self.settings.client_id, "access_token": access_token},
            )
            claims.validate(now=int(now.timestamp()), leeway=LEEWAY)
        except (JoseError, ValueError, TypeError) as error:
            raise SingleSignOnRefused("refused", f"the id token: {describe(error)}") from None
        if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= 255:
            raise SingleSignOnRefused("refused", "the id token names nobody")
        return dict(claims)

    def check_logout_token(self, token: str, *, now: datetime) -> LogoutNotice:
        """Return the sessions that the logout token ends (OpenID Connect Back-Channel Logout 1.0, section 2.6).

        Raises SingleSignOnRefused unless the provider signed it for this client at most LOGOUT_AGE ago and it is no id token.
        The caller checks whether it was used before.
        """
        from joserfc.errors import JoseError

        try:
            read = self._read_token(token, keys_asked_before=KEYS_AGAIN_SECONDS)
        except (JoseError, ValueError, TypeError) as error:
            raise SingleSignOnRefused("refused", f"the logout token: {describe(error)}") from None
        fault = _find_fault(read.header, read.claims, self.settings, now=now)
        if fault is not None:
            raise SingleSignOnRefused("refused", f"the logout token: {fault}")
        claims = read.claims
        return LogoutNotice(
            claims["jti"],
            claims.get("sub"),
            claims.get("sid"),
            datetime.fromtimestamp(claims["iat"], UTC),
        )

    def _read_token(self, text: str, *, keys_asked_before: float = 0.0) -> Any:
        """Return the token if a key of the provider has signed it. Fetches the keys again once if none fits.

        `keys_asked_before`: minimal age in seconds of the keys before they are fetched again. Without it, strangers could cause
        endless requests by tokens that name unknown keys.
        """
        from joserfc import jwt
        from joserfc.errors import InvalidKeyIdError
        from joserfc.jwk import KeySet
        from joserfc.jws import JWSRegistry

        registry = JWSRegistry(algorithms=list(ALGORITHMS), strict_check_header=False)
        try:
            return jwt.decode(text, KeySet.import_key_set(self._load_keys()), registry=registry)  # type: ignore[arg-type]
        except InvalidKeyIdError:
            again = self._load_keys(at_most=keys_asked_before)
            keys = KeySet.import_key_set(again)  # type: ignore[arg-type]
            return jwt.decode(text, keys, registry=registry)

    def _to_answer(self, claims: Mapping[str, Any], id_token: str) -> ProviderAnswer:
        groups = claims.get(self.settings.groups_claim)
        given = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        username, name, session_id = (
            value if isinstance(value, str) else ""
            for value in (claims.get(self.settings.username_claim), claims.get("name"), claims.get("sid"))
        )
        return ProviderAnswer(
            issuer=self.settings.issuer,
            subject=claims["sub"],
            username=username,
            name=name,
            groups=tuple(group for group in given[:MOST_GROUPS] if isinstance(group, str)),
            session_id=session_id[:255] or None,
            id_token=id_token,
        )

    def _ask_userinfo(
        self, metadata: Mapping[str, Any], access_token: object, subject: str
    ) -> dict[str, Any]:
        if not isinstance(access_token, str):
            return {}
        headers = {"Authorization": f"Bearer {access_token}"}
        claims = self._fetch(metadata["userinfo_endpoint"], "the userinfo endpoint", headers)
        if claims.get("sub") != subject:
            raise SingleSignOnRefused("refused", "the userinfo is somebody else's")
        return claims

    def _load_metadata(self) -> dict[str, Any]:
        address = f"{self.settings.issuer.rstrip('/')}/.well-known/openid-configuration"
        metadata = self._load(address, "the provider's configuration")
        if metadata.get("issuer") != self.settings.issuer:
            raise SingleSignOnRefused("refused", "the provider's configuration names another issuer")
        for name in (*REQUIRED, *(name for name in OPTIONAL if name in metadata)):
            if not is_safe_address(metadata.get(name)):
                raise SingleSignOnRefused("refused", f"the provider's configuration has no safe {name}")
        return metadata

    def _load_keys(self, *, at_most: float = KEPT_SECONDS) -> dict[str, Any]:
        return self._load(self._load_metadata()["jwks_uri"], "the provider's keys", at_most=at_most)

    def _load(self, address: str, what: str, *, at_most: float = KEPT_SECONDS) -> dict[str, Any]:
        """Return the cached document if it is less than `at_most` seconds old; otherwise fetch it."""
        with self._lock:
            at, content = self._kept.get(address, (0.0, {}))
            if content and self._clock() - at < at_most:
                return content
            content = self._fetch(address, what, {})
            self._kept[address] = (self._clock(), content)
            return content

    def _fetch(self, address: str, what: str, headers: Mapping[str, str]) -> dict[str, Any]:
        import requests

        try:
            with requests.Session() as session:
                session.trust_env = False
                with session.get(
                    address, headers=dict(headers), timeout=TIMEOUT, allow_redirects=False, stream=True
                ) as answer:
                    body = b""
                    for part in answer.iter_content(65_536):
                        body += part
                        if len(body) > MOST_BYTES:
                            raise ValueError("the answer is too large")
                    if answer.status_code != 200:
                        raise ValueError(f"status {answer.status_code}")
            content = json.loads(body)
        except (OSError, ValueError, RecursionError) as error:
            raise _unavailable(what, error) from None
        if not isinstance(content, dict):
            raise _unavailable(what, TypeError("no JSON object"))
        return content

    def _open_client(self, metadata: Mapping[str, Any], redirect_uri: str) -> Any:
        """Return Authlib's client, which authenticates as the provider asks for."""
        from authlib.integrations.requests_client import OAuth2Session

        methods = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        basic = "client_secret_basic" in methods or "client_secret_post" not in methods
        method = "client_secret_basic" if basic else "client_secret_post"
        client = OAuth2Session(
            self.settings.client_id,
            self.settings.client_secret or None,
            token_endpoint_auth_method=method if self.settings.client_secret else "none",
            scope=" ".join(self.settings.scopes),
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
        )
        client.trust_env = False
        return client


def describe(error: Exception) -> str:
    """Return the kind of an error and, for a claim, which: never a value of an answer."""
    claim = getattr(error, "claim", None) or getattr(error, "claim_name", None)
    return f"{type(error).__name__} {claim}" if isinstance(claim, str) else type(error).__name__


def _find_fault(
    header: Mapping[str, Any], claims: Mapping[str, Any], settings: ProviderSettings, *, now: datetime
) -> str | None:
    """Return which part of a signed logout token is wrong, without its value; None if none is."""
    audience: Any = claims.get("aud")
    issued: Any = claims.get("iat")
    expires: Any = claims.get("exp", math.inf)
    audiences = audience if isinstance(audience, list) else [audience]
    events, seconds = claims.get("events"), now.timestamp()
    named = [claims[name] for name in ("sub", "sid") if name in claims]
    youngest, oldest = seconds + LEEWAY, seconds - LOGOUT_AGE.total_seconds()
    checks = {
        "typ": str(header.get("typ", "JWT")).lower().removeprefix("application/") in LOGOUT_TYPES,
        "iss": claims.get("iss") == settings.issuer,
        "aud": settings.client_id in audiences,
        "iat": _is_number(issued) and oldest <= issued <= youngest,
        "exp": _is_number(expires) and seconds - LEEWAY < expires,
        "events": isinstance(events, dict) and isinstance(events.get(LOGOUT_EVENT), dict),
        "nonce": "nonce" not in claims,
        "jti": _is_name(claims.get("jti")),
        "sub or sid": bool(named) and all(_is_name(name) for name in named),
    }
    return next((name for name, is_right in checks.items() if not is_right), None)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 255


def _unavailable(what: str, error: Exception) -> SingleSignOnRefused:
    return SingleSignOnRefused("unavailable", f"{what} gave no answer: {type(error).__name__}")
