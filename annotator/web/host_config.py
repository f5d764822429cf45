"""Answers Streamlit's `host-config` ourselves, for a setting that has no option: no dialogs over the page. (And no
page of others may steer ours by messages: `allowedOrigins` is empty.)

When the server cannot be reached, Streamlit lays a dialog over everything and makes the page below inert; but the
labeling panel goes on without a server, and says itself what is kept. The other pages say it in a line (app.css).
"""

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/_stcore/host-config"
CONFIG = {
    "allowedOrigins": [],
    "useExternalAuthToken": False,
    "enableCustomParentMessages": False,
    "enforceDownloadInNewTab": False,
    "metricsUrl": "",
    "blockErrorDialogs": True,
    "resourceCrossOriginMode": None,
}


class HostConfig:
    """ASGI middleware: answers PATH, and leaves everything else alone."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == PATH:
            await JSONResponse(CONFIG)(scope, receive, send)
            return
        await self.app(scope, receive, send)
