"""Estimate the grade of every unjudged candidate from its ranks, with the uncertainty.

A sequential logit model (Tutz 1991): grade >= t, given grade >= t - 1, has the log-odds

    eta = x . beta + y . b_query + (offset and slope of level t)

x has four features of all ranks together and one per system. A system with relevant documents at high ranks
gets a higher weight, so the model fuses the lists as the grades suggest. Every query has its own intercept
and slope. beta and b have normal priors; EM estimates their variances. The fit is the posterior mode, by
Newton's method; the uncertainty is the normal approximation there (Laplace). Query effects are eliminated
block by block (Schur complement), so 10,000 queries cost no more than their rows. Without grades only the
priors count: a document is likelier relevant if more systems rank it, and higher.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.pooling.adaptive.records import HIGHEST_GRADE, CandidateTable

Values = NDArray[np.float64]
Narrow = NDArray[np.float32]

SHARED = 5  # features of all ranks together, with the intercept
QUERY_EFFECTS = 2  # an intercept and a slope
TOP = 10
PRIOR_MEANS = (-1.5, 0.4, 0.3, 0.3, 0.2)
PRIOR_VARIANCES = (4.0, 1.0, 1.0, 1.0, 1.0)
LEVEL_MEANS = (-0.5, -0.5, 0.0, 0.0)
LEVEL_VARIANCES = (1.0, 1.0, 0.1, 0.1)
SYSTEM_VARIANCE = 0.3
QUERY_VARIANCES = (1.0, 0.2)
PRIOR_WEIGHT = 5.0  # the variances above count as much as this many systems, or queries
NEWTON_STEPS = 12
ENOUGH = 1e-2  # of the log posterior: stop after a step that gains less
SHORTEST_STEP = 1e-3
RENEWALS = 3  # of the variances
LARGEST_LOG_ODDS = 15.0
AT_ONCE = 100_000  # candidates computed at a time


@dataclass(frozen=True, slots=True, eq=False)
class RankFeatures:
    """The features of each candidate: `x` [candidate, SHARED + systems] and `y` [candidate, QUERY_EFFECTS]."""

    x: Narrow
    y: Narrow
    queries: NDArray[np.int64]
    query_count: int


@dataclass(frozen=True, slots=True, eq=False)
class Information:
    """The information on beta, on each query's effects, and on both: sums over graded candidates."""

    beta: Values  # [feature, feature]
    both: Values  # [query, effect, feature]
    query: Values  # [query, effect, effect]

    def __add__(self, other: "Information") -> "Information":
        return Information(self.beta + other.beta, self.both + other.both, self.query + other.query)


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """The uncertainty of the model.

    The covariance of two candidates' log-odds is u . beta . u', plus y . query . y' if they have the same
    query, with u = x - y . pull.
    """

    beta: Values  # [feature, feature]
    query: Values  # [query, effect, effect]
    pull: Values  # [query, effect, feature]


@dataclass(frozen=True, slots=True, eq=False)
class GradeModel:
    """The fitted model."""

    features: RankFeatures
    beta: Values
    effects: Values  # [query, effect]
    levels: Values  # offsets and slopes of the levels above the first
    information: Information  # includes the priors
    posterior: Posterior


@dataclass(frozen=True, slots=True, eq=False)
class GradeForecast:
    """The forecast for some candidates."""

    chances: Values  # [candidate, level t from 1]: of grade >= t
    slopes: Values  # their derivatives by the log-odds
    weights: Values  # [candidate]: the information of a grade on the log-odds


def describe_ranks(table: CandidateTable) -> RankFeatures:
    """Return the features. Ranks are on a logarithmic scale: 1 for rank 1, 0 for a document that was not returned."""
    deepest = int(table.ranks.max(initial=1))
    scale = np.zeros(deepest + 1)
    scale[1:] = 1 - np.log(np.arange(1, deepest + 1)) / np.log(deepest + 1)
    reciprocal = np.zeros(deepest + 1)
    reciprocal[1:] = 1 / (np.arange(1, deepest + 1) + 5)
    x = np.empty((len(table.ranks), SHARED + table.system_count), dtype=np.float32)
    for start in range(0, len(x), AT_ONCE):
        ranks = table.ranks[start : start + AT_ONCE]
        heights = scale[ranks]
        mean = heights.mean(axis=1)
        part = x[start : start + AT_ONCE]
        part[:, 0] = 1
        part[:, 1] = mean
        part[:, 2] = np.log(reciprocal[ranks].mean(axis=1) + 1e-4)
        part[:, 3] = heights.max(axis=1, initial=0)
        part[:, 4] = ((ranks > 0) & (ranks <= TOP)).mean(axis=1)
        part[:, SHARED:] = heights - mean[:, None]
    for column in range(1, SHARED):
        values = x[:, column].astype(np.float64)
        spread = values.std() if len(values) else 0.0
        x[:, column] = (values - values.mean()) / spread if spread > 0 else 0.0
    return RankFeatures(x, x[:, [0, 2]].copy(), table.queries, table.query_count)


@dataclass(frozen=True, slots=True, eq=False)
class _Priors:
    """Normal priors: of beta with these means and variances, of the queries' effects with these variances."""

    means: Values
    variances: Values
    query_variances: Values


@dataclass(frozen=True, slots=True, eq=False)
class _GradedRows:
    """The grades, one row per level that a candidate could reach: features, query, and whether it was reached."""

    x: Values
    y: Values
    queries: NDArray[np.int64]
    outcomes: Values

    def find_chances(self, beta: Values, effects: Values) -> Values:
        log_odds = self.x @ beta + (self.y * effects[self.queries]).sum(axis=1)
        chances: Values = 1 / (1 + np.exp(-np.clip(log_odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)))
        return chances

    def measure_fit(self, beta: Values, effects: Values, priors: _Priors) -> float:
        """Return the log posterior, up to a constant."""
        log_odds = self.x @ beta + (self.y * effects[self.queries]).sum(axis=1)
        likelihood = (self.outcomes * log_odds - np.logaddexp(0, log_odds)).sum()
        distance = ((beta - priors.means) ** 2 / priors.variances).sum() + (
            effects**2 / priors.query_variances
        ).sum()
        return float(likelihood - distance / 2)


def fit_grades(table: CandidateTable, features: RankFeatures) -> GradeModel:
    """Fit the model to the grades so far."""
    rows, levels, outcomes = _stack_levels(table)
    graded = _GradedRows(
        np.concatenate(
            [features.x[rows].astype(np.float64), _describe_levels(features, rows, levels)], axis=1
        ),
        features.y[rows].astype(np.float64),
        table.queries[rows],
        outcomes,
    )
    systems = table.system_count
    priors = _Priors(
        np.concatenate([PRIOR_MEANS, np.zeros(systems), LEVEL_MEANS]),
        np.concatenate([PRIOR_VARIANCES, np.full(systems, SYSTEM_VARIANCE), LEVEL_VARIANCES]),
        np.array(QUERY_VARIANCES),
    )
    beta, effects = priors.means, np.zeros((table.query_count, QUERY_EFFECTS))
    for renewal in range(RENEWALS + 1):
        beta, effects, information = _climb(graded, beta, effects, priors)
        posterior = invert(information)
        if renewal < RENEWALS:
            priors = _renew_variances(beta, effects, priors, posterior, systems)
    kept = SHARED + systems
    return GradeModel(features, beta[:kept], effects, beta[kept:], information, posterior)


def _climb(
    graded: _GradedRows, beta: Values, effects: Values, priors: _Priors
) -> tuple[Values, Values, Information]:
    """Return the mode of the posterior and its information, by Newton's method. Steps that overshoot are halved."""
    query_count = len(effects)
    fit = graded.measure_fit(beta, effects, priors)
    for _ in range(NEWTON_STEPS):
        chances = graded.find_chances(beta, effects)
        posterior = invert(_inform_of(graded, chances, query_count, priors))
        error = graded.outcomes - chances
        beta_slope = graded.x.T @ error - (beta - priors.means) / priors.variances
        effect_slope = (
            sum_by_query(graded.y * error[:, None], graded.queries, query_count)
            - effects / priors.query_variances
        )
        beta_step = posterior.beta @ (
            beta_slope - effect_slope.ravel() @ posterior.pull.reshape(effect_slope.size, -1)
        )
        effect_step = np.einsum("qef,qf->qe", posterior.query, effect_slope) - posterior.pull @ beta_step
        length, gain = 1.0, 0.0
        while length > SHORTEST_STEP:
            gain = graded.measure_fit(beta + length * beta_step, effects + length * effect_step, priors) - fit
            if gain >= 0:
                beta, effects = beta + length * beta_step, effects + length * effect_step
                fit += gain
                break
            length /= 2
        if gain < ENOUGH:
            break
    chances = graded.find_chances(beta, effects)
    return beta, effects, _inform_of(graded, chances, query_count, priors)


def _inform_of(graded: _GradedRows, chances: Values, query_count: int, priors: _Priors) -> Information:
    grades = sum_information(graded.x, graded.y, graded.queries, chances * (1 - chances), query_count)
    return Information(
        grades.beta + np.diag(1 / priors.variances),
        grades.both,
        grades.query + np.diag(1 / priors.query_variances),
    )


def _stack_levels(table: CandidateTable) -> tuple[NDArray[np.int64], NDArray[np.int64], Values]:
    """Return (row, t, whether grade >= t) for each level t and candidate of grade >= t - 1, by query."""
    steps = [(np.flatnonzero(table.grades >= level - 1), level) for level in range(1, HIGHEST_GRADE + 1)]
    rows = np.concatenate([rows for rows, _ in steps])
    levels = np.concatenate([np.full(len(rows), level) for rows, level in steps])
    order = np.argsort(table.queries[rows], kind="stable")
    rows, levels = rows[order], levels[order]
    return rows, levels, (table.grades[rows] >= levels).astype(np.float64)


def _describe_levels(features: RankFeatures, rows: NDArray[np.int64], levels: NDArray[np.int64]) -> Values:
    above = np.arange(2, HIGHEST_GRADE + 1)
    is_level = (levels[:, None] == above).astype(np.float64)
    return np.concatenate([is_level, is_level * features.x[rows, 1:2]], axis=1)


def sum_information(
    x: Values, y: Values, queries: NDArray[np.int64], weights: Values, query_count: int
) -> Information:
    """Return the information of these rows, each with its weight."""
    weighted = x * weights[:, None]
    both = np.zeros((query_count, QUERY_EFFECTS, x.shape[1]))
    query = np.zeros((query_count, QUERY_EFFECTS, QUERY_EFFECTS))
    for effect in range(QUERY_EFFECTS):
        both[:, effect] = sum_by_query(weighted * y[:, effect : effect + 1], queries, query_count)
        query[:, effect] = sum_by_query(y * (weights * y[:, effect])[:, None], queries, query_count)
    return Information(x.T @ weighted, both, query)


def sum_by_query(values: Values, queries: NDArray[np.int64], query_count: int) -> Values:
    total = np.zeros((query_count, values.shape[1]))
    if len(values):
        if (queries[1:] < queries[:-1]).any():
            order = np.argsort(queries, kind="stable")
            queries, values = queries[order], values[order]
        starts = np.flatnonzero(np.concatenate([[True], queries[1:] != queries[:-1]]))
        total[queries[starts]] = np.add.reduceat(values, starts, axis=0)
    return total


def invert(information: Information) -> Posterior:
    """Return the covariances for this information."""
    query: Values = np.linalg.inv(information.query).astype(np.float64)
    pull = query @ information.both
    width = information.beta.shape[0]
    beta = np.linalg.inv(information.beta - information.both.reshape(-1, width).T @ pull.reshape(-1, width))
    symmetric: Values = ((beta + beta.T) / 2).astype(np.float64)
    return Posterior(symmetric, query, pull)


def _renew_variances(
    beta: Values, effects: Values, priors: _Priors, posterior: Posterior, systems: int
) -> _Priors:
    """Do one step of EM: mean squares of the systems' weights and the queries' effects, pulled to their start values."""
    weights = slice(SHARED, SHARED + systems)
    squares = float((beta[weights] ** 2 + np.diag(posterior.beta)[weights]).sum())
    variances = priors.variances.copy()
    variances[weights] = (squares + PRIOR_WEIGHT * SYSTEM_VARIANCE) / (systems + PRIOR_WEIGHT)
    through_beta = ((posterior.pull @ posterior.beta) * posterior.pull).sum(axis=2)
    own = np.einsum("qee->qe", posterior.query) + through_beta
    start = np.array(QUERY_VARIANCES)
    queries = ((effects**2 + own).sum(axis=0) + PRIOR_WEIGHT * start) / (len(effects) + PRIOR_WEIGHT)
    return _Priors(priors.means, variances, queries)


def forecast_grades(model: GradeModel, rows: NDArray[np.int64]) -> GradeForecast:
    """Return the forecast for these rows. Chances are means over the uncertainty of the model (MacKay 1992)."""
    features = model.features
    x, y, queries = (
        features.x[rows].astype(np.float64),
        features.y[rows].astype(np.float64),
        features.queries[rows],
    )
    log_odds = x @ model.beta + (y * model.effects[queries]).sum(axis=1)
    spread = np.sqrt(1 + np.pi / 8 * measure_variance(model.posterior, x, y, queries))
    chances, slopes = np.empty((len(rows), HIGHEST_GRADE)), np.empty((len(rows), HIGHEST_GRADE))
    reached, relative, weights = np.ones(len(rows)), np.zeros(len(rows)), np.zeros(len(rows))
    above = HIGHEST_GRADE - 1
    for level in range(HIGHEST_GRADE):
        shifted = (
            log_odds
            if level == 0
            else log_odds + model.levels[level - 1] + model.levels[above + level - 1] * x[:, 1]
        )
        step = 1 / (1 + np.exp(-np.clip(shifted / spread, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)))
        weights += reached * step * (1 - step)
        reached = reached * step
        relative = relative + (1 - step) / spread
        chances[:, level], slopes[:, level] = reached, reached * relative
    return GradeForecast(chances, slopes, weights)


def measure_variance(posterior: Posterior, x: Values, y: Values, queries: NDArray[np.int64]) -> Values:
    """Return the variance of each row's log-odds."""
    inner = subtract_pull(posterior, x, y, queries)
    shared: Values = np.einsum("np,np->n", inner @ posterior.beta[: x.shape[1], : x.shape[1]], inner)
    own: Values = np.einsum("ne,nef,nf->n", y, posterior.query[queries], y)
    return shared + own


def subtract_pull(posterior: Posterior, x: Values, y: Values, queries: NDArray[np.int64]) -> Values:
    """Return u of `Posterior`. As an approximation, the columns of the levels, which x lacks, count as 0."""
    inner = x.copy()
    for effect in range(QUERY_EFFECTS):
        inner -= y[:, effect : effect + 1] * posterior.pull[:, effect, : x.shape[1]][queries]
    return inner
