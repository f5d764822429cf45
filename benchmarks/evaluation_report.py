"""How long the whole report on 63 runs takes: 53 queries, 100 results each, 1,000 resamples, every two systems compared.

    .venv/bin/python -m benchmarks.evaluation_report [--systems 63] [--queries 53] [--depth 100] [--rounds 3] [--keep FOLDER]

The runs are one family of systems with two parameters, and the grades come from three annotators. Each round reads the files,
evaluates them, measures how the order depends on annotators and pooling, and writes JSON, HTML and Markdown. Printed: processor
seconds of every part in the round that took the least in all, and its seconds by the clock. `--keep` leaves the reports in a
folder, so that those of two versions can be compared byte by byte. The aim: 10 s by the clock.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from annotator.evaluation.dataset_analysis.robustness import (
    PairGrades,
    describe_robustness,
    measure_robustness,
)
from annotator.evaluation.evaluate import EvaluationOptions, evaluate_runs
from annotator.evaluation.profiles import find_profile
from annotator.evaluation.records import Truth
from annotator.evaluation.reports.html_report import render_html
from annotator.evaluation.reports.json_and_csv import build_json
from annotator.evaluation.reports.report_values import render_markdown
from annotator.evaluation.run_files import read_run
from annotator.web.kit.messages import tr

SMALL = "--systems 5 --queries 8 --depth 20 --rounds 1"  # what the tests start it with
DOCUMENTS, JUDGED, ANNOTATORS, BY_ONE_PARAMETER = 400, 150, 3, 9
T = TypeVar("T")
MADE_AT = datetime(2026, 11, 23, tzinfo=UTC)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="the whole report on many runs")
    parser.add_argument("--systems", type=int, default=63)
    parser.add_argument("--queries", type=int, default=53)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        truth, pairs = make_truth(chosen.queries)
        paths = write_runs(Path(folder), truth, chosen.systems, chosen.depth)
        rounds = [measure(truth, pairs, paths, chosen.keep) for _ in range(chosen.rounds)]
    parts, clock = min(rounds, key=lambda measured: sum(measured[0].values()))
    for name, seconds in parts.items():
        print(f"{name:<12} {seconds:6.2f} s of the processor")
    print(f"{'all':<12} {sum(parts.values()):6.2f} s of the processor, {clock:.2f} s by the clock")


def make_truth(queries: int) -> tuple[Truth, list[PairGrades]]:
    """Return the grades, and those of each annotator: a tenth of them differ from the settled ones by one."""
    chance = np.random.default_rng(0)
    grades: dict[str, dict[str, int]] = {}
    pairs: list[PairGrades] = []
    for number in range(queries):
        query_id = f"Q{number:03d}"
        settled = chance.choice(4, JUDGED, p=[0.8, 0.1, 0.06, 0.04]).tolist()
        grades[query_id] = {f"doc_{document:04d}": grade for document, grade in enumerate(settled)}
        for doc_id, grade in grades[query_id].items():
            moves = chance.choice([-1, 0, 1], ANNOTATORS, p=[0.05, 0.9, 0.05]).tolist()
            given = {
                f"annotator {index}": min(3, max(0, grade + move)) for index, move in enumerate(moves, 1)
            }
            pairs.append(PairGrades(query_id, doc_id, grade, given))
    fields = {query_id: {"category": f"category {index % 6}"} for index, query_id in enumerate(grades)}
    return Truth("world", grades, fields=fields), pairs


def write_runs(folder: Path, truth: Truth, systems: int, depth: int) -> list[Path]:
    """Write a file for each system. All see the same documents with the same noise, and differ by how much of it they see."""
    chance = np.random.default_rng(1)
    shared = chance.normal(size=(len(truth.grades), DOCUMENTS))
    paths = []
    for number in range(systems):
        k, alpha = 10 * (number // BY_ONE_PARAMETER + 1), (number % BY_ONE_PARAMETER + 1) / 10
        system = f"hybrid;k={k};alpha={alpha}"
        own = chance.normal(size=shared.shape)
        lines = []
        for row, (query_id, documents) in enumerate(truth.grades.items()):
            relevance = np.zeros(DOCUMENTS)
            relevance[: len(documents)] = list(documents.values())
            scores = relevance * (0.6 + 0.5 * alpha) + shared[row] + own[row] * (0.2 + k / 200)
            best = np.argsort(-scores)[:depth]
            lines += [
                f"{query_id} Q0 doc_{document:04d} {rank} {scores[document]:.4f} {system}\n"
                for rank, document in enumerate(best.tolist(), 1)
            ]
        paths.append(folder / f"run-{number:02d}.txt")
        paths[-1].write_text("".join(lines))
    return paths


def measure(
    truth: Truth, pairs: list[PairGrades], paths: list[Path], keep: Path | None
) -> tuple[dict[str, float], float]:
    """Return the processor seconds of each part, and the seconds by the clock."""
    parts: dict[str, float] = {}

    def take(name: str, call: Callable[[], T]) -> T:
        started = time.process_time()
        value = call()
        parts[name] = time.process_time() - started
        return value

    began = time.perf_counter()
    runs = take("read", lambda: [read_run(path, truth) for path in paths])
    options = EvaluationOptions(group_by=("category",))
    evaluation = take("evaluate", lambda: evaluate_runs(truth, runs, find_profile("trec"), options=options))
    robustness = take("robustness", lambda: measure_robustness(evaluation, pairs))
    shown: dict[str, Any] = {"tr": tr, "made_at": MADE_AT, "program": "benchmark", "robustness": robustness}
    reports = {
        "json": take(
            "json",
            lambda: json.dumps(
                build_json(
                    evaluation,
                    truth_source={"path": "world"},
                    by_query=True,
                    extra=describe_robustness(robustness),
                ),
                ensure_ascii=False,
                indent=2,
            ),
        ),
        "html": take("html", lambda: render_html(evaluation, language="en", **shown)),
        "md": take("markdown", lambda: render_markdown(evaluation, **shown)),
    }
    clock = time.perf_counter() - began
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        for suffix, text in reports.items():
            (keep / f"report.{suffix}").write_text(text, encoding="utf-8")
    return parts, clock


if __name__ == "__main__":
    main()
