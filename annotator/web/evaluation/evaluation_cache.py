"""Keep evaluations, so that the page drawn again appears at once.

An evaluation is made anew when its data has changed. While people label, data changes all the time: one is then kept for
20 times as long as it took, at most 10 minutes, and the page says when it was made. Two requests for the same evaluation
share one computation. Permission is checked before anything is looked up.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Lock
from time import perf_counter

from annotator.domain.people import Actor
from annotator.evaluation.service import EvaluationResult, evaluate_dataset, read_stamp
from annotator.storage.database import Database
from annotator.web.evaluation.choice import EvaluationChoice

MOST_KEPT = 8
LONGEST = timedelta(minutes=10)
TIMES = 20
QUICK = 0.5  # seconds: made anew whenever something has changed


@dataclass(frozen=True, slots=True, eq=False)
class KeptEvaluation:
    """An evaluation, when it was made, and whether something has changed since."""

    result: EvaluationResult
    made_at: datetime
    changed: bool
    stamp: Hashable
    seconds: float  # that it took

    def may_be_shown(self, stamp: Hashable, now: datetime) -> bool:
        """Return whether it is still good enough for data with this stamp."""
        if self.stamp == stamp:
            return True
        if self.seconds <= QUICK:
            return False
        return now - self.made_at < min(timedelta(seconds=self.seconds * TIMES), LONGEST)


@dataclass(slots=True)
class KeptEvaluations:
    """See the module. The one that was asked for longest ago goes first."""

    kept: dict[Hashable, KeptEvaluation] = field(default_factory=dict)
    turns: dict[Hashable, Lock] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def find(
        self,
        database: Database,
        actor: Actor,
        dataset: str,
        choice: EvaluationChoice,
        *,
        now: datetime,
        anew: bool = False,
        announce: Callable[[], None] | None = None,
    ) -> KeptEvaluation:
        """Return the evaluation, kept or made now (`anew`: in any case). `announce` is called before it is made.

        Raises NotAllowed for anybody but leads.
        """
        stamp, name = read_stamp(database, actor, dataset), (database, dataset, choice)
        with self.lock:
            turn = self.turns.setdefault(name, Lock())
        with turn:
            kept = self.kept.get(name)
            if kept is None or anew or not kept.may_be_shown(stamp, now):
                if announce is not None:
                    announce()
                begun = perf_counter()
                result = evaluate_dataset(
                    database,
                    actor,
                    dataset,
                    choice.make_request(),
                    version=choice.version,
                    systems=choice.systems,
                )
                kept = KeptEvaluation(result, now, False, stamp, perf_counter() - begun)
            else:
                kept = replace(kept, changed=kept.stamp != stamp)
            self._keep(name, kept)
        return kept

    def _keep(self, name: Hashable, kept: KeptEvaluation) -> None:
        with self.lock:
            self.kept.pop(name, None)
            self.kept[name] = kept
            for old in list(self.kept)[:-MOST_KEPT]:
                del self.kept[old]
                self.turns.pop(old, None)


EVALUATIONS = KeptEvaluations()
"""Those of this process."""
