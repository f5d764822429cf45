"""Addresses as no client writes them: httpx mends a wrong percent-escape before it sends it, an attacker does not."""

from starlette.types import ASGIApp, Receive, Scope, Send

HEADER = "x-raw-query"


class RawQuery:
    """ASGI middleware for tests: what stands in HEADER becomes the query string, byte by byte."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        for name, value in scope.get("headers", ()):
            if name == HEADER.encode():
                scope["query_string"] = value
        await self.app(scope, receive, send)
