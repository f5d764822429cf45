"""What a checked sample says, by both readings: the rate that it happens to show, and the bound that it proves.

By the rate, as teams state the rule: 10 % of the settled pairs (or whatever more was drawn) are checked to the last one,
and fewer than 5 % of them are errors. It is *failed* as soon as the pairs still waiting cannot bring the rate below.
By the bound: *passed* when at most so many errors as would be fewer than 5 % of the population are not excluded,
*failed* when fewer are excluded. A pair that the expert cannot rate, or cannot answer any more, is neither right nor
wrong; it stays in the population.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotator.quality.bounds import compute_bound, compute_interval, count_further, is_disproven, is_proven
from annotator.quality.records import DEFAULT_RATE, LIMIT, ErrorKind, ErrorRate, Verdict
from annotator.quality.sampling import find_target

IS_ERROR: dict[ErrorKind, Callable[[int, int], bool]] = {
    "any": lambda settled, expert: settled != expert,
    "far": lambda settled, expert: abs(settled - expert) >= 2,
    "relevance": lambda settled, expert: (settled >= 1) != (expert >= 1),
}


@dataclass(frozen=True, slots=True)
class Checked:
    """How far a sample is: `population` pairs that it speaks for, `drawn` of them; `grades`: (settled, the expert's) of
    those checked."""

    population: int
    drawn: int
    unrateable: int
    barred: int
    grades: Sequence[tuple[int, int]]

    @property
    def waiting(self) -> int:
        return self.drawn - len(self.grades) - self.unrateable - self.barred

    def count(self, kind: ErrorKind) -> int:
        """The errors of that kind."""
        return sum(IS_ERROR[kind](settled, expert) for settled, expert in self.grades)


def compute_rates(sample: Checked) -> dict[str, ErrorRate]:
    """The rate of each kind of error; None in it while nothing is checked."""
    checked = len(sample.grades)
    if not checked:
        return dict.fromkeys(IS_ERROR, ErrorRate(0, 0, None, None, None))
    found: dict[str, ErrorRate] = {}
    for kind in IS_ERROR:
        errors = sample.count(kind)
        found[kind] = ErrorRate(
            errors,
            checked,
            errors / checked,
            compute_interval(errors, checked),
            compute_bound(errors, checked, sample.population),
        )
    return found


def judge_by_rate(sample: Checked) -> Verdict:
    """See above. A sample of less than 10 % says nothing by this rule."""
    errors, checked = sample.count("any"), len(sample.grades)
    if sample.drawn - sample.barred < find_target(sample.population, DEFAULT_RATE) or not checked:
        return "undecided"
    if errors >= LIMIT * (checked + sample.waiting) - 1e-9:
        return "failed"
    return "undecided" if sample.waiting else "passed"


def judge_by_bound(sample: Checked) -> Verdict:
    """See above."""
    numbers = sample.count("any"), len(sample.grades), sample.population
    if is_proven(*numbers):
        return "passed"
    return "failed" if is_disproven(*numbers) else "undecided"


def find_further(sample: Checked) -> int | None:
    """How many more pairs without an error would pass by the bound; None when not even all that are left would."""
    checked = len(sample.grades)
    left = sample.population - checked - sample.unrateable - sample.barred
    return count_further(sample.count("any"), checked, sample.population, left=left)
