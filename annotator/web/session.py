"""The session cookie, the origin of a request, and the JSON object in its body.

Refuses requests that another site causes (`require_same_origin`), and redirects to other sites. The cookie
holds only a random token; the database finds its person on every request. Browsers share cookies between all
ports of a host, so cookie names contain the port: two servers on one host do not end each other's sessions.
"""

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from annotator.domain.errors import NotAllowed, ValidationError
from annotator.domain.people import DEVICE_LIFETIME, SignedIn
from annotator.domain.texts import clean_text, holds_no_text
from annotator.people.sign_in_service import HALF_LIFETIME
from annotator.people.single_sign_on.service import REQUEST_LIFETIME
from annotator.settings import Settings
from annotator.web.kit.messages import find_language, use_language

COOKIE = "annotator_session"
DEVICE_COOKIE = "annotator_device"
BEGUN_COOKIE = "annotator_sign_in"
HALF_COOKIE = "annotator_half_sign_in"
PORT = re.compile(r":([0-9]{1,5})$")
ORIGIN = re.compile(r"https?://[^/?#@\\\s]+", re.IGNORECASE)
FROM_ELSEWHERE = "this request came from another site"
DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def find_signed_in(request: HTTPConnection) -> SignedIn | None:
    """Return the signed-in person of this request, found by the gate, or None."""
    person = request.scope.get("state", {}).get("signed_in")
    return person if isinstance(person, SignedIn) else None


def use_language_of(request: HTTPConnection) -> None:
    """Use the language of the request's sender until the request is answered."""
    use_language(find_language(find_signed_in(request), request.headers.get("accept-language", "")))


def require_signed_in(request: HTTPConnection) -> SignedIn:
    """Return the signed-in person of this request, found by the gate. Raises NotAllowed without one."""
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

    Browsers send Sec-Fetch-Site, but over plain http only for localhost. Otherwise they send Origin, but not
    for a GET; then only Referer remains. Another site can omit its Referer, but cannot send ours. So a GET
    without all three headers is refused, even a typed URL over plain http. Other methods without all three do
    not come from a browser. (Based on Go's net/http CrossOriginProtection, which allows every GET.)

    A link that a person wrote into a document, guideline or note is on our page, but is not ours. Such links
    have rel="noreferrer", our own links have not. So opening a page or file also needs our Referer.
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

    A browser sends Origin on every handshake, so a handshake without it is refused; other programs can use
    the REST routes. Unlike cookies, this check includes the port.
    """
    site, origin = handshake.headers.get("sec-fetch-site"), handshake.headers.get("origin")
    if site not in (None, "same-origin") or origin is None or not is_own_origin(handshake, origin):
        raise NotAllowed("this websocket was not opened by a page of this server")


def is_own_origin(connection: HTTPConnection, origin: str) -> bool:
    """Return whether the origin equals the requested one: scheme, host and port.

    The scheme is the browser's (the gate sets it behind an https proxy); host and port come from the Host
    header, which a proxy passes on.
    """
    scheme = "https" if connection.scope["scheme"] in ("https", "wss") else "http"
    addressed = _without_default_port(f"{scheme}://{connection.headers.get('host', '')}".lower())
    return ORIGIN.fullmatch(origin) is not None and _without_default_port(origin.lower()) == addressed


def _without_default_port(origin: str) -> str:
    scheme = origin.partition(":")[0]
    return origin.removesuffix(DEFAULT_PORTS.get(scheme, ""))


def is_https(request: HTTPConnection, settings: Settings) -> bool:
    """Return whether the browser uses https, directly or by the proxy in the settings."""
    return settings.secure_cookie or request.scope["scheme"] in ("https", "wss")


def find_own_address(request: HTTPConnection, settings: Settings) -> str:
    """Return "scheme://host" as the browser addresses this server."""
    scheme = "https" if is_https(request, settings) else "http"
    return f"{scheme}://{request.headers.get('host', '')}"


def find_client_address(request: HTTPConnection) -> str:
    """Return the IP address of the browser, or of the last proxy that is not trusted; "" if unknown."""
    return request.client.host if request.client else ""


def name_cookie(name: str, host: str) -> str:
    """Return the cookie's name for this Host header, with its port.

    Without a port in it (behind a proxy on 80 or 443) it is the plain name.
    """
    port = PORT.search(host)
    return f"{name}_{port[1]}" if port else name


def read_cookie(cookies: Mapping[str, str], name: str, host: str) -> str | None:
    """Return the cookie's value for this Host header, or None.

    Also reads the plain name, so sessions from before the port was in the name stay valid.
    """
    return cookies.get(name_cookie(name, host)) or cookies.get(name)


def find_token(request: HTTPConnection) -> str | None:
    """Return the browser's session token, or None."""
    return read_cookie(request.cookies, COOKIE, request.headers.get("host", ""))


def list_tokens(request: HTTPConnection) -> list[str]:
    """Return all session tokens that the browser sends for this host: under the name with port and the plain name."""
    names = dict.fromkeys((name_cookie(COOKIE, request.headers.get("host", "")), COOKIE))
    return [request.cookies[name] for name in names if request.cookies.get(name)]


def find_device(request: HTTPConnection) -> str | None:
    """Return the token by which the sign-in form recognizes the browser, or None."""
    return read_cookie(request.cookies, DEVICE_COOKIE, request.headers.get("host", ""))


def set_cookie(response: Response, token: str, request: HTTPConnection, settings: Settings) -> None:
    """Set the session cookie, hidden from scripts and other sites' requests."""
    lifetime = settings.sign_in_terms.lifetime
    _set(response, COOKIE, token, request, settings, lifetime=lifetime, path="/")


def set_device_cookie(response: Response, token: str, request: HTTPConnection, settings: Settings) -> None:
    """Let the sign-in form recognize this browser. The token alone opens nothing, and only the form receives it."""
    _set(response, DEVICE_COOKIE, token, request, settings, lifetime=DEVICE_LIFETIME, path="/login")


def find_begun(request: HTTPConnection) -> str | None:
    """Return the token of the browser's unfinished sign-in at the provider, or None."""
    return request.cookies.get(name_cookie(BEGUN_COOKIE, request.headers.get("host", "")))


def set_begun_cookie(response: Response, token: str, request: HTTPConnection, settings: Settings) -> None:
    """Allow only the browser that begins a sign-in at the provider to finish it. "" removes the cookie.

    Lax, not Strict, because the provider's page redirects back here.
    """
    _set(response, BEGUN_COOKIE, token, request, settings, lifetime=REQUEST_LIFETIME, path="/oidc/")


def find_half(request: HTTPConnection) -> str | None:
    """Return the token of this browser's sign-in that waits for the second factor, or None."""
    return request.cookies.get(name_cookie(HALF_COOKIE, request.headers.get("host", "")))


def set_half_cookie(response: Response, token: str, request: HTTPConnection, settings: Settings) -> None:
    """Set the cookie that lets this browser continue with the second factor. "" removes it."""
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
    """Set a cookie that scripts and other sites' requests do not get. "" removes the cookie."""
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
    """Remove the session cookie that the browser sent."""
    secure = is_https(request, settings)
    name = name_cookie(COOKIE, request.headers.get("host", ""))
    if name not in request.cookies:
        name = COOKIE  # from before the port was in the name
    response.delete_cookie(name, path="/", httponly=True, samesite="lax", secure=secure)


def choose_local_path(wanted: str | None) -> str:
    """Return the next path after sign-in: `wanted` if it is a path of this site, else "/"."""
    if not wanted or not re.fullmatch(r"/(?![/\\])[!-~]*", wanted) or "\\" in wanted:
        return "/"
    path = urlsplit(wanted).path
    closed = path in ("/login", "/logout") or path.startswith(("/api/", "/_stcore/", "/oidc/", "/login/"))
    return "/" if closed else wanted


MOST_BYTES = 100_000


async def read_json_object(request: Request, *, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """Return the posted object."""
    content_type = request.headers.get("content-type", "")
    if content_type.split(";")[0].strip().lower() != "application/json":
        raise ValidationError(f"expected the content type application/json, found {content_type!r:.80}")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > most_bytes:
            raise ValidationError(f"expected at most {most_bytes:,} bytes")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise ValidationError("expected a JSON object") from None
    if not isinstance(value, dict):
        raise ValidationError(f"expected a JSON object, found {type(value).__name__}")
    return value


def require_text(body: dict[str, Any], key: str) -> str:
    """Return the text under this key.

    Raises ValidationError for any other value and for characters that text cannot hold.
    """
    text = body.get(key)
    if not isinstance(text, str) or holds_no_text(text):
        raise ValidationError(f"{key}: expected a text, found {text!r:.80}")
    return text


def require_words(body: dict[str, Any], key: str) -> str:
    """Return what a person typed under this key, cleaned. Raises ValidationError for anything but text."""
    words = body.get(key)
    if not isinstance(words, str):
        raise ValidationError(f"{key}: expected a text, found {words!r:.80}")
    return clean_text(words)
