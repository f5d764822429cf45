"""Counts of a dataset's pairs and their progress: one definition for every page, command and file.

docs/counts.md explains each count to users. Every pair in the pool has exactly one status (`domain/settling.py`), and
the statuses add up to all pairs. Other counts look at the same pairs from another side:

- `to_judge`: pairs that lack judgments of annotators; `begun` of them have one already.
- `checks`: unjudged pairs for training or gold that nobody judges as work, so nobody is waited for.
- `waiting`: pairs in the queue of disagreements: all with status "disagreement" or "reopened", and settled ones while
  a question, an objection or an older guideline puts the grade in question.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from annotator.domain.settling import OPEN, PAIR_STATUSES, SETTLED


class CountedPair(NamedTuple):
    """A pair of the pool as it is counted.

    `judged`: somebody graded it, or could not rate it, as work; `waiting`: it is in the queue of disagreements; `marked`:
    for training or as gold.
    """

    status: str
    lacks_judgments: bool
    judged: bool
    waiting: bool
    marked: bool


@dataclass(frozen=True, slots=True)
class PairCounts:
    """The counts of a dataset's pairs. `by_status` and `waiting_by_status` name every status, 0 included."""

    by_status: Mapping[str, int]
    to_judge: int
    begun: int
    checks: int
    waiting_by_status: Mapping[str, int]

    @property
    def pairs(self) -> int:
        """Return how many pairs are in the pool."""
        return sum(self.by_status.values())

    @property
    def complete(self) -> int:
        """Pairs that need no further judgment of an annotator; checks are not counted."""
        return self.pairs - self.checks - self.to_judge

    @property
    def settled(self) -> int:
        """Pairs with a settled grade: what a release would hold."""
        return sum(self.by_status[status] for status in SETTLED)

    @property
    def disagreements(self) -> int:
        """Pairs that have no settled grade until a lead decides."""
        return sum(self.by_status[status] for status in OPEN)

    @property
    def waiting(self) -> int:
        """Pairs in the queue: the disagreements, and settled pairs whose grade is questioned."""
        return sum(self.waiting_by_status.values())


def count_pairs(pairs: Iterable[CountedPair]) -> PairCounts:
    """Count the pairs of a dataset's pool."""
    kinds = Counter(pairs)
    by_status, waiting = Counter[str](), Counter[str]()
    to_judge = begun = checks = 0
    for pair, n in kinds.items():
        by_status[pair.status] += n
        waiting[pair.status] += n if pair.waiting else 0
        to_judge += n if pair.lacks_judgments else 0
        begun += n if pair.lacks_judgments and pair.judged else 0
        checks += n if is_check_only(pair) else 0
    return PairCounts(
        by_status={status: by_status[status] for status in PAIR_STATUSES},
        to_judge=to_judge,
        begun=begun,
        checks=checks,
        waiting_by_status={status: waiting[status] for status in PAIR_STATUSES},
    )


def is_check_only(pair: CountedPair) -> bool:
    """Return whether nobody judges the pair as work.

    It is marked then, and was neither judged, decided nor imported before.
    """
    return pair.marked and pair.status == "unjudged"
