"""Imports 100,000 documents, 1,000 queries and 100,000 pairs into SQLite through the command line, and prints seconds.

    .venv/bin/python -m benchmarks.import_100k [--pairs 100000] [--queries 1000] [--seed 0]

The files are made with a seed; each import is a process of its own, as a user would run it. The aim is at
most 10 seconds for all three together.
"""

import argparse
import csv
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SMALL = "--pairs 200 --queries 10"  # what the tests start it with
WORDS = [
    "ハンドラ",
    "キュー",
    "構成",
    "検索",
    "용도지역",
    "건폐율",
    "개발행위",
    "허가",
    "handler",
    "queue",
    "order",
    "調査",
    "満足度",
    "설문",
    "template",
    "법률",
    "제17조",
]


def make_files(folder: Path, *, pairs: int, queries: int, seed: int) -> None:
    """documents.jsonl, queries.csv and pairs.csv: each query has its own documents, about 350 characters each."""
    draw = random.Random(seed)
    with (folder / "documents.jsonl").open("w", encoding="utf-8") as file:
        for number in range(pairs):
            text = " ".join(draw.choices(WORDS, k=60))
            row = {
                "doc_id": f"doc/{number:07}",
                "title": " ".join(draw.choices(WORDS, k=4)),
                "text": text,
                "source": "benchmark",
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    with (folder / "queries.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query_id", "text", "category", "language"])
        for number in range(queries):
            writer.writerow(
                [f"Q{number:05}", " ".join(draw.choices(WORDS, k=5)), f"category {number % 5}", "ja"]
            )
    with (folder / "pairs.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query_id", "doc_id"])
        for number in range(pairs):
            writer.writerow([f"Q{number % queries:05}", f"doc/{number:07}"])


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder, pairs=chosen.pairs, queries=chosen.queries, seed=chosen.seed)
        annotator = [
            str(Path(sys.executable).parent / "annotator"),
            "--database",
            f"sqlite:///{folder / 'annotator.db'}",
        ]
        subprocess.run([*annotator, "dataset", "create", "benchmark"], check=True, stdout=subprocess.DEVNULL)
        total = cpu_total = 0.0
        for what, file in (
            ("queries", "queries.csv"),
            ("documents", "documents.jsonl"),
            ("pairs", "pairs.csv"),
        ):
            start, cpu = time.perf_counter(), _children_cpu()
            command = [*annotator, "import", what, "benchmark", str(folder / file), "--json"]
            report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            seconds = time.perf_counter() - start
            total += seconds
            cpu_total += _children_cpu() - cpu
            print(f"import {what:<9} {report['added']:>9,} new  {seconds:6.2f} s")
        print(f"together {total:28.2f} s  ({cpu_total:.2f} s of it computing)")


if __name__ == "__main__":
    main()
