"""Keep evaluations (`web/kit/kept_results.py` has the rule)."""

from collections.abc import Callable
from datetime import datetime

from annotator.domain.people import Actor
from annotator.evaluation.run_findings import LeadingSystem
from annotator.evaluation.service import EvaluationResult, evaluate_dataset, find_leader, read_stamp
from annotator.storage.database import Database
from annotator.web.evaluation.choice import EvaluationChoice
from annotator.web.kit.kept_results import KeptResult, KeptResults

QUICK = 0.5  # seconds: a result that took less is recomputed whenever the data has changed

LEADERS: KeptResults[LeadingSystem] = KeptResults(most=8)
"""The leading system of each dataset, by database, dataset and reader (`FigureStamp`)."""


def find_kept_leader(
    database: Database, actor: Actor, dataset: str, *, now: datetime
) -> KeptResult[LeadingSystem]:
    """Return the leading system from the cache, or find it now. Raises NotAllowed unless the actor is a lead."""
    stamp = read_stamp(database, actor, dataset)
    return LEADERS.find(
        (database, dataset, stamp.reader),
        stamp,
        lambda: find_leader(database, actor, dataset),
        now=now,
        quick=QUICK,
    )


def is_leader_kept(database: Database, actor: Actor, dataset: str, *, now: datetime) -> bool:
    """Return whether `find_kept_leader` needs no computation. Raises NotAllowed unless the actor is a lead."""
    stamp = read_stamp(database, actor, dataset)
    return LEADERS.has((database, dataset, stamp.reader), stamp, now=now, quick=QUICK)


EVALUATIONS: KeptResults[EvaluationResult] = KeptResults(most=8)
"""The evaluations of this process, by database, dataset, choice and reader (`FigureStamp`)."""


def find_evaluation(
    database: Database,
    actor: Actor,
    dataset: str,
    choice: EvaluationChoice,
    *,
    now: datetime,
    anew: bool = False,
    announce: Callable[[], None] | None = None,
) -> KeptResult[EvaluationResult]:
    """Return the evaluation from the cache, or compute it now (`anew`: in any case).

    `announce` is called before it is computed. Raises NotAllowed unless the actor is a lead.
    """

    def evaluate() -> EvaluationResult:
        if announce is not None:
            announce()
        return evaluate_dataset(
            database,
            actor,
            dataset,
            choice.make_request(),
            version=choice.version,
            systems=choice.systems,
        )

    stamp = read_stamp(database, actor, dataset)
    return EVALUATIONS.find(
        (database, dataset, choice, stamp.reader), stamp, evaluate, now=now, quick=QUICK, anew=anew
    )
