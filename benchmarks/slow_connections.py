"""Hundreds of slow and stuck connections against a real server, and an annotator who signs in and labels meanwhile.

    .venv/bin/python -m benchmarks.slow_connections [--connections 400 1000] [--addresses 1 8] [--kinds silent head …] [--seconds 130]

Each kind of connection alone, then all of them at once; from one address of this machine and from several (127.0.0.2,
127.0.0.3 …: Linux only), none of them the annotator's. One that the server closes comes back a second later. Printed for each:
how long the first ones stayed open, how many were still open at the end, the annotator's times (a new connection for every
request), the server's memory and open files before, at most and afterwards, and how long SIGTERM takes in the middle of
it. The server may open 1,024 files (`--files`), as many systems have it. Exits with 1 if the annotator met an error, if
SIGTERM took longer than 10 s or ended with another code than 0, or if connections stayed behind.
"""

import argparse
import contextlib
import functools
import http.client
import resource
import select
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import streamlit

from annotator.domain.people import OPERATOR
from annotator.people.service import add_person
from annotator.storage.database import Database
from benchmarks.labeling_load import DATASET, NOW, Client, fill, open_database
from benchmarks.press_to_paint import find_free_port, start_server

SMALL = "--connections 20 --addresses 2 --kinds all --seconds 1 --kind sqlite"  # what the tests start it with
USERNAME, PASSWORD = "labels-meanwhile", "correct horse battery"
KINDS = ("silent", "head", "body", "unread", "handshake")
COMES_BACK_AFTER = 1.0  # seconds
MOST_SECONDS_TO_END = 10.0
HEAD = b"GET /login HTTP/1.1\r\nHost: x\r\nX-Slow: "
BODY = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 500\r\n\r\n"
HANDSHAKE = b"GET /_stcore/stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Slow connections, and somebody who works meanwhile.")
    parser.add_argument("--connections", type=int, nargs="+", default=[400, 1000])
    parser.add_argument("--addresses", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS, "all"], default=[*KINDS, "all"])
    parser.add_argument("--seconds", type=float, default=130, help="of each attack")
    parser.add_argument("--files", type=int, default=1024, help="that the server may have open")
    parser.add_argument("--kind", choices=["sqlite", "postgresql"], default="sqlite")
    chosen = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20_000), hard))
    wrong = 0
    with (
        tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder,
        open_database(chosen.kind, Path(folder) / "database") as (database, _there),
    ):
        fill(database, queries=200, depth=20, judged_by=0, overlap=3, people=1)
        add_person(
            database, OPERATOR, USERNAME, role="annotator", dataset=DATASET, password=PASSWORD, now=NOW
        )
        for connections in chosen.connections:
            for addresses in chosen.addresses:
                for kind in chosen.kinds:
                    wrong += measure(Path(folder), database, Attack(connections, addresses, kind), chosen)
        database.dispose()
    sys.exit(1 if wrong else 0)


@dataclass
class Slow:
    """One connection, open since `began`."""

    number: int
    kind: str
    wire: socket.socket
    began: float
    first: bool  # not yet one that came back


@dataclass
class Attack:
    """Slow connections on a thread. `closed`: for each kind the seconds for which the first ones stayed open."""

    connections: int
    addresses: int
    kind: str
    port: int = 0
    closed: dict[str, list[float]] = field(default_factory=dict)
    refused: int = 0
    opened: dict[int, Slow] = field(default_factory=dict)
    _poll: select.poll = field(default_factory=select.poll)
    _coming: list[tuple[float, int]] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)

    @contextlib.contextmanager
    def running(self, port: int) -> Iterator[None]:
        """Everything is open inside, and closed afterwards."""
        self.port, self.closed, self.refused = port, {}, 0
        self._ended, self._poll, self._coming = threading.Event(), select.poll(), []
        for number in range(self.connections):
            self._open(number, first=True)
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()
            for slow in self.opened.values():
                slow.wire.close()
            self.opened.clear()

    def count_first_open(self, kind: str) -> int:
        """How many of the first connections are still there."""
        return sum(slow.first and slow.kind == kind for slow in list(self.opened.values()))

    def _run(self) -> None:
        next_bytes = time.monotonic() + 1
        while not self._ended.is_set():
            for file, _ in self._poll.poll(100):
                self._hear(file)
            now = time.monotonic()
            if now >= next_bytes:
                next_bytes += 1
                for slow in list(self.opened.values()):
                    if slow.kind == "head":
                        with contextlib.suppress(OSError):
                            slow.wire.send(b"x")
            while self._coming and self._coming[0][0] <= now:
                self._open(self._coming.pop(0)[1], first=False)

    def _open(self, number: int, *, first: bool) -> None:
        kind = KINDS[number % len(KINDS)] if self.kind == "all" else self.kind
        wire = socket.socket()
        wire.settimeout(10)
        if kind == "unread":
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.bind((f"127.0.0.{number % self.addresses + 2}", 0))
        try:
            wire.connect(("127.0.0.1", self.port))
            wire.sendall(_say_first(kind))
        except OSError:
            self.refused += 1
            wire.close()
            self._coming.append((time.monotonic() + COMES_BACK_AFTER, number))
            return
        self.opened[wire.fileno()] = Slow(number, kind, wire, time.monotonic(), first)
        wire.setblocking(False)
        self._poll.register(wire, 0 if kind == "unread" else select.POLLIN)

    def _hear(self, file: int) -> None:
        """Note that the server closed the connection, if that is what it said."""
        slow = self.opened[file]
        if slow.kind != "unread":
            try:
                if slow.wire.recv(65536):
                    return
            except BlockingIOError:
                return
            except OSError:
                pass
        self._poll.unregister(file)
        del self.opened[file]
        slow.wire.close()
        if slow.first:
            self.closed.setdefault(slow.kind, []).append(time.monotonic() - slow.began)
        self._coming.append((time.monotonic() + COMES_BACK_AFTER, slow.number))


def _say_first(kind: str) -> bytes:
    """What is sent at once; the rest never comes."""
    return {
        "silent": b"",
        "head": HEAD,
        "body": BODY,
        "unread": f"GET {_find_large_file()} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 8,
        "handshake": HANDSHAKE,
    }[kind]


@functools.cache
def _find_large_file() -> str:
    """The address of the largest file that is open to everybody."""
    folder = Path(streamlit.__file__).parent / "static"
    largest = max((folder / "static").rglob("*.js"), key=lambda path: path.stat().st_size)
    return f"/{largest.relative_to(folder)}"


class Annotator:
    """Signs in and labels one pair, again and again, each request on a connection of its own."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.signing: list[float] = []
        self.labeling: list[float] = []
        self.client = Client(port, 0)
        self.errors: list[str] = []
        self._ended = threading.Event()

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        thread = threading.Thread(target=self._work)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def work_once(self) -> None:
        """Sign in, and judge the next pair."""
        began = time.monotonic()
        browser = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        form = urlencode({"username": USERNAME, "password": PASSWORD})
        browser.request("POST", "/login", form, {"Content-Type": "application/x-www-form-urlencoded"})
        answer = browser.getresponse()
        if answer.status != 303:
            self.errors.append(f"sign-in {answer.status}")
        self.client.cookie = (answer.getheader("Set-Cookie") or "").partition(";")[0]
        browser.close()
        self.signing.append(time.monotonic() - began)
        self.client.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        event = self.client.press()
        self.client.ask([event] if event else [], 5 - len(self.client.held))
        self.client.connection.close()
        self.labeling.append(self.client.seconds[-1])

    def _work(self) -> None:
        while not self._ended.wait(0.3):
            try:
                self.work_once()
            except (OSError, http.client.HTTPException) as error:
                self.errors.append(repr(error))


@dataclass
class Resources:
    """Of the server: memory in MB and open files, as they were before and at most."""

    pid: int
    before: tuple[float, int] = (0, 0)
    most: tuple[float, int] = (0, 0)

    def read(self) -> tuple[float, int]:
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines()
        memory = next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))
        now = memory, len(list(Path(f"/proc/{self.pid}/fd").iterdir()))
        self.most = max(self.most[0], now[0]), max(self.most[1], now[1])
        return now


def measure(folder: Path, database: Database, attack: Attack, chosen: argparse.Namespace) -> bool:
    """Print what one attack did; whether something went wrong."""
    port = find_free_port()
    server = start_server(folder, database, port)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (min(chosen.files, hard), hard))
    try:
        quiet, busy, used = Annotator(port), Annotator(port), Resources(server.pid)
        for _ in range(10):
            quiet.work_once()
        used.before = used.read()
        with attack.running(port), busy.working():
            until = time.monotonic() + chosen.seconds
            while time.monotonic() < until:
                time.sleep(0.5)
                used.read()
            open_first = {kind: attack.count_first_open(kind) for kind in KINDS}
            closed, refused = dict(attack.closed), attack.refused
        time.sleep(3)
        after = used.read()
        with attack.running(port):
            time.sleep(1)
            seconds, code = end(server)
    finally:
        server.kill()
        server.wait()
    errors = [*quiet.errors, *quiet.client.errors, *busy.errors, *busy.client.errors]
    left = after[1] - used.before[1]
    name = f"{attack.connections} {attack.kind}, {attack.addresses} address{'es' if attack.addresses > 1 else ''}"
    print(f"{name} (not accepted: {refused})")
    for kind in KINDS:
        held = sorted(closed.get(kind, []))
        if held or open_first[kind]:
            stayed = f"{held[0]:.1f}, {statistics.median(held):.1f}, {held[-1]:.1f} s" if held else "-"
            print(f"    {kind:<10} open for {stayed} (least, median, most of {len(held)}); still open: {open_first[kind]}")  # fmt: skip
    for what, calm, times in (("signs in", quiet.signing, busy.signing), ("labels", quiet.labeling, busy.labeling)):  # fmt: skip
        print(f"    {what:<10} {_show(times)}; before {_show(calm)} ms (median, longest of {len(times)})")
    print(
        f"    memory     {used.before[0]:.0f}, {used.most[0]:.0f}, {after[0]:.0f} MB (before, at most, after)"
    )
    print(f"    files      {used.before[1]}, {used.most[1]}, {after[1]}")
    print(f"    SIGTERM    {seconds:.1f} s, code {code}; errors {len(errors)} {errors[:2]}", flush=True)
    return bool(errors) or seconds > MOST_SECONDS_TO_END or code != 0 or left > 20


def end(server: subprocess.Popen[bytes]) -> tuple[float, int | None]:
    """How long SIGTERM takes, and the code; None if a minute was not enough."""
    began = time.monotonic()
    server.send_signal(signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(60)
    return time.monotonic() - began, server.returncode


def _show(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.0f}, {max(seconds) * 1000:.0f}" if seconds else "-"


if __name__ == "__main__":
    main()
