"""Keep slow results in memory, so a page that is drawn again appears immediately.

A result is recomputed when its data has changed. While people label, data changes all the time: then a result
is kept for 20 times its computing time, at most 10 minutes, and the page says when it was made. Two requests
for the same result share one computation. Callers check permission first: reading the stamp does so.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Lock
from time import perf_counter
from typing import Generic, TypeVar

T = TypeVar("T")
LONGEST = timedelta(minutes=10)
TIMES = 20


@dataclass(frozen=True, slots=True, eq=False)
class KeptResult(Generic[T]):
    """A result, when it was made, and whether its data has changed since."""

    value: T
    made_at: datetime
    changed: bool
    stamp: Hashable
    seconds: float  # computing time

    def may_be_shown(self, stamp: Hashable, now: datetime, *, quick: float, expires: bool) -> bool:
        """Return whether it may be shown for data with this stamp. See `KeptResults`."""
        age = now - self.made_at
        if self.stamp == stamp:
            return not expires or age < LONGEST
        return self.seconds > quick and age < min(timedelta(seconds=self.seconds * TIMES), LONGEST)


@dataclass(slots=True)
class KeptResults(Generic[T]):
    """Results by name; drops the least recently used result first.

    `most`: maximum number of results. `expires`: recompute after 10 minutes even if the stamp is equal,
    because the result also depends on something outside its stamp.
    """

    most: int
    expires: bool = False
    kept: dict[Hashable, KeptResult[T]] = field(default_factory=dict)
    turns: dict[Hashable, Lock] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def find(
        self,
        name: Hashable,
        stamp: Hashable,
        compute: Callable[[], T],
        *,
        now: datetime,
        quick: float = 0.0,
        anew: bool = False,
    ) -> KeptResult[T]:
        """Return the kept result of this name, or compute it now.

        `stamp` changes with the data. `quick`: a result that took at most so many seconds is recomputed as
        soon as its data has changed. `anew`: always recompute.
        """
        with self.lock:
            turn = self.turns.setdefault(name, Lock())
        with turn:
            kept = self.kept.get(name)
            if kept is None or anew or not kept.may_be_shown(stamp, now, quick=quick, expires=self.expires):
                begun = perf_counter()
                value = compute()
                kept = KeptResult(value, now, False, stamp, perf_counter() - begun)
            else:
                kept = replace(kept, changed=kept.stamp != stamp)
            self._keep(name, kept)
        return kept

    def _keep(self, name: Hashable, kept: KeptResult[T]) -> None:
        with self.lock:
            self.kept.pop(name, None)
            self.kept[name] = kept
            for old in list(self.kept)[: -self.most]:
                del self.kept[old]
                self.turns.pop(old, None)
