"""Keep what was counted in a pool, so that the page drawn again appears at once.

Counted anew when the pool or its judgments have changed; while people label, what took long is kept for 20 times as long, at
most 10 minutes, and the page says when it was counted. Permission is checked before anything is looked up.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from time import perf_counter
from typing import Generic, TypeVar

from annotator.domain.people import Actor
from annotator.pooling.analysis.pool_analysis_records import DepthReport, PoolContents
from annotator.pooling.analysis.pool_analysis_service import read_stamp, show_contents, show_depth
from annotator.storage.database import Database

T = TypeVar("T")
MOST_KEPT = 16
LONGEST = timedelta(minutes=10)
TIMES = 20
QUICK = 0.5  # seconds: counted anew whenever something has changed


@dataclass(frozen=True, slots=True, eq=False)
class KeptCount(Generic[T]):
    """What was counted, when, and whether something has changed since."""

    counted: T
    counted_at: datetime
    seconds: float
    stamp: Hashable


@dataclass(slots=True)
class KeptCounts(Generic[T]):
    """See the module. The one that was counted longest ago goes first."""

    count: Callable[[Database, Actor, str], T]
    kept: dict[Hashable, KeptCount[T]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def find(
        self, database: Database, actor: Actor, dataset: str, *, now: datetime
    ) -> tuple[T, datetime | None]:
        """Return what was counted, and when, if something has changed since. Raises NotAllowed for anybody but leads."""
        stamp, name = read_stamp(database, actor, dataset), (database, dataset)
        with self.lock:
            kept = self.kept.get(name)
        if kept is not None and kept.stamp == stamp:
            return kept.counted, None
        if (
            kept is not None
            and kept.seconds > QUICK
            and now - kept.counted_at < min(timedelta(seconds=kept.seconds * TIMES), LONGEST)
        ):
            return kept.counted, kept.counted_at
        begun = perf_counter()
        counted = self.count(database, actor, dataset)
        with self.lock:
            self.kept.pop(name, None)
            self.kept[name] = KeptCount(counted, now, perf_counter() - begun, stamp)
            for old in list(self.kept)[:-MOST_KEPT]:
                del self.kept[old]
        return counted, None


CONTENTS: KeptCounts[PoolContents] = KeptCounts(show_contents)
DEPTHS: KeptCounts[DepthReport] = KeptCounts(show_depth)
"""Those of this process."""
