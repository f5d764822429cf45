"""The port for http of deploy/nginx.conf: pages are redirected to https, programs are refused (ASVS V4.1.2)."""

import http.client
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.browser.conftest import find_free_port
from tests.browser.web.proxied_replicas import Proxy

PAGE = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    """nginx alone: nothing of these requests reaches a server."""
    nobody = [SimpleNamespace(port=find_free_port()) for _ in range(2)]
    proxy = Proxy(tmp_path, nobody)  # type: ignore[arg-type]
    proxy.start()
    yield proxy
    proxy.stop()


def ask(proxy: Proxy, method: str, path: str, headers: dict[str, str]) -> tuple[int, str | None, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", proxy.plain_port, timeout=60)
    connection.request(method, path, headers={"Host": "annotator.example", **headers})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, response.getheader("Location"), body


def test_only_a_page_that_a_browser_opens_is_redirected_to_https(proxy: Proxy) -> None:
    for method, path in (("GET", "/"), ("GET", "/label?dataset=law"), ("HEAD", "/login")):
        status, location, _ = ask(proxy, method, path, PAGE)
        assert (status, location) == (308, f"https://annotator.example{path}")
    for method, path, headers in (
        ("POST", "/login", PAGE),
        ("GET", "/api/cases", PAGE),
        ("GET", "/api/document?key=1", {}),
        ("POST", "/api/judgments", {"Accept": "*/*"}),
        ("GET", "/label", {"Accept": "*/*"}),
        ("GET", "/healthz", {}),
    ):
        status, location, body = ask(proxy, method, path, headers)
        assert (status, location, body) == (403, None, b"Use https.\n"), (method, path)
