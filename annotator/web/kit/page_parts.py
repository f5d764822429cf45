"""Draw parts that many pages share: notices, links between pages, notes and figures of charts.

Every link keeps the chosen dataset. A page that needs a dataset begins with `require_dataset`, which shows
help and ends the run if the person has no dataset.
"""

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from annotator.web.kit.messages import tr
from annotator.web.kit.text import escape_markdown
from annotator.web.navigation import PAGES
from annotator.web.page_context import PageContext

if TYPE_CHECKING:
    import altair as alt

    from annotator.overview.next_steps import NextStep

NUMBERS = ",.4~f"
"""The default number format of charts, also for screen readers: Vega would read out eleven decimals."""
LINKS = {page.address: page.title for page in PAGES}


def require_dataset(context: PageContext) -> str:
    """Return the chosen dataset's name. Without a dataset, explain how to get one and end the run."""
    if context.dataset is None:
        if context.person.role_on(None) == "admin":
            st.info(tr("There is no dataset yet. Create the first one."), icon=":material/add:")
            draw_link(context, "new-dataset")
        else:
            words = tr(
                "You have no access to a dataset yet. Ask your admin to create one or to give you a role on one."
            )
            st.info(words, icon=":material/info:")
        st.stop()
    return context.dataset


def find_page(address: str) -> "st.Page":
    """Return another page of the app, for `st.switch_page` and links."""
    return st.Page(_never_run, title=tr(LINKS[address]), url_path=address)


def draw_link(context: PageContext, address: str, label: str | None = None) -> None:
    """Draw a link to another page of the app, on the same dataset."""
    page = find_page(address)
    parameters = {"dataset": context.dataset} if context.dataset else {}
    st.page_link(
        page, label=label or tr(LINKS[address]), query_params=parameters, icon=":material/arrow_forward:"
    )


def draw_steps(context: PageContext, steps: Sequence["NextStep"], *, here: str = "overview") -> None:
    """Draw the steps in order: action, reason, and a link (except to the page `here`)."""
    for number, step in enumerate(steps, start=1):
        why = tr(step.why)
        with st.container(border=True, gap="xxsmall"):
            st.html(
                f'<p class="annotator-step"><strong>{number}. {escape(tr(step.what))}</strong><br>{escape(why[:1].upper() + why[1:])}</p>'
            )
            if step.page and step.page != here:
                draw_link(context, step.page)


def draw_chart(chart: "alt.TopLevelMixin", words: str) -> None:
    """Draw a chart with its text alternative.

    Labels have the page's text colour, light or dark. The space is reserved while the chart loads."""
    ink = {"labelColor": "currentcolor", "titleColor": "currentcolor"}
    room = {"left": 0, "top": 4, "right": 6, "bottom": 8}
    drawn = chart.configure(numberFormat=NUMBERS).configure_axis(**ink).configure_legend(**ink)
    drawn = drawn.properties(padding=room)
    st.altair_chart(drawn, alt=words, height=chart.height)


def draw_note(words: str) -> None:
    """Draw small print."""
    st.html(f'<p class="annotator-note">{escape(words)}</p>')


def draw_problem(words: str) -> None:
    """Draw the problem of the field above."""
    st.html(f'<p class="annotator-problem" role="alert">{escape(words[:1].upper() + words[1:])}</p>')


def draw_outcome(done_key: str, refused_key: str | None = None) -> None:
    """Draw the result of the last button press, once.

    `done_key`, `refused_key`: the session keys under which the callback stored its sentences.
    """
    if done := st.session_state.pop(done_key, None):
        st.success(done, icon=":material/check:")
    if refused_key and (refused := st.session_state.pop(refused_key, None)):
        st.error(escape_markdown(refused), icon=":material/block:")


def draw_numbers(label: str, rows: Sequence[dict[str, object]]) -> None:
    """Draw the figures of a chart in an expander."""
    with st.expander(label):
        st.dataframe(list(rows), hide_index=True, alt=label)


def draw_numbers_when_opened(label: str, list_rows: Callable[[], Sequence[dict[str, object]]]) -> None:
    """Draw the figures of a chart in an expander, computed and sent only when opened, without a run of the page.

    For up to thousands of figures.
    """
    st.fragment(_draw_opened)(label, list_rows)


def _draw_opened(label: str, list_rows: Callable[[], Sequence[dict[str, object]]]) -> None:
    expander = st.expander(label, key=f"numbers {label}", on_change="rerun")
    if expander.open:
        with expander:
            st.dataframe(list(list_rows()), hide_index=True, alt=label)


def _never_run() -> None:
    """Placeholder in `st.Page`: links find a page by its URL path."""
