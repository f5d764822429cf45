"""Releases: what the next one needs and would change, those that are out, and any two of them compared."""

import streamlit as st

from annotator.dataset.service import show_dataset
from annotator.domain.messages import say
from annotator.overview.service import show_overview
from annotator.releases.service import Release, list_releases
from annotator.web.kit.controls import heed_tab
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_steps, require_dataset
from annotator.web.page_context import PageContext
from annotator.web.releases.compare import draw_comparison
from annotator.web.releases.next_release import draw_next
from annotator.web.releases.release_view import draw_releases

TABS = (
    (say("Next release"), draw_next),
    (say("Published"), draw_releases),
    (say("Compare"), draw_comparison),
)


def draw(context: PageContext) -> None:
    st.title(tr("Releases"))
    dataset = require_dataset(context)
    exports_dir = context.settings.exports_dir
    listed = list_releases(context.database, context.actor, dataset, exports_dir=exports_dir)
    if not listed and _is_empty(context, dataset):
        return
    published = st.session_state.pop("published", None)
    if published:
        st.session_state["tab"], st.query_params["version"] = tr("Published"), published
        st.success(
            tr("Version {version} is published: here it is.", version=published), icon=":material/check:"
        )
    _draw_tabs(context, dataset, listed)


def _draw_tabs(context: PageContext, dataset: str, listed: list[Release]) -> None:
    """Only the tab that is open is worked out; which one stands in the address."""
    heed_tab("tab", [name for name, _ in TABS])
    drawn = st.tabs([tr(name) for name, _ in TABS], key="tab", bind="query-params")
    for tab, (_, draw_tab) in zip(drawn, TABS, strict=True):
        if tab.open:
            with tab:
                draw_tab(context, dataset, listed)


def _is_empty(context: PageContext, dataset: str) -> bool:
    """Whether there is no pair yet; then it says what comes first."""
    _, counts = show_dataset(context.database, context.actor, dataset)
    if not counts.pairs:
        draw_steps(context, show_overview(context.database, context.actor, dataset).steps)
    return not counts.pairs
