"""`GET /healthz`: whether this server can do its work. Open to everybody; says nothing else."""

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator import __version__
from annotator.storage.database import Database


def routes(database: Database) -> list[Route]:
    """The route `/healthz`: 200 when the database answers, else 503."""

    async def report(_request: Request) -> Response:
        reachable = await to_thread.run_sync(database.is_reachable)
        word = "ok" if reachable else "unreachable"
        body = {"status": "ok" if reachable else "failing", "database": word, "version": __version__}
        return JSONResponse(body, 200 if reachable else 503)

    return [Route("/healthz", report, methods=["GET"])]
