"""Keep the counts of a pool in memory, by the rules of `web/kit/kept_results.py`, for the tabs of the page."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from annotator.domain.people import Actor
from annotator.pooling.analysis.pool_analysis_records import DepthReport, PoolContents
from annotator.pooling.analysis.pool_analysis_service import read_stamp, show_contents, show_depth
from annotator.storage.database import Database
from annotator.web.kit.kept_results import KeptResult, KeptResults
from annotator.web.page_context import PageContext

T = TypeVar("T")
QUICK = 0.5  # seconds: faster counts are repeated after every change
CONTENTS: KeptResults[PoolContents] = KeptResults(most=16)
DEPTHS: KeptResults[DepthReport] = KeptResults(most=16)
"""The results of this process, by database, dataset and reader."""


@dataclass(frozen=True, slots=True, eq=False)
class ShownPool:
    """The pool on the screen: the input of every tab."""

    context: PageContext
    dataset: str
    contents: PoolContents


def find_contents(
    database: Database, actor: Actor, dataset: str, *, now: datetime
) -> KeptResult[PoolContents]:
    """Return the contents of the pool, kept or counted now. For leads."""
    return _find(CONTENTS, show_contents, database, actor, dataset, now)


def find_depth(database: Database, actor: Actor, dataset: str, *, now: datetime) -> KeptResult[DepthReport]:
    """Return relevance by rank, kept or counted now. For leads."""
    return _find(DEPTHS, show_depth, database, actor, dataset, now)


def _find(
    kept: KeptResults[T],
    count: Callable[[Database, Actor, str], T],
    database: Database,
    actor: Actor,
    dataset: str,
    now: datetime,
) -> KeptResult[T]:
    stamp = read_stamp(database, actor, dataset)
    name = database, dataset, stamp.reader
    return kept.find(name, stamp, lambda: count(database, actor, dataset), now=now, quick=QUICK)
