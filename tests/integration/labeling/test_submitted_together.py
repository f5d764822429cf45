"""Submissions that wait for SQLite's one writer are stored in one transaction, each by itself, and answered after its commit."""

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Event
from typing import Any

import pytest
from sqlalchemy import event
from starlette.applications import Starlette
from starlette.types import ASGIApp, Message, Scope

from annotator.domain.people import OPERATOR, Actor, SignedIn
from annotator.labeling.service import list_judgments
from annotator.storage.database import Database
from annotator.web.labeling import api
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from benchmarks.derived_rows import find_wrong_rows
from tests.integration.labeling_world import World

pytestmark = pytest.mark.parametrize("copy_database", ["sqlite"], indirect=True)
ALONE = 1  # the first finds a free turn, and waits for nobody's company


async def post(app: ASGIApp, actor: Actor, content: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Send a submission; return the status and the content of the answer."""
    person = SignedIn(
        actor=actor, name="", memberships=(), must_change_password=False, expires_at=datetime.now(UTC)
    )
    scope: Scope = {
        "type": "http", "method": "POST", "path": "/api/judgments", "query_string": b"",
        "headers": [(b"content-type", b"application/json")], "state": {"signed_in": person},
    }  # fmt: skip
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": json.dumps({"dataset": "d", **content}).encode()}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], json.loads(b"".join(message.get("body", b"") for message in sent))


@contextmanager
def someone_else_writes(database: Database) -> Iterator[Event]:
    """Keep other threads from writing until the event is set."""
    begun, may_end = Event(), Event()

    def write() -> None:
        with database.write():
            begun.set()
            assert may_end.wait(60)

    with ThreadPoolExecutor(1) as apart:
        writing = apart.submit(write)
        assert begun.wait(60)
        try:
            yield may_end
        finally:
            may_end.set()
            writing.result()


@contextmanager
def count_commits(database: Database) -> Iterator[list[Any]]:
    commits: list[Any] = []

    def note(connection: Any) -> None:
        if connection.get_execution_options().get("annotator_write"):
            commits.append(connection)

    event.listen(database.engine, "commit", note)
    yield commits
    event.remove(database.engine, "commit", note)


def test_submissions_that_wait_are_stored_by_one_commit_and_each_is_refused_by_itself(
    database: Database,
) -> None:
    world = World(database, queries=2, documents=6)
    people = [world.person(f"p{number}") for number in range(6)]
    events = {
        actor.username: world.event(world.send(actor, want=1).pairs[0].pair, document_sha256="aa")
        for actor in people
    }
    app = Starlette(routes=api.routes(database), exception_handlers=EXCEPTION_HANDLERS)

    async def submit() -> list[tuple[int, dict[str, Any]]]:
        with someone_else_writes(database) as may_end:
            asked = [
                asyncio.create_task(post(app, actor, {"events": [events[actor.username]], "want": 2}))
                for actor in people
            ]
            nobody = Actor(10_000, "nobody")
            asked.insert(3, asyncio.create_task(post(app, nobody, {"want": 2})))
            await asyncio.sleep(0.05)
            assert not any(task.done() for task in asked)
            may_end.set()
            return await asyncio.gather(*asked)

    with count_commits(database) as commits, ThreadPoolExecutor(1) as apart:
        answers = apart.submit(asyncio.run, submit()).result()
    assert [status for status, _content in answers] == [200, 200, 200, 403, 200, 200, 200]
    assert len(commits) == ALONE + 1, "that of the first, and that of all others together"
    acknowledged = [content["acknowledged"] for status, content in answers if status == 200]
    assert acknowledged == [[events[actor.username]["id"]] for actor in people]
    stored = {judgment.event_id for judgment in list_judgments(database, OPERATOR, "d", history=True)}
    assert stored == {pressed["id"] for pressed in events.values()}
    assert find_wrong_rows(database, "d") == []


def test_no_submission_is_acknowledged_if_the_common_commit_fails(database: Database) -> None:
    world = World(database, queries=2, documents=6)
    people = [world.person(f"p{number}") for number in range(4)]
    app = Starlette(routes=api.routes(database), exception_handlers=EXCEPTION_HANDLERS)
    pressed = {
        actor.username: world.event(world.send(actor, want=1).pairs[0].pair, document_sha256="aa")
        for actor in people
    }

    allowed = iter(["of the first"])

    def fail(connection: Any) -> None:
        if connection.get_execution_options().get("annotator_write") and next(allowed, None) is None:
            raise OSError("the machine goes down")

    async def submit() -> list[Any]:
        with someone_else_writes(database) as may_end:
            asked = [
                asyncio.create_task(post(app, actor, {"events": [pressed[actor.username]]}))
                for actor in people
            ]
            await asyncio.sleep(0.05)
            may_end.set()
            return await asyncio.gather(*asked, return_exceptions=True)

    event.listen(database.engine, "commit", fail)
    with ThreadPoolExecutor(1) as apart:
        first, *others = apart.submit(asyncio.run, submit()).result()
    event.remove(database.engine, "commit", fail)
    assert first[1]["acknowledged"] == [pressed[people[0].username]["id"]]
    assert [type(answer) for answer in others] == [OSError] * 3
    stored = [judgment.event_id for judgment in list_judgments(database, OPERATOR, "d", history=True)]
    assert stored == first[1]["acknowledged"]
