"""Serve the page from which Streamlit's app starts, with the address of its server in it.

Streamlit looks for its server below the page's own path first (`/people/_stcore/health`), and tries the next path only
when that fails: an error in the browser's console and a round trip more on every page. The address is known, so the
page says it.
"""

from functools import cache
from pathlib import Path

import streamlit
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from annotator.web.navigation import PAGES

START = "<script>window.__streamlit = { BACKEND_BASE_URL: location.origin }</script>"
ADDRESSES = frozenset({"/home", *(f"/{page.address}" for page in PAGES)})


@cache
def read_start_page() -> str:
    """Return Streamlit's page with START before its first script."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    return page.replace("<script", f"{START}\n    <script", 1)


class StartPage:
    """ASGI middleware: answers the pages' addresses, and leaves everything else alone."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and scope["path"] in ADDRESSES:
            await HTMLResponse(read_start_page())(scope, receive, send)
            return
        await self.app(scope, receive, send)
