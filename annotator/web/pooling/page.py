"""Draw the page Pool, for leads: its contents, the systems, its depth, its rounds, and its pairs.

`?pair=` opens one pair in place. The page shows no grade of a single pair, but links to pages that do.
"""

from functools import partial
from importlib import import_module

import streamlit as st

from annotator.domain.messages import Message
from annotator.web.blind_pairs import draw_blind_pairs
from annotator.web.kit.controls import draw_url_tabs, keep_focus
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note, require_dataset
from annotator.web.kit.tables import write_link
from annotator.web.page_context import PageContext
from annotator.web.pooling.shown import (
    CONTENTS,
    DEPTH,
    DUPLICATES,
    FILTERS,
    NEW_ROUND,
    OVERLAP,
    PAIRS,
    PROPOSALS,
    ROUNDS,
    ShownPool,
    find_contents,
    make_pool_url,
)

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
        from annotator.web.pooling.pair_view import draw_pair

        draw_pair(context, dataset, pair)
        return
    kept = context.call(find_contents, dataset, now=context.now)
    if not kept.value.pairs and "tab" not in st.query_params and not _is_a_tab(st.session_state.get("tab")):
        st.session_state["tab"] = tr(NEW_ROUND)
    if kept.changed:
        draw_note(tr("Counted on {time}. The data has changed since.", time=show_time(kept.made_at)))
    draw_blind_pairs(context, dataset, kept.value.blind_pairs)
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
