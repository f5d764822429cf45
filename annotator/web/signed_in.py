"""The session cookie, and who a request comes from.

Refuses what another site makes a browser send (`require_same_origin`), and redirects that lead elsewhere.
The cookie holds a random token and nothing else; who that is, the database says on every request.
"""

import re
from datetime import timedelta
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.responses import Response

from annotator.domain.accounts import SignedIn
from annotator.domain.errors import NotAllowed
from annotator.settings import Settings

COOKIE = "annotator_session"


def find_signed_in(request: HTTPConnection) -> SignedIn | None:
    """The person whom the gate found for this request, if any."""
    found = request.scope.get("state", {}).get("signed_in")
    return found if isinstance(found, SignedIn) else None


def require_signed_in(request: HTTPConnection) -> SignedIn:
    """The person whom the gate found for this request; NotAllowed when there is none."""
    found = find_signed_in(request)
    if found is None:
        raise NotAllowed("sign in first")
    return found


def require_same_origin(request: HTTPConnection) -> None:
    """NotAllowed when a page of another origin made the browser send this.

    Browsers say so themselves: in Sec-Fetch-Site, or (over plain http) by an Origin whose host is not the
    one addressed. A request with neither header does not come from a browser, and carries no cookie but
    its sender's own. (The rule of Go's net/http CrossOriginProtection.)
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        allowed = site in ("same-origin", "none")
    else:
        origin = request.headers.get("origin")
        allowed = origin is None or _host_of(origin) == request.headers.get("host", "-").lower()
    if not allowed:
        raise NotAllowed("this request came from another site")


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def is_https(request: HTTPConnection, settings: Settings) -> bool:
    """Whether the browser speaks https to us, by what we see or by what the settings say of our proxy."""
    return settings.secure_cookie or request.url.scheme in ("https", "wss")


def set_cookie(response: Response, token: str, request: HTTPConnection, settings: Settings) -> None:
    """Hand the session's token to the browser: not to scripts, not to other sites' requests."""
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(timedelta(hours=settings.session_hours).total_seconds()),
        path="/",
        httponly=True,
        samesite="lax",
        secure=is_https(request, settings),
    )


def clear_cookie(response: Response, request: HTTPConnection, settings: Settings) -> None:
    """Make the browser forget the token."""
    secure = is_https(request, settings)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax", secure=secure)


def choose_local_path(wanted: str | None) -> str:
    """Where to go after signing in: `wanted` when it is a path of this site, else "/"."""
    if not wanted or not re.fullmatch(r"/(?![/\\])[!-~]*", wanted) or "\\" in wanted:
        return "/"
    path = urlsplit(wanted).path
    closed = path in ("/login", "/logout") or path.startswith(("/api/", "/_stcore/"))
    return "/" if closed else wanted
