"""How many judgments the order of the systems needs: adaptive rounds compared with depth-k, move-to-front and others.

    .venv/bin/python -m benchmarks.adaptive_pooling [--seeds 3] [--texts FOLDER] [--output FOLDER] [--workers 2]

Everything is judged in advance, and handed out round by round. After each round the systems are put in order from the
grades so far, and Kendall's tau-b is computed against the order with the whole pool judged. The result is the share of the
pool from which on tau stays at 0.95 or above, and at 0.99 or above. Collections: `adaptive_collections.py`. `--texts` is a
folder with reStructuredText, e.g. a checkout of a manual; without it there are simulated collections only.

How the order is computed from part of the grades:

- usual: unjudged documents count as not relevant, as in trec_eval;
- condensed: unjudged documents are removed from the lists;
- estimate: `estimate_order` of the program; for the stratified sample the expected grade of its stratum (infNDCG).

The published methods see each grade before they choose the query's next pair, their best case; `swaps` chooses a round at a
time. Then: how many of the pairs of systems that a report lists as open, and of the others, have another order in the end; how
long a choice of 300 of 1,000,000 candidates takes.
"""

import argparse
import csv
import json
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.dataset_analysis.system_order import compute_tau
from annotator.pooling.adaptive.choice import choose_pairs, estimate_order
from annotator.pooling.adaptive.measures import AdaptiveMeasure, read_measure, score_expected
from annotator.pooling.adaptive.records import (
    UNJUDGED,
    AdaptiveSettings,
    CandidateTable,
    OrderEstimate,
)
from benchmarks.adaptive_chart import Curve, SwapCheck, draw_curves
from benchmarks.adaptive_collections import (
    JudgedCollection,
    cut_pool,
    read_text_collection,
    simulate_collection,
)
from benchmarks.published_methods import METHODS, choose_by_published_method

SMALL = "--seeds 1 --systems 8 --queries 6 --points 0.2,0.5 --candidates 3000"  # what the tests start it with
LEVELS = np.array([1, 2, 3])
THRESHOLDS = (0.95, 0.99)
PUBLISHED = ("depth", "move-to-front", "max-mean", "thompson", "hedge")
ESTIMATED = ("depth", "move-to-front")  # also scored by `estimate_order`
LEAST_LISTED = 20  # pairs; with fewer a share says nothing
STRATA = ((3, 4.0), (10, 2.0), (1_000_000, 1.0))  # up to this best rank: sampled at this relative rate
POINTS = [*np.arange(0.02, 0.6, 0.02).round(2).tolist(), *np.arange(0.6, 1.0, 0.05).round(2).tolist()]

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Trial:
    """One collection with one measure; the full pool is the first `depth` results of every system."""

    kind: str
    seed: int
    measure: str
    depth: int
    systems: int
    queries: int
    folder: Path | None
    points: tuple[float, ...]
    swaps_only: bool = False


def build_collection(trial: Trial) -> JudgedCollection:
    """Return the trial's collection with its full pool."""
    if trial.folder is None:
        whole = simulate_collection(trial.seed, queries=trial.queries, systems=trial.systems)
    else:
        whole = read_text_collection(
            trial.folder, seed=trial.seed, queries=2 * trial.queries, systems=trial.systems
        )
    return cut_pool(whole, trial.depth)


def score_usual(table: CandidateTable, measure: AdaptiveMeasure) -> Values:
    """Return the scores with unjudged documents as not relevant."""
    return score_expected(table, measure, (table.grades[:, None] >= LEVELS).astype(float)).scores


def score_condensed(table: CandidateTable, measure: AdaptiveMeasure) -> Values:
    """Return the scores of the lists without their unjudged documents."""
    is_judged = table.grades != UNJUDGED
    ranks = np.zeros_like(table.ranks[is_judged])
    queries = table.queries[is_judged]
    for system in range(table.system_count):
        column = table.ranks[is_judged, system]
        rows = np.flatnonzero(column)
        rows = rows[np.lexsort((column[rows], queries[rows]))]
        starts = np.flatnonzero(np.r_[True, queries[rows][1:] != queries[rows][:-1]]) if len(rows) else rows
        lengths = np.diff(np.append(starts, len(rows)))
        ranks[rows, system] = np.arange(len(rows)) - np.repeat(starts, lengths) + 1
    condensed = CandidateTable(
        queries,
        table.documents[is_judged],
        ranks,
        table.grades[is_judged],
        table.in_pool[is_judged],
        table.query_count,
    )
    return score_usual(condensed, measure)


def _list_strata(table: CandidateTable) -> NDArray[np.int64]:
    best = np.where(table.ranks > 0, table.ranks, 1_000_000).min(axis=1)
    return np.searchsorted([limit for limit, _ in STRATA], best)


def score_by_strata(table: CandidateTable, measure: AdaptiveMeasure) -> Values:
    """Return the scores with the mean grades of the query's stratum, drawn to the stratum's over all queries by one document."""
    strata = _list_strata(table)
    is_judged = table.grades != UNJUDGED
    reached = (table.grades[:, None] >= LEVELS).astype(float)
    cells = table.queries * len(STRATA) + strata
    size = table.query_count * len(STRATA)
    counts = np.bincount(cells[is_judged], minlength=size)
    chances = reached.copy()
    for level in range(len(LEVELS)):
        overall = np.bincount(strata[is_judged], reached[is_judged, level], len(STRATA)) + 0.1
        overall /= np.bincount(strata[is_judged], minlength=len(STRATA)) + 1
        own = np.bincount(cells[is_judged], reached[is_judged, level], size)
        chances[:, level] = ((own + overall[np.arange(size) % len(STRATA)]) / (counts + 1))[cells]
    chances = np.where(is_judged[:, None], reached, np.minimum(chances, 1 - 1e-9))
    return score_expected(table, measure, chances).scores


def run_method(
    trial: Trial, collection: JudgedCollection, method: str, estimators: Sequence[str]
) -> list[Curve]:
    """Return a curve for each estimator, with the share of the pool and tau."""
    measure = read_measure(trial.measure)
    full = score_usual(replace(collection.table, grades=collection.truth), measure)
    taus: dict[str, list[float]] = {estimator: [] for estimator in estimators}
    swaps: list[SwapCheck] = []
    for table in hand_out_grades(trial, collection, method):
        for estimator in estimators:
            if estimator == "estimate":
                estimate = estimate_order(table, AdaptiveSettings(0, trial.measure))
                scores = estimate.scores
                swaps.append(check_swaps(estimate, full))
            else:
                score = {"usual": score_usual, "condensed": score_condensed, "strata": score_by_strata}[
                    estimator
                ]
                scores = score(table, measure)
            taus[estimator].append(compute_tau(full, scores) or 0.0)
    shares = [0.0, *trial.points]
    return [
        Curve(
            f"{trial.kind}, {trial.measure}, pool depth {trial.depth}",
            trial.seed,
            f"{method}, {estimator}",
            tuple(shares),
            tuple(taus[estimator]),
            tuple(swaps) if estimator == "estimate" else (),
        )
        for estimator in estimators
    ]


def check_swaps(estimate: OrderEstimate, full: Values) -> SwapCheck:
    """Compare the pairs of systems that could still swap with the order by the `full` scores."""
    first, second = np.triu_indices(len(full), 1)
    now, final = estimate.scores[first] - estimate.scores[second], full[first] - full[second]
    has_swapped = now * final < 0
    pairs = {
        (min(order.higher, order.lower), max(order.higher, order.lower)) for order in estimate.open_orders
    }
    is_listed = np.array([pair in pairs for pair in zip(first.tolist(), second.tolist(), strict=True)])
    missed = has_swapped & ~is_listed
    return SwapCheck(
        listed=int(is_listed.sum()),
        expected=sum(order.swap_probability for order in estimate.open_orders),
        swapped=int((has_swapped & is_listed).sum()),
        others=int((~is_listed).sum()),
        others_swapped=int(missed.sum()),
        furthest=float(np.abs(final[missed]).max(initial=0.0)),
    )


def hand_out_grades(trial: Trial, collection: JudgedCollection, method: str) -> Iterator[CandidateTable]:
    """Yield the table at each point of the curve, from nothing judged on."""
    size = len(collection.truth)
    grades = np.full(size, UNJUDGED, dtype=np.int8)
    table = replace(collection.table, grades=grades)
    strata = _list_strata(table)
    rates = np.array([rate for _, rate in STRATA])[strata]
    sampled = np.argsort(np.random.default_rng(trial.seed).random(size) / rates)
    yield table
    for point in trial.points:
        goal = round(point * size)
        while (missing := goal - int((grades != UNJUDGED).sum())) > 0:
            if method == "stratified":
                rows = sampled[:goal]
            else:
                step = missing if method in ("swaps", "depth") else min(missing, table.query_count)
                settings = AdaptiveSettings(step, trial.measure, seed=trial.seed)
                if method in METHODS:
                    rows = choose_by_published_method(table, settings, method)
                else:
                    rows = choose_pairs(table, replace(settings, method=method))
            grades = grades.copy()
            grades[rows] = collection.truth[rows]
            table = replace(table, grades=grades)
        yield table


def find_share(curve: Curve, threshold: float) -> float:
    """Return the share from which on tau stays at the threshold or above; 1 if it does so at the end only."""
    low = [number for number, tau in enumerate(curve.taus) if tau < threshold]
    first = low[-1] + 1 if low else 0
    return curve.shares[first] if first < len(curve.shares) else 1.0


def run_trial(trial: Trial) -> list[Curve]:
    """Return all curves of a trial."""
    collection = build_collection(trial)
    curves = run_method(trial, collection, "swaps", ("estimate", "usual", "condensed"))
    for method in () if trial.swaps_only else PUBLISHED:
        more = ("estimate", "condensed") if method in ESTIMATED else ()
        curves += run_method(trial, collection, method, ("usual", *more))
    if not trial.swaps_only:
        curves += run_method(trial, collection, "stratified", ("strata", "usual"))
    print(
        f"{trial.kind}, {trial.measure}, depth {trial.depth}, seed {trial.seed}: {len(collection.truth):,} pairs, "
        f"{(collection.truth > 0).sum() / collection.table.query_count:.1f} relevant per query",
        file=sys.stderr,
        flush=True,
    )
    return curves


def list_table(curves: Sequence[Curve]) -> Iterator[str]:
    """Yield the table of shares in Markdown: the mean over seeds, with the lowest and the highest."""
    collections = list(dict.fromkeys(curve.collection for curve in curves))
    yield "| method, order by | " + " | ".join(f"{name}: ≥ 0.95 | ≥ 0.99" for name in collections) + " |"
    yield "|---|" + "---:|---:|" * len(collections)
    for method in dict.fromkeys(curve.method for curve in curves):
        cells = []
        for name in collections:
            same = [curve for curve in curves if (curve.collection, curve.method) == (name, method)]
            for threshold in THRESHOLDS:
                shares = [find_share(curve, threshold) for curve in same]
                cells.append(f"{np.mean(shares):.0%} ({min(shares):.0%}–{max(shares):.0%})" if shares else "")
        yield f"| {method} | " + " | ".join(cells) + " |"


def list_swaps(curves: Sequence[Curve]) -> Iterator[str]:
    """Yield what the reports of the rounds of `swaps` said of the pairs of systems, and what came of it."""
    yield (
        "| collection | reports | listed pairs: expected to swap | swapped | by report | pairs not listed: swapped "
        "| largest final difference |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name in dict.fromkeys(curve.collection for curve in curves):
        checks = [
            check
            for curve in curves
            if curve.collection == name and curve.method == "swaps, estimate"
            for check in curve.swaps[1:]
        ]
        listed, others = sum(check.listed for check in checks), sum(check.others for check in checks)
        shares = [check.swapped / check.listed for check in checks if check.listed >= LEAST_LISTED]
        by_report = f"{min(shares):.0%}–{max(shares):.0%}" if shares else ""
        yield (
            f"| {name} | {len(checks)} | {sum(check.expected for check in checks) / max(1, listed):.1%} "
            f"| {sum(check.swapped for check in checks) / max(1, listed):.1%} | {by_report} "
            f"| {sum(check.others_swapped for check in checks) / max(1, others):.2%} "
            f"| {max(check.furthest for check in checks):.4f} |"
        )


def time_choice(candidates: int) -> str:
    """Return what a choice of 300 of so many candidates of 50 systems takes."""
    random = np.random.default_rng(0)
    queries, systems = max(1, candidates // 100), 50
    ranks = random.integers(1, 101, (candidates, systems), dtype=np.int32)
    ranks[random.random((candidates, systems), dtype=np.float32) > 0.2] = 0
    grades = np.full(candidates, UNJUDGED, dtype=np.int8)
    is_judged = random.random(candidates) < 0.02
    grades[is_judged] = random.integers(0, 4, int(is_judged.sum()))
    table = CandidateTable(
        np.arange(candidates) % queries,
        np.arange(candidates),
        ranks,
        grades,
        np.zeros(candidates, dtype=np.bool_),
        queries,
    )
    table = replace(table, queries=np.sort(table.queries))
    started, used = time.perf_counter(), time.process_time()
    chosen = choose_pairs(table, AdaptiveSettings(300))
    elapsed, processor = time.perf_counter() - started, time.process_time() - used
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return (
        f"{len(chosen)} of {candidates:,} candidates, {systems} systems, {queries:,} queries: "
        f"{elapsed:.1f} s, {processor:.1f} processor seconds, {memory:,.0f} MB"
    )


def write_curves(curves: Sequence[Curve], folder: Path) -> None:
    """Write the curves as CSV, JSON and a chart."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "adaptive_pooling.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["collection", "seed", "method", "share", "tau"])
        for curve in curves:
            for share, tau in zip(curve.shares, curve.taus, strict=True):
                writer.writerow([curve.collection, curve.seed, curve.method, share, tau])
    rows = [
        {
            "collection": curve.collection,
            "seed": curve.seed,
            "method": curve.method,
            "shares": {str(threshold): find_share(curve, threshold) for threshold in THRESHOLDS},
        }
        for curve in curves
    ]
    (folder / "adaptive_pooling.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    (folder / "adaptive_pooling.svg").write_text(draw_curves(curves), encoding="utf-8")


def list_trials(chosen: argparse.Namespace) -> list[Trial]:
    """Return all trials, the slow ones first."""
    points = tuple(float(part) for part in chosen.points.split(",")) if chosen.points else tuple(POINTS)
    sources: list[tuple[str, Path | None, tuple[tuple[str, int], ...]]] = [
        ("simulated", None, (("AP", 100), ("nDCG@10", 10)))
    ]
    if chosen.texts:
        sources.append(("texts", chosen.texts, (("AP", 20), ("nDCG@10", 10))))
    wanted = set(chosen.measures.split(","))
    return [
        Trial(
            kind,
            seed,
            measure,
            depth,
            chosen.systems,
            chosen.queries,
            folder,
            points[::2] if depth == 100 and not chosen.points else points,
            chosen.swaps_only,
        )
        for kind, folder, measures in sources
        for measure, depth in measures
        if measure in wanted
        for seed in range(chosen.seeds)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description="How many judgments the order of the systems needs, by method."
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--systems", type=int, default=60)
    parser.add_argument("--queries", type=int, default=50, help="simulated; of the texts twice as many")
    parser.add_argument("--measures", default="nDCG@10,AP")
    parser.add_argument("--texts", type=Path, help="a folder with reStructuredText")
    parser.add_argument("--points", help="shares of the pool at which the order is computed")
    parser.add_argument("--candidates", type=int, default=1_000_000)
    parser.add_argument("--swaps-only", action="store_true", help="leave the other methods out")
    parser.add_argument("--output", type=Path, help="where the curves are written as CSV, JSON and SVG")
    parser.add_argument("--workers", type=int, default=1)
    chosen = parser.parse_args()
    trials = list_trials(chosen)
    if chosen.workers > 1:
        with ProcessPoolExecutor(chosen.workers) as pool:
            curves = [curve for several in pool.map(run_trial, trials) for curve in several]
    else:
        curves = [curve for trial in trials for curve in run_trial(trial)]
    for line in (*list_table(curves), "", *list_swaps(curves), "", time_choice(chosen.candidates)):
        print(line, flush=True)
    if chosen.output:
        write_curves(curves, chosen.output)


if __name__ == "__main__":
    main()
