"""How many judgments an overlap and its rules make in total: given, and still to give. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from annotator.domain.overlap import Rules, allows_further, conditional_distance, wanted_for


@dataclass(frozen=True, slots=True)
class PairsAlike:
    """So many pairs of the same standing: of a query of this category, with so many answers, whose independent grades
    (two or more) lie `spread` apart. `key`: of the one pair, where which pair it is matters."""

    key: str
    category: str | None
    answers: int
    spread: int | None
    pairs: int


@dataclass(frozen=True, slots=True)
class Judgments:
    """How many judgments have been given and how many are still to give."""

    done: int
    left: int

    @property
    def total(self) -> int:
        return self.done + self.left


def count_judgments(
    overlap: int, rules: Rules | None, *, seed: int, found: Iterable[PairsAlike]
) -> Judgments:
    """What these pairs come to under the rules. A third judgment counts only where two have differed already."""
    distance = conditional_distance(rules)
    done = left = 0
    for alike in found:
        wanted = wanted_for(overlap, rules, seed=seed, key=alike.key, category=alike.category)
        differs = distance is not None and alike.spread is not None and alike.spread >= distance
        further = differs and allows_further(rules, wanted)
        done += alike.pairs * alike.answers
        left += alike.pairs * max(0, wanted + further - alike.answers)
    return Judgments(done, left)
