"""The routes of the evaluation's files, with somebody signed in."""

from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from annotator.domain.people import Actor, SignedIn
from annotator.web.downloads import list_late_routes
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from tests.integration.judged_world import NOW, JudgedWorld


def get_file(world: JudgedWorld, actor: Actor, path: str, parameters: dict[str, str]) -> Any:
    """The answer to a GET by this person."""
    app = Starlette(
        routes=list_late_routes(world.database, "evaluation", ("figures", "scores", "report")),
        exception_handlers=EXCEPTION_HANDLERS,
    )

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        signed_in = SignedIn(actor, actor.username, (), False, NOW)
        scope["state"] = {**scope.get("state", {}), "signed_in": signed_in}
        await app(scope, receive, send)

    return TestClient(serve, headers={"Referer": "http://testserver/"}).get(path, params=parameters)
