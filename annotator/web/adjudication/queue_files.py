"""The queue as a file for a meeting, and the file back: checked first, with every line that is wrong, then decided as a whole."""

import streamlit as st

from annotator.adjudication.bulk_service import FileDecisions, adjudicate_file
from annotator.domain.errors import AnnotatorError
from annotator.web.adjudication.downloads import list_address
from annotator.web.adjudication.queue_url import QueueAddress
from annotator.web.agreement.agreement_links import draw_file_link
from annotator.web.kit.focus import note_press
from annotator.web.kit.messages import show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.page_context import PageContext, require_context
from annotator.web.uploads import draw_file_field

DONE, TIMES = "queue file done", "queue file times"


def draw_files(context: PageContext, dataset: str, here: QueueAddress) -> None:
    """The link to the file of what the filter lets through, and the way back for it."""
    st.header(tr("Take it to a meeting"))
    draw_note(tr(
        "A row for each pair that the filter above lets through, with its grades and notes and without names, and empty columns "
        "for the decision. Whoever takes it has seen what others said, and no longer judges these pairs."
    ))  # fmt: skip
    draw_file_link(tr("The queue as a CSV file"), list_address(dataset, here))
    st.header(tr("Bring the decisions back"))
    with st.container():
        said = st.session_state.pop(DONE, None)
        if said:
            st.success(said, icon=":material/check:")
    key = f"queue file {st.session_state.get(TIMES, 0)}"
    file = draw_file_field(
        tr("The file with its decisions"), person_id=context.actor.person_id, type="csv", key=key,
        help=tr("All of its rows are decided, or none. Rows without a grade stay open; a row whose pair has changed since is refused."),
    )  # fmt: skip
    if file is not None:
        _draw_checked(context, dataset, file.getvalue(), file.name)


def _draw_checked(context: PageContext, dataset: str, data: bytes, name: str) -> None:
    """What the file would do, and the button that does it; or what is wrong with it."""
    try:
        found = adjudicate_file(
            context.database, context.actor, dataset, data, name, now=context.now, dry_run=True
        )
    except AnnotatorError as error:
        st.error(tr("Nothing was decided. The file has to be put right first:"), icon=":material/block:")
        st.code(show_refusal(error), language=None, wrap_lines=True)
        return
    st.text(_describe(found))
    n = found.decided + found.revised + found.proposed
    if n:
        st.button(
            tr_n("Decide {n:,} pair", "Decide {n:,} pairs", n), type="primary", key=f"queue file decide {name}",
            on_click=_decide, args=(dataset, data, name),
        )  # fmt: skip


def _decide(dataset: str, data: bytes, name: str) -> None:
    context = require_context()
    try:
        done = adjudicate_file(context.database, context.actor, dataset, data, name, now=context.now)
    except AnnotatorError:
        return  # the check, which is made anew, says why
    st.session_state[DONE] = tr("Done. {what}", what=_describe(done))
    st.session_state[TIMES] = st.session_state.get(TIMES, 0) + 1
    note_press()


def _describe(found: FileDecisions) -> str:
    counted = (
        (found.decided, tr("decided for the first time: {n:,}", n=found.decided)),
        (found.revised, tr("decided anew: {n:,}", n=found.revised)),
        (found.proposed, tr("waiting for a second lead: {n:,}", n=found.proposed)),
        (found.unchanged, tr("decided so before: {n:,}", n=found.unchanged)),
        (found.skipped, tr("left open: {n:,}", n=found.skipped)),
    )
    return "; ".join(said for n, said in counted if n) or tr("The file decides nothing.")
