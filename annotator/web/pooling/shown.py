"""What the tabs of the page Pool share: the counts of the pool, kept in memory, and the URLs of the page.

`?tab=Pairs&status=unjudged&system=bm25&alone=true&round=2&text=Q1&from=50`; `?pair=KEY` is one pair. Unknown
values are ignored.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from urllib.parse import urlencode

import streamlit as st

from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.pooling.analysis.pool_analysis import DepthReport, PairFilter, PoolContents
from annotator.pooling.analysis.pool_analysis_service import read_stamp, show_contents, show_depth
from annotator.storage.database import Database
from annotator.web.kit.kept_results import KeptResult, KeptResults
from annotator.web.kit.messages import tr
from annotator.web.page_context import PageContext
from annotator.web.pooling.api import LEFT_OUT

CONTENTS, OVERLAP, DEPTH, ROUNDS, NEW_ROUND, DUPLICATES, PROPOSALS, PAIRS = (
    say("Contents"),
    say("Overlap"),
    say("Depth"),
    say("Rounds"),
    say("New round"),
    say("Near duplicates"),
    say("Proposals"),
    say("Pairs"),
)
ALL = "all"
LONGEST = 9  # digits of a number in a URL
FILTERS = ("status", "system", "round", "text")


def make_pool_url(dataset: str, **parameters: str | None) -> str:
    """Return a URL of the page, without parameters that are None."""
    present = {name: value for name, value in parameters.items() if value is not None}
    return "/pool?" + urlencode({"dataset": dataset, **present})


def make_pairs_url(dataset: str, filtered: PairFilter, *, start: int = 0) -> str:
    """Return the URL of the list of the filtered pairs, from number `start` on."""
    return make_pool_url(
        dataset,
        tab=tr(PAIRS),
        status=filtered.status,
        system=filtered.system,
        alone="true" if filtered.alone else None,
        round=None if filtered.number is None else str(filtered.number),
        text=filtered.text or None,
        **{"from": str(start) if start else None},
    )


def make_left_out_url(dataset: str) -> str:
    return f"{LEFT_OUT}?" + urlencode({"dataset": dataset})


def find_number(name: str) -> int | None:
    """Return the number of this parameter in the URL, or None."""
    text = st.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST else None


T = TypeVar("T")
QUICK = 0.5  # seconds: faster counts are repeated after every change
KEPT_CONTENTS: KeptResults[PoolContents] = KeptResults(most=16)
KEPT_DEPTHS: KeptResults[DepthReport] = KeptResults(most=16)
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
    return _find(KEPT_CONTENTS, show_contents, database, actor, dataset, now)


def find_depth(database: Database, actor: Actor, dataset: str, *, now: datetime) -> KeptResult[DepthReport]:
    """Return relevance by rank, kept or counted now. For leads."""
    return _find(KEPT_DEPTHS, show_depth, database, actor, dataset, now)


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
