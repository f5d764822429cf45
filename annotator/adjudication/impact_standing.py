"""The grade at which a pair counts as long as nobody has decided, and the grades between which a lead chooses.

Stands between what is known of a pair and what its choice moves (`impact.py`). The settled grade is `domain/settling.py`'s to
say; this adds what an open pair counts at meanwhile.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from annotator.domain.settling import OPEN, Decided, settle

NONE = -1
"""No grade: nobody judged it, or it cannot be rated."""


class Standing(NamedTuple):
    """`grade`: at which the pair counts now (NONE: at none); `candidates`: the grades, and NONE, that somebody holds right."""

    grade: int
    candidates: tuple[int, ...]


def count_as(grades: Sequence[int]) -> int:
    """The grade at which an open pair counts until somebody decides: the lower median of those given."""
    return sorted(grades)[(len(grades) - 1) // 2]


@lru_cache(8192)  # a million pairs have a few hundred different answers
def find_standing(
    grades: tuple[int, ...],
    unrateable: int,
    decided: Decided | None,
    imported: int | None,
    errors: tuple[int, ...] = (),
    answered: tuple[int, ...] = (),
) -> Standing:
    """How a pair stands. The arguments are those of `settle`; `answered`: the errors on which a lead has decided since."""
    contested = settle(grades, unrateable, decided, imported).grade
    settlement = settle(grades, unrateable, decided, imported, errors)
    candidates = {*grades, *errors, *answered}
    if contested is not None:
        candidates.add(contested)
    if unrateable or decided == "unrateable":
        candidates.add(NONE)
    standing = settlement.grade
    if settlement.status in OPEN:
        judged = grades if contested is None else (contested,)
        standing = count_as((*judged, *errors))
    return Standing(NONE if standing is None else standing, tuple(sorted(candidates)) or (NONE,))
