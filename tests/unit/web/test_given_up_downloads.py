"""A download that its reader gives up ends at once, with its transaction, not when Python next looks for garbage."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from annotator.web.downloads import send_pieces

SCOPE = {
    "type": "http",
    "method": "GET",
    "path": "/",
    "query_string": b"",
    "headers": [(b"sec-fetch-site", b"same-origin")],
}


@pytest.mark.parametrize("version", ["2.3", "2.4"])
@pytest.mark.parametrize("leaves", [OSError, ClientDisconnect])
def test_the_pieces_are_closed_when_the_reader_leaves(version: str, leaves: type[Exception]) -> None:
    ended = []

    def write() -> Iterator[bytes]:
        try:
            while True:
                yield b"some"
        finally:
            ended.append(True)

    pieces = write()

    async def never() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        if message.get("body"):
            raise leaves

    async def download() -> None:
        scope = {**SCOPE, "asgi": {"spec_version": version}}
        response = await send_pieces(Request(scope), "d.zip", "application/zip", lambda: pieces)
        with suppress(leaves, ClientDisconnect):
            await response(scope, never, send)

    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, download()).result()
    assert ended
