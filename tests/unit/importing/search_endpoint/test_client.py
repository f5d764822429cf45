"""Requests to a search endpoint with a clock that only moves when somebody waits: retries, pauses, bounds, redirects, secrets."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import httpx2
import pytest

from annotator.importing.search_endpoint.client import EndpointAnswer, EndpointClient, Pacer, RequestFailed
from annotator.importing.search_endpoint.endpoint_records import AnswerPaths, EndpointSpec, RequestLimits
from annotator.importing.search_endpoint.request_template import EndpointRequest, take_secrets

SECRET = "hunter22-hunter22"
SPEC = EndpointSpec(
    "s.yaml",
    "http://h:9200/s?q={query}",
    "GET",
    AnswerPaths("r", "id"),
    headers={"Authorization": "Bearer ${TOKEN}"},
    limits=RequestLimits(attempts=3),
)
Handler = Callable[[httpx2.Request], httpx2.Response]


class Clock:
    """Seconds that pass only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds

    def __call__(self) -> float:
        return self.now


def ask(
    handler: Handler,
    clock: Clock | None = None,
    spec: EndpointSpec = SPEC,
    url: str = "http://h:9200/s?q=x",
) -> EndpointAnswer:
    clock = clock or Clock()
    client = EndpointClient(
        spec,
        take_secrets(spec, {"TOKEN": SECRET}),
        clock=clock,
        sleep=clock.sleep,
        today=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        transport=httpx2.MockTransport(handler),
    )
    body = b"{}" if spec.method == "POST" else None
    with client:
        return client.ask(EndpointRequest(url, body))


def fail(handler: Handler, clock: Clock | None = None, spec: EndpointSpec = SPEC) -> RequestFailed:
    with pytest.raises(RequestFailed) as caught:
        ask(handler, clock, spec)
    assert SECRET not in str(caught.value)
    return caught.value


def answer_in_turn(*responses: httpx2.Response) -> Handler:
    left = iter(responses)
    return lambda request: next(left)


def test_the_secret_is_sent_and_the_time_of_the_answer_is_measured() -> None:
    clock, sent = Clock(), []

    def handle(request: httpx2.Request) -> httpx2.Response:
        sent.append(request.headers["authorization"])
        clock.now += 0.25
        return httpx2.Response(200, json={"r": []})

    assert ask(handle, clock) == EndpointAnswer({"r": []}, 250.0, 0)
    assert sent == [f"Bearer {SECRET}"]


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_an_overloaded_endpoint_is_asked_again_after_a_growing_wait(status: int) -> None:
    clock = Clock()
    answers = answer_in_turn(httpx2.Response(status), httpx2.Response(status), httpx2.Response(200, json=1))
    assert ask(answers, clock).retries == 2
    assert clock.slept == [1.0, 2.0]


@pytest.mark.parametrize(
    ("header", "waited"),
    [
        ("7", 7.0),
        ("Fri, 02 Jan 2026 03:04:25 GMT", 20.0),
        ("Fri, 02 Jan 2026 03:00:00 GMT", 1.0),
        ("soon", 1.0),
    ],
)
def test_the_wait_is_what_retry_after_says(header: str, waited: float) -> None:
    clock = Clock()
    refusal = httpx2.Response(429, headers={"Retry-After": header})
    ask(answer_in_turn(refusal, httpx2.Response(200, json=1)), clock)
    assert clock.slept == [waited]


def test_an_endpoint_that_asks_to_wait_too_long_is_left_alone() -> None:
    clock = Clock()
    failure = fail(lambda _: httpx2.Response(503, headers={"Retry-After": "3600"}), clock)
    assert "asks to wait 3,600 s, more than max_wait_seconds (60)" in str(failure)
    assert failure.for_all
    assert clock.slept == []


def test_the_last_attempt_says_how_many_there_were() -> None:
    clock = Clock()
    failure = fail(lambda _: httpx2.Response(500, text="out of\nmemory"), clock)
    assert str(failure) == "HTTP 500: out of memory (3 attempts)"
    assert clock.slept == [1.0, 2.0]
    assert not failure.for_all


@pytest.mark.parametrize(("status", "for_all"), [(400, False), (404, False), (401, True), (403, True)])
def test_a_refusal_is_not_asked_again(status: int, for_all: bool) -> None:
    requests = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(status, text=f"no, {request.headers['authorization']}")

    failure = fail(handle)
    assert str(failure) == f"HTTP {status}: no, Bearer ***"
    assert (len(requests), failure.for_all) == (1, for_all)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            {"error": {"root_cause": [{"reason": "no such index [x]"}], "reason": "all"}, "status": 404},
            "no such index [x]",
        ),
        (
            {"responseHeader": {"status": 400}, "error": {"msg": "undefined field y", "code": 400}},
            "undefined field y",
        ),
        (
            {"status": {"error": "Wrong input: vector dimension"}, "time": 0.1},
            "Wrong input: vector dimension",
        ),
        ({"ok": False, "rows": [], "error": "fts5: syntax error"}, "fts5: syntax error"),
        ({"detail": [{"loc": 1}]}, '{"detail":[{"loc":1}]}'),
        (["x"], '["x"]'),
    ],
)
def test_what_an_engine_says_is_wrong_is_shown(body: object, words: str) -> None:
    assert str(fail(lambda _: httpx2.Response(400, json=body))) == f"HTTP 400: {words}"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (httpx2.ReadTimeout(SECRET), "no answer within 30 s (3 attempts)"),
        (httpx2.ConnectTimeout(SECRET), "no connection within 30 s (3 attempts)"),
        (httpx2.ReadError(SECRET), "the connection broke (ReadError) (3 attempts)"),
        (httpx2.RemoteProtocolError(SECRET), "the connection broke (RemoteProtocolError) (3 attempts)"),
        (httpx2.ConnectError("[Errno 111] Connection refused"), "no connection to h:9200 (3 attempts)"),
        (httpx2.ConnectError("[Errno -2] Name or service not known"), "there is no host h"),
    ],
)
def test_a_broken_connection_is_told_in_our_words(error: Exception, message: str) -> None:
    def handle(request: httpx2.Request) -> httpx2.Response:
        raise error

    assert str(fail(handle)) == message


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (httpx2.Response(200, html="<h1>Sign in</h1>"), "expected JSON, found HTML or XML: <h1>Sign in</h1>"),
        (httpx2.Response(200, text=" <?xml version='1.0'?>"), "expected JSON, found HTML or XML"),
        (httpx2.Response(200, content=b""), "expected JSON, found an empty answer"),
        (httpx2.Response(200, text='{"r": ['), "expected JSON, found Expecting value at character 8"),
        (httpx2.Response(200, text='{"r": NaN}'), "expected JSON"),
        (httpx2.Response(200, text='{"r": 1, "r": 2}'), "expected"),
        (httpx2.Response(200, content=b'{"r": "\xe9"}'), "expected JSON in UTF-8, found other bytes"),
        (httpx2.Response(200, text=f'{{"echo": "{SECRET}"}}'), "the answer repeats a secret of the request"),
    ],
)
def test_what_is_no_json_is_refused(response: httpx2.Response, message: str) -> None:
    assert str(fail(lambda _: response)).startswith(message)


def test_a_redirect_on_the_same_host_is_followed() -> None:
    urls = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        urls.append(str(request.url))
        moved = httpx2.Response(301, headers={"Location": "/t?q=x"})
        return moved if len(urls) == 1 else httpx2.Response(200, json=1)

    assert ask(handle).value == 1
    assert urls == ["http://h:9200/s?q=x", "http://h:9200/t?q=x"]


@pytest.mark.parametrize(
    "target",
    [
        "http://evil:9200/s",
        "https://h:9200/s",
        "http://h/s",
        "//evil/s",
        "http://h:9200@evil/s",
        "http://evil\\@h:9200/",
    ],
)
def test_a_redirect_to_another_host_is_refused_and_not_followed(target: str) -> None:
    urls = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        urls.append(str(request.url))
        return httpx2.Response(307, headers={"Location": target})

    failure = fail(handle)
    assert failure.for_all
    assert urls == ["http://h:9200/s?q=x"]


@pytest.mark.parametrize("url", ["http://evil/s", "https://h:9200/s", "http://h:9201/s"])
def test_an_address_of_another_host_is_never_sent_however_it_came_about(url: str) -> None:
    sent = []
    with pytest.raises(RequestFailed, match="leads to another host than the spec names"):
        ask(lambda request: sent.append(request) or httpx2.Response(200, json=1), url=url)
    assert sent == []


def test_a_redirect_to_what_is_no_address_is_refused_in_words() -> None:
    assert "a redirect (HTTP 302) to no address" in str(
        fail(lambda _: httpx2.Response(302, headers={"Location": "http://["}))
    )


def test_a_redirect_that_never_ends_is_given_up() -> None:
    assert str(fail(lambda _: httpx2.Response(302, headers={"Location": "/s"}))) == "more than 3 redirects"


def test_a_post_is_not_turned_into_a_get() -> None:
    post = replace(SPEC, method="POST", body={"q": "{query}"})
    failure = fail(lambda _: httpx2.Response(302, headers={"Location": "/t"}), spec=post)
    assert "would turn POST into GET: name the final address in the spec" in str(failure)


def test_an_answer_may_not_be_larger_than_the_spec_allows() -> None:
    small = replace(SPEC, limits=RequestLimits(max_megabytes=1))
    answer = httpx2.Response(200, content=b'"' + b"x" * 1_000_000 + b'"')
    assert str(fail(lambda _: answer, spec=small)) == "more than 1 MB (max_megabytes), HTTP 200"


def test_an_answer_that_drips_is_given_up_after_the_time_out() -> None:
    clock = Clock()

    class Drip(httpx2.SyncByteStream):
        def __iter__(self):
            for _ in range(1000):
                clock.now += 1
                yield b" "

    failure = fail(lambda _: httpx2.Response(200, stream=Drip()), clock)
    assert str(failure) == "no whole answer within 30 s (3 attempts)"


def test_cookies_are_not_kept() -> None:
    sent = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        sent.append(request.headers.get("cookie"))
        status = 500 if len(sent) == 1 else 200
        return httpx2.Response(status, headers={"Set-Cookie": "id=1"}, json=1)

    ask(handle)
    assert sent == [None, None]


def test_requests_begin_at_most_so_many_times_a_second() -> None:
    clock = Clock()
    pacer = Pacer(4, clock=clock, sleep=clock.sleep)
    starts = []
    for _ in range(4):
        pacer.wait_turn()
        starts.append(clock.now - 100)
    assert starts == [0, 0.25, 0.5, 0.75]
    pacer.pause(10)
    pacer.wait_turn()
    assert clock.now - 100 == 10.75
