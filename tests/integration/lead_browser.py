"""A lead's browser: the routes that the decision panel asks, with somebody signed in."""

from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from annotator.domain.people import Actor, SignedIn
from annotator.storage.database import Database
from annotator.web.adjudication import api as adjudication_api
from annotator.web.labeling import api as labeling_api
from annotator.web.rendering import api as rendering_api
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from tests.integration.judged_world import NOW


class LeadBrowser:
    """Asks as one person, in one tab."""

    def __init__(self, database: Database, actor: Actor | None, tab: str = "t1") -> None:
        self.actor, self.tab = actor, tab
        self.app = Starlette(
            routes=[
                *adjudication_api.routes(database),
                *labeling_api.routes(database),
                *rendering_api.routes(database),
            ],
            exception_handlers=EXCEPTION_HANDLERS,
        )
        self.client = TestClient(self._serve, headers={"Referer": "http://testserver/"})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.actor is not None:
            signed_in = SignedIn(self.actor, self.actor.username, (), False, NOW)
            scope["state"] = {**scope.get("state", {}), "signed_in": signed_in}
        await self.app(scope, receive, send)

    def get(self, path: str, **words: Any) -> tuple[int, Any]:
        answer = self.client.get(path, params={"dataset": "d", **words})
        return answer.status_code, answer.json()

    def post(self, path: str, **message: Any) -> tuple[int, Any]:
        answer = self.client.post(path, json={"dataset": "d", **message})
        return answer.status_code, answer.json()

    def cases(self, want: int = 3, **words: Any) -> list[dict[str, Any]]:
        """The cases that are handed out."""
        status, body = self.get("/api/cases", tab=self.tab, want=want, **words)
        assert status == 200, body
        disagreements: list[dict[str, Any]] = body["cases"]
        return disagreements

    def look(self, pair: str) -> dict[str, Any]:
        """One pair as it is now."""
        (disagreement,) = self.cases(0, pair=pair)
        return disagreement

    def decide(
        self, pair: str, decided: Any, *, seen: str | None = None, rationale: str = "第17条", **more: Any
    ) -> tuple[int, Any]:
        """Post a decision on the pair as it is now, or as it was seen."""
        seen = self.look(pair)["seen"] if seen is None else seen
        return self.post(
            "/api/decisions", tab=self.tab, pair=pair, seen=seen, decided=decided, rationale=rationale, **more
        )
