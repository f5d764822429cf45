"""Converts TREC qrels of 10,000, 100,000 and 1,000,000 lines to Nablarch YAML, and prints seconds and peak memory.

    .venv/bin/python -m benchmarks.convert [--qrels 10000 100000 1000000] [--seed 0] [--from trec] [--to nablarch]

The file is made with a seed, a hundred documents a query; converting is a process of its own, as a user would run it.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from annotator.formats.registry import find_format

SMALL = "--qrels 200"  # what the tests start it with
DEPTH = 100  # documents a query
ANNOTATOR = Path(sys.executable).parent / "annotator"


def main() -> None:
    parser = argparse.ArgumentParser(description="Seconds and memory of converting a ground truth.")
    parser.add_argument("--qrels", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--from", dest="source", default="trec", metavar="FORMAT")
    parser.add_argument("--to", dest="target", default="nablarch", metavar="FORMAT")
    chosen = parser.parse_args()
    print(f"{'qrels':>10} {'seconds':>8} {'CPU s':>7} {'peak MB':>8} {'MB written':>10} {'µs a qrel':>9}")
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as name:
        folder = Path(name)
        for qrels in chosen.qrels:
            made = folder / f"{qrels}.txt"
            write_qrels(made, qrels, random.Random(chosen.seed))
            if chosen.source != "trec":
                begun = folder / f"{qrels}.begin{find_format(chosen.source).suffixes[0]}"
                convert(made, begun, "trec", chosen.source)
                made = begun
            target = folder / f"{qrels}.end{find_format(chosen.target).suffixes[0]}"
            seconds, cpu, peak = convert(made, target, chosen.source, chosen.target)
            print(
                f"{qrels:>10,} {seconds:>8.1f} {cpu:>7.1f} {peak:>8,.0f} {target.stat().st_size / 1e6:>10,.0f} "
                f"{seconds / qrels * 1e6:>9.1f}",
                flush=True,
            )


def write_qrels(path: Path, qrels: int, drawn: random.Random) -> None:
    """Lines of `query_id 0 doc_id grade`, query by query."""
    with path.open("w", encoding="utf-8") as file:
        for at in range(qrels):
            query, position = divmod(at, DEPTH)
            grade = drawn.choices((0, 1, 2, 3), (50, 25, 15, 10))[0]
            file.write(f"Q{query:05} 0 guide/章/page-{(query * 37 + position):06}.html {grade}\n")


def convert(source: Path, target: Path, read_as: str, written_as: str) -> tuple[float, float, float]:
    """Seconds, seconds of computing, and peak memory (MB) of one `convert`."""
    command = [str(ANNOTATOR), "convert", str(source), str(target), "--from", read_as, "--to", written_as]
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"converting failed: {status}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    main()
