"""What the open disputes are, from how many there are of each kind. A pure rule; a dispute counts for each of its reasons."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol

from annotator.adjudication.queue_records import QueueSummary
from annotator.domain.disputes import Reason


class Counted(Protocol):
    """How many open disputes wait for the same reasons (bits), with the same grades."""

    @property
    def waiting(self) -> int: ...
    @property
    def low(self) -> int | None: ...
    @property
    def high(self) -> int | None: ...
    @property
    def taste(self) -> bool: ...
    @property
    def flips(self) -> bool: ...
    @property
    def disputes(self) -> int: ...


def add_up(
    kinds: Iterable[Counted],
    *,
    by_category: Mapping[str | None, int],
    assigned: Mapping[str, int],
    due: int,
) -> QueueSummary:
    """The summary."""
    reasons: Counter[Reason] = Counter()
    grades: Counter[tuple[int, int]] = Counter()
    taste = flips = 0
    for kind in kinds:
        for reason in Reason(kind.waiting):
            reasons[reason] += kind.disputes
        if kind.low is not None and kind.high is not None:
            grades[kind.low, kind.high] += kind.disputes
        taste += kind.disputes * bool(kind.taste)
        flips += kind.disputes * bool(kind.flips)
    by_reason = {reason: reasons[reason] for reason in Reason}
    return QueueSummary(by_reason, dict(grades), by_category, taste, flips, assigned, due)
