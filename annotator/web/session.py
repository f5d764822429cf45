"""The session cookie, and who a request comes from.

Refuses what another site makes a browser send (`require_same_origin`), and redirects that lead elsewhere.
The cookie holds a random token and nothing else; who that is, the database says on every request. Browsers keep one set
of cookies for all ports of a host, so the names of the cookies hold the port that the browser addressed: two servers on
one host do not sign each other's people out.
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.responses import Response

from annotator.domain.errors import NotAllowed
from annotator.domain.people import DEVICE_LIFETIME, SignedIn
from annotator.people.sign_in_service import HALF_LIFETIME
from annotator.people.single_sign_on.service import REQUEST_LIFETIME
from annotator.settings import Settings

COOKIE = "annotator_session"
DEVICE_COOKIE = "annotator_device"
BEGUN_COOKIE = "annotator_sign_in"
HALF_COOKIE = "annotator_half_sign_in"
PORT = re.compile(r":([0-9]{1,5})$")
ORIGIN = re.compile(r"https?://[^/?#@\\\s]+", re.IGNORECASE)
FROM_ELSEWHERE = "this request came from another site"
DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def find_signed_in(request: HTTPConnection) -> SignedIn | None:
    """Return the person whom the gate found for this request, if any."""
    person = request.scope.get("state", {}).get("signed_in")
    return person if isinstance(person, SignedIn) else None


def require_signed_in(request: HTTPConnection) -> SignedIn:
    """Return the person whom the gate found for this request. Raises NotAllowed if there is none."""
    person = find_signed_in(request)
    if person is None:
        raise NotAllowed("sign in first")
    return person


def require_same_origin(request: HTTPConnection) -> None:
    """Raise NotAllowed unless a page of this server, or the person themselves, caused this request."""
    if not comes_from_here(request):
        raise NotAllowed(FROM_ELSEWHERE)


def comes_from_here(request: HTTPConnection) -> bool:
    """Return whether a page of this server, or the person themselves, caused this request.

    Browsers name the site in Sec-Fetch-Site, but over plain http only for localhost. Otherwise they name the page's
    origin in Origin, but not for a GET; then only the Referer shows it. Another site can leave out its own Referer,
    but cannot send ours. So a GET with none of the three is refused: a typed address over plain http, too. Other
    methods with none of the three do not come from a browser. (The rule of Go's net/http CrossOriginProtection,
    which lets every GET pass.)

    A link that somebody wrote into a document, guideline or note stands on a page of ours, but did not come from us. Such
    links have rel="noreferrer" and our own have not. So opening a page or file needs our Referer too.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    is_read = request.scope.get("method") in ("GET", "HEAD")
    is_opened = is_read and request.headers.get("sec-fetch-mode") == "navigate"
    if site is not None and not (site == "same-origin" and is_opened):
        return site in ("same-origin", "none")
    if origin is not None:
        return is_own_origin(request, origin)
    if not is_read:
        return True
    scheme_and_host = request.headers.get("referer", "").split("/")[:3]
    return is_own_origin(request, "/".join(scheme_and_host))


def require_own_page(handshake: HTTPConnection) -> None:
    """Raise NotAllowed unless a page of our own origin opens this websocket.

    A browser names the page's origin on every handshake, so one without an Origin is refused too: no page sends
    it, and whoever else has a cookie can use the REST routes. Cookies ignore ports, this does not.
    """
    site, origin = handshake.headers.get("sec-fetch-site"), handshake.headers.get("origin")
    if site not in (None, "same-origin") or origin is None or not is_own_origin(handshake, origin):
        raise NotAllowed("this websocket was not opened by a page of this server")


def is_own_origin(connection: HTTPConnection, origin: str) -> bool:
    """Return whether it is the origin that was addressed: scheme, host and port are equal.

    The scheme is the one the browser speaks (the gate sets it where a proxy ends https); host and port are those
    of the Host header, which a proxy passes on.
    """
    scheme = "https" if connection.scope["scheme"] in ("https", "wss") else "http"
    addressed = _without_default_port(f"{scheme}://{connection.headers.get('host', '')}".lower())
    return ORIGIN.fullmatch(origin) is not None and _without_default_port(origin.lower()) == addressed


def _without_default_port(origin: str) -> str:
    scheme = origin.partition(":")[0]
    return origin.removesuffix(DEFAULT_PORTS.get(scheme, ""))


def is_https(request: HTTPConnection, settings: Settings) -> bool:
    """Return whether the browser speaks https to us, by what we see or by what the settings say of our proxy."""
    return settings.secure_cookie or request.scope["scheme"] in ("https", "wss")


def find_own_address(request: HTTPConnection, settings: Settings) -> str:
    """Return scheme and host by which the browser addresses this server."""
    scheme = "https" if is_https(request, settings) else "http"
    return f"{scheme}://{request.headers.get('host', '')}"


def name_cookie(name: str, host: str) -> str:
    """Return the cookie's name at this Host header: with the port, which browsers and proxies pass on.

    Without a port in it (behind a proxy on 80 or 443) it is the plain name.
    """
    port = PORT.search(host)
    return f"{name}_{port[1]}" if port else name


def read_cookie(cookies: Mapping[str, str], name: str, host: str) -> str | None:
    """Return the cookie's value at this Host header, if any.

    The plain name counts too: whoever signed in before names held the port stays signed in.
    """
    return cookies.get(name_cookie(name, host)) or cookies.get(name)


def find_token(request: HTTPConnection) -> str | None:
    """Return the token of the session that the browser sends, if any."""
    return read_cookie(request.cookies, COOKIE, request.headers.get("host", ""))


def list_tokens(request: HTTPConnection) -> list[str]:
    """Return every session's token that the browser sends for this host: under today's name and under the plain one."""
    names = dict.fromkeys((name_cookie(COOKIE, request.headers.get("host", "")), COOKIE))
    return [request.cookies[name] for name in names if request.cookies.get(name)]


def find_device(request: HTTPConnection) -> str | None:
    """Return the token by which the sign-in form knows the browser, if any."""
    return read_cookie(request.cookies, DEVICE_COOKIE, request.headers.get("host", ""))


def set_cookie(response: Response, token: str, request: HTTPConnection, settings: Settings) -> None:
    """Hand the session's token to the browser: not to scripts, not to other sites' requests."""
    lifetime = timedelta(hours=settings.session_hours)
    _set(response, COOKIE, token, request, settings, lifetime=lifetime, path="/")


def set_device_cookie(response: Response, token: str, request: HTTPConnection, settings: Settings) -> None:
    """Let the sign-in form know this browser again. The token opens nothing by itself, and goes to the form only."""
    _set(response, DEVICE_COOKIE, token, request, settings, lifetime=DEVICE_LIFETIME, path="/login")


def find_begun(request: HTTPConnection) -> str | None:
    """Return the token of the sign-in at the provider that the browser has begun, if any."""
    return request.cookies.get(name_cookie(BEGUN_COOKIE, request.headers.get("host", "")))


def set_begun_cookie(response: Response, token: str, request: HTTPConnection, settings: Settings) -> None:
    """Let the browser that begins a sign-in at the provider be the only one that can finish it. "" takes the cookie away.

    Lax, not Strict: the provider's page leads back here.
    """
    _set(response, BEGUN_COOKIE, token, request, settings, lifetime=REQUEST_LIFETIME, path="/oidc/")


def find_half(request: HTTPConnection) -> str | None:
    """Return the token of the sign-in that waits for the second factor in this browser, if any."""
    return request.cookies.get(name_cookie(HALF_COOKIE, request.headers.get("host", "")))


def set_half_cookie(response: Response, token: str, request: HTTPConnection, settings: Settings) -> None:
    """Let this browser go on with the second factor. "" takes the cookie away."""
    _set(response, HALF_COOKIE, token, request, settings, lifetime=HALF_LIFETIME, path="/login")


def _set(
    response: Response,
    name: str,
    token: str,
    request: HTTPConnection,
    settings: Settings,
    *,
    lifetime: timedelta,
    path: str,
) -> None:
    """Give the browser a cookie that scripts and other sites' requests do not get. "" takes the cookie away."""
    response.set_cookie(
        name_cookie(name, request.headers.get("host", "")),
        token,
        max_age=int(lifetime.total_seconds()) if token else 0,
        path=path,
        httponly=True,
        samesite="lax",
        secure=is_https(request, settings),
    )


def clear_cookie(response: Response, request: HTTPConnection, settings: Settings) -> None:
    """Make the browser forget the token that it sent."""
    secure = is_https(request, settings)
    name = name_cookie(COOKIE, request.headers.get("host", ""))
    if name not in request.cookies:
        name = COOKIE  # from before names held the port
    response.delete_cookie(name, path="/", httponly=True, samesite="lax", secure=secure)


def choose_local_path(wanted: str | None) -> str:
    """Return where to go after signing in: `wanted` if it is a path of this site, else "/"."""
    if not wanted or not re.fullmatch(r"/(?![/\\])[!-~]*", wanted) or "\\" in wanted:
        return "/"
    path = urlsplit(wanted).path
    closed = path in ("/login", "/logout") or path.startswith(("/api/", "/_stcore/", "/oidc/", "/login/"))
    return "/" if closed else wanted
