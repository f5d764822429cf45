"""Send one request to a search endpoint and return its JSON: with retries, a rate limit, and limits of time
and size.

Requests go only to the host of the spec: redirects to another host are refused, the environment's proxies and
.netrc are not used, cookies are not kept. Retried, after a growing wait or the time in Retry-After: statuses
408, 425, 429, 500, 502, 503 and 504, time-outs and broken connections. Everything else, and the last attempt,
raises RequestFailed with a sentence that contains no secret.
"""

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from annotator.domain.errors import AnnotatorError, ValidationError
from annotator.domain.figures import show_decimals
from annotator.domain.messages import Message, say
from annotator.formats.syntax.json_text import parse_json
from annotator.importing.search_endpoint.endpoint_records import EndpointSpec, RequestLimits
from annotator.importing.search_endpoint.request_template import EndpointRequest, EndpointSecrets

if TYPE_CHECKING:
    import httpx2

RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
FOR_ALL = frozenset({401, 403, 405})  # statuses that every other query would get too
MAX_REDIRECTS = 3
STEPS = 3  # to connect, to wait for the head, to read the body: each may take timeout_seconds
FIRST_WAIT_SECONDS = 1.0
MAX_SHOWN = 160
REASONS = "error.root_cause[0].reason || error.reason || error.msg || error.message || status.error || error || message || detail"
"""Places of the error message in JSON of Elasticsearch, OpenSearch, Solr, Qdrant and common frameworks."""
DEFAULT_PORTS = {"http": 80, "https": 443}


def _expect(expected: str, found: str) -> Message:
    return say("expected {expected}, found {found}", expected=expected, found=found)


class RequestFailed(AnnotatorError):
    """A request without a usable answer.

    `for_all`: every other query would fail in the same way. `wait_seconds`: None if a retry is useless, else
    the endpoint's requested wait (0: not stated).
    """

    def __init__(self, reason: str, *, for_all: bool = False, wait_seconds: float | None = None) -> None:
        self.for_all, self.wait_seconds = for_all, wait_seconds
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class EndpointAnswer:
    """The JSON of an answer, its request's wall time in milliseconds, and the failed attempts before it."""

    value: Any
    milliseconds: float
    retries: int


class Pacer:
    """Limits the requests per second, and pauses them if the endpoint asks for it. Shared by threads."""

    def __init__(
        self, per_second: float | None, *, clock: Callable[[], float], sleep: Callable[[float], None]
    ) -> None:
        self.gap = 1 / per_second if per_second else 0.0
        self.clock, self.sleep = clock, sleep
        self.lock = threading.Lock()
        self.next_start = clock()

    def wait_turn(self) -> None:
        """Wait until the next request may start."""
        with self.lock:
            start = max(self.next_start, self.clock())
            self.next_start = start + self.gap
        while (left := start - self.clock()) > 0:
            self.sleep(left)

    def pause(self, seconds: float) -> None:
        """Allow no request for this many seconds."""
        with self.lock:
            self.next_start = max(self.next_start, self.clock() + seconds)


class EndpointClient:
    """Sends requests to one endpoint. Use as a context manager; threads may share it.

    `clock`: monotonic seconds; `sleep`: waits; `today`: the time in UTC (for Retry-After with a date).
    `transport` replaces the network in tests.
    """

    def __init__(
        self,
        spec: EndpointSpec,
        secrets: EndpointSecrets,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        today: Callable[[], datetime],
        transport: "httpx2.BaseTransport | None" = None,
    ) -> None:
        import httpx2

        from annotator.importing.search_endpoint.whole_time import WholeTime, make_transport

        self.limits: RequestLimits = spec.limits
        self.secrets = secrets
        self.clock, self.sleep, self.today = clock, sleep, today
        self.method = spec.method
        self.origin = find_origin(spec.url)
        self.pacer = Pacer(spec.limits.requests_per_second, clock=clock, sleep=sleep)
        self.was_answered = False
        self.time = WholeTime(clock)
        self.http = httpx2.Client(
            headers={"Accept": "application/json", "Accept-Encoding": "identity", **secrets.headers},
            trust_env=False,
            follow_redirects=False,
            timeout=spec.limits.timeout_seconds,
            transport=transport
            or make_transport(
                self.time,
                verify=_make_tls(spec),
                limits=httpx2.Limits(max_connections=spec.limits.concurrency),
            ),
        )

    def __enter__(self) -> "EndpointClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def ask(self, request: EndpointRequest) -> EndpointAnswer:
        """Return the answer to a request. RequestFailed after the last attempt."""
        attempts = self.limits.attempts
        for attempt in range(attempts):
            self.pacer.wait_turn()
            try:
                start = self.clock()
                value = self._send(request)
                self.was_answered = True
                return EndpointAnswer(value, (self.clock() - start) * 1000, attempt)
            except RequestFailed as failure:
                if failure.wait_seconds is None:
                    raise
                if attempt + 1 == attempts:
                    reason = failure.args[0]
                    if attempts > 1:
                        reason = say("{reason} ({attempts} attempts)", reason=reason, attempts=attempts)
                    raise RequestFailed(reason, for_all=failure.for_all) from None
                self._wait(failure, attempt)
        raise RequestFailed("no attempt was allowed")

    def _wait(self, failure: RequestFailed, attempt: int) -> None:
        """Wait before the next attempt; all threads wait if the endpoint asks for it."""
        most, wanted = self.limits.max_wait_seconds, failure.wait_seconds or 0.0
        if wanted > most:
            raise RequestFailed(
                say(
                    "{failure}, asks to wait {seconds} s, more than max_wait_seconds ({most})",
                    failure=failure.args[0],
                    seconds=show_decimals(wanted),
                    most=show_decimals(most),
                ),
                for_all=True,
            ) from None
        if wanted:
            self.pacer.pause(wanted)
        else:
            self.sleep(min(FIRST_WAIT_SECONDS * 2**attempt, most))

    def _send(self, request: EndpointRequest) -> Any:
        url, method, body = request.url, self.method, request.body
        for _ in range(MAX_REDIRECTS + 1):
            with self._open(method, url, body) as response:
                if response.status_code in (301, 302, 303, 307, 308):
                    url = self._follow(response, url, method)
                    continue
                data = self._read(response)
                self._check_status(response, data)
                return self._parse(response.headers, data)
        raise RequestFailed(say("more than {n} redirects", n=MAX_REDIRECTS), for_all=True)

    @contextmanager
    def _open(self, method: str, url: str, body: bytes | None) -> "Iterator[httpx2.Response]":
        """Send a request and yield the response with its body unread. Library errors become RequestFailed."""
        import httpx2

        headers = {} if body is None else {"Content-Type": "application/json"}
        seconds = show_decimals(self.limits.timeout_seconds)
        try:
            self._check_host(url)
            self.http.cookies.clear()
            self.time.begin(STEPS * self.limits.timeout_seconds)
            with self.http.stream(method, url, content=body, headers=headers) as response:
                yield response
        except httpx2.ConnectTimeout:
            raise RequestFailed(
                say("no connection within {seconds} s", seconds=seconds), wait_seconds=0
            ) from None
        except httpx2.TimeoutException:
            raise RequestFailed(
                say("no answer within {seconds} s", seconds=seconds), wait_seconds=0
            ) from None
        except httpx2.ConnectError as error:
            raise self._explain_connection(error) from None
        except httpx2.InvalidURL:
            raise RequestFailed(say("the address is too long, or none, once the query is in it")) from None
        except httpx2.HTTPError as error:
            # the library's own words are not shown: they may repeat what was sent
            raise RequestFailed(
                say("the connection broke ({error})", error=type(error).__name__), wait_seconds=0
            ) from None

    def _check_host(self, url: str) -> None:
        """Refuse an address that the library would send to another host than the spec's, in any spelling."""
        import httpx2

        parsed = httpx2.URL(url)
        port = parsed.port or DEFAULT_PORTS.get(parsed.scheme)
        if (parsed.scheme, parsed.host.lower(), port) != self.origin:
            raise RequestFailed(say("the address leads to another host than the spec names"), for_all=True)

    def _explain_connection(self, error: Exception) -> RequestFailed:
        host = self.origin[1]
        for cause in _list_causes(error):
            if isinstance(cause, ssl.SSLCertVerificationError):
                return RequestFailed(
                    say(
                        "TLS: the certificate of {host} is not trusted ({error}); ca_file names a certificate to trust",
                        host=host,
                        error=cause.verify_message,
                    ),
                    for_all=True,
                )
            if isinstance(cause, ssl.SSLError):
                reason = (cause.reason or "unknown reason").lower().replace("_", " ")
                message = (
                    say(
                        "TLS: no secure connection to {host} ({error}); does it speak http?",
                        host=host,
                        error=reason,
                    )
                    if cause.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST")
                    else say("TLS: no secure connection to {host} ({error})", host=host, error=reason)
                )
                return RequestFailed(message, for_all=True)
        text = "".join(str(cause) for cause in _list_causes(error)).lower()
        if "name or service not known" in text or "name resolution" in text or "getaddrinfo" in text:
            return RequestFailed(say("there is no host {host}", host=host), for_all=True)
        return RequestFailed(
            say("no connection to {host}", host=f"{host}:{self.origin[2]}"),
            for_all=not self.was_answered,
            wait_seconds=0,
        )

    def _follow(self, response: "httpx2.Response", url: str, method: str) -> str:
        """Return the address of a redirect. It must have the same host and keep the method."""
        try:
            target = urljoin(url, response.headers.get("location", ""))
            origin = find_origin(target)
        except (ValidationError, ValueError):
            raise RequestFailed(
                say("a redirect (HTTP {status}) to no address", status=response.status_code), for_all=True
            ) from None
        if origin != self.origin or "@" in urlsplit(target).netloc:
            scheme, host, port = origin
            raise RequestFailed(
                say(
                    "a redirect to {host}: refused, the spec names {own}",
                    host=self.secrets.mask(f"{scheme}://{host}:{port}"),
                    own=f"{self.origin[0]}://{self.origin[1]}:{self.origin[2]}",
                ),
                for_all=True,
            )
        if method != "GET" and response.status_code not in (307, 308):
            raise RequestFailed(
                say(
                    "a redirect (HTTP {status}) that would turn {method} into GET: name the final address in the spec",
                    status=response.status_code,
                    method=method,
                ),
                for_all=True,
            )
        return target

    def _read(self, response: "httpx2.Response") -> bytes:
        most, deadline = self.limits.max_megabytes * 1_000_000, self.clock() + self.limits.timeout_seconds
        pieces, size = [], 0
        for piece in response.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise RequestFailed(
                    say(
                        "more than {megabytes} MB (max_megabytes), HTTP {status}",
                        megabytes=str(self.limits.max_megabytes),
                        status=response.status_code,
                    )
                )
            if self.clock() > deadline:
                seconds = show_decimals(self.limits.timeout_seconds)
                raise RequestFailed(
                    say("no whole answer within {seconds} s", seconds=seconds), wait_seconds=0
                )
        return b"".join(pieces)

    def _check_status(self, response: "httpx2.Response", data: bytes) -> None:
        status = response.status_code
        if 200 <= status < 300:
            return
        words = self._find_reason(data)
        reason = f"HTTP {status}" + (f": {words}" if words else "")
        wait = self._read_retry_after(response.headers) if status in RETRIED else None
        raise RequestFailed(reason, for_all=status in FOR_ALL, wait_seconds=wait)

    def _read_retry_after(self, headers: Mapping[str, str]) -> float:
        """Return the seconds to wait; 0 if the header is missing or unreadable."""
        text = headers.get("retry-after", "").strip()
        if text.isdigit() and text.isascii():
            return float(text[:9])
        try:
            moment = parsedate_to_datetime(text)
        except ValueError:
            return 0.0
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - self.today()).total_seconds())

    def _parse(self, headers: Mapping[str, str], data: bytes) -> Any:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        text = data.decode("utf-8", errors="replace")
        if kind in ("text/html", "application/xhtml+xml") or text.lstrip()[:1] == "<":
            raise RequestFailed(_expect("JSON", say("HTML or XML: {text}", text=self._shorten(data))))
        if not text.strip():
            raise RequestFailed(_expect("JSON", say("an empty answer")))
        if self.secrets.is_repeated_in(text):
            raise RequestFailed(
                say("the answer repeats a secret of the request, so it is not stored"), for_all=True
            )
        if "\ufffd" in text and b"\xef\xbf\xbd" not in data:
            raise RequestFailed(_expect(say("JSON in UTF-8"), say("other bytes")))
        try:
            return parse_json(text.removeprefix("\ufeff"))
        except json.JSONDecodeError as error:
            raise RequestFailed(
                _expect("JSON", f"{error.msg} at character {error.pos + 1}: {self._shorten(data)}")
            ) from None
        except ValueError as error:
            raise RequestFailed(_expect(error.args[0], say("something else"))) from None

    def _find_reason(self, data: bytes) -> str:
        """Return the error sentence of common engines, or else the beginning of the body."""
        import jmespath

        try:
            reason = jmespath.search(REASONS, parse_json(data.decode("utf-8")))
        except ValueError:  # no JSON, or JSON in which the expression does not fit
            reason = None
        return self._shorten(reason.encode() if isinstance(reason, str) and reason else data)

    def _shorten(self, data: bytes) -> str:
        """Return the beginning of a body on one line, without secrets."""
        text = self.secrets.mask(data[:20_000].decode("utf-8", errors="replace"))
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return line if len(line) <= MAX_SHOWN else line[: MAX_SHOWN - 1] + "…"


def find_origin(url: str) -> tuple[str, str, int]:
    """Return the scheme, the host in lower case and the port of an address. ValidationError if it is not http or https."""
    try:
        parts = urlsplit(url)
        if parts.scheme in DEFAULT_PORTS and parts.hostname:
            return parts.scheme, parts.hostname.lower(), parts.port or DEFAULT_PORTS[parts.scheme]
    except ValueError:
        pass
    raise ValidationError("expected an address with http:// or https://, found another")


def _make_tls(spec: EndpointSpec) -> ssl.SSLContext:
    """Return the trusted certificates: the system's and those of `ca_file`."""
    context = ssl.create_default_context()
    if spec.ca_file is not None:
        try:
            context.load_verify_locations(spec.ca_file)
        except (OSError, ssl.SSLError):
            raise ValidationError(
                f"{spec.path}: ca_file: expected a file of certificates (PEM), found {spec.ca_file!r}, which cannot be read as such"
            ) from None
    return context


def _list_causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
