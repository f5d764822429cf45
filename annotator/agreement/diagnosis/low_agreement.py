"""Find annotators who agree less, and the annotator pairs with the lowest and highest kappa.

Each annotator is compared with all others in one table (rows: own grades, columns: others'), so that pairs of
annotators with few shared pairs do not distort the kappa, as they do in the mean over annotator pairs
(docs/statistics.md). Every claim is corrected for the number of annotators. The lowest and highest annotator
pairs are named only if they surely differ.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.agreement.comparisons import (
    Comparisons,
    FigureEstimate,
    estimate_kappa,
    estimate_table,
    estimate_tables,
    subtract,
)
from annotator.agreement.intervals import cluster_interval, confidence
from annotator.agreement.judgment_table import (
    CATEGORIES,
    CELLS,
    Ints,
)
from annotator.agreement.records import (
    FEW_PAIRS,
    FEW_QUERIES,
    TOO_FEW_QUERIES,
    CoefficientValue,
    MeasuredAgreement,
    PairAgreement,
)
from annotator.domain.messages import say

LESS_BY = 0.1
NO_VARIATION = say("kappa is undefined because the grades in these comparisons do not vary")
_TURNED = np.arange(CELLS).reshape(CATEGORIES, CATEGORIES).T.ravel()


@dataclass(frozen=True, slots=True)
class LowAgreementAnnotator:
    """An annotator whose kappa with all others together is surely below that of all comparisons."""

    annotator: str
    kappa: CoefficientValue
    comparisons: int
    everybody: float  # the kappa of all comparisons


def estimate_against_others(
    comparisons: Comparisons, annotators: int
) -> tuple[tuple[int, FigureEstimate], ...]:
    """Return the number of each annotator with comparisons, and their kappa with all others together."""
    who: Ints = np.concatenate([comparisons.first, comparisons.second])
    cell = np.concatenate([comparisons.cell, _TURNED[comparisons.cell]])
    query = np.tile(comparisons.query, 2)
    return tuple(estimate_tables(who, cell, query, queries=comparisons.queries, tables=annotators))


def measure_against_others(
    estimates: Iterable[tuple[int, FigureEstimate]], names: Sequence[str]
) -> dict[str, CoefficientValue]:
    """Return the kappa, with interval, of each annotator who shares a pair, with all others together."""
    values = {}
    for who, own in estimates:
        ci95 = cluster_interval(own)
        if np.isnan(own.value):
            values[names[who]] = CoefficientValue(None, None, NO_VARIATION)
        else:
            values[names[who]] = CoefficientValue(own.value, ci95, None if ci95 else TOO_FEW_QUERIES)
    return values


def find_less(
    comparisons: Comparisons, estimates: Iterable[tuple[int, FigureEstimate]], names: Sequence[str]
) -> tuple[LowAgreementAnnotator, ...]:
    """Find annotators who surely agree less with the others than all do, the greatest effect first.

    `comparisons` and `estimates`: without annotators who are named for something worse, because they make all
    others look bad.
    """
    estimates = [
        (who, own)
        for who, own in estimates
        if own.comparisons >= FEW_PAIRS and int(own.seen.sum()) >= FEW_QUERIES and not np.isnan(own.value)
    ]
    if len(estimates) < 3:
        return ()
    both = np.concatenate([comparisons.cell, _TURNED[comparisons.cell]])
    everybody = estimate_table(both, np.tile(comparisons.query, 2), comparisons.queries)
    level = confidence(len(estimates))
    found_annotators = []
    for who, own in estimates:
        difference = subtract(own, everybody)
        interval = cluster_interval(difference, level=level)
        if interval is not None and interval[1] < 0 and difference.value <= -LESS_BY:
            value = CoefficientValue(own.value, cluster_interval(own))
            found_annotators.append(
                LowAgreementAnnotator(names[who], value, own.comparisons, everybody.value)
            )
    found_annotators.sort(
        key=lambda annotator: (
            -(annotator.everybody - (annotator.kappa.value or 0.0)) * annotator.comparisons,
            annotator.annotator,
        )
    )
    return tuple(found_annotators)


def find_extremes(
    measured: MeasuredAgreement, comparisons: Comparisons, names: Sequence[str]
) -> tuple[PairAgreement, PairAgreement] | None:
    """Return the annotator pairs with the lowest and the highest kappa; None unless they surely differ.

    Only pairs that share enough (no `warning`) count. The claim is corrected for the number of annotator
    pairs.
    """
    ranked = [
        (value, pair.annotators, pair)
        for pair in measured.annotator_pairs
        if pair.warning is None and (value := pair.cohen_kappa["unweighted"].value) is not None
    ]
    if len(ranked) < 2:
        return None
    ranked.sort(key=lambda ranked_pair: ranked_pair[:2])
    low, high = ranked[0][2], ranked[-1][2]
    number_by_name = {name: index for index, name in enumerate(names)}
    least, most = (
        estimate_kappa(
            comparisons.take(
                (comparisons.first == number_by_name[pair.annotators[0]])
                & (comparisons.second == number_by_name[pair.annotators[1]])
            ),
            len(names),
        )
        for pair in (low, high)
    )
    level = confidence(len(ranked) * (len(ranked) - 1))
    interval = cluster_interval(subtract(least, most), level=level)
    return (low, high) if interval is not None and interval[1] < 0 else None
