"""Keep what was counted in a pool (`web/kit/kept_results.py` has the rule)."""

from datetime import datetime

from annotator.domain.people import Actor
from annotator.pooling.analysis.pool_analysis_records import DepthReport, PoolContents
from annotator.pooling.analysis.pool_analysis_service import read_stamp, show_contents, show_depth
from annotator.storage.database import Database
from annotator.web.kit.kept_results import KeptResult, KeptResults

QUICK = 0.5  # seconds: counted anew whenever something has changed

CONTENTS: KeptResults[PoolContents] = KeptResults(most=16)
DEPTHS: KeptResults[DepthReport] = KeptResults(most=16)
"""Those of this process, by database, dataset and reader (`FigureStamp`)."""


def find_contents(
    database: Database, actor: Actor, dataset: str, *, now: datetime
) -> KeptResult[PoolContents]:
    """Return what the pool contains, kept or counted now. Raises NotAllowed for anybody but leads."""
    stamp = read_stamp(database, actor, dataset)
    return CONTENTS.find(
        (database, dataset, stamp.reader),
        stamp,
        lambda: show_contents(database, actor, dataset),
        now=now,
        quick=QUICK,
    )


def find_depth(database: Database, actor: Actor, dataset: str, *, now: datetime) -> KeptResult[DepthReport]:
    """Return where relevant documents were found, kept or counted now. Raises NotAllowed for anybody but leads."""
    stamp = read_stamp(database, actor, dataset)
    return DEPTHS.find(
        (database, dataset, stamp.reader),
        stamp,
        lambda: show_depth(database, actor, dataset),
        now=now,
        quick=QUICK,
    )
