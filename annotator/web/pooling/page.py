"""Draw the page Pool, for leads: its contents, the systems, its depth, its rounds, and its pairs.

`?tab=Pairs&status=unjudged&system=bm25&alone=true&round=2&text=Q1&from=50`; `?pair=KEY` opens one pair in place. Unknown
values are ignored. The page shows no grade of a single pair, but links to pages that do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from importlib import import_module
from typing import TypeVar

import streamlit as st

from annotator.domain.messages import Message, say
from annotator.domain.people import Actor
from annotator.pooling.analysis.pool_analysis import DepthReport, PairFilter, PoolContents
from annotator.pooling.analysis.pool_analysis_service import read_stamp, show_contents, show_depth
from annotator.storage.database import Database
from annotator.web.blind_pairs import draw_blind_pairs
from annotator.web.kit.controls import draw_url_tabs, keep_focus
from annotator.web.kit.figures import show_time
from annotator.web.kit.kept_results import KeptResult, KeptResults
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note, require_dataset
from annotator.web.kit.tables import write_link
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext

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
    return make_url("/pool", dataset=dataset, **parameters)


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


TABS = {
    CONTENTS: ("contents_tabs", "draw_contents"),
    OVERLAP: ("contents_tabs", "draw_overlap"),
    DEPTH: ("depth_tab", "draw"),
    ROUNDS: ("rounds_tab", "draw"),
    NEW_ROUND: ("new_round_tab", "draw"),
    DUPLICATES: ("near_duplicates_tab", "draw"),
    PROPOSALS: ("contents_tabs", "draw_proposals"),
    PAIRS: ("pairs_tab", "draw"),
}
"""The tabs with their modules and functions, imported when opened: importing the charts takes half a second."""
WITHOUT_PAIRS = (NEW_ROUND, ROUNDS)  # the tabs with content while the pool is empty


def draw(context: PageContext) -> None:
    st.title(tr("Pool"))
    dataset = require_dataset(context)
    pair = st.query_params.get("pair")
    if pair is not None:
        from annotator.web.pooling.pairs_tab import draw_pair

        draw_pair(context, dataset, pair)
        return
    kept = context.call(find_contents, dataset, now=context.now)
    if not kept.value.pairs and "tab" not in st.query_params and not _is_a_tab(st.session_state.get("tab")):
        st.session_state["tab"] = tr(NEW_ROUND)
    if kept.changed:
        draw_note(tr("Counted on {time}. The data has changed since.", time=show_time(kept.made_at)))
    draw_blind_pairs(dataset, kept.value.blind_pairs)
    if "tab" not in st.query_params and any(name in st.query_params for name in FILTERS):
        st.session_state["tab"] = tr(PAIRS)  # an address from the time before tabs
    shown = ShownPool(context, dataset, kept.value)
    draw_url_tabs({title: partial(_draw_tab, shown, title) for title in TABS})
    keep_focus()


def _is_a_tab(title: object) -> bool:
    """Return whether this page has the tab. The previous page may have left the title of its own tab."""
    return title in [tr(name) for name in TABS]


def _draw_tab(shown: ShownPool, title: Message) -> None:
    if not shown.contents.pairs and title not in WITHOUT_PAIRS:
        st.text(tr("The pool is empty. Make the first round."))
        address = make_pool_url(shown.dataset, tab=tr(NEW_ROUND))
        st.html(f'<p class="annotator-step">{write_link(tr("Make a round"), address)}</p>')
        return
    module, name = TABS[title]
    getattr(import_module(f"annotator.web.pooling.{module}"), name)(shown)
