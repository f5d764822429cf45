"""When a decision takes two leads, and what becomes of what each of them says: the one rule that panel, files and policies share.

A dataset may ask for a second adjudicator where grades lie as far apart as they can. What the first lead says is then a
proposal; the second one says theirs without having seen it. Two who agree have decided; where two differ, each may still come
round to the other, and a third lead decides alone.
"""

from collections.abc import Mapping, Set

from annotator.domain.settling import Decided

TWO_FROM = 3
"""From this distance on a decision takes two leads, where the dataset asks for that."""


def takes_two(second_adjudicator: bool, distance: int) -> bool:
    """Whether a decision on a dispute takes two leads. `second_adjudicator`: whether the dataset asks for them."""
    return second_adjudicator and distance >= TWO_FROM


def is_decision(
    decided: Decided, lead_pk: int, proposals: Mapping[int, Decided], held: Decided | None
) -> bool:
    """Whether what this lead says on a pair that takes two decides it; a proposal otherwise. `proposals`: what leads propose,
    by lead; `held`: what is decided now: to say the same again, in other words, takes nobody else."""
    others = {outcome for lead, outcome in proposals.items() if lead != lead_pk}
    return decided == held or decided in others or len(others) > 1


def list_visible(lead_pk: int | None, proposals: Mapping[int, Decided]) -> Set[int]:
    """Whose proposals a lead may see: their own; others' once they have given one, or once two differ."""
    if lead_pk in proposals or len(set(proposals.values())) > 1:
        return set(proposals)
    return set()
