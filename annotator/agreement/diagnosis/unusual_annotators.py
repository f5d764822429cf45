"""Cohen's kappa of each annotator with all the others together, and who agrees surely less than everybody.

All comparisons of an annotator stand in one table, their grades in the rows and the others' in the columns. So the figure does
not suffer where any two annotators share few pairs, as the mean over annotator pairs does (docs/statistics.md).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.agreement.claims import cluster_interval, confidence
from annotator.agreement.diagnosis.drift import TOO_FEW_QUERIES
from annotator.agreement.enough_pairs import FEW_PAIRS, FEW_QUERIES
from annotator.agreement.judgment_pairs import Couples, Estimate, estimate_table, estimate_tables, subtract
from annotator.agreement.judgment_table import CATEGORIES, CELLS, Ints
from annotator.agreement.records import Value
from annotator.domain.messages import say

LESS_BY = 0.1
NO_VARIATION = say("without variation in these comparisons kappa is undefined")
_TURNED = np.arange(CELLS).reshape(CATEGORIES, CATEGORIES).T.ravel()


@dataclass(frozen=True, slots=True)
class AgreesLess:
    """An annotator whose kappa with all the others together is surely below that of all comparisons (`everybody`)."""

    annotator: str
    kappa: Value
    couples: int
    everybody: float


def estimate_against_others(couples: Couples, annotators: int) -> tuple[tuple[int, Estimate], ...]:
    """Estimate the kappa with all the others together of each annotator who has comparisons: (number, estimate)."""
    who: Ints = np.concatenate([couples.first, couples.second])
    cell = np.concatenate([couples.cell, _TURNED[couples.cell]])
    query = np.tile(couples.query, 2)
    return tuple(estimate_tables(who, cell, query, queries=couples.queries, tables=annotators))


def measure_against_others(
    estimates: Iterable[tuple[int, Estimate]], names: Sequence[str]
) -> dict[str, Value]:
    """Return each annotator's kappa with all the others together, with its 95 % interval; who shares no pair is not in it."""
    found = {}
    for who, own in estimates:
        ci95 = cluster_interval(own)
        if np.isnan(own.value):
            found[names[who]] = Value(None, None, NO_VARIATION)
        else:
            found[names[who]] = Value(own.value, ci95, None if ci95 else TOO_FEW_QUERIES)
    return found


def find_less(
    couples: Couples, estimates: Iterable[tuple[int, Estimate]], names: Sequence[str]
) -> tuple[AgreesLess, ...]:
    """Find who agrees surely less with the others than everybody does, those first who weigh most. `couples` and the
    `estimates` of them are without those of whom something worse is said already: beside them all others look bad."""
    estimates = [
        (who, own) for who, own in estimates
        if own.couples >= FEW_PAIRS and int(own.seen.sum()) >= FEW_QUERIES and not np.isnan(own.value)
    ]  # fmt: skip
    if len(estimates) < 3:
        return ()
    both = np.concatenate([couples.cell, _TURNED[couples.cell]])
    everybody = estimate_table(both, np.tile(couples.query, 2), couples.queries)
    level = confidence(len(estimates))
    found = []
    for who, own in estimates:
        difference = subtract(own, everybody)
        interval = cluster_interval(difference, level=level)
        if interval is not None and interval[1] < 0 and difference.value <= -LESS_BY:
            value = Value(own.value, cluster_interval(own))
            found.append(AgreesLess(names[who], value, own.couples, everybody.value))
    found.sort(key=lambda one: (-(one.everybody - (one.kappa.value or 0.0)) * one.couples, one.annotator))
    return tuple(found)
