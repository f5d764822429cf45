"""Choose the next pairs from the grades so far, and estimate the order of the systems.

Services call `choose_pairs` and `estimate_order`; `records.py` describes how. Both depend only on the seed
and the data, not on the order of the systems.
"""

from dataclasses import replace

import numpy as np

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.pooling.adaptive.measures import read_measure
from annotator.pooling.adaptive.move_to_front import choose_by_move_to_front
from annotator.pooling.adaptive.records import (
    AdaptiveChoice,
    AdaptiveSettings,
    CandidateTable,
    OpenOrder,
    OrderEstimate,
)
from annotator.pooling.adaptive.swaps import choose_by_swaps, estimate_scores, sort_systems
from annotator.pooling.one_thread import ONE_THREAD


def choose_pairs(table: CandidateTable, settings: AdaptiveSettings) -> AdaptiveChoice:
    """Return the next `settings.budget` rows (or fewer), most useful first.

    Returns no judged or pooled row, and no row twice. Raises ValidationError for an unknown measure or a
    negative budget.
    """
    if settings.budget < 0:
        raise ValidationError(say("budget: expected 0 pairs or more, found {n}", n=settings.budget))
    measure = read_measure(settings.measure, settings.relevant_from)
    sorted_table, _ = sort_systems(table)
    if not len(table.list_choosable()) or not settings.budget:
        return AdaptiveChoice(np.zeros(0, dtype=np.int64), np.zeros(0))
    if settings.method == "swaps":
        with ONE_THREAD.limit():
            return choose_by_swaps(sorted_table, measure, settings.budget, settings.seed)
    return choose_by_move_to_front(sorted_table, settings)


def estimate_order(table: CandidateTable, settings: AdaptiveSettings) -> OrderEstimate:
    """Estimate the order of the systems if all candidates were judged, and which of them could still swap.

    Raises ValidationError for an unknown measure.
    """
    sorted_table, systems = sort_systems(table)
    measure = read_measure(settings.measure, settings.relevant_from)
    with ONE_THREAD.limit():
        estimate = estimate_scores(sorted_table, measure)
    columns = np.argsort(systems)
    return replace(
        estimate,
        scores=estimate.scores[columns],
        swap_probabilities=estimate.swap_probabilities[np.ix_(columns, columns)],
        open_orders=tuple(_rename_systems(order, systems.tolist()) for order in estimate.open_orders),
    )


def _rename_systems(order: OpenOrder, systems: list[int]) -> OpenOrder:
    return replace(order, higher=systems[order.higher], lower=systems[order.lower])
