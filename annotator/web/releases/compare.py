"""Any two releases compared. Which ones stands in the address."""

from typing import TYPE_CHECKING

import streamlit as st

from annotator.releases.published_service import compare_releases
from annotator.web.kit.messages import tr
from annotator.web.page_context import PageContext
from annotator.web.releases.diff_view import SHOWN, draw_diff

if TYPE_CHECKING:
    from annotator.releases.service import Release


def draw_comparison(context: PageContext, dataset: str, listed: "list[Release]") -> None:
    """Two versions to choose, and what the second changed against the first."""
    versions = [one.version for one in listed]
    if len(versions) < 2:
        there = tr("There is one release, {version}.", version=versions[0]) if versions else ""
        why = tr("Two are needed to compare. What a new one would change stands under Next release.")
        st.text(f"{there or tr('Nothing is published yet.')} {why}")
        return
    with st.container(horizontal=True):
        before = st.selectbox(
            tr("From"), versions, index=len(versions) - 2, key="from", bind="query-params", width=150
        )
        after = st.selectbox(
            tr("To"), versions, index=len(versions) - 1, key="to", bind="query-params", width=150
        )
    if before == after:
        st.text(tr("Choose two different versions."))
        return
    with st.spinner(tr("Comparing …")):
        diff = compare_releases(
            context.database, context.actor, dataset, before, after, keep=SHOWN, now=context.now
        )
    draw_diff(diff)
