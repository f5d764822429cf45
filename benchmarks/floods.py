"""One signed-in annotator floods the server, while another one labels and a lead opens pages.

    .venv/bin/python -m benchmarks.floods [--kinds websockets searches …] [--seconds 30] [--kind sqlite]

A real server. The quiet labeler presses once per 0.2 s: first alone with the flood, then while a lead
opens the pages Overview and Disagreements in turn. Printed for each kind of flood: median, 95th percentile and
the longest time of a press alone, of a press beside the lead, and of a lead's page; how much the flooding
person got done; how much of a core the server used, and by how much the database grew per second, both without
the lead. Exits with 1 if the 95th percentile of a press alone is above 50 ms under one of the floods, or if one
of the two quiet people met an error.
"""

import argparse
import contextlib
import http.client
import json
import multiprocessing
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import text
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from annotator.storage.database import Database
from benchmarks.labeling_load import DATASET, Client, fill, open_database, read_cpu, serve, show

SMALL = "--seconds 0.3 --kinds notes --queries 4 --most 1e9"  # what the tests start it with
DEPTH, PEOPLE = 50, 24
LEAD, LABELER, FLOODER = 21, 22, 23
LEADS_PAGES = ("overview", "disagreements")
LONG_TEXT = (
    "# Queues\n\n"
    + "Some **words** about `queues` and [links](https://example.org).\n\n- one\n- two\n\n" * 600
)


@dataclass(slots=True)
class Flood:
    """What one kind of flood sends. `send` is called by each of `clients` threads again and again, with the thread's number."""

    about: str
    clients: int
    send: Callable[["Flooder", int], None]


@dataclass(slots=True)
class Flooder:
    """The annotator who floods, in a process of its own."""

    port: int
    pairs: list[str]
    until: float
    done: int = 0
    connections: dict[int, http.client.HTTPConnection] = field(default_factory=dict)
    clients: dict[int, Client] = field(default_factory=dict)

    def get(self, number: int, path: str) -> None:
        """Ask for this address on the thread's own connection."""
        connection = self.connections.get(number)
        if connection is None:
            connection = self.connections[number] = http.client.HTTPConnection(
                "127.0.0.1", self.port, timeout=30
            )
        try:
            headers = {"Cookie": f"annotator_session=token{FLOODER}", "Sec-Fetch-Site": "same-origin"}
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            response.read()
            self.done += response.status == 200
        except (OSError, http.client.HTTPException):
            connection.close()

    def submit(self, number: int, *, note: str = "", again: int = 1) -> None:
        """Answer a pair, `again` times over; a note makes each answer large."""
        client = self.clients.get(number)
        if client is None:
            client = self.clients[number] = Client(self.port, FLOODER, ahead=2)
        with contextlib.suppress(OSError, http.client.HTTPException, json.JSONDecodeError):
            if not client.held:
                client.ask([], 2)
            events = [event for event in (client.press(),) if event is not None]
            copies = [
                {**event, "id": event["id"][:-4] + f"{copy:04x}", **({"note": note} if note else {})}
                for event in events
                for copy in range(again)
            ]
            errors = len(client.errors)
            client.ask(copies, 1)
            self.done += len(copies) if len(client.errors) == errors else 0
            return
        client.connection.close()

    def rerun(self, each_second: float, page: str) -> None:
        """Let a page run over and over on one websocket, without waiting for it."""
        with contextlib.suppress(OSError, WebSocketException), open_page(self.port, FLOODER) as websocket:
            reader = threading.Thread(target=self._count_runs, args=(websocket,), daemon=True)
            reader.start()
            while time.monotonic() < self.until:
                websocket.send(make_run(page))
                time.sleep(1 / each_second)
            return
        time.sleep(0.1)

    def _count_runs(self, websocket: ClientConnection) -> None:
        with contextlib.suppress(OSError, WebSocketException):
            for message in websocket:
                self.done += is_end_of_run(message)


def open_page(port: int, person: int) -> ClientConnection:
    """Open a websocket as a page of the browser does."""
    return connect(
        f"ws://127.0.0.1:{port}/_stcore/stream",
        origin=Origin(f"http://127.0.0.1:{port}"),
        additional_headers={"Cookie": f"annotator_session=token{person}"},
        subprotocols=[Subprotocol("streamlit")],
        max_size=None,
    )


def make_run(page: str) -> bytes:
    """Return the message by which a browser asks for a run of a page."""
    run = ClientState(query_string=f"dataset={DATASET}", page_name=page)
    return BackMsg(rerun_script=run).SerializeToString()


def is_end_of_run(message: str | bytes) -> bool:
    """Return whether the server says that a run has ended."""
    if len(message) > 200 or isinstance(message, str):
        return False
    forward = ForwardMsg()
    forward.ParseFromString(message)
    return forward.WhichOneof("type") == "script_finished"


def _render(flooder: Flooder, number: int) -> None:
    flooder.get(
        number, f"/api/rendering?dataset={DATASET}&doc_id={quote(f'guide/page-{number % 10:06}', safe='')}"
    )


FLOODS = {
    "websockets": Flood("5 websockets, 20 reruns/s each", 5, lambda flooder, _: flooder.rerun(20, "work")),
    "more-websockets": Flood(
        "20 websockets, 10 reruns/s each", 20, lambda flooder, _: flooder.rerun(10, "work")
    ),
    "searches": Flood(
        "60 searches at a time",
        60,
        lambda flooder, number: flooder.get(
            number,
            f"/api/search?dataset={DATASET}&query=Q00000&q={quote(f'handler queue 検索 {number} 방법 ' * 12)}",
        ),
    ),
    "notes": Flood(
        "6 requests at a time, notes of 30 kB",
        6,
        lambda flooder, number: flooder.submit(number, note="ノ" * 10_000, again=20),
    ),
    "renderings": Flood("60 renderings at a time of 50 kB", 60, _render),
    "pages": Flood(
        "60 requests for pages at a time", 60, lambda flooder, number: flooder.get(number, "/work")
    ),
    "requests": Flood(
        "60 requests of the API at a time",
        60,
        lambda flooder, number: flooder.get(
            number, f"/api/document?dataset={DATASET}&doc_id={quote(f'guide/page-{number:06}', safe='')}"
        ),
    ),
    "submissions": Flood("20 submissions at a time", 20, lambda flooder, number: flooder.submit(number)),
}


def flood(kind: str, port: int, seconds: float, started: Event, done: Any) -> None:
    """Flood for so many seconds, in a process of its own; `done` counts what the server did."""
    started.set()
    flooder = Flooder(port, [], time.monotonic() + seconds)
    chosen = FLOODS[kind]

    def send_on(number: int) -> None:
        while time.monotonic() < flooder.until:
            chosen.send(flooder, number)

    threads = [
        threading.Thread(target=send_on, args=(number,), daemon=True) for number in range(chosen.clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, flooder.until + 1 - time.monotonic()))
    done.value = flooder.done


class Quiet:
    """The labeler and the lead, who work as people do."""

    def __init__(self, port: int) -> None:
        self.port, self.labeler = port, Client(port, LABELER, ahead=5)
        self.labeler.ask([], 5)
        self.pages: list[float] = []
        self.errors: list[str] = []

    def work(self, seconds: float, *, with_lead: bool) -> tuple[list[float], list[float]]:
        """Work for so long; return how long presses and pages took."""
        until = time.monotonic() + seconds
        self.labeler.seconds, self.pages = [], []
        self.labeler.connection.close()  # the server has ended it meanwhile
        lead = threading.Thread(target=self._open_pages, args=(until,))
        if with_lead:
            lead.start()
        while time.monotonic() < until or not self.labeler.seconds:
            event = self.labeler.press()
            self.labeler.ask([event] if event else [], 1)
            time.sleep(0.2)
        if with_lead:
            lead.join()
        return self.labeler.seconds, self.pages

    def _open_pages(self, until: float) -> None:
        number = 0
        while time.monotonic() < until or not self.pages:
            page, number = LEADS_PAGES[number % len(LEADS_PAGES)], number + 1
            start = time.monotonic()
            try:
                with open_page(self.port, LEAD) as websocket:
                    websocket.send(make_run(page))
                    while not is_end_of_run(websocket.recv(timeout=60)):
                        pass
            except (OSError, WebSocketException, TimeoutError) as error:
                self.errors.append(repr(error)[:200])
            self.pages.append(time.monotonic() - start)
            time.sleep(0.5)


def main() -> None:
    """Measure, print, and check."""
    parser = argparse.ArgumentParser(description="One annotator floods the server.")
    parser.add_argument("--kinds", nargs="+", choices=FLOODS, default=list(FLOODS))
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--kind", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--most", type=float, default=50, help="milliseconds: the labeler's 95th percentile")
    chosen = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder,
        open_database(chosen.kind, Path(folder) / chosen.kind) as (database, _),
    ):
        prepare(database, chosen.queries)
        with serve(database, Path(folder)) as (port, pid):
            is_good = measure(database, port, pid, chosen.kinds, chosen.seconds, chosen.most)
        database.dispose()
    sys.exit(0 if is_good else 1)


def prepare(database: Database, queries: int) -> None:
    """Make a dataset with open pairs, judged ones, a lead and some long documents."""
    fill(database, queries=queries, depth=DEPTH, judged_by=1, overlap=3, people=PEOPLE)
    with database.write() as session:
        session.execute(text("UPDATE membership SET role = 'lead' WHERE person_pk = :pk"), {"pk": LEAD + 1})
        session.execute(
            text("UPDATE document_text SET text = :text WHERE document_pk <= 10"), {"text": LONG_TEXT}
        )
        session.execute(text("UPDATE document SET media_type = 'text/markdown' WHERE pk <= 10"))


def measure(database: Database, port: int, pid: int, kinds: list[str], seconds: float, most: float) -> bool:
    """Print a line without a flood and one for each; return whether all is well."""
    quiet = Quiet(port)
    quiet.work(min(1.0, seconds), with_lead=True)  # warm
    header = f"{'median':>8} {'p95':>8} {'longest':>8}"
    columns = ("a press, ms", "a press beside a lead, ms", "a page of a lead, ms")
    print(f"{'':<34}{'  '.join(f'{column:^26}' for column in columns)}  flood/s  core  kB/s", flush=True)
    print(f"{'':<34}{'  '.join([header] * 3)}")
    is_good = True
    for kind in (None, *kinds):
        spawn = multiprocessing.get_context("spawn")
        done, started = spawn.Value("i", 0), spawn.Event()
        process = None
        if kind is not None:
            process = spawn.Process(target=flood, args=(kind, port, 2 * seconds, started, done))
            process.start()
            started.wait(60)
        cpu, size, began = read_cpu(pid), measure_size(database), time.monotonic()
        presses, _ = quiet.work(seconds, with_lead=False)
        passed = time.monotonic() - began
        cpu, size = (read_cpu(pid) - cpu) / passed, (measure_size(database) - size) / passed / 1000
        beside, pages = quiet.work(seconds, with_lead=True)
        if process is not None:
            process.join()
        about = "nothing else" if kind is None else FLOODS[kind].about
        print(
            f"{about:<34}{show(presses)}  {show(beside)}  {show(pages)}"
            f" {done.value / seconds / 2:>8.1f} {cpu:>5.2f} {size:>6.0f}",
            flush=True,
        )
        is_good &= sorted(presses)[int(len(presses) * 0.95)] * 1000 <= most
        time.sleep(min(2.0, seconds))
    errors = [*quiet.labeler.errors, *quiet.errors]
    print(f"errors of the quiet people: {len(errors)}", *errors[:2])
    return is_good and not errors


def measure_size(database: Database) -> int:
    """Return the bytes of the database."""
    with database.read() as session:
        if database.is_sqlite:
            pages = session.execute(text("PRAGMA page_count")).scalar_one()
            return int(pages) * int(session.execute(text("PRAGMA page_size")).scalar_one())
        return int(session.execute(text("SELECT pg_database_size(current_database())")).scalar_one())


if __name__ == "__main__":
    main()
