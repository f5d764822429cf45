"""The routes of the evaluation page's files, answered by `downloads.py`.

That module is imported on the first request, because it needs numpy and an idle server does not.
"""

from collections.abc import Awaitable, Callable
from importlib import import_module

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotator.storage.database import Database

FIGURES, SCORES, REPORT = "/api/evaluation/figures", "/api/evaluation/scores", "/api/evaluation/report"


def routes(database: Database) -> list[Route]:
    """Return the routes, for `web/app.py`."""

    def answer(name: str) -> Callable[[Request], Awaitable[Response]]:
        async def get(request: Request) -> Response:
            module = await run_in_threadpool(import_module, "annotator.web.evaluation.downloads")
            response: Response = await getattr(module, name)(database, request)
            return response

        return get

    named = {FIGURES: "get_figures", SCORES: "get_scores", REPORT: "get_report"}
    return [Route(address, answer(name), methods=["GET"]) for address, name in named.items()]
