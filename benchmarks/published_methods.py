"""Published methods to choose pairs, for the comparison in `adaptive_pooling.py`: depth, bandits and hedge.

All but `depth` take equally many pairs from every query and learn from the grades of the query so far.

- `depth`: by the best rank in any list, then by the number of systems that return the document.
- `max-mean`: the next document of the list with the highest mean of its Beta posterior (Losada, Parapar & Barreiro 2017,
  IP&M 53), in their stationary variant.
- `thompson`: the next document of the list with the highest random value from its Beta posterior (the same paper).
- `hedge`: the document with the highest sum of the lists' weights, each times log(depth / rank). A list loses weight with each
  non-relevant document at a high rank (Aslam, Pavlu & Savell, CIKM 2003).
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from annotator.domain.grades import RELEVANT_FROM
from annotator.pooling.adaptive.choice import (
    FAR,
    Rows,
    Values,
    choose_evenly,
    choose_from_lists,
    sort_systems,
)
from annotator.pooling.adaptive.records import UNJUDGED, AdaptiveSettings, CandidateTable

METHODS = ("depth", "max-mean", "thompson", "hedge")
HEDGE_BETA = 0.1


def choose_by_published_method(table: CandidateTable, settings: AdaptiveSettings, method: str) -> Rows:
    """Return the next rows by one of METHODS; `settings.method` is ignored."""
    table, _ = sort_systems(table)
    if method == "depth":
        return _choose_by_depth(table, settings)
    if method == "hedge":
        return choose_evenly(table, settings, _choose_by_hedge)
    score_lists = _score_by_mean if method == "max-mean" else _score_by_draw
    return choose_evenly(table, settings, partial(choose_from_lists, score_lists=score_lists))


def _choose_by_depth(table: CandidateTable, settings: AdaptiveSettings) -> Rows:
    rows = table.list_choosable()
    ties = np.random.default_rng(settings.seed).random(len(table.grades))
    ranks = table.ranks[rows]
    best = np.where(ranks > 0, ranks, FAR).min(axis=1, initial=FAR)
    return rows[np.lexsort((ties[rows], -(ranks > 0).sum(axis=1), best))[: settings.budget]]


def _score_by_mean(hits: Rows, misses: Rows, _generator: np.random.Generator) -> Values:
    return np.asarray((hits + 1) / (hits + misses + 2))


def _score_by_draw(hits: Rows, misses: Rows, generator: np.random.Generator) -> Values:
    return np.asarray(generator.beta(hits + 1, misses + 1))


def _choose_by_hedge(
    table: CandidateTable,
    members: Rows,
    number: int,
    ties: Values,
    _generator: np.random.Generator,
) -> Iterator[int]:
    ranks, grades = table.ranks[members], table.grades[members]
    is_open = (grades == UNJUDGED) & ~table.in_pool[members]
    relevant = grades >= RELEVANT_FROM
    missed = (grades != UNJUDGED) & ~relevant
    deepest = int(ranks.max(initial=1))
    height = np.where(ranks > 0, np.log((deepest + 1) / np.maximum(ranks, 1)), 0.0)
    losses = (height * (missed.astype(np.float64) - relevant)[:, None]).sum(axis=0) / 2
    weights = HEDGE_BETA ** (losses - losses.min(initial=0.0))
    worth: Values = height @ (weights / weights.sum())
    for best in np.lexsort((ties[members], -worth, ~is_open))[:number].tolist():
        yield int(members[best])
