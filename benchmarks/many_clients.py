"""32 and 100 annotators labeling at once through the real HTTP route: items per second, and what the database says afterwards.

    .venv/bin/python -m benchmarks.many_clients [--clients 32 100] [--seconds 20] [--kind sqlite postgresql]
        [--servers 2] [--cores 0.3] [--within 3]

A real server; each client keeps 5 pairs ahead and submits one judgment per request without a pause, which no person can.
10,000 pairs, each judged by three. Afterwards the database is asked: no pair is judged by more than three, none was given
to a person twice, every acknowledged answer is there once, and everything derived is what it is from scratch
(`derived_rows.py`). Exits with 1 unless all counts are 0. `--servers`: servers
on one database, each with its share of the clients (for PostgreSQL). `--cores`: each server gets at most this share of a
core, so that a few cores show whether a second server adds its speed, as it would on a machine of its own. `--within 3`: each client presses once, at a moment
drawn within so many seconds, as people do. CPU: milliseconds for each item of the servers, of PostgreSQL, and of the clients.
"""

import argparse
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

from sqlalchemy import text

from annotator.storage.database import Database
from benchmarks.cpu_limit import limit_cpu
from benchmarks.derived_rows import find_wrong_rows
from benchmarks.labeling_load import DATASET, Client, fill, open_database, read_cpu, serve, show

SMALL = "--clients 2 --seconds 1 --kind postgresql"  # what the tests start it with
QUERIES, DEPTH, OVERLAP = 200, 50, 3


def main() -> None:
    """Measure, print, and check."""
    parser = argparse.ArgumentParser(description="Many annotators at once.")
    parser.add_argument("--clients", type=int, nargs="+", default=[32, 100])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--cores", type=float, help="processor seconds that each server may use in a second")
    parser.add_argument("--within", type=float, help="one press of each client, within so many seconds")
    chosen = parser.parse_args()
    print(
        f"{'':<24} {'items/s':>8} {'median ms':>9} {'p95 ms':>8} {'longest':>8} {'errors':>7} {'wrong':>6}  CPU ms: server, database, clients"
    )
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        for kind in chosen.kind:
            for clients in chosen.clients:
                wrong += measure(
                    kind,
                    Path(folder) / f"{kind}-{clients}",
                    clients,
                    chosen.seconds,
                    chosen.servers,
                    chosen.cores,
                    chosen.within,
                )
    sys.exit(1 if wrong else 0)


def measure(
    kind: str,
    folder: Path,
    clients: int,
    seconds: float,
    servers: int,
    cores: float | None,
    within: float | None,
) -> int:
    """How much went wrong."""
    with open_database(kind, folder) as (database, _there):
        fill(database, queries=QUERIES, depth=DEPTH, judged_by=0, overlap=OVERLAP, people=clients)
        with ExitStack() as stack:
            started = [stack.enter_context(serve(database, folder.parent)) for _ in range(servers)]
            for _port, pid in started:
                if cores is not None:
                    stack.enter_context(limit_cpu(pid, cores))
            everybody = [Client(started[number % servers][0], number) for number in range(clients)]
            sent: list[str] = []
            twice: list[str] = []
            if within is not None:
                for client in everybody:
                    client.ask([], 5)
                    client.seconds.clear()

            place = find_database_folder(database)

            def read_all() -> tuple[float, float, float]:
                times = os.times()
                database_cpu = read_database_cpu(place) if place else 0.0
                return sum(read_cpu(pid) for _port, pid in started), database_cpu, times.user + times.system

            start, before = time.perf_counter(), read_all()
            work = (press_once, (within,)) if within is not None else (label, (start + seconds,))
            threads = [Thread(target=work[0], args=(client, *work[1], sent, twice)) for client in everybody]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            passed = time.perf_counter() - start
            cpu = [
                (after - first) / max(1, len(sent)) * 1000
                for after, first in zip(read_all(), before, strict=True)
            ]
        errors = [error for client in everybody for error in client.errors]
        rows = find_wrong_rows(database, DATASET, overbooked_at=datetime.now(UTC))
        wrong = check(database, sent) + len(twice) + len(rows)
        times = [value for client in everybody for value in client.seconds]
        print(f"{f'{kind}, {clients} clients':<24} {len(sent) / passed:>8.1f}  {show(times)} {len(errors):>7} {wrong:>6}  ",
              " ".join(f"{value:5.1f}" for value in cpu), *errors[:1], *rows[:1], flush=True)  # fmt: skip
        database.dispose()
    return wrong + len(errors)


def find_database_folder(database: Database) -> Path | None:
    """Where PostgreSQL keeps its files on this machine; None for SQLite."""
    if database.is_sqlite:
        return None
    with database.read() as session:
        return Path(str(session.execute(text("SELECT current_setting('data_directory')")).scalar_one()))


def read_database_cpu(folder: Path) -> float:
    """Seconds that PostgreSQL has computed in this folder: its first process, those it has now, and those that have ended."""
    first = int((folder / "postmaster.pid").read_text(encoding="utf-8").split()[0])
    ended = Path(f"/proc/{first}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return read_cpu(first) + (int(ended[13]) + int(ended[14])) / os.sysconf("SC_CLK_TCK")


def press_once(client: Client, within: float, sent: list[str], _twice: list[str]) -> None:
    """Wait as long as drawn, press, submit, be given the next."""
    client.connection.close()  # the server has ended it: nothing was sent for long. A new one is opened by the next request
    time.sleep(client.drawn.random() * within)
    event = client.press()
    if event is None:
        client.errors.append("nothing to press on")
        return
    before = len(client.errors)
    client.ask([event], 1)
    if len(client.errors) == before:
        sent.append(event["id"])


def label(client: Client, until: float, sent: list[str], twice: list[str]) -> None:
    """Press, submit, be given the next: until the time is over or nothing is left."""
    seen: set[str] = set()
    client.ask([], 5)
    while time.perf_counter() < until and (event := client.press()):
        if event["pair"] in seen:
            twice.append(event["pair"])
        seen.add(event["pair"])
        before = len(client.errors)
        client.ask([event], 5 - len(client.held))
        if len(client.errors) == before:
            sent.append(event["id"])


def check(database: Database, sent: list[str]) -> int:
    """Pairs judged by more than three, people with two answers on a pair, answers that are missing or too many."""
    counts = (
        f"SELECT count(*) FROM (SELECT pair_pk FROM judgment GROUP BY pair_pk HAVING count(*) > {OVERLAP}) x",
        "SELECT count(*) FROM (SELECT 1 FROM judgment GROUP BY pair_pk, annotator_pk HAVING count(*) > 1) x",
    )
    with database.read() as session:
        wrong = sum(int(session.execute(text(statement)).scalar_one()) for statement in counts)
        stored = set(session.execute(text("SELECT event_id FROM judgment")).scalars())
    return wrong + len(stored.symmetric_difference(sent))


if __name__ == "__main__":
    main()
