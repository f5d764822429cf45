"""Count a dataset's pairs and their progress, with the same definitions on every page, command and file.

docs/counts.md explains each count to users. Every pair in the pool has exactly one status
(`domain/settling.py`), and the statuses add up to all pairs. Other counts group the same pairs differently:

- `to_judge`: pairs that lack judgments of annotators; `begun` of them have one already.
- `checks`: unjudged pairs for training or gold, which need no ordinary judgments.
- `waiting`: pairs in the queue of disagreements: all with the status "disagreement" or "reopened", and
  settled pairs while a question, an objection or an older guideline questions their grade.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from annotator.domain.settling import OPEN, PAIR_STATUSES, SETTLED


class CountedPair(NamedTuple):
    """The facts of a pair that decide how it counts.

    `judged`: it has an ordinary judgment. `waiting`: it is in the queue of disagreements. `marked`: for
    training or as gold.
    """

    status: str
    lacks_judgments: bool
    judged: bool
    waiting: bool
    marked: bool


@dataclass(frozen=True, slots=True)
class PairCounts:
    """The counts of a dataset's pairs. `by_status` and `waiting_by_status` have every status."""

    by_status: Mapping[str, int]
    to_judge: int
    begun: int
    checks: int
    waiting_by_status: Mapping[str, int]

    @property
    def pairs(self) -> int:
        """Count the pairs in the pool."""
        return sum(self.by_status.values())

    @property
    def complete(self) -> int:
        """Count the pairs that need no further ordinary judgment, without checks."""
        return self.pairs - self.checks - self.to_judge

    @property
    def settled(self) -> int:
        """Count the pairs with a settled grade: the qrels of a release."""
        return sum(self.by_status[status] for status in SETTLED)

    @property
    def disagreements(self) -> int:
        """Count the pairs without a settled grade until a lead decides."""
        return sum(self.by_status[status] for status in OPEN)

    @property
    def waiting(self) -> int:
        """Count the pairs in the queue: disagreements, and settled pairs with a questioned grade."""
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
        # A marked pair that nobody judged, decided or imported: only a check.
        checks += n if pair.marked and pair.status == "unjudged" else 0
    return PairCounts(
        by_status={status: by_status[status] for status in PAIR_STATUSES},
        to_judge=to_judge,
        begun=begun,
        checks=checks,
        waiting_by_status={status: waiting[status] for status in PAIR_STATUSES},
    )
