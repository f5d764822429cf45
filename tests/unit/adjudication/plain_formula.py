"""The metrics as their formulas are written, one grade, one document and one system at a time: what `annotator/adjudication/impact/impact.py` must equal."""

from collections.abc import Sequence
from itertools import combinations
from math import log2

from annotator.adjudication.impact.impact import NONE

CUTOFF = 10


def find_gain(grade: int) -> float:
    return 0.0 if grade == NONE else 2.0**grade - 1


def compute_dcg(grades: Sequence[int], cutoff: int) -> float:
    return sum(
        find_gain(grade) / log2(rank + 1) for rank, grade in enumerate(grades, start=1) if rank <= cutoff
    )


def score_system(
    ranks: Sequence[int], grades: Sequence[int], *, cutoff: int = CUTOFF, relevant: int = 1
) -> tuple[float | None, float | None, float | None]:
    """nDCG, recall and reciprocal rank of a system that has each document at this rank (0: not at all); None where the query
    has nothing relevant."""
    by_rank = {rank: grade for rank, grade in zip(ranks, grades, strict=True) if rank > 0}
    ranking = [by_rank.get(rank, NONE) for rank in range(1, max(by_rank, default=0) + 1)]
    ideal = compute_dcg(sorted(grades, reverse=True), cutoff)
    number = sum(grade >= relevant for grade in grades)
    ndcg = compute_dcg(ranking, cutoff) / ideal if ideal else None
    if not number:
        return ndcg, None, None
    relevant_ranks = [rank for rank, grade in enumerate(ranking, start=1) if grade >= relevant]
    return (
        ndcg,
        sum(rank <= cutoff for rank in relevant_ranks) / number,
        1 / relevant_ranks[0] if relevant_ranks else 0.0,
    )


def score_all(
    ranks: Sequence[Sequence[int]], grades: Sequence[int], *, cutoff: int = CUTOFF, relevant: int = 1
) -> list[list[float | None]]:
    """Metrics x systems."""
    by_system = [score_system(row, grades, cutoff=cutoff, relevant=relevant) for row in ranks]
    return [[scores[metric] for scores in by_system] for metric in range(3)]


def count_flips(totals: Sequence[Sequence[float]]) -> int:
    """`totals`: options x systems. How many couples stand one way round with one option and the other way with another."""
    flips = 0
    for first, second in combinations(range(len(totals[0])), 2):
        apart = [row[first] - row[second] for row in totals]
        flips += any(gap > 1e-9 for gap in apart) and any(gap < -1e-9 for gap in apart)
    return flips
