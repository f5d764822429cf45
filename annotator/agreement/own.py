"""How well one annotator agrees with all others together, said without telling who gave what.

Pure rule. Nothing is told of fewer than FEW_OWN pairs, and no row of grades of fewer than FEW_IN_ROW comparisons: an
annotator knows the own grades, and must not find somebody's grade on a single pair from them.
"""

from collections.abc import Sequence

import numpy as np

from annotator.agreement.behind import FEW_IN_ROW, FEW_OWN, OwnAgreement
from annotator.agreement.judgment_table import CATEGORIES, sort_judged
from annotator.agreement.measure import measure

ME = 0


def measure_own(
    rows: Sequence[tuple[int, int, int, int]], person: int, *, resamples: int, seed: int
) -> OwnAgreement:
    """From rows of query, pair, annotator, grade: the person's and those of others on the same pairs."""
    query, pair, annotator, grade = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    others = np.unique(annotator[annotator != person])
    number = np.where(annotator == person, ME, np.searchsorted(others, annotator) + 1)
    judged = sort_judged(query, pair, number, grade)
    names = [str(one) for one in range(len(others) + 1)]
    pairs = len(np.unique(judged.shared().pair))
    if pairs < FEW_OWN:
        return OwnAgreement(pairs)
    found = measure(judged, names, resamples=resamples, seed=seed, only=ME)
    counts = np.array([one.confusion for one in found.annotator_pairs]).sum(axis=0)
    return OwnAgreement(
        pairs=found.pairs,
        kappa=found.cohen_kappa["unweighted"],
        observed_agreement=found.observed_agreement,
        leaning=next((one for one in found.leanings if one.annotator == names[ME]), None),
        confusion=tuple(
            tuple(int(count) for count in counts[row]) if counts[row].sum() >= FEW_IN_ROW else None
            for row in range(CATEGORIES)
        ),
    )
