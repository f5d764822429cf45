"""By what the agreement page can group the pairs of a dataset."""

from datetime import timedelta

import streamlit as st

from annotator.agreement.service import list_groupings
from annotator.web.kit.controls import find_asked
from annotator.web.page_context import PageContext

NOTHING = "nothing"
KEPT = timedelta(minutes=1)


def list_fields(context: PageContext, dataset: str) -> list[str]:
    """The choices, "nothing" first; those of a minute ago where they are known: every query is read for them."""
    known, since, fields = st.session_state.get("groupings", ("", context.now, []))
    if known != dataset or context.now - since >= KEPT:
        fields = [NOTHING, *list_groupings(context.database, context.actor, dataset)]
        st.session_state["groupings"] = (dataset, context.now, fields)
    return list(fields)


def find_grouping(context: PageContext, dataset: str) -> str | None:
    """The field that is chosen, before its control is drawn; None for nothing. The fields are read only where one is
    asked for, in the address or by the control: a page that is opened shows its first figures before."""
    if "by" not in st.session_state and "by" not in st.query_params:
        return None
    fields = list_fields(context, dataset)
    chosen = find_asked("by", fields)
    return chosen if chosen in fields and chosen != NOTHING else None
