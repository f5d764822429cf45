"""Draw the page Pool, for leads: what the pool holds, who proposed what, how deep it is, its rounds, and its pairs.

One pair is opened in place (`?pair=`). Nothing here shows the grade of a single pair; links lead to where one may be seen.
"""

from importlib import import_module

import streamlit as st

from annotator.overview.service import show_overview
from annotator.web.kit.controls import apply_url_tab
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note, draw_steps, require_dataset
from annotator.web.page_context import PageContext
from annotator.web.pooling.addresses import CONTENTS, DEPTH, FILTERS, OVERLAP, PAIRS, PROPOSALS, ROUNDS
from annotator.web.pooling.pool_cache import CONTENTS as KEPT_CONTENTS
from annotator.web.pooling.tabs.shown import ShownPool

TABS = {
    CONTENTS: "contents",
    OVERLAP: "overlap",
    DEPTH: "depth",
    ROUNDS: "rounds",
    PROPOSALS: "proposals",
    PAIRS: "pairs",
}
"""The tabs and their files in tabs/. Each is imported when it is opened: the charts need half a second for it."""


def draw(context: PageContext) -> None:
    st.title(tr("Pool"))
    dataset = require_dataset(context)
    pair = st.query_params.get("pair")
    if pair is not None:
        from annotator.web.pooling.pair_view import draw_pair

        draw_pair(context, dataset, pair)
        return
    contents, counted_at = KEPT_CONTENTS.find(context.database, context.actor, dataset, now=context.now)
    if not contents.pairs:
        steps = show_overview(context.database, context.actor, dataset).steps
        draw_steps(context, steps, here="pool")
        return
    if counted_at is not None:
        draw_note(tr("Counted on {time}; something has changed since.", time=show_time(counted_at)))
    if "tab" not in st.query_params and any(name in st.query_params for name in FILTERS):
        st.session_state["tab"] = tr(PAIRS)  # an address from before the page had tabs
    apply_url_tab("tab", tuple(TABS))
    drawn = st.tabs([tr(name) for name in TABS], key="tab", bind="query-params")
    for tab, name in zip(drawn, TABS.values(), strict=True):
        if tab.open:
            with tab:
                import_module(f"annotator.web.pooling.tabs.{name}").draw(
                    ShownPool(context, dataset, contents)
                )
