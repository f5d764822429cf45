"""Agreement: the verdict first, then what to do about it, then every figure; or the pairs behind one of them."""

import streamlit as st

from annotator.web.agreement_address import find_selection
from annotator.web.agreement_groupings import find_grouping, list_fields
from annotator.web.agreement_measured import find_report
from annotator.web.guidance import require_dataset
from annotator.web.messages import tr
from annotator.web.page_context import PageContext


def draw(context: PageContext) -> None:
    st.title(tr("Agreement"))
    dataset = require_dataset(context)
    selection = find_selection()
    if selection is not None:
        from annotator.web.agreement_behind import draw_pairs

        draw_pairs(context, dataset, selection)
        return
    report = find_report(context, dataset, find_grouping(context, dataset))
    from annotator.web.agreement_body import (
        draw_report,  # charts: only once the first figures are on the page
    )

    draw_report(context, report, list_fields(context, dataset))
