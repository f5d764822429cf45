"""List the routes of the agreement page's files.

`downloads.py` answers them. It is imported at the first request, because an idle server does not load numpy
and pandas.
"""

from collections.abc import Awaitable, Callable
from importlib import import_module

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotator.storage.database import Database

FIGURES, PAIRS, LEFT_OUT = "/api/agreement/figures", "/api/agreement/pairs", "/api/agreement/left-out"
SINCE = "/api/agreement/since"


def routes(database: Database) -> list[Route]:
    """Return the routes, for `web/app.py`."""

    def answer(name: str) -> Callable[[Request], Awaitable[Response]]:
        async def get(request: Request) -> Response:
            module = await run_in_threadpool(import_module, "annotator.web.agreement.downloads")
            response: Response = await getattr(module, name)(database, request)
            return response

        return get

    named = {FIGURES: "get_figures", PAIRS: "get_pairs", LEFT_OUT: "get_left_out", SINCE: "get_since"}
    return [Route(address, answer(name), methods=["GET"]) for address, name in named.items()]
