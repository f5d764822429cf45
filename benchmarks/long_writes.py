"""How long somebody who labels waits for the database while a large release is published, and while a guideline changes its meaning.

    .venv/bin/python -m benchmarks.long_writes [--qrels 1000000] [--database URL] [--folder DIR]

The dataset of `release`: each pair has two judgments. Meanwhile a process of its own writes one pair at random through the program's
own write transactions, every 10 ms. It prints how long it took until it had written (on SQLite it waits for the one writer, on
PostgreSQL for the pair's row): the median, the 99th percentile and the longest. The aim is at most 200 ms. With --folder the SQLite
database is kept there and a copy of it is used.
"""

import argparse
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path

from sqlalchemy import text

from annotator.domain.people import OPERATOR
from annotator.guideline.service import publish_version, read_version
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.schema import upgrade_schema
from benchmarks.release import fill, publish

SMALL = "--qrels 500"  # what the tests start it with
EVERY_SECONDS = 0.01
RANGE = text("SELECT min(pk), max(pk) FROM pair WHERE dataset_pk = :dataset_pk")
WRITE = text("UPDATE pair SET judged = judged WHERE pk = :pair_pk")


def main() -> None:
    parser = argparse.ArgumentParser(description="How long labeling waits during long writes.")
    parser.add_argument("--qrels", type=int, default=1_000_000)
    parser.add_argument("--database", help="an empty database to use instead of a temporary SQLite file")
    parser.add_argument("--folder", type=Path, help="keep the filled SQLite database here, and use it again")
    parser.add_argument("--change", nargs=2, metavar=("URL", "DATASET"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.change:
        publish_another_meaning(*chosen.change)
        return
    name = f"bench-{chosen.qrels}"
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        url = chosen.database or f"sqlite:///{folder}/bench.db"
        prepare(url, name, chosen.qrels, chosen.folder)
        report("publish", url, name, lambda: publish(url, name, Path(folder))[:3])
        report("new meaning", url, name, lambda: change_meaning(url, name))


def prepare(url: str, name: str, qrels: int, kept: Path | None) -> None:
    """Fill the database, or copy the one that was kept."""
    if kept is None or not url.startswith("sqlite"):
        fill(url, name, qrels, random.Random(0))
        return
    source = kept / f"{name}.db"
    if not source.exists():
        fill(f"sqlite:///{source}", name, qrels, random.Random(0))
    shutil.copyfile(source, url.removeprefix("sqlite:///"))
    database = Database(url)
    upgrade_schema(database)
    database.dispose()


def change_meaning(url: str, name: str) -> tuple[float, float, float]:
    """Publish a guideline with another definition in a process of its own. Returns seconds, seconds of computing, peak memory (MB)."""
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-m", "benchmarks.long_writes", "--change", url, name])
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"publishing the guideline failed: {status}")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def report(what: str, url: str, name: str, act: Callable[[], tuple[float, float, float]]) -> None:
    """Do it while another process writes, and print what both took."""
    context = multiprocessing.get_context("spawn")
    begun, ended = context.Event(), context.Event()
    receiver, sender = context.Pipe(duplex=False)
    writer = context.Process(target=label, args=(url, name, begun, ended, sender))
    writer.start()
    begun.wait()
    seconds, cpu, peak = act()
    ended.set()
    waits = sorted(receiver.recv())
    writer.join()
    middle, late = waits[len(waits) // 2], waits[int(len(waits) * 0.99)]
    print(
        f"{what:<12} {seconds:7.1f} s  {cpu:6.1f} s computing  {peak:6,.0f} MB   {len(waits):>6,} writes meanwhile waited "
        f"{middle:.1f}, {late:.1f}, {waits[-1]:.1f} ms (median, p99, longest)",
        flush=True,
    )


def label(url: str, name: str, begun: Event, ended: Event, sender: Connection) -> None:
    """Write a pair every 10 ms until told to end; send how many milliseconds each took until it was written."""
    database, draw = Database(url), random.Random(0)
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, name).pk)
        first, last = session.execute(RANGE, {"dataset_pk": dataset_pk}).one()
    waits: list[float] = []
    while not ended.is_set():
        start = time.perf_counter()
        with database.write() as session:
            session.execute(WRITE, {"pair_pk": draw.randint(first, last)})
            waits.append((time.perf_counter() - start) * 1_000)
        begun.set()
        time.sleep(EVERY_SECONDS)
    sender.send(waits)


def publish_another_meaning(url: str, name: str) -> None:
    """Publish the guideline with another definition of grade 2, as a semantic change."""
    database = Database(url)
    present = read_version(database, OPERATOR, name)
    grades = list(present.rubric.grades)
    grades[2] = replace(grades[2], definition=f"{grades[2].definition} (2)")
    publish_version(
        database,
        OPERATOR,
        name,
        replace(present.rubric, grades=tuple(grades)),
        base_version=present.version,
        change="semantic",
        why="benchmark",
        now=datetime.now(UTC),
    )


if __name__ == "__main__":
    main()
