"""ASGI middleware in front of everything served: sign-in, limits on request bodies, and security headers.

Sees the websocket too, and never buffers a body. Looks up the session once per request and puts the person into
`scope["state"]["signed_in"]`. Refuses requests without a session, except on OPEN paths; requests and websockets that
another site caused; all but the account page's own traffic until a one-time password is replaced; and bodies above the
limit of their path. Removes headers by which a proxy could name a user: only the cookie identifies a person. Gives each
request its number, and writes one line about it: no address as it came, no query, no name.
"""

import asyncio
import base64
import hashlib
import logging
import re
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from urllib.parse import quote

import structlog
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotator.domain.audit import AuditOrigin, audit_origin
from annotator.domain.errors import DatabaseUnavailable, NotAllowed, TooManyRequests
from annotator.domain.people import SignedIn
from annotator.log import write_line
from annotator.people.sign_in_service import find_sessions
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.kit.messages import tr
from annotator.web.plain_page import draw_plain_page, fill_markup, wants_page
from annotator.web.server.admission import OTHER, ask_before_opening, name_route
from annotator.web.server.budgets import REFUSAL_SECONDS
from annotator.web.server.figures import note_request, note_websocket
from annotator.web.server.outage import note_outage, respond_to_outage
from annotator.web.server.refusals import respond_to_refusal
from annotator.web.server.request_id import current_request_id, find_request_id
from annotator.web.server.start_page import read_start_page
from annotator.web.server.turns import Turns
from annotator.web.server.uploads import MOST_IMPORT_BYTES
from annotator.web.session import (
    FROM_ELSEWHERE,
    comes_from_here,
    find_token,
    is_https,
    require_own_page,
    use_language_of,
)

OWN_FILES = ("/login.css", "/favicon.png", "/one-time-link.js", "/open-again.js")
INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


ELSE = "; ".join(
    (
        "default-src 'self'",
        "style-src 'self' 'unsafe-inline'",  # Streamlit styles by inline elements
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "frame-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)


@cache
def make_policy() -> str:
    """Return the Content-Security-Policy: our own scripts, and the inline ones of Streamlit's page by their hashes."""
    page = read_start_page().encode()
    digests = [hashlib.sha256(script).digest() for script in INLINE_SCRIPT.findall(page)]
    inline = "".join(f" 'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return f"script-src 'self' blob: 'wasm-unsafe-eval'{inline}; {ELSE}"


@cache
def list_security_headers(*, https: bool, kept: bool) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers that every response gets. `kept`: a cache may store the response."""
    headers = {
        "content-security-policy": make_policy(),
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
    }
    if https:
        headers["strict-transport-security"] = "max-age=31536000"
    if not kept:
        headers["cache-control"] = "no-store"
    return tuple((name.encode(), value.encode("latin-1")) for name, value in headers.items())


def secure(message: Message, path: str, request_id: str, *, https: bool) -> None:
    """Set the security headers of a response, and replace existing ones. Only the program's own files may be cached."""
    kept = path.startswith("/static/") or path in OWN_FILES
    own = ((b"x-request-id", request_id.encode()), *list_security_headers(https=https, kept=kept))
    names = {name for name, _value in own}
    message["headers"] = [*(header for header in message.get("headers", ()) if header[0] not in names), *own]


MOST_BYTES_OF_PATHS = {
    "/login": 20_000,
    "/login/code": 20_000,
    "/login/set-up": 20_000,
    "/setup": 20_000,
    "/join": 20_000,
    "/logout": 1_000,
    "/oidc/back-channel-logout": 20_000,
    "/api/judgments": 2_000_000,
}
MOST_BYTES_OF_FOLDERS = {"/api/": 100_000, "/_stcore/upload_file/": MOST_IMPORT_BYTES}
MOST_BYTES_OF_OTHERS = 1_000


class BodyTooLarge(Exception):
    """The request's body is larger than its path allows."""


def find_most_bytes(path: str) -> int:
    """Return how many bytes a request body at this path may have."""
    of_folder = (most for folder, most in MOST_BYTES_OF_FOLDERS.items() if path.startswith(folder))
    return MOST_BYTES_OF_PATHS.get(path) or next(of_folder, MOST_BYTES_OF_OTHERS)


def limit_body(request: HTTPConnection, receive: Receive) -> Receive:
    """Return a `receive` that raises BodyTooLarge as soon as the body exceeds the limit of its path.

    Raises BodyTooLarge at once if the Content-Length header exceeds it.
    """
    most = find_most_bytes(request.scope["path"])
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or len(declared) > 15 or int(declared) > most:
        raise BodyTooLarge
    received = 0

    async def receive_limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise BodyTooLarge
        return message

    return receive_limited


HEALTH = ("/healthz", "/readyz")
METRICS = "/metrics"  # asks for a token of its own
OPEN = frozenset(
    {
        *(
            "/login",
            "/login/code",
            "/login/set-up",
            "/logout",
            "/setup",
            "/join",
            "/oidc/sign-in",
            "/oidc/callback",
            "/oidc/back-channel-logout",
        ),
        METRICS,
        *HEALTH,
        *OWN_FILES,
    }
)
OPEN_FOLDER = "/static/"  # Streamlit's own scripts and fonts: public files, the same for everybody
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
METHODS = (*SAFE_METHODS, "POST", "PUT", "PATCH", "DELETE")
IDENTITY = (b"remote-user", b"remote_user", b"x-streamlit-user")
IDENTITY_PREFIXES = (
    b"x-forwarded-user",
    b"x-forwarded-email",
    b"x-auth-request-",
    b"x-remote-",
    b"x-annotator-",
)
POLICY_VIOLATION = 1008
GONE = 499  # in the log only: the client disconnected, or was too slow, before the request was complete

LOOKUPS_AT_A_TIME = 2
"""How many statements look up sessions at the same time in one process: if one is held up, others go on."""
LOOKUPS_OF_ONE = 50
"""How many requests of one session may wait for this: more than a browser sends that opens all its tabs again."""
SESSIONS_TOGETHER = 50
"""How many sessions one statement looks up at most."""

log = structlog.stdlib.get_logger("annotator.web")


class RequestGate:
    """See the module. `app` is everything behind the gate."""

    def __init__(self, app: ASGIApp, database: Database, settings: Settings, own: Iterable[str] = ()) -> None:
        """`own`: the paths of our own routes."""
        self.app, self.database, self.settings = app, database, settings
        self.own = frozenset(own)
        self.turns: Turns[str, SignedIn | None] = Turns(
            database,
            self._find_sessions,
            most=LOOKUPS_AT_A_TIME,
            together=SESSIONS_TOGETHER,
            waiting=LOOKUPS_OF_ONE,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        scope["headers"] = [(key, value) for key, value in scope["headers"] if not _claims_identity(key)]
        scope["state"] = dict(scope.get("state") or {})
        if self.settings.secure_cookie:  # a proxy ends https: what the browser speaks is not what we see
            scope["scheme"] = "https" if scope["type"] == "http" else "wss"
        route = name_route(scope["path"], self.own)
        request_id = find_request_id(scope)
        bound = structlog.contextvars.bind_contextvars(request_id=request_id, route=route)
        client = scope.get("client")
        began = audit_origin.set(AuditOrigin("web", request_id, client[0] if client else None))
        try:
            if scope["type"] == "http":
                await self._answer(scope, receive, send)
            else:
                await self._connect(scope, receive, send)
        finally:
            audit_origin.reset(began)
            structlog.contextvars.reset_contextvars(**bound)

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        handshake = HTTPConnection(scope)
        try:
            require_own_page(handshake)
        except NotAllowed:
            headers = handshake.headers
            log.warning(
                "websocket refused",
                origin=headers.get("origin"),
                host=headers.get("host"),
                scheme=scope["scheme"],
            )
            await _close(receive, send)
            return
        try:
            scope["state"]["signed_in"] = await self._find(handshake)
        except DatabaseUnavailable as error:
            note_outage(error)
            scope["state"]["signed_in"] = None
        except TooManyRequests:
            await asyncio.sleep(REFUSAL_SECONDS)
            scope["state"]["signed_in"] = None
        if scope["state"]["signed_in"] is None:
            await _close(receive, send)
            return
        note_websocket(1)
        try:
            await self.app(scope, receive, send)
        finally:
            note_websocket(-1)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request, began, status = HTTPConnection(scope), time.perf_counter(), [500]
        https, request_id = is_https(request, self.settings), current_request_id()

        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
                secure(message, scope["path"], request_id, https=https)
            await send(message)

        try:
            limited = limit_body(request, receive)
            response = await self._refuse(request, scope)
            await (response or self.app)(scope, limited, send_secured)
        except TooManyRequests as error:
            await asyncio.sleep(REFUSAL_SECONDS)
            await (await respond_to_refusal(Request(scope), error))(scope, receive, send_secured)
        except DatabaseUnavailable as error:
            with suppress(RuntimeError):  # the response had begun already
                await respond_to_outage(request, error)(scope, receive, send_secured)
        except BodyTooLarge:
            await _refuse_body(scope, receive, send_secured)
        except ClientDisconnect:
            status[0] = GONE
        except Exception:  # noqa: BLE001 - the edge: logged with a number, and answered
            await self._fail(request, receive, send_secured)
        finally:
            self._log(scope, request_id, status[0], time.perf_counter() - began)

    def _log(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        """Write the log line of a request. Every other line of the request has the same number and route."""
        person = scope["state"].get("signed_in")
        is_minor = scope["path"].startswith((OPEN_FOLDER, "/_stcore/", METRICS, *HEALTH))
        method = scope["method"] if scope["method"] in METHODS else OTHER
        route = name_route(scope["path"], self.own)
        note_request(route, method, status, seconds)
        fields = {
            "method": method,
            "ms": round(seconds * 1_000, 1),
            **({"person": person.actor.person_id} if person else {}),
            "request_id": request_id,
            "route": route,
            "status": status,
        }
        write_line("annotator.web", logging.DEBUG if is_minor else logging.INFO, "request", fields)

    async def _refuse(self, request: HTTPConnection, scope: Scope) -> Response | None:
        """Return the response to a refused request, or None if the request may go on."""
        path, method = scope["path"], scope["method"]
        if method not in SAFE_METHODS and not comes_from_here(request):
            return JSONResponse({"error": FROM_ELSEWHERE}, 403)
        if path.startswith(OPEN_FOLDER) or path in (METRICS, *HEALTH, *OWN_FILES):
            return None
        person = scope["state"]["signed_in"] = await self._find(request)
        use_language_of(request)
        if path in OPEN:
            return None
        asked = ask_before_opening(request, person)
        if asked is not None:
            return asked
        if person is None:
            return _send_to_login(request, scope)
        if person.must_change_password and path.startswith("/api/"):
            return JSONResponse({"error": "choose a new password first, on the page /account"}, 403)
        return None

    async def _find(self, connection: HTTPConnection) -> SignedIn | None:
        """Return the signed-in person, or None. Raises TooManyRequests if LOOKUPS_OF_ONE requests of the session wait."""
        token = find_token(connection)
        return await self.turns.run("", token, person=hash(token)) if token else None

    def _find_sessions(self, tokens: Sequence[str]) -> list[SignedIn | None]:
        return find_sessions(
            self.database, tokens, now=datetime.now(UTC), required=self.settings.second_factor
        )

    async def _fail(self, request: HTTPConnection, receive: Receive, send: Send) -> None:
        """Log the exception, and answer with the request's number only, which is also in the log."""
        number = current_request_id()
        log.exception("request failed", error_id=number)
        with suppress(RuntimeError):  # the response had begun already
            await _describe_failure(request, number)(request.scope, receive, send)


def _describe_failure(request: HTTPConnection, number: str) -> Response:
    if not wants_page(request.scope):
        return JSONResponse({"error": f"something went wrong here (error {number})"}, 500)
    use_language_of(request)
    title = tr("Something went wrong")
    body = fill_markup(
        '<h1>$title</h1><p class="lead" role="alert">$said</p><p class="lead"><a href="/">$back</a></p>',
        {
            "title": title,
            "said": tr("Give your admin this error number: {number}.", number=number),
            "back": tr("Go to the first page"),
        },
    )
    return HTMLResponse(draw_plain_page(title, body), 500)


async def _refuse_body(scope: Scope, receive: Receive, send: Send) -> None:
    answer = JSONResponse({"error": "the request is too large"}, 413, headers={"Connection": "close"})
    with suppress(RuntimeError):  # the response had begun already
        await answer(scope, receive, send)


async def _close(receive: Receive, send: Send) -> None:
    """Refuse the handshake before Streamlit sees it."""
    await receive()
    await send({"type": "websocket.close", "code": POLICY_VIOLATION})


def _send_to_login(request: HTTPConnection, scope: Scope) -> Response:
    if not wants_page(scope):
        return JSONResponse({"error": "sign in first"}, 401)
    wanted = quote(
        scope.get("raw_path", scope["path"].encode()).decode("latin-1").partition("?")[0], safe="/%"
    )
    query = request.url.query
    target = quote(f"{wanted}?{query}" if query else wanted, safe="/")
    return RedirectResponse("/login" if wanted == "/" and not query else f"/login?next={target}", 303)


def _claims_identity(key: bytes) -> bool:
    return key in IDENTITY or key.startswith(IDENTITY_PREFIXES)
