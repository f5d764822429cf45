"""Draw the page Pool, for leads: what the pool holds, who proposed what, how deep it is, its rounds, and its pairs.

One pair is opened in place (`?pair=`). Nothing here shows the grade of a single pair; links lead to where one may be seen.
"""

from importlib import import_module

import streamlit as st

from annotator.domain.messages import Message
from annotator.web.agreement.links import write_link
from annotator.web.blind_pairs import draw_blind_pairs
from annotator.web.kit.controls import apply_url_tab, keep_focus
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note, require_dataset
from annotator.web.page_context import PageContext
from annotator.web.pooling.addresses import (
    CONTENTS,
    DEPTH,
    DUPLICATES,
    FILTERS,
    NEW_ROUND,
    OVERLAP,
    PAIRS,
    PROPOSALS,
    ROUNDS,
    list_pool_address,
)
from annotator.web.pooling.pool_cache import find_contents
from annotator.web.pooling.tabs.pool_on_screen import ShownPool

TABS = {
    CONTENTS: "contents",
    OVERLAP: "overlap",
    DEPTH: "depth",
    ROUNDS: "rounds",
    NEW_ROUND: "new_round",
    DUPLICATES: "near_duplicates",
    PROPOSALS: "proposals",
    PAIRS: "pairs",
}
"""The tabs and their files in tabs/. Each is imported when it is opened: the charts need half a second for it."""
WITHOUT_PAIRS = (NEW_ROUND, ROUNDS)
"""The tabs that show something while the pool is empty."""


def draw(context: PageContext) -> None:
    st.title(tr("Pool"))
    dataset = require_dataset(context)
    pair = st.query_params.get("pair")
    if pair is not None:
        from annotator.web.pooling.pair_view import draw_pair

        draw_pair(context, dataset, pair)
        return
    kept = find_contents(context.database, context.actor, dataset, now=context.now)
    if not kept.value.pairs and "tab" not in st.query_params and not _is_a_tab(st.session_state.get("tab")):
        st.session_state["tab"] = tr(NEW_ROUND)
    if kept.changed:
        draw_note(tr("Counted on {time}. The data has changed since.", time=show_time(kept.made_at)))
    draw_blind_pairs(context, dataset, kept.value.blind_pairs)
    if "tab" not in st.query_params and any(name in st.query_params for name in FILTERS):
        st.session_state["tab"] = tr(PAIRS)  # an address from before the page had tabs
    apply_url_tab("tab", tuple(TABS))
    drawn = st.tabs([tr(name) for name in TABS], key="tab", bind="query-params")
    for tab, (title, name) in zip(drawn, TABS.items(), strict=True):
        if tab.open:
            with tab:
                _draw_tab(title, name, ShownPool(context, dataset, kept.value))
    keep_focus()


def _is_a_tab(chosen: object) -> bool:
    """Return whether it is a tab of this page: the page before may have left the name of one of its own."""
    return chosen in [tr(name) for name in TABS]


def _draw_tab(title: Message, name: str, shown: ShownPool) -> None:
    if not shown.contents.pairs and title not in WITHOUT_PAIRS:
        st.text(tr("The pool is empty. Make the first round."))
        address = list_pool_address(shown.dataset, tab=tr(NEW_ROUND))
        st.html(f'<p class="annotator-step">{write_link(tr("Make a round"), address)}</p>')
        return
    import_module(f"annotator.web.pooling.tabs.{name}").draw(shown)
