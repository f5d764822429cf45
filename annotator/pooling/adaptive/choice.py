"""Choose the next pairs from the grades so far, and estimate the order of the systems.

Services call `choose_pairs` and `estimate_order`; `records.py` describes how. Both depend only on the seed
and the data, not on the order of the systems.

Swaps: choose the documents whose grade could still swap two systems. The scores of all systems are a linear
function of the unjudged gains g_d, near their expectation: M = const + sum z_d g_d. The gains are uncertain for
two reasons: the document's own grade (variance v_d), and the model (log-odds with the posterior of
`relevance_model.py`, times the slope J_d of the expected gain). So the covariance of M is known, and also the
effect of one more grade on it. With k_d = Cov(M, g_d):

    Var(M_a - M_b) falls by (k_d,a - k_d,b)^2 / Var(g_d)

The worth of a document is this fall relative to Var(M_a - M_b), summed over all pairs of systems. Each pair
of systems has the weight 2 Phi(-|difference| / standard error): nearly 0 if its order is decided, so it costs
no judgments. The variance of a normal model does not depend on the coming grades. So a round is chosen in
steps: after each step the chosen documents count as judged, so that no later step buys the same information.

Related: MTC chooses by z_a - z_b for two systems and average precision (Carterette, Allan & Sitaraman, SIGIR
2006); choosing by expected reduction of variance is Bayesian D-optimal design (Chaloner & Verdinelli 1995).

Move-to-front (Cormack, Palmer & Clarke, SIGIR 1998) takes the
next document of the list with the best record, and gives every query equally many pairs. A list's record is
that of the judged documents above its first unjudged document, in this query. If a round takes several pairs
of a query, a chosen pair counts as judged without a grade.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from annotator.domain.grades import RELEVANT_FROM
from annotator.pooling.adaptive.measures import AdaptiveMeasure, read_measure, score_expected
from annotator.pooling.adaptive.records import (
    HIGHEST_GRADE,
    UNJUDGED,
    AdaptiveSettings,
    CandidateTable,
    OpenOrder,
    OrderEstimate,
)
from annotator.pooling.adaptive.relevance_model import (
    AT_ONCE,
    QUERY_EFFECTS,
    GradeModel,
    Information,
    Posterior,
    describe_ranks,
    fit_grades,
    forecast_grades,
    invert,
    measure_variance,
    subtract_pull,
    sum_by_query,
    sum_information,
)
from annotator.pooling.one_thread import ONE_THREAD

Values = NDArray[np.float64]
Rows = NDArray[np.int64]

STEPS = 20
SHORTLIST = 20_000
"""After the first step, only the best candidates are considered: this many, or 20 times the budget."""
OPEN_FROM = 0.05  # a pair of systems is open if the chance of a swap is higher


@dataclass(frozen=True, slots=True, eq=False)
class UncertainGains:
    """The unjudged candidates and their effect on the scores. Arrays are [unjudged candidate] unless noted."""

    rows: Rows  # of the table
    gradient: NDArray[np.float32]  # [unjudged candidate, system]
    slopes: Values  # of the expected gain by the log-odds
    variances: Values  # of the gain, given the log-odds
    weights: Values  # the information of a grade on the log-odds


@dataclass(frozen=True, slots=True, eq=False)
class EffectSums:
    """Sums of gradient x slope x features over the candidates that still count as unjudged, and the grades' noise."""

    beta: Values  # [system, feature]
    query: Values  # [query, effect, system]
    noise: Values  # [system, system]

    def __sub__(self, other: "EffectSums") -> "EffectSums":
        return EffectSums(self.beta - other.beta, self.query - other.query, self.noise - other.noise)

    def __add__(self, other: "EffectSums") -> "EffectSums":
        return EffectSums(self.beta + other.beta, self.query + other.query, self.noise + other.noise)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreOutlook:
    """The expected scores, and the values that give their uncertainty."""

    scores: Values
    model: GradeModel
    gains: UncertainGains


def look_ahead(table: CandidateTable, measure: AdaptiveMeasure) -> ScoreOutlook:
    """Fit the model, and return the expected scores with their uncertain gains."""
    model = fit_grades(table, describe_ranks(table))
    rows = np.flatnonzero(table.grades == UNJUDGED)
    steps = np.array(measure.steps)
    chances = (table.grades[:, None] >= np.arange(1, HIGHEST_GRADE + 1)).astype(np.float64)
    slopes, weights = np.empty(len(rows)), np.empty(len(rows))
    for start in range(0, len(rows), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        forecast = forecast_grades(model, rows[part])
        chances[rows[part]] = forecast.chances
        slopes[part], weights[part] = forecast.slopes @ steps, forecast.weights
    linear = score_expected(table, measure, chances)
    open_chances = chances[rows]
    totals = np.cumsum(steps)
    squares = open_chances @ np.diff(totals**2, prepend=0.0)
    variances = np.maximum(squares - (open_chances @ steps) ** 2, 0.0)
    gradient = linear.gradient[rows]
    return ScoreOutlook(linear.scores, model, UncertainGains(rows, gradient, slopes, variances, weights))


def _sum_effects(outlook: ScoreOutlook, members: Rows) -> EffectSums:
    """Sum over `members`: indexes into `gains`."""
    features, gains = outlook.model.features, outlook.gains
    systems = gains.gradient.shape[1]
    total = EffectSums(
        np.zeros((systems, features.x.shape[1])),
        np.zeros((features.query_count, QUERY_EFFECTS, systems)),
        np.zeros((systems, systems)),
    )
    for start in range(0, len(members), AT_ONCE):
        part = members[start : start + AT_ONCE]
        rows = gains.rows[part]
        gradient = gains.gradient[part].astype(np.float64)
        sloped = gradient * gains.slopes[part, None]
        query = np.stack(
            [
                sum_by_query(
                    sloped * features.y[rows, effect : effect + 1],
                    features.queries[rows],
                    features.query_count,
                )
                for effect in range(QUERY_EFFECTS)
            ],
            axis=1,
        )
        total += EffectSums(
            sloped.T @ features.x[rows], query, (gradient * gains.variances[part, None]).T @ gradient
        )
    return total


def _measure_covariance(posterior: Posterior, sums: EffectSums) -> tuple[Values, Values]:
    """Return the covariance of the scores, and [system, feature]: their covariance with beta, before the posterior."""
    width = sums.beta.shape[1]
    systems = len(sums.beta)
    by_effect = sums.query.reshape(-1, systems)
    inner = sums.beta - by_effect.T @ posterior.pull.reshape(len(by_effect), -1)[:, :width]
    through_beta = inner @ posterior.beta[:width, :width] @ inner.T
    own = by_effect.T @ (posterior.query @ sums.query).reshape(-1, systems)
    return sums.noise + through_beta + own, inner


def _weigh_orders(scores: Values, covariance: Values) -> Values:
    """Return the Laplacian of the pairs of systems, each weighted by its openness over its variance."""
    variances, probabilities = _find_swap_probabilities(scores, covariance)
    weights = np.divide(
        2 * probabilities, variances, out=np.zeros_like(variances), where=variances > _negligible(covariance)
    )
    laplacian: Values = np.diag(weights.sum(axis=1)) - weights
    return laplacian


def _negligible(covariance: Values) -> float:
    return 1e-12 * float(np.diag(covariance).max(initial=0.0)) + 1e-30


def _find_swap_probabilities(scores: Values, covariance: Values) -> tuple[Values, Values]:
    """Return, for every two systems, the variance of their difference and the chance of the opposite order."""
    from scipy.special import ndtr

    own = np.diag(covariance)
    variances = np.maximum(own[:, None] + own[None, :] - 2 * covariance, 0.0)
    uncertain = variances > _negligible(covariance)
    distances = np.abs(scores[:, None] - scores[None, :])
    ratios = np.divide(distances, np.sqrt(variances), out=np.zeros_like(distances), where=uncertain)
    return variances, np.where(uncertain, ndtr(-ratios), 0.0)


def _choose_by_swaps(table: CandidateTable, measure: AdaptiveMeasure, budget: int, seed: int) -> Rows:
    """Return the next `budget` rows, in the order in which they were chosen."""
    outlook = look_ahead(table, measure)
    gains = outlook.gains
    waiting = table.in_pool[gains.rows]
    pool = np.flatnonzero(waiting)
    choosable = np.flatnonzero(~waiting)
    ties = np.random.default_rng(seed).random(len(table.grades))[gains.rows]
    sums = _sum_effects(outlook, choosable)
    information = outlook.model.information + _inform(outlook, pool)
    chosen: list[Rows] = [np.zeros(0, dtype=np.int64)]
    remaining = min(budget, len(choosable))
    step = max(1, -(-remaining // STEPS))
    while remaining:
        values = _measure_worth(outlook, invert(information), sums, choosable)
        order = np.lexsort((ties[choosable], -_round(values)))
        picked = choosable[order[: min(step, remaining)]]
        chosen.append(gains.rows[picked])
        remaining -= len(picked)
        sums -= _sum_effects(outlook, picked)
        information += _inform(outlook, picked)
        choosable = np.sort(choosable[order[len(picked) :][: max(SHORTLIST, 20 * budget)]])
    return np.concatenate(chosen)


def _round(values: Values) -> Values:
    """Round the values, so that the seed decides between values that differ only by rounding errors."""
    scale = float(np.abs(values).max(initial=0.0)) or 1.0
    return np.round(values / scale, 9)


def _inform(outlook: ScoreOutlook, members: Rows) -> Information:
    """Return the information on the model that the grades of these candidates will give, whichever they are."""
    features, gains, model = outlook.model.features, outlook.gains, outlook.model
    width, all_width = features.x.shape[1], model.information.beta.shape[0]
    rows = gains.rows[members]
    x = np.zeros((len(rows), all_width))
    x[:, :width] = features.x[rows]
    return sum_information(
        x,
        features.y[rows].astype(np.float64),
        features.queries[rows],
        gains.weights[members],
        features.query_count,
    )


def _measure_worth(outlook: ScoreOutlook, posterior: Posterior, sums: EffectSums, members: Rows) -> Values:
    features, gains = outlook.model.features, outlook.gains
    covariance, inner = _measure_covariance(posterior, sums)
    laplacian = _weigh_orders(outlook.scores, covariance)
    width = inner.shape[1]
    shared = posterior.beta[:width, :width] @ inner.T
    own = posterior.query @ sums.query
    values = np.empty(len(members))
    for start in range(0, len(members), AT_ONCE):
        part = members[start : start + AT_ONCE]
        rows = gains.rows[part]
        x, y = features.x[rows].astype(np.float64), features.y[rows].astype(np.float64)
        queries = features.queries[rows]
        effect = subtract_pull(posterior, x, y, queries) @ shared
        for number in range(QUERY_EFFECTS):
            effect += y[:, number : number + 1] * own[:, number][queries]
        effect *= gains.slopes[part, None]
        effect += gains.gradient[part] * gains.variances[part, None]
        variance = (
            gains.slopes[part] ** 2 * measure_variance(posterior, x, y, queries) + gains.variances[part]
        )
        worth = np.einsum("ns,ns->n", effect @ laplacian, effect)
        values[start : start + AT_ONCE] = np.divide(
            worth, variance, out=np.zeros(len(part)), where=variance > 0
        )
    return values


def sort_systems(table: CandidateTable) -> tuple[CandidateTable, Rows]:
    """Sort the systems by their ranks only; return the table, and the system of each column.

    Sums of floats depend on the order of their terms in the last digits. This makes the caller's order
    irrelevant.
    """
    import hashlib

    keys = [hashlib.blake2b(column).digest() for column in np.ascontiguousarray(table.ranks.T)]
    order = np.array(sorted(range(len(keys)), key=lambda system: keys[system]), dtype=np.int64)
    return replace(table, ranks=np.take(table.ranks, order, axis=1)), order


ChooseInQuery = Callable[[CandidateTable, Rows, int, Values, np.random.Generator], Iterator[int]]
FAR = np.iinfo(np.int32).max


def choose_pairs(table: CandidateTable, settings: AdaptiveSettings) -> Rows:
    """Return the next `settings.budget` rows (or fewer), most useful first.

    Returns no judged or pooled row, and no row twice. Raises ValidationError for an unknown measure.
    """
    measure = read_measure(settings.measure)
    sorted_table, _ = sort_systems(table)
    if not len(table.list_choosable()) or not settings.budget:
        return np.zeros(0, dtype=np.int64)
    if settings.method == "swaps":
        with ONE_THREAD.limit():
            return _choose_by_swaps(sorted_table, measure, settings.budget, settings.seed)
    return _choose_by_move_to_front(sorted_table, settings)


def estimate_order(table: CandidateTable, settings: AdaptiveSettings) -> OrderEstimate:
    """Estimate the order of the systems if all was judged, and possible swaps. ValidationError for an unknown measure."""
    sorted_table, systems = sort_systems(table)
    measure = read_measure(settings.measure)
    with ONE_THREAD.limit():
        outlook = look_ahead(sorted_table, measure)
        sums = _sum_effects(outlook, np.arange(len(outlook.gains.rows)))
        covariance, _ = _measure_covariance(outlook.model.posterior, sums)
        _, probabilities = _find_swap_probabilities(outlook.scores, covariance)
    return OrderEstimate(
        outlook.scores[np.argsort(systems)], _list_open(outlook.scores, probabilities, systems.tolist())
    )


def _list_open(scores: Values, probabilities: Values, systems: list[int]) -> tuple[OpenOrder, ...]:
    first, second = np.triu_indices(len(scores), 1)
    is_open = probabilities[first, second] > OPEN_FROM
    orders = []
    for a, b in zip(first[is_open].tolist(), second[is_open].tolist(), strict=True):
        higher, lower = (a, b) if scores[a] >= scores[b] else (b, a)
        chance = float(probabilities[a, b])
        orders.append((-chance, higher, lower, float(scores[higher] - scores[lower])))
    return tuple(
        OpenOrder(systems[higher], systems[lower], difference, -chance)
        for chance, higher, lower, difference in sorted(orders)
    )


def _choose_by_move_to_front(table: CandidateTable, settings: AdaptiveSettings) -> Rows:
    """Return the next `settings.budget` rows. Queries with the fewest pairs come first."""
    return choose_evenly(table, settings, partial(choose_from_lists, score_lists=_score_lists))


def choose_evenly(table: CandidateTable, settings: AdaptiveSettings, choose_in_query: ChooseInQuery) -> Rows:
    """Share the budget evenly among the queries, and let `choose_in_query` choose in each of them."""
    generator = np.random.default_rng(settings.seed)
    ties = generator.random(len(table.grades))
    turns = [
        (turn, position, row)
        for position, (members, taken, number) in enumerate(_share_budget(table, settings.budget, generator))
        for turn, row in enumerate(choose_in_query(table, members, number, ties, generator), taken)
    ]
    return np.array([row for _, _, row in sorted(turns)], dtype=np.int64)


def _share_budget(
    table: CandidateTable, budget: int, generator: np.random.Generator
) -> Iterator[tuple[Rows, int, int]]:
    """Yield (rows, pairs in the pool, pairs to take) of each query that gets pairs, the fewest pairs first."""
    unavailable = (table.grades != UNJUDGED) | table.in_pool
    taken = np.bincount(table.queries, unavailable, table.query_count).astype(np.int64)
    open_counts = np.bincount(table.queries, ~unavailable, table.query_count).astype(np.int64)
    level = _find_level(taken, open_counts, budget)
    to_take = np.clip(level - taken, 0, open_counts)
    spare = budget - int(to_take.sum())
    order = generator.permutation(table.query_count)
    more = order[(to_take < open_counts)[order] & (taken + to_take <= level)[order]][:spare]
    to_take[more] += 1
    by_query = np.argsort(table.queries, kind="stable")
    starts = np.searchsorted(table.queries[by_query], np.arange(table.query_count + 1))
    for query in order[to_take[order] > 0].tolist():
        yield by_query[starts[query] : starts[query + 1]], int(taken[query]), int(to_take[query])


def _find_level(taken: Rows, open_counts: Rows, budget: int) -> int:
    """Return the highest number of pairs per query that the budget can fill, where queries have enough."""
    low, high = 0, int((taken + open_counts).max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.clip(middle - taken, 0, open_counts).sum()) <= budget:
            low = middle
        else:
            high = middle - 1
    return low


def choose_from_lists(
    table: CandidateTable,
    members: Rows,
    number: int,
    ties: Values,
    generator: np.random.Generator,
    *,
    score_lists: Callable[[Rows, Rows, np.random.Generator], Values],
) -> Iterator[int]:
    """Yield `number` rows of a query (`members`), each the next document of the list with the best score.

    `score_lists`: returns a score for each list from its relevant and its other judged documents.
    """
    far_ranks = np.where(table.ranks[members] > 0, table.ranks[members], FAR)
    grades = table.grades[members]
    is_open = (grades == UNJUDGED) & ~table.in_pool[members]
    relevant = grades >= RELEVANT_FROM
    missed = (grades != UNJUDGED) & ~relevant
    for _ in range(number):
        first = np.where(is_open[:, None], far_ranks, FAR).min(axis=0, initial=FAR)
        above = far_ranks < first
        hits, misses = (relevant[:, None] & above).sum(axis=0), (missed[:, None] & above).sum(axis=0)
        score = score_lists(hits, misses, generator)
        score[first == FAR] = -np.inf
        leaders = np.flatnonzero(score == score.max())
        nexts = np.flatnonzero(is_open & (far_ranks[:, leaders] == first[leaders]).any(axis=1))
        best = int(nexts[np.lexsort((ties[members][nexts], far_ranks[nexts][:, leaders].min(axis=1)))[0]])
        is_open[best] = False
        yield int(members[best])


def _score_lists(hits: Rows, misses: Rows, _generator: np.random.Generator) -> Values:
    bonus = hits / (1.0 + hits.sum())  # a list stays in front as long as it brings relevant documents
    return np.asarray(bonus - misses)
