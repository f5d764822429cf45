"""By which reading of a sample the release's gate goes: the setting `quality_rule`, which a lead changes here."""

import streamlit as st

from annotator.dataset.service import change_settings
from annotator.domain.errors import AnnotatorError
from annotator.quality.records import RULES, QualityStatus
from annotator.web.kit.messages import show_refusal, tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.text import escape_markdown
from annotator.web.page_context import PageContext
from annotator.web.quality.quality_view import RULE_NAMES


def draw_rule(context: PageContext, status: QualityStatus) -> None:
    """The choice between the two, one click away."""
    with st.expander(tr("Change which of the two the gate goes by")), st.form("rule", border=False):
        chosen = st.radio(
            tr("The gate goes by"),
            RULES,
            index=RULES.index(status.rule),
            format_func=lambda rule: tr(RULE_NAMES[rule]),
        )
        draw_note(tr(
            "What the sample proves is the stricter of the two, and what this program advises. Change it only where your "
            "team has agreed on the other; a release says which one it went by."
        ))  # fmt: skip
        pressed = st.form_submit_button(tr("Change"))
    if not pressed or chosen == status.rule:
        return
    try:
        change_settings(
            context.database, context.actor, status.dataset, {"quality_rule": str(chosen)}, now=context.now
        )
    except AnnotatorError as error:
        st.error(escape_markdown(show_refusal(error)))
        return
    st.rerun()
