"""GET /api/changes: what an annotator is told about their own answer, and nobody else."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from annotator.domain.people import Actor, Membership, SignedIn
from annotator.web.guideline import api
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from tests.databases import CopyWorld
from tests.integration.guideline_world import LATER, GuidelineWorld


class Browser:
    """The route alone, with somebody signed in."""

    def __init__(self, world: GuidelineWorld) -> None:
        self.world = world
        self.app = Starlette(routes=api.routes(world.database), exception_handlers=EXCEPTION_HANDLERS)

    def ask(self, actor: Actor | None, pair: str, dataset: str = "d") -> tuple[int, dict[str, object]]:
        held = (Membership(dataset, "annotator"),)
        state = {} if actor is None else {"signed_in": SignedIn(actor, actor.username, held, False, LATER)}

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            scope["state"] = {**scope.get("state", {}), **state}
            await self.app(scope, receive, send)

        answer = TestClient(app).get("/api/changes", params={"dataset": dataset, "pair": pair})
        return answer.status_code, answer.json()


@pytest.fixture
def world(copy_world: CopyWorld) -> GuidelineWorld:
    return copy_world(GuidelineWorld)


@pytest.fixture
def browser(world: GuidelineWorld) -> Iterator[Browser]:
    yield Browser(world)


def test_what_changed_is_told_to_the_author_of_the_answer(world: GuidelineWorld, browser: Browser) -> None:
    world.publish(world.lea, change="semantic", why="改正", definition="甲", guideline="一")
    world.bring({"d1": "本文 d1\n十日以内に届け出る。"})
    status, body = browser.ask(world.hanako, world.keys["d1"])
    assert status == 200
    standard, text = body["standard"], body["text"]
    assert isinstance(standard, dict)
    assert isinstance(text, dict)
    assert (standard["from"], standard["to"], standard["why"]) == (1, 2, "改正")
    (grade,) = standard["grades"]
    assert (grade["grade"], grade["name"], grade["after"]) == (2, "Highly relevant", "甲")
    assert grade["before"].startswith("Answers an important part")
    assert {"kind": "added", "text": "一", "parts": [], "skipped": 0} in standard["guideline"]
    assert text["cut"] is False
    assert text["lines"][2] == {
        "kind": "added",
        "text": "十日以内に届け出る。",
        "parts": [{"text": "十", "changed": True}, {"text": "日以内に届け出る。", "changed": False}],
        "skipped": 0,
    }


def test_nothing_changed_is_said_so(world: GuidelineWorld, browser: Browser) -> None:
    assert browser.ask(world.hanako, world.keys["d1"]) == (200, {"standard": None, "text": None})


def test_an_answer_of_somebody_else_is_none_of_ones_own(world: GuidelineWorld, browser: Browser) -> None:
    world.publish(world.lea, change="semantic", why="改正", definition="甲")
    assert browser.ask(world.minjun, world.keys["d2"])[0] == 404
    assert browser.ask(world.lea, world.keys["d2"])[0] == 404
    assert browser.ask(None, world.keys["d2"])[0] == 403
    assert browser.ask(world.hanako, "")[0] == 404
    assert browser.ask(world.hanako, world.keys["d2"], dataset="none")[0] == 403
