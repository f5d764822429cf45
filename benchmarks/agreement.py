"""How long `annotator agreement --json` takes at 1,000,000 judgments by 20 annotators on 300,000 pairs of 10,000 queries.

    .venv/bin/python -m benchmarks.agreement [--queries 10000] [--kind sqlite postgresql] [--folder DIR] [--naive 10]

The whole command, from the start of the process to its end, with 1,000 resamples of the queries, and its memory. Beside it, on the
same judgments and in the same run: scikit-learn's kappa called for each of the 190 annotator pairs, and `krippendorff` bootstrapped
naively, of which only `--naive` resamples are run. The aim: the command in 5 s. With --folder the database is kept there and used again.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotator.agreement.grades_sql import read_grades
from annotator.agreement.judgment_table import GradeRows
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.schema import upgrade_schema
from benchmarks.agreement_load import fill
from benchmarks.labeling_load import DATASET, open_database

SMALL = "--queries 20 --runs 1 --naive 1 --kind sqlite"  # what the tests start it with
RUN = (
    "import resource, sys; from annotator.cli.main import run\n"
    "try: run()\n"
    "finally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)"
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="agreement --json at a million judgments.")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--naive", type=int, default=10)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        for kind in chosen.kind:
            folder_path = (chosen.folder or Path(folder)) / f"agreement-{kind}-{chosen.queries}"
            with open_database(kind, folder_path) as (database, there):
                if not there:
                    fill(database, queries=chosen.queries)
                upgrade_schema(database)
                measure_command(kind, database, chosen.runs)
                if kind == chosen.kind[-1]:
                    compare(database, chosen.naive)
                database.dispose()


def measure_command(kind: str, database: Database, runs: int) -> None:
    """The command as a user runs it, several times."""
    url = database.url.render_as_string(hide_password=False)
    command = [sys.executable, "-c", RUN, "agreement", DATASET, "--json", "--database", url]
    measured = []
    for _ in range(runs):
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        report = json.loads(done.stdout)
        measured.append((time.perf_counter() - start, int(done.stderr.split()[-1])))
    seconds = sorted(second for second, _ in measured)
    print(
        f"{kind:<11} {report['pairs']:,} shared pairs, {len(report['annotators'])} annotators, {len(report['annotator_pairs'])} "
        f"annotator pairs: median {seconds[runs // 2]:.2f} s, longest {seconds[-1]:.2f} s, {max(most for _, most in measured)} MB",
        flush=True,
    )


def compare(database: Database, naive: int) -> None:
    """The same figures as others would get them."""
    import krippendorff
    from sklearn.metrics import cohen_kappa_score

    with database.read() as session:
        read = read_grades(session, key_of(find_dataset(session, DATASET).pk))
    table, query = _tabulate(read)
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    pairs = list(combinations(range(len(table)), 2))
    for first, other in pairs:
        both = ~np.isnan(table[first]) & ~np.isnan(table[other])
        cohen_kappa_score(table[first][both], table[other][both], labels=[0, 1, 2, 3])
    print(
        f"scikit-learn, {len(pairs)} kappas without intervals: {time.perf_counter() - start:.2f} s",
        flush=True,
    )
    random = np.random.default_rng(0)
    order = np.argsort(query, kind="stable")
    begins = np.searchsorted(query[order], np.arange(query.max() + 2))
    start = time.perf_counter()
    for _ in range(naive):
        drawn = random.integers(0, query.max() + 1, size=query.max() + 1)
        columns = np.concatenate(
            [order[begins[query_number] : begins[query_number + 1]] for query_number in drawn]
        )
        krippendorff.alpha(
            reliability_data=table[:, columns], level_of_measurement="ordinal", value_domain=[0, 1, 2, 3]
        )
    each = (time.perf_counter() - start) / naive
    print(
        f"krippendorff, ordinal alpha: {each:.2f} s a resample ({naive} run), so {each * 1000:,.0f} s for 1,000",
        flush=True,
    )


def _tabulate(read: GradeRows) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Annotators by pairs, NaN where there is no judgment; and the query of each pair, numbered from 0."""
    _, who = np.unique(read.annotator, return_inverse=True)
    pairs, first, pair_index = np.unique(read.pair, return_index=True, return_inverse=True)
    table = np.full((who.max() + 1, len(pairs)), np.nan)
    table[who, pair_index] = read.grade
    return table, np.unique(read.query[first], return_inverse=True)[1]


if __name__ == "__main__":
    main()
