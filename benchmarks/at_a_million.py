"""How fast a submission is answered at 1,000,000 pairs and 2,000,000 judgments (10,000 queries), over HTTP.

    .venv/bin/python -m benchmarks.at_a_million [--queries 10000] [--requests 300] [--kind sqlite postgresql] [--folder DIR]

Every pair lacks one of three judgments, which is the hardest state: nothing can be passed over. A new annotator's first
page; then an annotator who asks for 20 pairs as after a reload, alone and with one answer; one who submits 20 answers and
asks for 20 further pairs; and one press at a time, as the panel sends them. The aims: first page 1 s, 20 wanted pairs p95 20 ms. With --folder the
database is kept there and used again.
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.labeling_load import Client, fill, open_database, read_cpu, serve, show

SMALL = "--queries 20 --requests 2 --kind postgresql"  # what the tests start it with
PEOPLE, DEPTH = 60, 100


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="A submission at a million pairs.")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    print(f"{'milliseconds':<60} {'median':>8} {'p95':>8} {'longest':>8} {'CPU':>8}")
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
            print(f"{title + ', first page':<60} {show(first)}", flush=True)
            for name, batch, afresh, position in (
                ("none in hand, 20 wanted", 0, True, 2),
                ("one answer, 20 wanted", 1, True, 3),
                ("20 answers, 20 wanted", 20, False, 0),
                ("one answer, one wanted", 1, False, 1),
            ):
                for who, number in (
                    ("a new annotator", 45 + position),
                    ("one with 100,000 answers", position),
                ):
                    times = label(port, pid, number, batch, requests, afresh=afresh)
                    print(f"{f'{kind}, {name}, {who}':<60} {times}", flush=True)
        database.dispose()


def label(port: int, pid: int, number: int, batch: int, requests: int, *, afresh: bool) -> str:
    """How long each of many submissions in a row by one annotator took, and what one cost the server. `afresh`: the browser
    holds nothing each time, as after a reload."""
    client = Client(port, number)
    client.ask([], 20)
    client.seconds.clear()
    before = read_cpu(pid)
    for _ in range(requests):
        events = [event for event in (client.press() for _ in range(batch)) if event]
        client.held = [] if afresh else client.held
        client.ask(events, 20 - len(client.held))
    if client.errors:
        raise SystemExit(client.errors[0])
    cost = (read_cpu(pid) - before) / requests * 1000
    return f"{show(client.seconds)} {cost:8.1f}"


if __name__ == "__main__":
    main()
