"""How fast a hand-in is answered at 1,000,000 pairs and 2,000,000 judgments (10,000 queries), over HTTP.

    .venv/bin/python -m benchmarks.at_a_million [--queries 10000] [--requests 300] [--kind sqlite postgresql] [--folder DIR]

Every pair lacks one of three judgments, which is the hardest state: nothing can be passed over. A new annotator's first
page; then an annotator who asks for 20 pairs and has judged none; one who hands in 20 answers and asks for 20 further pairs;
and one press at a time, as the panel sends them. The aims: first page 1 s, 20 wanted pairs p95 20 ms. With --folder the
database is kept there and used again.
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.labeling_load import Client, fill, open_database, read_cpu, serve, show

PEOPLE, DEPTH = 60, 100


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="A hand-in at a million pairs.")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    print(f"{'milliseconds':<44} {'median':>8} {'p95':>8} {'longest':>8} {'CPU':>8}")
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        for kind in chosen.kind:
            measure(
                kind,
                (chosen.folder or Path(folder)) / f"{kind}-{chosen.queries}",
                chosen.queries,
                chosen.requests,
            )


def measure(kind: str, folder: Path, queries: int, requests: int) -> None:
    """Four ways of asking, on one kind of database."""
    with open_database(kind, folder) as (database, there):
        if not there:
            fill(database, queries=queries, depth=DEPTH, judged_by=2, overlap=3, people=PEOPLE)
        with serve(database, folder.parent) as (port, pid):
            Client(port, 59).ask([], 20)  # the server is warm; its first request opens the database
            title = f"{kind}, {queries * DEPTH:,} pairs"
            first = []
            for number in range(21, 41):  # people who have judged nothing yet
                client = Client(port, number)
                client.ask([], 20)
                first += client.seconds
            print(f"{title + ', first page':<44} {show(first)}", flush=True)
            for name, batch in (("20 answers, 20 wanted", 20), ("one answer, one wanted", 1)):
                for who, number in (
                    ("a new annotator", 45 + batch % 2),
                    ("one with 100,000 answers", batch % 2),
                ):
                    print(
                        f"{f'{kind}, {name}, {who}':<44} {label(port, pid, number, batch, requests)}",
                        flush=True,
                    )
        database.dispose()


def label(port: int, pid: int, number: int, batch: int, requests: int) -> str:
    """How long each of many hand-ins in a row by one annotator took, and what one cost the server."""
    client = Client(port, number)
    client.ask([], 20)
    client.seconds.clear()
    before = read_cpu(pid)
    for _ in range(requests):
        events = [event for event in (client.press() for _ in range(batch)) if event]
        client.ask(events, 20 - len(client.held))
    if client.errors:
        raise SystemExit(client.errors[0])
    cost = (read_cpu(pid) - before) / requests * 1000
    return f"{show(client.seconds)} {cost:8.1f}"


if __name__ == "__main__":
    main()
