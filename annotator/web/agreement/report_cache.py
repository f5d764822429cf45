"""Cache measured agreement reports, so that a page drawn again appears at once.

A report is measured anew when its data has changed. While people label, data changes all the time: a report is then
kept for 20 times as long as it took to measure, at most 10 minutes, and the page says when that was. On pages where
somebody acts on the report, one that is quick to measure is never kept beyond a change. Two requests for the same
report share one measurement. Permission is checked before anything is looked up.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from time import perf_counter

from annotator.agreement.records import AgreementReport, CoefficientValue
from annotator.agreement.service import compute_agreement, read_stamp
from annotator.domain.people import Actor
from annotator.storage.database import Database

MOST_KEPT = 12
LONGEST = timedelta(minutes=10)
QUICK = 1.0  # seconds: measured anew on the Overview whenever something has changed
TIMES = 20

ProgressCallback = Callable[[int, CoefficientValue], None]


@dataclass(frozen=True, slots=True)
class KeptReport:
    """A report, when it was measured, and whether its data has changed since. `took`: seconds."""

    report: AgreementReport
    measured_at: datetime
    changed: bool
    stamp: Hashable
    took: float

    def is_good(self, stamp: Hashable, now: datetime, *, quick: float) -> bool:
        """Return whether the report may be shown without measuring again."""
        if self.stamp != stamp and self.took <= quick:
            return False
        age = now - self.measured_at
        least = timedelta(seconds=self.took * TIMES)
        return age < (LONGEST if self.stamp == stamp else min(least, LONGEST))


@dataclass(slots=True)
class KeptReports:
    """The reports in memory, by database, dataset and field; the one used longest ago is dropped first.

    See the module.
    """

    kept: dict[Hashable, KeptReport] = field(default_factory=dict)
    turns: dict[Hashable, Lock] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def find(
        self,
        database: Database,
        actor: Actor,
        dataset: str,
        *,
        by: str | None,
        now: datetime,
        anew: bool = False,
        quick: float = 0.0,
        report_progress: ProgressCallback | None = None,
    ) -> KeptReport:
        """Return the report from the cache, or measure it now. Raises NotAllowed unless the actor is a lead.

        `anew`: measure in any case. `quick`: a report whose data has changed is measured again if that took at most so many
        seconds. `report_progress`: called with the pairs and the kappa as soon as they are ready.
        """
        stamp, name = read_stamp(database, actor, dataset), (database, dataset, by)
        with self.lock:
            turn = self.turns.setdefault(name, Lock())
        with turn:
            kept = self.kept.get(name)
            if kept is None or anew or not kept.is_good(stamp, now, quick=quick):
                begun = perf_counter()
                report = compute_agreement(database, actor, dataset, by=by, report_progress=report_progress)
                kept = KeptReport(report, now, False, stamp, perf_counter() - begun)
            elif kept.stamp != stamp:
                kept = KeptReport(kept.report, kept.measured_at, True, kept.stamp, kept.took)
            self._keep(name, kept)
        return kept

    def _keep(self, name: Hashable, kept: KeptReport) -> None:
        with self.lock:
            self.kept.pop(name, None)
            self.kept[name] = kept
            for old in list(self.kept)[:-MOST_KEPT]:
                del self.kept[old]
                self.turns.pop(old, None)


REPORTS = KeptReports()
"""The reports of this process."""
