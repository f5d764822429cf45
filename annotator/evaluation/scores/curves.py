"""Compute the curves of a report: precision at 11 levels of recall, and nDCG at each depth.

Interpolated precision at recall r is the highest precision at any rank whose recall is at least r, averaged
over the queries that have a relevant document (van Rijsbergen 1979, ch. 7; trec_eval's iprec_at_recall).
"""

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.records import Gain, RankedRun
from annotator.evaluation.scores.formulas import compute_ndcg
from annotator.evaluation.scores.grade_grid import GradeGrid, GradeLookup, list_blocks

Values = NDArray[np.float64]
RECALL_LEVELS = tuple(level / 10 for level in range(11))
EXACTLY = 1e-9  # 0.3 x 10 is a little more than 3


def measure_precision_curve(
    lookup: GradeLookup, run: RankedRun, relevant_from: int
) -> tuple[float, ...] | None:
    """Return the mean interpolated precision at RECALL_LEVELS; None if no query has a relevant document."""
    run_grades = lookup.find(run)
    total, queries = np.zeros(len(RECALL_LEVELS)), 0
    for first, last in list_blocks(np.maximum(run_grades.lengths, lookup.judged_counts).tolist()):
        grid = lookup.build_grid(run_grades, first, last)
        relevant = (grid.ideal >= relevant_from).sum(axis=1)
        counted = relevant > 0
        total += _interpolate(grid.grades[counted] >= relevant_from, relevant[counted]).sum(axis=0)
        queries += int(counted.sum())
    return tuple((total / queries).tolist()) if queries else None


def _interpolate(is_relevant: NDArray[np.bool_], relevant: NDArray[np.int64]) -> Values:
    """Return the interpolated precision: queries x levels of recall."""
    hits = np.cumsum(is_relevant, axis=1)
    precision = hits / np.arange(1, is_relevant.shape[1] + 1)
    best_from = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    columns = []
    for level in RECALL_LEVELS:
        needed = np.ceil(level * relevant - EXACTLY)
        ranks = (hits < needed[:, None]).sum(axis=1)
        reached = ranks < is_relevant.shape[1]
        at = np.minimum(ranks, is_relevant.shape[1] - 1)
        columns.append(np.where(reached, best_from[np.arange(len(at)), at], 0.0))
    return np.column_stack(columns)


def measure_depth_curve(grid: GradeGrid, depth: int, gain: Gain) -> list[float]:
    """Return mean nDCG@1, nDCG@2 … nDCG@depth."""
    return [float(compute_ndcg(grid, cutoff=cutoff, gain=gain).mean()) for cutoff in range(1, depth + 1)]


def list_precision_and_recall(grid: GradeGrid, depth: int, relevant_from: int) -> list[tuple[float, float]]:
    """Return (recall, precision) in the first `depth` results, for each query with a relevant document."""
    relevant = (grid.ideal >= relevant_from).sum(axis=1)
    hits = (grid.grades[:, :depth] >= relevant_from).sum(axis=1)
    kept = relevant > 0
    return list(zip((hits[kept] / relevant[kept]).tolist(), (hits[kept] / depth).tolist(), strict=True))
