"""Counts the files and functions of `annotator/` that one judgment and one publish pass.

    .venv/bin/python -m benchmarks.walk [--files] [--list]

A judgment: one answer with one further pair requested, from the request's arrival at the application until the commit,
with a server that has answered before. A publish: `publish_release` with the demo dataset, from the call to its return.
Uses a profiler hook in every thread, and SQLite. The functions of a judgment may vary by a few: threads take turns. Code that runs once for a module, such as its
imports, does not count. `--files` names each file with its number of functions, `--list` each function.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

from sqlalchemy import event
from starlette.applications import Starlette
from starlette.types import ASGIApp, Message, Scope

import annotator
from annotator.releases.service import publish_release
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.app import list_middleware, list_own_routes
from annotator.web.server.budgets import Budgets
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from benchmarks.labeling_load import DATASET, Client, fill
from exports import make_sample

SMALL = ""  # what the tests start it with
PACKAGE = str(Path(annotator.__file__).parent) + "/"
ROUTE = ("web/labeling/api.py", "post_judgments")
PERSON = 29  # an annotator who has judged nothing
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Walk:
    """Notes each function of the package that runs while `recording`, in the order of the first calls."""

    def __init__(self) -> None:
        self.recording = False
        self.functions: dict[tuple[str, str], None] = {}

    def note(self, frame: FrameType, what: str, _value: object) -> None:
        code = frame.f_code
        if self.recording and what == "call" and code.co_filename.startswith(PACKAGE) and _is_function(code):
            self.functions.setdefault((code.co_filename.removeprefix(PACKAGE), code.co_qualname))

    @contextmanager
    def in_every_thread(self) -> Iterator["Walk"]:
        """Watch this thread and those that start meanwhile."""
        earlier = sys.getprofile()
        threading.setprofile(self.note)
        sys.setprofile(self.note)
        try:
            yield self
        finally:
            sys.setprofile(earlier)
            threading.setprofile(None)


def _is_function(code: CodeType) -> bool:
    """Return whether this is a function's code, not that of a module, a class or a comprehension."""
    named = code.co_name == "<lambda>" or not code.co_name.startswith("<")
    return named and bool(code.co_flags & CO_OPTIMIZED)


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description="Files and functions that a judgment and a publish pass.")
    parser.add_argument("--files", action="store_true", help="name each file, with its number of functions")
    parser.add_argument("--list", action="store_true", help="name each function")
    options = parser.parse_args()
    judgment, publish = list(walk_judgment()), list(walk_publish())
    route = next(at for at, (path, name) in enumerate(judgment) if (path, name.split(".")[-1]) == ROUTE)
    walks = {
        "a judgment, from the arrival of its request to the commit": judgment,
        "a judgment, from its route to the commit": judgment[route:],
        "a publish": publish,
    }
    print(f"{'':<60} {'files':>6} {'functions':>10}")
    for title, functions in walks.items():
        print(f"{title:<60} {len({path for path, _ in functions}):>6} {len(functions):>10}")
    if options.files:
        for title, functions in walks.items():
            print(f"\n{title}")
            for path, number in Counter(path for path, _ in functions).items():
                print(f"  {path}  {number}")
    if options.list:
        for title in ("a judgment, from the arrival of its request to the commit", "a publish"):
            print(f"\n{title}")
            print("\n".join(f"  {path}  {name}" for path, name in walks[title]))


def walk_judgment() -> dict[tuple[str, str], None]:
    """Return (file, function) of each step of one answer, through the whole application."""
    with tempfile.TemporaryDirectory(prefix="annotator-walk-") as folder:
        database = Database(f"sqlite:///{folder}/annotator.db")
        fill(database, queries=2, depth=10, judged_by=1, overlap=2, people=30)
        settings = Settings(exports_dir=Path(folder))
        own = list_own_routes(database, settings)
        app = Starlette(
            routes=own,
            middleware=list_middleware(database, settings, own, Budgets()),
            exception_handlers=EXCEPTION_HANDLERS,
        )
        with Walk().in_every_thread() as walk:
            asyncio.run(_press_thrice(app, database, walk))
        database.dispose()
    return walk.functions


async def _press_thrice(app: ASGIApp, database: Database, walk: Walk) -> None:
    """Answer three pairs; record the last answer, when everything that is loaded late is there."""

    def stop(connection: Any) -> None:
        if connection.get_execution_options().get("annotator_write"):
            walk.recording = False

    client = Client(0, PERSON)  # keeps the pairs; nothing is sent through its connection
    client.held = (await _post(app, [], [], 2))["pairs"]
    for press in range(3):
        answer = client.press()
        if answer is None:
            raise SystemExit("no pair is left")
        if press == 2:
            event.listen(database.engine, "commit", stop)
            walk.recording = True
        response = await _post(app, [answer], [pair["pair"] for pair in client.held], 1)
        if response["acknowledged"] != [answer["id"]]:
            raise SystemExit(f"the answer was refused: {response['refused']}")
        client.held += response["pairs"]
    if walk.recording:
        raise SystemExit("the last answer was not committed")


async def _post(app: ASGIApp, events: list[dict[str, Any]], have: list[str], want: int) -> dict[str, Any]:
    """Return the response to a submission."""
    headers = {
        "host": "localhost",
        "origin": "http://localhost",
        "cookie": f"annotator_session=token{PERSON}",
        "content-type": "application/json",
    }
    scope: Scope = {
        "type": "http", "method": "POST", "scheme": "http", "http_version": "1.1", "path": "/api/judgments",
        "raw_path": b"/api/judgments", "root_path": "", "query_string": b"", "client": ("127.0.0.1", 1),
        "server": ("localhost", 80), "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    body = json.dumps({"dataset": DATASET, "events": events, "have": have, "want": want}).encode()
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    if sent[0]["status"] != 200:
        raise SystemExit(f"{sent}")
    answer: dict[str, Any] = json.loads(b"".join(message.get("body", b"") for message in sent))
    return answer


def walk_publish() -> dict[tuple[str, str], None]:
    """Return (file, function) of each step of publishing the demo dataset."""
    walk = Walk()

    def publish(*arguments: Any, **options: Any) -> Any:
        with walk.in_every_thread():
            walk.recording = True
            try:
                return publish_release(*arguments, **options)
            finally:
                walk.recording = False

    with (
        patch.object(make_sample, "publish_release", publish),
        tempfile.TemporaryDirectory(prefix="annotator-walk-") as folder,
    ):
        database = Database(f"sqlite:///{folder}/annotator.db")
        upgrade_schema(database)
        make_sample.make_sample(database, Path(folder), now=NOW)
        database.dispose()
    return walk.functions


if __name__ == "__main__":
    main()
