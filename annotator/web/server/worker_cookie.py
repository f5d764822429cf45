"""Keep a browser with one of several worker processes (`workers.py`), by a cookie that holds the worker's number.

What one process alone can answer (a page's websocket, its uploaded and made files) is sent to the worker that the cookie
names, should it come to another: on a new connection, which the first process gives to the right one. Everything else is
answered by any worker.
"""

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotator.settings import Settings
from annotator.web.importing.result_view import FILES_ADDRESS
from annotator.web.server.worker_place import WORKER_COOKIE, WorkerPlace, find_worker
from annotator.web.session import is_https, name_cookie

OF_ONE_PROCESS = ("/_stcore/stream", "/_stcore/upload_file/", "/media/", FILES_ADDRESS)
TRY_AGAIN_LATER = 1013


class WorkerCookie:
    """ASGI middleware before all others, in each of several workers."""

    def __init__(self, app: ASGIApp, place: WorkerPlace, settings: Settings) -> None:
        self.app, self.place, self.settings = app, place, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        named = find_worker(connection.cookies, connection.headers.get("host", ""), self.place.workers)
        if named not in (None, self.place.number) and scope["path"].startswith(OF_ONE_PROCESS):
            await _send_elsewhere(scope, receive, send)
            return

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and named is None:
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    headers.append("Set-Cookie", self._make_cookie(connection))
            await send(message)

        await self.app(scope, receive, send_with_cookie if scope["type"] == "http" else send)

    def _make_cookie(self, connection: HTTPConnection) -> str:
        name = name_cookie(WORKER_COOKIE, connection.headers.get("host", ""))
        secure = "; Secure" if is_https(connection, self.settings) else ""
        return f"{name}={self.place.number}; Path=/; HttpOnly; SameSite=Lax{secure}"


async def _send_elsewhere(scope: Scope, receive: Receive, send: Send) -> None:
    """Let the browser ask again on a new connection; a websocket it opens again by itself."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})
        return
    query = scope["query_string"].decode("latin-1")
    path = scope.get("raw_path", scope["path"].encode()).decode("latin-1").partition("?")[0]
    answer = RedirectResponse(f"{path}?{query}" if query else path, 307, headers={"Connection": "close"})
    await answer(scope, receive, send)
