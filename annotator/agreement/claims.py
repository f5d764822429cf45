"""When the data carry a claim: intervals clustered by query, exact binomial bounds, and many claims at once.

A sentence of the diagnosis names people and asks for work, so it is drawn only where chance would seldom draw it.
With twenty annotators or fifty categories some 95 % interval misses the truth by chance: a topic that looks at many
uses stricter intervals (Bonferroni), so that over a dataset with nothing to find it speaks in at most about
`FALSE_CLAIMS` of all cases.
"""

from statistics import NormalDist

import numpy as np

from annotator.agreement.enough_pairs import FEW_QUERIES
from annotator.agreement.judgment_pairs import Estimate
from annotator.agreement.records import Interval

FALSE_CLAIMS = 0.02
SHOWN = 0.95


def confidence(claims: int) -> float:
    """The confidence each of so many intervals needs, for all of them to hold together."""
    return 1 - FALSE_CLAIMS / max(1, claims)


def cluster_interval(found: Estimate, *, level: float = SHOWN) -> Interval | None:
    """The interval of a figure that is smooth in summed counts, queries being what is resampled.

    The variance is that of the queries' influences (the infinitesimal jackknife, which the bootstrap by query
    approaches: Efron 1982, The Jackknife, the Bootstrap and Other Resampling Plans, ch. 6), with Student's t for few
    queries. Unlike percentiles of a thousand resamples it can be had at any level. None below FEW_QUERIES: too few to
    tell how queries differ.
    """
    from scipy.special import stdtrit

    queries = int(found.seen.sum())
    if queries < FEW_QUERIES or np.isnan(found.value):
        return None
    error = float(np.sqrt((found.influence**2).sum() * queries / (queries - 1)))
    reach = float(stdtrit(queries - 1, (1 + level) / 2)) * error
    return found.value - reach, found.value + reach


def normal_reach(level: float) -> float:
    """How many standard errors an interval of this level reaches to each side."""
    return NormalDist().inv_cdf((1 + level) / 2)


def widen(value: float, ci95: Interval, claims: int) -> Interval:
    """The 95 % interval as one of so many claims needs it; each side keeps its shape."""
    factor = normal_reach(confidence(claims)) / normal_reach(SHOWN)
    low, high = ci95
    return value - (value - low) * factor, value + (high - value) * factor


def misses(interval: Interval | None, null: float) -> bool:
    """Whether an interval is there and lies wholly to one side of `null`."""
    return interval is not None and (interval[0] > null or interval[1] < null)


def exact_interval(found: float, of: float, *, level: float = SHOWN) -> Interval:
    """Clopper and Pearson's interval of a share (1934, Biometrika 26); `of` is above 0, and a fraction where it stands for
    so many independent ones."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if found <= 0 else float(betaincinv(found, of - found + 1, tail))
    high = 1.0 if found >= of else float(betaincinv(found + 1, of - found, 1 - tail))
    return low, high
