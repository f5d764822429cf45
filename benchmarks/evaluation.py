"""How long it takes to score runs of a million results against a million qrels, beside trec_eval itself on the same file.

    .venv/bin/python -m benchmarks.evaluation [--queries 10000] [--runs 50] [--rounds 3]

First each program reads and scores the same run in turn, `--rounds` times, in the processor's time, of which the shortest
counts: pytrec_eval (parse_run, then trec_eval's measures and nDCG with gains 2^grade - 1, each on the whole and on the condensed
list, which trec_eval calls -J), and ours (the same, and the bounds, the share of judged documents, ERR, RBP and F1). Then a process of its own
scores `--runs` runs one after the other and says how long it took and how much memory it held.
The aim: 50 runs in 1.5 times trec_eval's time and 1.5 GB.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from annotator.evaluation.profiles import find_profile
from annotator.evaluation.records import Truth
from annotator.evaluation.run_files import RunReading, read_run
from annotator.evaluation.scores.scoring import RunScorer, ScoringOptions, score_runs

SMALL = "--queries 20 --runs 2 --rounds 1"  # what the tests start it with
PER_QUERY, DEPTH, DOCUMENTS = 100, 100, 200_000
MEASURES = {"ndcg_cut.10", "P.5,10", "recall.10,100", "map", "recip_rank", "bpref", "success.1,5,10"}
CHILD = (
    "import resource, sys; from benchmarks.evaluation import score_all\n"
    "score_all(sys.argv[1], int(sys.argv[2]))\n"
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="score runs of a million results")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        write_world(Path(folder), chosen.queries)
        compare(Path(folder), chosen.rounds)
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", CHILD, folder, str(chosen.runs)],
            capture_output=True,
            text=True,
            check=True,
        )
        seconds = time.perf_counter() - started
        print(f"{chosen.runs} runs of {chosen.queries:,} queries: {seconds:.0f} s, {int(done.stdout):,} MB")


def write_world(folder: Path, queries: int) -> None:
    """Write qrels and one run: half of its documents are judged."""
    chance = np.random.default_rng(0)
    qrels: dict[str, dict[str, int]] = {}
    with (folder / "run.txt").open("w") as file:
        for number in range(queries):
            query_id = f"Q{number:05d}"
            documents = [
                f"doc_{document:07d}" for document in chance.choice(DOCUMENTS, 150, replace=False).tolist()
            ]
            grades = chance.choice(4, PER_QUERY, p=[0.6, 0.2, 0.12, 0.08]).tolist()
            qrels[query_id] = dict(zip(documents, grades, strict=False))
            retrieved = chance.permutation(documents[50:])[:DEPTH].tolist()
            file.writelines(
                f"{query_id} Q0 {doc_id} {rank} {10 - rank * 0.0731:.4f} system\n"
                for rank, doc_id in enumerate(retrieved, 1)
            )
    (folder / "qrels.json").write_text(json.dumps(qrels))


def read_world(folder: Path) -> Truth:
    return Truth("world", json.loads((folder / "qrels.json").read_text()))


def compare(folder: Path, rounds: int) -> None:
    """Print the shortest times of both programs for one run."""
    import pytrec_eval

    truth, path = read_world(folder), folder / "run.txt"
    gains = {
        query_id: {doc_id: 2**grade - 1 for doc_id, grade in documents.items()}
        for query_id, documents in truth.grades.items()
    }
    evaluators = [
        pytrec_eval.RelevanceEvaluator(qrels, measures, judged_docs_only_flag=condensed)
        for qrels, measures in ((truth.grades, MEASURES), (gains, {"ndcg_cut.10"}))
        for condensed in (False, True)
    ]
    scorer = RunScorer.prepare(truth, find_profile("trec"), ScoringOptions())

    def call_trec_eval() -> None:
        with path.open() as file:
            run = pytrec_eval.parse_run(file)
        for evaluator in evaluators:
            evaluator.evaluate(run)

    their_times, ours = [], []
    for _ in range(rounds):
        their_times.append(measure(call_trec_eval))
        ours.append(measure(lambda: scorer.score(read_run(path, truth))))
    print(
        f"one run: pytrec_eval {min(their_times):.2f} s, ours {min(ours):.2f} s: {min(ours) / min(their_times):.2f} times"
    )


def measure(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def score_all(folder: str, runs: int) -> None:
    """Score the run under many names, reading it every time."""
    truth = read_world(Path(folder))
    systems = (
        read_run(Path(folder) / "run.txt", truth, RunReading(system=f"s{number}")) for number in range(runs)
    )
    table = score_runs(truth, systems, find_profile("trec"))
    if len(table.systems) != runs:
        raise RuntimeError("a system is missing")


if __name__ == "__main__":
    main()
