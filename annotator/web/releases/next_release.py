"""The release that could go out now: its gates, what it would change, and the form that publishes it."""

from typing import TYPE_CHECKING

import streamlit as st

from annotator.releases.published_service import suggest_next
from annotator.releases.service import Release, check_release, preview_release
from annotator.web.kit.messages import tr
from annotator.web.page_context import PageContext
from annotator.web.releases.diff_view import draw_diff, say_advice
from annotator.web.releases.gates import draw_gates
from annotator.web.releases.publish_form import choose_version, draw_form, holds_anything

if TYPE_CHECKING:
    from annotator.releases.published_service import ReleaseDiff


def draw_next(context: PageContext, dataset: str, listed: list[Release]) -> None:
    """Gates, preview and form."""
    check = check_release(context.database, context.actor, dataset)
    st.header(tr("What a release needs"))
    draw_gates(context, check.gates)
    advised, advice = check.suggested, ""
    if listed and holds_anything(check):
        st.header(tr("What it would change"))
        diff = _preview(context, dataset)
        draw_diff(diff, advice=False)
        called_for = None if diff.advice == "none" else suggest_next(diff.before, diff.advice)
        advised = choose_version(check.suggested, called_for, [one.version for one in listed])
        advice = say_advice(diff)
    st.header(tr("Publish"))
    draw_form(context, dataset, check, advised=advised, advice=advice)


def _preview(context: PageContext, dataset: str) -> "ReleaseDiff":
    with st.spinner(tr("Comparing with the latest release …")):
        return preview_release(context.database, context.actor, dataset, now=context.now)
