"""Keep measured agreement reports (`web/kit/kept_results.py` has the rule)."""

from collections.abc import Callable
from datetime import datetime

from annotator.agreement.records import AgreementReport, CoefficientValue
from annotator.agreement.service import compute_agreement, read_stamp
from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.web.kit.kept_results import KeptResult, KeptResults

ProgressCallback = Callable[[int, CoefficientValue], None]
KeptReport = KeptResult[AgreementReport]

REPORTS: KeptResults[AgreementReport] = KeptResults(most=12, expires=True)
"""The reports of this process, by database, dataset, field and reader. Each reader has other pairs left out."""


def find_kept_report(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    by: str | None,
    now: datetime,
    anew: bool = False,
    report_progress: ProgressCallback | None = None,
) -> KeptReport:
    """Return a kept report, or measure it now (`anew`: always). Raises NotAllowed unless the actor is a lead.

    `report_progress`: called with the number of shared pairs and the kappa as soon as they are known.
    """
    stamp = read_stamp(database, actor, dataset)
    return REPORTS.find(
        (database, dataset, by, stamp.reader),
        stamp,
        lambda: compute_agreement(database, actor, dataset, by=by, report_progress=report_progress),
        now=now,
        anew=anew,
    )
