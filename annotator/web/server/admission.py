"""Allowlist of the addresses and parameters that Streamlit answers; everything else is refused.

Streamlit brings routes that this program does not use (media, components, sign-in by others, an API for agents) and
answers every unknown address with its page. Our own routes, which check access themselves, and the pages of
`navigation.py` are let through, with the methods that they take: a GET of what takes only POST would otherwise get
Streamlit's page. A GET of `/api/` that another site may have caused is refused. A parameter of our routes with a NUL
character is refused before any database sees it.

Also asks before a link from outside opens a page that shows grades. Opening such a page records which grades the person has
seen, and they no longer judge these pairs. A link on another site, or in a text that others wrote, must not cause that, so
the gate answers it with a plain page with a button. The button is a link of this server, so the next request comes from
here. A reload goes on by itself (`web/open_again.js`). The same holds for the page that a sign-in leads to.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import urlsplit

from starlette.datastructures import QueryParams
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from annotator import __version__
from annotator.domain.messages import say
from annotator.domain.people import SignedIn, includes
from annotator.domain.texts import holds_no_text
from annotator.web.kit.messages import tr
from annotator.web.navigation import PAGES
from annotator.web.plain_page import draw_plain_page, fill_markup, wants_page
from annotator.web.session import FROM_ELSEWHERE, choose_local_path, comes_from_here

READ = ("GET", "HEAD")
POLICY_VIOLATION = 1008


@dataclass(frozen=True, slots=True)
class AllowedAddress:
    """An address of Streamlit (`…` matches anything), its allowed methods, and who may use it."""

    address: str
    methods: tuple[str, ...]
    who: Literal["everybody", "signed in", "admins"]

    def matches(self, path: str) -> bool:
        """Return whether the path is one of these addresses."""
        pattern = ".+".join(re.escape(part) for part in self.address.split("…"))
        return re.fullmatch(pattern, path) is not None


ENTRANCES = (
    AllowedAddress("/static/…", READ, "everybody"),
    AllowedAddress("/_stcore/health", READ, "signed in"),
    AllowedAddress("/_stcore/host-config", READ, "signed in"),
    AllowedAddress("/_stcore/stream", ("websocket",), "signed in"),
    AllowedAddress("/_stcore/upload_file/…/…", ("PUT", "DELETE"), "signed in"),
    AllowedAddress("/_stcore/metrics", READ, "admins"),
    AllowedAddress("/home", READ, "signed in"),
    *(AllowedAddress(f"/{page.address}", READ, "signed in") for page in PAGES),
)


OTHER = "other"


def name_route(path: str, own: frozenset[str]) -> str:
    """Return the name of the path in logs and figures: one of a fixed set, never the caller's text."""
    return path if path in own else _name_entrance(path)


@lru_cache(maxsize=1_024)
def _name_entrance(path: str) -> str:
    return next((allowed.address for allowed in ENTRANCES if allowed.matches(path)), OTHER)


class Admission:
    """ASGI middleware behind the gate, which has identified the person. `own`: our own routes."""

    def __init__(self, app: ASGIApp, own: Iterable[Route]) -> None:
        self.app = app
        self.own: dict[str, tuple[str, ...]] = {}  # the methods by path
        for route in own:
            methods = {*self.own.get(route.path, ()), *(route.methods or ())}
            self.own[route.path] = tuple(sorted(methods))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            methods = self.own.get(scope["path"])
            if methods is None:
                response = self._refuse(scope)
            elif scope["method"] not in methods:
                response = _refuse_method(methods)
            elif _is_asked_by_another_site(scope):
                response = JSONResponse({"error": FROM_ELSEWHERE}, 403)
            else:
                response = _refuse_parameters(scope)
            if response is not None:
                await response(scope, receive, send)
                return
        elif scope["type"] == "websocket" and not any(
            "websocket" in allowed.methods and allowed.matches(scope["path"]) for allowed in ENTRANCES
        ):
            await receive()
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            return
        await self.app(scope, receive, send)

    def _refuse(self, scope: Scope) -> Response | None:
        entrance = next((allowed for allowed in ENTRANCES if allowed.matches(scope["path"])), None)
        if entrance is None or "websocket" in entrance.methods:
            return _answer_unknown(scope)
        if scope["method"] not in entrance.methods:
            return _refuse_method(entrance.methods)
        if entrance.who == "admins" and not _is_admin(scope.get("state", {}).get("signed_in")):
            return JSONResponse({"error": "this is for admins only"}, 403)
        return None


def _is_asked_by_another_site(scope: Scope) -> bool:
    """Return whether another site may have caused a GET of `/api/`. The gate has checked the other methods."""
    is_read = scope["method"] == "GET" and scope["path"].startswith("/api/")
    return is_read and not comes_from_here(HTTPConnection(scope))


def _refuse_method(allowed: Iterable[str]) -> Response:
    headers = {"Allow": ", ".join(allowed)}
    return JSONResponse({"error": "this address does not take that"}, 405, headers=headers)


def _is_admin(person: object) -> bool:
    """Return whether the person is admin of all datasets."""
    return isinstance(person, SignedIn) and person.role_on(None) == "admin"


def _refuse_parameters(scope: Scope) -> Response | None:
    """Return a 400 response if a query parameter contains a character that no text may contain, otherwise None."""
    for name, value in QueryParams(scope["query_string"]).multi_items():
        if holds_no_text(name) or holds_no_text(value):
            shown = repr(name) if holds_no_text(name) else name
            fault = say("expected text, found a character that cannot be stored")
            return _answer_message(scope, tr(say("{field}: {fault}", field=shown, fault=fault)), 400)
    return None


def _answer_unknown(scope: Scope) -> Response:
    if not wants_page(scope) or "/_stcore/" in scope["path"]:
        return JSONResponse({"error": "there is nothing at this address"}, 404)
    why = tr("The address is wrong, or the page has moved.")
    return _answer_message(scope, tr("Page not found"), 404, why, tr("Go to the first page"))


def _answer_message(scope: Scope, message: str, status: int, why: str = "", back: str = "") -> Response:
    """Return the message as a page with a link back if the client expects a page, otherwise as JSON."""
    if not wants_page(scope):
        return JSONResponse({"error": message}, status)
    body = fill_markup(
        f'<h1>$said</h1>{"<p>$why</p>" if why else ""}<p class="lead"><a href="/">$back</a></p>',
        {"said": message, "why": why, "back": back or tr("Back")},
    )
    return HTMLResponse(draw_plain_page(message, body), status)


SHOW_GRADES = {f"/{page.address}": page for page in PAGES if page.shows_grades_to is not None}


def ask_before_opening(request: HTTPConnection, person: SignedIn | None) -> Response | None:
    """Return the page that asks, or None if the request may go on.

    `person`: None for a person who will sign in first.
    """
    page = SHOW_GRADES.get(request.scope["path"])
    if page is None or request.scope["method"] != "GET" or comes_from_here(request):
        return None
    least = page.shows_grades_to or "annotator"
    if person is not None and not any(includes(held.role, least) for held in person.memberships):
        return None
    query = request.scope["query_string"].decode("latin-1")
    values = {
        "title": tr(page.title),
        "why": tr("This page can show grades, and you did not open it from a page of this server."),
        "effect": tr("After seeing others' grades of a pair, you can no longer judge it."),
        "open": tr("Open the page"),
        "address": request.scope["path"] + (f"?{query}" if query else ""),
        "back": tr("Go to the first page"),
    }
    body = fill_markup(
        '$script<h1>$title</h1><p class="lead">$why</p><p class="lead">$effect</p>'
        '<a class="provider" href="$address">$open</a><a href="/">$back</a>',
        values,
        script=f'<script src="/open-again.js?{__version__}"></script>',
    )
    return HTMLResponse(draw_plain_page(values["title"], body))


def choose_next(request: Request) -> str:
    """Return the path to open after a sign-in: `next` of the address, or "/".

    Returns "/" if a link from outside names a page that shows grades.
    """
    wanted = choose_local_path(request.query_params.get("next"))
    return wanted if urlsplit(wanted).path not in SHOW_GRADES or comes_from_here(request) else "/"
