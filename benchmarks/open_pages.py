"""Open pages as a browser holds them: a websocket of Streamlit's each, on which the page runs now and then.

Used by `replicas.py`. A page that lost its server opens its websocket again, as a browser does.
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException


class Pages:
    """So many pages of one address. `runs`: how often a page has run to its end; `lost`: how often a connection ended."""

    def __init__(self, port: int, page: str, dataset: str, *, every: float) -> None:
        """`every`: seconds between two runs of a page."""
        self.port, self.page, self.query, self.every = port, page, f"dataset={dataset}", every
        self.runs = self.lost = 0
        self.is_over = False

    async def hold(self, cookies: list[str], change: Callable[[int], None]) -> None:
        """Hold a page open for each cookie header until `is_over`. `change` is called with 1 when one has run first."""
        async with asyncio.TaskGroup() as group:
            for number, cookie in enumerate(cookies):
                group.create_task(self._hold_one(cookie, number / len(cookies), change))

    async def _hold_one(self, cookie: str, part: float, change: Callable[[int], None]) -> None:
        is_first = True
        await asyncio.sleep(part * 10)  # 200 people do not open a page in the same moment
        while not self.is_over:
            with suppress(OSError, WebSocketException, TimeoutError):
                async with connect(
                    f"wss://127.0.0.1:{self.port}/_stcore/stream",
                    ssl=_make_context(),
                    origin=f"https://127.0.0.1:{self.port}",  # type: ignore[arg-type]
                    additional_headers={"Cookie": cookie},
                    subprotocols=["streamlit"],  # type: ignore[list-item]
                    max_size=None,
                ) as websocket:
                    while not self.is_over:
                        await websocket.send(self._make_run())
                        await self._read_run(websocket)
                        self.runs += 1
                        if is_first:
                            change(1)
                            is_first = False
                        await self._wait(self.every * (0.5 + part))
            if not self.is_over:
                self.lost += 1
                await asyncio.sleep(1)

    async def _wait(self, seconds: float) -> None:
        """Wait, but not after the end."""
        until = asyncio.get_running_loop().time() + seconds
        while not self.is_over and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(min(1.0, seconds))

    def _make_run(self) -> bytes:
        run = ClientState(query_string=self.query, page_name=self.page)
        return BackMsg(rerun_script=run).SerializeToString()

    @staticmethod
    async def _read_run(websocket: object) -> None:
        """Read until the run has ended."""
        async with asyncio.timeout(60):
            while True:
                message = ForwardMsg()
                message.ParseFromString(await websocket.recv())  # type: ignore[attr-defined]
                if message.WhichOneof("type") == "script_finished":
                    return


def _make_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
