"""Replicas behind a real nginx with TLS (deploy/nginx.conf) on one PostgreSQL: items per second, a kill, a rolling restart, open pages.

    .venv/bin/python -m benchmarks.replicas [--processes 1 2 4] [--clients 32] [--seconds 15] [--upgrade-from FOLDER]
        [--open-pages 200 --minutes 30 --every 30]

For each number of processes: `--clients` annotators submit one judgment per request without a pause, which no person can.
First undisturbed: items per second, milliseconds of a request, the computing time per item of each kind of process, and how long
`/metrics` and `/healthz` take meanwhile, asked from a process of its own. Then, with two processes or more, one is killed (-9) and
started again, and each is restarted in turn, while everybody goes on: as the panel does, a client keeps a judgment until it is
acknowledged, and sends it again. Afterwards the database is compared with what was pressed: 0 lost, 0 doubled, 0 misplaced, and
everything derived is what it is from scratch (`derived_rows.py`). Exits with 1 otherwise.

`--upgrade-from`: a checkout of an earlier version, which fills the database and serves at first; the restart in turn then starts
the present version. `--open-pages`: then hold so many label pages open on two processes, each of which runs again every `--every`
seconds, and print the memory of each server process before, with all pages open, in the middle and at the end.
`--processes` without numbers leaves out everything else.
"""

import argparse
import asyncio
import http.client
import json
import os
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from sqlalchemy import text

from annotator.storage.database import Database
from benchmarks.derived_rows import find_wrong_rows
from benchmarks.labeling_load import DATASET, Client, fill, open_database, read_cpu, start, wait_for_server
from benchmarks.many_clients import find_database_folder, read_database_cpu
from benchmarks.nginx_before import find_nginx, make_certificate, render_configuration
from benchmarks.open_pages import Pages
from benchmarks.press_to_paint import find_free_port
from benchmarks.scraping import scrape

SMALL = (
    "--processes 2 --clients 2 --seconds 0.5 --open-pages 2 --minutes 0.02"  # what the tests start it with
)
QUERIES, DEPTH, OVERLAP = 200, 50, 3
PROJECT = Path(__file__).parents[1]
LEFT_OUT_SECONDS = 2.5  # for which nginx leaves out a server that did not answer, and a little more
GIVE_UP_SECONDS = 60.0
FILL = (
    "import sys; from annotator.storage.database import Database; from benchmarks.labeling_load import fill; "
    "fill(Database(sys.argv[1]), queries=int(sys.argv[2]), depth=int(sys.argv[3]), judged_by=0, overlap=int(sys.argv[4]), people=int(sys.argv[5]))"
)


class ReplicaClient(Client):
    """An annotator behind the proxy, as the panel behaves: what is not acknowledged is kept, and sent again."""

    def __init__(self, port: int, number: int) -> None:
        super().__init__(port, number, ahead=5)
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        self.connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=trusting)
        self.cookie += f"; annotator_replica={number:032x}"
        self.pressed: dict[str, tuple[str, int]] = {}
        self.acknowledged: list[tuple[float, float]] = []  # when, and the seconds that its request took
        self.longest_unsaved = 0.0
        self.repeats = 0

    def label(self, is_over: Event) -> None:
        """Press, submit, be given the next, until it is over or nothing is left."""
        self._send([], 5)
        while not is_over.is_set() and (event := self.press()):
            self.pressed[event["id"]] = (event["pair"], event["grade"])
            start = time.perf_counter()
            if self._send([event], 5 - len(self.held)):
                self.acknowledged.append((time.perf_counter(), self.seconds[-1]))
                self.longest_unsaved = max(self.longest_unsaved, time.perf_counter() - start)

    def _send(self, events: list[dict[str, Any]], want: int) -> bool:
        """Send until it is answered, with the pauses of the panel. Returns whether it was accepted."""
        until, pause = time.perf_counter() + GIVE_UP_SECONDS, 0.4
        while time.perf_counter() < until:
            before = len(self.errors)
            with suppress(OSError, http.client.HTTPException, ValueError):  # a page of nginx is no JSON
                self.ask(events, want)
                if len(self.errors) == before:
                    return True
                if not self.errors[-1].startswith(("5", "429")):
                    return False
            del self.errors[before:]
            self.connection.close()
            self.repeats += 1
            time.sleep(pause)
            pause = min(10.0, pause * 1.7)
        self.errors.append(f"no answer in {GIVE_UP_SECONDS:.0f} seconds")
        return False


@dataclass
class Replica:
    """A server process. `source`: the checkout that it runs; None for this one."""

    database: Database
    folder: Path
    source: Path | None
    port: int = field(default_factory=find_free_port)
    metrics_port: int = field(default_factory=find_free_port)
    process: Any = None

    def start(self) -> None:
        options = ("--metrics-port", str(self.metrics_port))
        self.process = start(self.database, self.folder, self.port, *options, source=self.source)
        wait_for_server(self.port)

    def end(self, how: str) -> None:
        """`terminate` it, or `kill` it."""
        getattr(self.process, how)()
        self.process.wait(30)

    def read_memory(self) -> float:
        """Megabytes that are resident now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(status.partition("VmRSS:")[2].split()[0]) / 1000


class Installation:
    """The replicas and nginx before them. `port` is nginx's, with TLS."""

    def __init__(self, database: Database, folder: Path, processes: int, source: Path | None) -> None:
        self.replicas = []
        for number in range(processes):
            (folder / f"app-{number}").mkdir(parents=True)
            self.replicas.append(Replica(database, folder / f"app-{number}", source))
        self.folder, self.port, self.plain_port = folder, find_free_port(), find_free_port()
        self.nginx: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        nginx = find_nginx() or sys.exit("no nginx found: make nginx (Debian: apt-get install nginx-light)")
        for replica in self.replicas:
            replica.start()
        make_certificate(self.folder)
        ports = [replica.port for replica in self.replicas]
        configuration = render_configuration(
            self.folder, port=self.port, plain_port=self.plain_port, servers=ports
        )
        (self.folder / "nginx.conf").write_text(configuration, encoding="utf-8")
        command = [nginx, "-c", str(self.folder / "nginx.conf"), "-p", str(self.folder), "-g", "daemon off;"]
        with (self.folder / "nginx.log").open("wb") as log:
            self.nginx = subprocess.Popen(command, stdout=log, stderr=log)
        for _ in range(600):
            with suppress(OSError):
                ReplicaClient(self.port, 0).connection.connect()
                return
            time.sleep(0.05)
        sys.exit(f"nginx did not start:\n{(self.folder / 'nginx.log').read_text(encoding='utf-8')}")

    def stop(self) -> None:
        if self.nginx is not None:
            self.nginx.terminate()
            self.nginx.wait(20)
        for replica in self.replicas:
            if replica.process is not None:
                replica.end("terminate")

    def read_cpu(self) -> dict[str, float]:
        """Seconds that each kind of process has computed."""
        assert self.nginx is not None
        times, place = os.times(), find_database_folder(self.replicas[0].database)
        return {
            "servers": sum(read_cpu(replica.process.pid) for replica in self.replicas),
            "PostgreSQL": read_database_cpu(place) if place else 0.0,
            "nginx": read_cpu(self.nginx.pid),
            "clients": times.user + times.system,
        }

    def kill_one(self) -> None:
        """Kill the first server while everybody labels, and start it again."""
        self.replicas[0].end("kill")
        time.sleep(1)
        self.replicas[0].start()
        time.sleep(LEFT_OUT_SECONDS)

    def restart_in_turn(self) -> None:
        """Stop each server when the one before is there again, and start the present version in its place."""
        for replica in self.replicas:
            replica.end("terminate")
            replica.source = None
            replica.start()
            time.sleep(LEFT_OUT_SECONDS)


@contextmanager
def run_installation(
    folder: Path, processes: int, people: int, earlier: Path | None = None
) -> Iterator[tuple[Installation, Database]]:
    """A PostgreSQL with 10,000 pairs, and the installation on it. `earlier`: the checkout that fills it and serves at first."""
    with open_database("postgresql", folder / "postgresql") as (database, _there):
        if earlier is None:
            fill(database, queries=QUERIES, depth=DEPTH, judged_by=0, overlap=OVERLAP, people=people)
        else:
            url = database.url.render_as_string(hide_password=False)
            figures = [str(each) for each in (QUERIES, DEPTH, OVERLAP, people)]
            environment = {**os.environ, "PYTHONPATH": str(earlier)}
            command = [sys.executable, "-c", FILL, url, *figures]
            subprocess.run(command, check=True, cwd=earlier, env=environment)
        installation = Installation(database, folder, processes, earlier)
        try:
            installation.start()
            yield installation, database
        finally:
            installation.stop()
            database.dispose()


def measure(folder: Path, processes: int, clients: int, seconds: float, earlier: Path | None) -> int:
    """Print the figures; return how much went wrong."""
    with run_installation(folder, processes, clients, earlier) as (installation, database):
        everybody = [ReplicaClient(installation.port, number) for number in range(clients)]
        is_over = Event()
        threads = [Thread(target=client.label, args=(is_over,)) for client in everybody]
        for thread in threads:
            thread.start()
        time.sleep(min(2.0, seconds))  # statements are planned, connections are open
        print(f"\n{processes} processes, {clients} clients{', an upgrade' if earlier else ''}", flush=True)
        _measure_undisturbed(installation, everybody, seconds)
        if processes > 1:
            for name, disturb in (
                ("kill -9 of one", installation.kill_one),
                ("restart in turn", installation.restart_in_turn),
            ):
                _measure_disturbed(name, disturb, everybody)
        is_over.set()
        for thread in threads:
            thread.join()
        errors = [error for client in everybody for error in client.errors]
        counts = compare(database, everybody)
        rows = find_wrong_rows(database, DATASET, overbooked_at=datetime.now(UTC))
    shown = ", ".join(f"{number} {word}" for word, number in counts.items())
    print(
        f"  {shown}; {len(rows)} derived rows wrong; {len(errors)} errors", *errors[:1], *rows[:1], flush=True
    )
    return sum(number for word, number in counts.items() if word != "pressed") + len(rows) + len(errors)


def _measure_undisturbed(installation: Installation, everybody: list[ReplicaClient], seconds: float) -> None:
    addresses = [f"https://127.0.0.1:{installation.port}/healthz"]
    for replica in installation.replicas:
        addresses += [
            f"http://127.0.0.1:{replica.metrics_port}/metrics",
            f"http://127.0.0.1:{replica.port}/healthz",
        ]
    code = f"from {scrape.__module__} import {scrape.__name__}; {scrape.__name__}({addresses!r})"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=PROJECT) as scraper:
        assert scraper.stdout is not None
        scraper.stdout.readline()
        began, before = time.perf_counter(), installation.read_cpu()
        time.sleep(seconds)
        ended, after = time.perf_counter(), installation.read_cpu()
        scraped = json.loads(scraper.communicate()[0])
    taken = sorted(took for client in everybody for at, took in client.acknowledged if began <= at <= ended)
    print(f"  undisturbed {len(taken) / (ended - began):7.1f} items/s, {show_times(taken)}")
    cpu = ", ".join(
        f"{kind} {(after[kind] - before[kind]) / max(1, len(taken)) * 1000:.1f}" for kind in after
    )
    busy = sum(after[kind] - before[kind] for kind in after) / (ended - began)
    print(f"  CPU ms per item: {cpu}; {busy:.2f} of {os.cpu_count()} cores busy")
    for path in ("/metrics", "/healthz"):
        values = [value for name, each in scraped["seconds"].items() if name.endswith(path) for value in each]
        failures = sum(number for name, number in scraped["failures"].items() if name.endswith(path))
        print(
            f"  {path:<9} {len(values)} times, {show_times(sorted(values))}, {failures} failures", flush=True
        )


def _measure_disturbed(name: str, disturb: Callable[[], None], everybody: list[ReplicaClient]) -> None:
    began, before = time.perf_counter(), sum(client.repeats for client in everybody)
    for client in everybody:
        client.longest_unsaved = 0.0
    disturb()
    ended = time.perf_counter()
    number = sum(1 for client in everybody for at, _took in client.acknowledged if began <= at <= ended)
    repeats = sum(client.repeats for client in everybody) - before
    longest = max(client.longest_unsaved for client in everybody)
    print(
        f"  {name:<16} {number / (ended - began):7.1f} items/s, {repeats} requests sent again, "
        f"a judgment was unsaved for {longest:.1f} s at most",
        flush=True,
    )


def show_times(ordered: list[float]) -> str:
    """Median, 95th percentile and the longest, in milliseconds."""
    if not ordered:
        return "nothing was measured"
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return f"median {statistics.median(ordered) * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms, longest {ordered[-1] * 1000:.1f} ms"


def compare(database: Database, everybody: list[ReplicaClient]) -> dict[str, int]:
    """Compare what was pressed with what is stored."""
    pressed = {event: press for client in everybody for event, press in client.pressed.items()}
    with database.read() as session:
        rows = session.execute(
            text(
                "SELECT j.event_id, p.key, j.grade, j.annotator_pk FROM judgment j JOIN pair p ON p.pk = j.pair_pk"
            )
        ).all()
        most = session.execute(
            text(
                f"SELECT count(*) FROM (SELECT 1 FROM judgment GROUP BY pair_pk HAVING count(*) > {OVERLAP}) x"
            )
        ).scalar_one()
    stored = {str(event): (key, grade) for event, key, grade, _person in rows}
    return {
        "pressed": len(pressed),
        "lost": sum(event not in stored for event in pressed),
        "doubled": len(rows) - len({(key, person) for _event, key, _grade, person in rows}),
        "misplaced": sum(pressed.get(event) != press for event, press in stored.items()),
        "judged too often": int(most),
    }


def hold_pages(folder: Path, number: int, minutes: float, every: float) -> int:
    """Hold the pages open and print the memory; return how many pages never ran."""
    people = min(number, 50)
    with run_installation(folder, 2, people) as (installation, _database):
        print(
            f"\n{number} label pages on 2 processes for {minutes:g} minutes, each runs every {every:g} s on average"
        )
        show_memory("before", installation)
        pages, opened, lock = Pages(installation.port, "label", DATASET, every=every), [0], Lock()

        def note_opened(change: int) -> None:
            with lock:
                opened[0] += change

        cookies = [
            f"annotator_session=token{at % people}; annotator_replica={at:032x}" for at in range(number)
        ]
        thread = Thread(target=lambda: asyncio.run(pages.hold(cookies, note_opened)))
        thread.start()
        for _ in range(1200):
            if opened[0] == number:
                break
            time.sleep(0.1)
        show_memory(f"{opened[0]} open", installation)
        for name in ("in the middle", "at the end"):
            time.sleep(minutes * 60 / 2)
            show_memory(name, installation)
        pages.is_over = True
        thread.join()
        print(f"  {pages.runs} runs, {pages.lost} connections lost", flush=True)
        return number - opened[0] + pages.lost


def show_memory(when: str, installation: Installation) -> None:
    shown = ", ".join(f"{replica.read_memory():.0f}" for replica in installation.replicas)
    print(f"  {when:<14} memory of the processes: {shown} MB", flush=True)


def main() -> None:
    """Measure, print, and check."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--upgrade-from", type=Path)
    parser.add_argument("--open-pages", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--every", type=float, default=30)
    chosen = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="annotator-replicas-") as name:
        for processes in chosen.processes:
            folder = Path(name) / f"with-{processes}"
            earlier = chosen.upgrade_from if processes > 1 else None
            wrong += measure(folder, processes, chosen.clients, chosen.seconds, earlier)
        if chosen.open_pages:
            wrong += hold_pages(Path(name) / "pages", chosen.open_pages, chosen.minutes, chosen.every)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
