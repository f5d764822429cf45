"""What is measured already, without those of whom something worse is said: who gives one grade almost throughout."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from annotator.agreement.judgment_pairs import Couples
from annotator.agreement.records import Measured, PairAgreement, Value


def leave_out(measured: Measured, others: Couples, named: Collection[str]) -> Measured:
    """The figures that the findings about grades and annotator pairs rest on (`pairs`, `annotator_pairs` and `cohen_kappa`,
    without intervals), of the others alone; the rest as it was. `others`: their couples."""
    if not named:
        return measured
    kept = keep_pairs(measured, named)
    kappas = {kind: Value(_average(kept, kind)) for kind in measured.cohen_kappa}
    return replace(measured, pairs=len(np.unique(others.place)), annotator_pairs=kept, cohen_kappa=kappas)


def keep_pairs(measured: Measured, named: Collection[str]) -> tuple[PairAgreement, ...]:
    """The annotator pairs that are of none of them."""
    left_out = frozenset(named)
    return tuple(pair for pair in measured.annotator_pairs if left_out.isdisjoint(pair.annotators))


def _average(pairs: tuple[PairAgreement, ...], kind: str) -> float | None:
    """The mean over annotator pairs, weighted by the pairs they share, as of the whole dataset (cohen.mean_kappa)."""
    known = [(pair.pairs, value) for pair in pairs if (value := pair.cohen_kappa[kind].value) is not None]
    return sum(n * value for n, value in known) / sum(n for n, _ in known) if known else None
