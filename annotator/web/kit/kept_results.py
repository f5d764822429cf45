"""Keep what took long to compute in memory, so that a page drawn again appears at once.

A result is computed anew when its data has changed. While people label, data changes all the time: a result is then kept for 20 times
as long as it took to compute, at most 10 minutes, and the page says when it was made. Two requests for the same result share one
computation. Callers check permission before they look anything up: reading the stamp does so.
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
    seconds: float  # that it took

    def may_be_shown(self, stamp: Hashable, now: datetime, *, quick: float, expires: bool) -> bool:
        """Return whether it is still good enough for data with this stamp. See `KeptResults`."""
        age = now - self.made_at
        if self.stamp == stamp:
            return not expires or age < LONGEST
        return self.seconds > quick and age < min(timedelta(seconds=self.seconds * TIMES), LONGEST)


@dataclass(slots=True)
class KeptResults(Generic[T]):
    """Results by name; the one used longest ago is dropped first.

    `most`: how many are kept. `expires`: a result is made anew after 10 minutes although its data has not changed, because it also
    depends on something that its stamp does not contain.
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

        `stamp` changes with the data. `quick`: a result whose data has changed is computed again if that took at most so many seconds.
        `anew`: compute in any case.
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

    def has(self, name: Hashable, stamp: Hashable, *, now: datetime, quick: float = 0.0) -> bool:
        """Return whether `find` would return at once, without computing."""
        with self.lock:
            kept = self.kept.get(name)
        return kept is not None and kept.may_be_shown(stamp, now, quick=quick, expires=self.expires)

    def _keep(self, name: Hashable, kept: KeptResult[T]) -> None:
        with self.lock:
            self.kept.pop(name, None)
            self.kept[name] = kept
            for old in list(self.kept)[: -self.most]:
                del self.kept[old]
                self.turns.pop(old, None)
