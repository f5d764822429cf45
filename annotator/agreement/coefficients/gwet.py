"""Compute Gwet's AC1 and AC2: chance-corrected agreement that does not collapse when one grade prevails.

Gwet (2008), Computing inter-rater reliability and its variance in the presence of high agreement, Br. J.
Math. Stat. Psychol. 61(1); with missing judgments and weights: Gwet (2014), Handbook of Inter-Rater
Reliability, 4th ed., ch. 3. As published, a pair with one judgment does not count for observed agreement, but
does count for how common each grade is.
"""

import numpy as np

from annotator.agreement.judgment_table import Floats, divide


def identity_weights(categories: int) -> Floats:
    """Return the agreement weights of AC1 (k x k): only equal grades agree."""
    return np.eye(categories)


def quadratic_weights(categories: int) -> Floats:
    """Return the weights of the report's AC2 (k x k): 1 - (distance / greatest distance) squared."""
    grades = np.arange(categories)
    return np.asarray(1.0 - (np.subtract.outer(grades, grades) / (categories - 1)) ** 2)


def gwet_terms(counts: Floats, weights: Floats) -> Floats:
    """Return the terms of each pair with at least one judgment: n x k counts -> n x (3 + k).

    The terms are 1 (the pair itself), 1 if it has two or more judgments, its weighted observed agreement, and
    the share of each grade.
    """
    judgments = counts.sum(axis=1)
    shared = judgments >= 2
    comparisons = (counts * (counts @ weights.T - 1)).sum(axis=1)
    agreeing = np.divide(comparisons, judgments * (judgments - 1), out=np.zeros(len(counts)), where=shared)
    return np.column_stack([np.ones(len(counts)), shared, agreeing, counts / judgments[:, None]])


def gwet_ac(sums: Floats, weights: Floats) -> Floats:
    """Return AC1 (identity weights) or AC2 from summed terms (… x (3 + k)). NaN without a shared pair."""
    categories = len(weights)
    observed = divide(sums[..., 2], sums[..., 1])
    share = divide(sums[..., 3:], sums[..., :1])
    spread = (share * (1.0 - share)).sum(axis=-1)
    chance = weights.sum() / (categories * (categories - 1)) * spread
    return divide(observed - chance, 1.0 - chance)
