"""Opening the form of quality control, a draw, and the consensus estimates, at 1,000,000 judgments on 300,000 pairs.

    .venv/bin/python -m benchmarks.quality_draw [--queries 10000] [--kind sqlite postgresql] [--folder DIR]

The database is that of `agreement` (with --folder the same one, which is left as it was: what a draw writes is taken
back). Each in a process of its own; printed are the processor's seconds of that process, the seconds on the clock (with
PostgreSQL the server works beside it), and its memory at most. Aims: the form 2 s and a draw 4 s of the processor.
"""

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy.orm import Session

from annotator.agreement.service import compute_consensus
from annotator.domain.people import OPERATOR
from annotator.quality.service import draw_sample, list_experts, preview_sample
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from benchmarks.agreement_load import fill
from benchmarks.labeling_load import DATASET, NOW, open_database

SMALL = "--queries 20 --kind sqlite"  # what the tests start it with


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Quality control at a million judgments.")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        for kind in chosen.kind:
            folder_path = (chosen.folder or Path(folder)) / f"agreement-{kind}-{chosen.queries}"
            with open_database(kind, folder_path) as (database, there):
                if not there:
                    fill(database, queries=chosen.queries)
                upgrade_schema(database)
                url = database.engine.url.render_as_string(hide_password=False)
                database.dispose()
                for task in (open_form, draw, estimate):
                    process = multiprocessing.get_context("spawn").Process(target=run, args=(kind, task, url))
                    process.start()
                    process.join()
                    if process.exitcode:
                        sys.exit(f"{task.__name__} failed: {process.exitcode}")


def run(kind: str, task: Callable[[Database], None], url: str) -> None:
    """One of the three, with what it took."""
    database = Database(url)
    start, clock = time.process_time(), time.perf_counter()
    task(database)
    seconds, passed = time.process_time() - start, time.perf_counter() - clock
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{kind:<11} {task.__name__:<10} {seconds:.2f} s of the processor, {passed:.2f} s, {memory} MB",
        flush=True,
    )
    database.dispose()


class Undo(Exception):
    """What was written is to be taken back."""


class Undone(Database):
    """Keeps nothing of what is written to it."""

    @contextmanager
    def write(self, *, before_parents: bool = False, durable: bool = True) -> Iterator[Session]:
        with suppress(Undo), super().write(before_parents=before_parents, durable=durable) as session:
            yield session
            raise Undo


def open_form(database: Database) -> None:
    """What the form asks before it is painted."""
    preview_sample(database, OPERATOR, DATASET, annotator=find_expert(database))


def draw(database: Database) -> None:
    """A tenth of the settled pairs, for one of the annotators."""
    undone = Undone(database.url)
    draw_sample(undone, OPERATOR, DATASET, annotator="ann000", new_round=True, now=NOW)
    undone.dispose()


def find_expert(database: Database) -> str:
    """Whoever can check most."""
    return max(list_experts(database, OPERATOR, DATASET), key=lambda expert: expert.available).username


def estimate(database: Database) -> None:
    """Every estimate, as the page and `agreement --consensus` ask for it."""
    compute_consensus(database, OPERATOR, DATASET, now=NOW)


if __name__ == "__main__":
    main()
