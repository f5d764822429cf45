"""Imports an earlier ground truth of 1,000,000 grades (TREC) through the command line, and prints seconds and peak memory.

    .venv/bin/python -m benchmarks.import_qrels [--qrels 1000000] [--seed 0] [--database URL]

A hundred documents a query; the queries are in the dataset, the documents are not. The file is made with a seed; the import is a
process of its own, as a user would run it, into a temporary SQLite database unless another, empty one is named. The aim is at most
30 seconds for a million.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SMALL = "--qrels 500"  # what the tests start it with
DEPTH = 100  # documents a query
ANNOTATOR = Path(sys.executable).parent / "annotator"


def make_files(folder: Path, *, qrels: int, seed: int) -> None:
    """Write queries.csv and qrels.txt; a tenth as many documents as grades."""
    draw = random.Random(seed)
    documents = max(DEPTH, qrels // 10)
    with (folder / "queries.csv").open("w", encoding="utf-8") as file:
        file.write("query_id,text\n")
        for query in range(max(1, qrels // DEPTH)):
            file.write(f"Q{query:05},検索クエリ {query} handler\n")
    with (folder / "qrels.txt").open("w", encoding="utf-8") as file:
        for number in range(qrels):
            query, place = divmod(number, DEPTH)
            grade = draw.choices((0, 1, 2, 3), (50, 25, 15, 10))[0]
            file.write(f"Q{query:05} 0 doc/{(query * 37 + place) % documents:07} {grade}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Seconds and memory of importing qrels.")
    parser.add_argument("--qrels", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--database", help="an empty database to use instead of a temporary SQLite file")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as name:
        folder = Path(name)
        make_files(folder, qrels=chosen.qrels, seed=chosen.seed)
        url = chosen.database or f"sqlite:///{folder / 'annotator.db'}"
        environment = {**os.environ, "ANNOTATOR_DATABASE_URL": url}
        for command in (["dataset", "create", "b"], ["import", "queries", "b", str(folder / "queries.csv")]):
            subprocess.run([ANNOTATOR, *command], env=environment, check=True, stdout=subprocess.DEVNULL)
        start = time.perf_counter()
        child = subprocess.Popen(
            [ANNOTATOR, "import", "qrels", "b", str(folder / "qrels.txt"), "--json"],
            env=environment,
            stdout=subprocess.PIPE,
        )
        report = json.loads(child.stdout.read()) if child.stdout else {}
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        if status or report["added"] != chosen.qrels:
            sys.exit(f"the import failed: {status}")
        cpu = used.ru_utime + used.ru_stime
        print(
            f"import qrels {report['added']:>9,} new  {seconds:6.1f} s  ({cpu:.1f} s of it computing), "
            f"{used.ru_maxrss / 1024:,.0f} MB"
        )


if __name__ == "__main__":
    main()
