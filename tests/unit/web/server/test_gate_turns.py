"""Sessions are looked up one request at a time for each session: a flood of one person does not fill the server's loop."""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.types import Message, Receive, Scope, Send

from annotator.domain.people import SignedIn
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.server import gate


class SlowGate(gate.RequestGate):
    """Looks sessions up slowly, and notes which ones it looks up together."""

    looked_up: list[list[str]]
    begin: threading.Event
    flooding = most_flooding = 0

    def _find_sessions(self, tokens: Sequence[str]) -> list[SignedIn | None]:
        self.flooding += tokens.count("flood")
        self.most_flooding = max(self.most_flooding, self.flooding)
        self.begin.wait(10)
        self.flooding -= tokens.count("flood")
        self.looked_up.append(list(tokens))
        return [None for _token in tokens]


async def never(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError("nobody is signed in")


async def ask(server: gate.RequestGate, token: str) -> int:
    """Return the status of the answer."""
    statuses: list[int] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    headers = [(b"cookie", f"annotator_session={token}".encode()), (b"host", b"testserver")]
    headers += [(b"sec-fetch-site", b"same-origin")]
    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": "/api/changes",
        "raw_path": b"/api/changes",
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("testserver", 80),
        "scheme": "http",
    }
    await server(scope, receive, send)
    return statuses[0]


def test_a_session_that_asks_for_much_at_a_time_waits_in_a_line_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(gate, "REFUSAL_SECONDS", 0.0)
    server = SlowGate(never, Database(f"sqlite:///{tmp_path / 'annotator.db'}"), Settings())
    server.looked_up, server.begin = [], threading.Event()

    async def flood() -> tuple[list[int], int]:
        flooding = [asyncio.create_task(ask(server, "flood")) for _ in range(gate.LOOKUPS_OF_ONE + 10)]
        await asyncio.sleep(0.05)
        other = asyncio.create_task(ask(server, "quiet"))
        await asyncio.sleep(0.05)
        server.begin.set()
        return await asyncio.gather(*flooding), await other

    with ThreadPoolExecutor(1) as apart:  # where another test of this process left an event loop running
        flooded, quiet = apart.submit(asyncio.run, flood()).result()
    assert quiet == 401
    assert sorted(flooded) == [401] * (gate.LOOKUPS_OF_ONE + 1) + [429] * 9
    assert all(tokens.count("flood") <= 1 for tokens in server.looked_up)
    assert server.most_flooding == 1
