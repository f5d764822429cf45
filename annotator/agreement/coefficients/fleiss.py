"""Compute Fleiss' kappa for any number of annotators, who may differ from pair to pair.

Fleiss (1971), Measuring nominal scale agreement among many raters, Psychol. Bull. 76(5), which has the same
number of judgments for every pair. Where it varies, each pair counts once, as in Gwet (2014), Handbook of
Inter-Rater Reliability, 4th ed., ch. 2; where it does not, the result equals the paper's.
"""

import numpy as np

from annotator.agreement.judgment_table import Floats, divide


def fleiss_terms(counts: Floats) -> Floats:
    """Return the terms of each pair with two or more judgments: n x k counts -> n x (2 + k).

    The terms are 1 (the pair itself), the share of the pair's comparisons that match, and the share of each
    grade.
    """
    judgments = counts.sum(axis=1)
    matching = (counts * (counts - 1)).sum(axis=1) / (judgments * (judgments - 1))
    return np.column_stack([np.ones(len(counts)), matching, counts / judgments[:, None]])


def fleiss_kappa(sums: Floats) -> Floats:
    """Return kappa from summed terms (… x (2 + k)). NaN without pairs, or if all judgments are one grade."""
    observed = divide(sums[..., 1], sums[..., 0])
    chance = (divide(sums[..., 2:], sums[..., :1]) ** 2).sum(axis=-1)
    return divide(observed - chance, 1.0 - chance)
