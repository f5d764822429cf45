"""Draw parts that many pages share: notices, links between pages, notes, charts with their figures and files.

Every link keeps the chosen dataset. A page that needs a dataset begins with `require_dataset`, which shows
help and ends the run if the person has no dataset.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from annotator.domain.errors import AnnotatorError
from annotator.web.kit.components import load_component, write_message
from annotator.web.kit.controls import note_press
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import show_refusal, tr
from annotator.web.kit.text import escape_markdown
from annotator.web.navigation import PAGES
from annotator.web.page_context import PageContext, require_context

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


def draw_link(context: PageContext, address: str) -> None:
    """Draw a link to another page of the app, on the same dataset."""
    page = find_page(address)
    parameters = {"dataset": context.dataset} if context.dataset else {}
    st.page_link(page, label=tr(LINKS[address]), query_params=parameters, icon=":material/arrow_forward:")


def draw_steps(context: PageContext, steps: Sequence["NextStep"]) -> None:
    """Draw the steps in order: action, reason, and a link."""
    for number, step in enumerate(steps, start=1):
        why = tr(step.why)
        with st.container(border=True, gap="xxsmall"):
            st.html(
                f'<p class="annotator-step"><strong>{number}. {escape(tr(step.what))}</strong><br>{escape(why[:1].upper() + why[1:])}</p>'
            )
            if step.page:
                draw_link(context, step.page)


def draw_chart(chart: "alt.TopLevelMixin", words: str) -> None:
    """Draw a chart with its text alternative.

    Labels have the page's text colour, light or dark. The space is reserved while the chart loads."""
    st.altair_chart(_style(chart), alt=words, height=chart.height)


def _style(chart: "alt.TopLevelMixin") -> Any:
    ink = {"labelColor": "currentcolor", "titleColor": "currentcolor"}
    drawn = chart.configure(numberFormat=NUMBERS).configure_axis(**ink).configure_legend(**ink)
    return drawn.properties(padding={"left": 0, "top": 4, "right": 6, "bottom": 8})


def draw_note(words: str) -> None:
    st.html(f'<p class="annotator-note">{escape(words)}</p>')


def draw_method(key: str, *sentences: str) -> None:
    """Draw behind a click how figures are computed and what their signs mean."""
    with st.expander(tr("How this is computed"), key=f"method {key}"):
        for sentence in sentences:
            draw_note(sentence)


def draw_problem(words: str) -> None:
    st.html(f'<p class="annotator-problem" role="alert">{escape(words[:1].upper() + words[1:])}</p>')


@contextmanager
def keep_refusal(key: str) -> Iterator[None]:
    """Keep the refusal of a callback's act in the session under this key, for `draw_outcome`."""
    try:
        yield
    except AnnotatorError as error:
        st.session_state[key] = show_refusal(error)


@contextmanager
def draw_refusal() -> Iterator[None]:
    """Draw the refusal of an act that is done while the page is drawn."""
    try:
        yield
    except AnnotatorError as error:
        st.error(escape_markdown(show_refusal(error)))


def draw_changed(made_at: datetime, flag: str, *, key: str) -> None:
    """Draw when a result was calculated whose data has changed since, and a button that sets `flag` in the session.

    Call it in a horizontal container. `key`: of the button.
    """

    def ask() -> None:
        st.session_state[flag] = True
        note_press()

    words = tr("Calculated on {time}. The data has changed since.", time=show_time(made_at))
    st.html(f'<p class="annotator-note">{escape(words)}</p>', width="content")
    st.button(tr("Recalculate"), key=key, on_click=ask, type="tertiary", icon=":material/refresh:")


def draw_outcome(done_key: str, refused_key: str | None = None) -> None:
    """Draw the result of the last button press, once.

    `done_key`, `refused_key`: the session keys under which the callback stored its sentences.
    """
    if done := st.session_state.pop(done_key, None):
        st.success(done, icon=":material/check:")
    if refused_key and (refused := st.session_state.pop(refused_key, None)):
        st.error(escape_markdown(refused), icon=":material/block:")


def draw_numbers(label: str, rows: Sequence[dict[str, object]]) -> None:
    with st.expander(label):
        st.dataframe(list(rows), hide_index=True, alt=label)


ListRows = Callable[[PageContext], Sequence[dict[str, object]]]


def draw_numbers_when_opened(label: str, list_rows: ListRows) -> None:
    """Draw the figures of a chart in an expander, computed and sent only when opened, without a run of the page.

    For up to thousands of figures.
    """
    st.fragment(_draw_opened)(label, list_rows)


def _draw_opened(label: str, list_rows: ListRows) -> None:
    expander = st.expander(label, key=f"numbers {label}", on_change="rerun")
    if expander.open:
        context = require_context()
        with expander:
            st.dataframe(list(list_rows(context)), hide_index=True, alt=label)


def _never_run() -> None:
    """Placeholder in `st.Page`: links find a page by its URL path."""


FILES = Path(__file__).parent / "chart_files.js"
Pick = Callable[[Mapping[str, Any]], None]


def draw_report_chart(
    key: str,
    chart: "alt.LayerChart",
    words: str,
    *,
    caption: str,
    csv: str,
    name: str,
    pick: Pick | None = None,
) -> None:
    """Draw a chart of a report with its text alternative, clicks on cells, and links to its files.

    `csv`: URL of its numbers; `name`: of its files. `pick` receives the clicked cell before the page is drawn
    again. Streamlit's own menu appears only under the mouse and has no SVG; Vega's menu would send the figures to
    its editor. So the numbers are a CSV file, and the browser makes the drawing as SVG and PNG.
    """
    drawn = _style(chart).properties(usermeta={"embedOptions": {"renderer": "svg"}})
    with st.container(key=key, gap="xxsmall"):
        if pick is None:
            st.altair_chart(drawn, alt=words, height=chart.height)
        else:
            draw_clickable(f"{key}-chart", drawn, words, pick)
        message = {
            "chart": key,
            "caption": caption,
            "csv": csv,
            "name": name,
            "words": {"csv": tr("Numbers as CSV")},
        }
        load_component("annotator_chart_files", FILES)(key=f"{key}-files", data=write_message(message))


def draw_clickable(key: str, chart: Any, words: str, pick: Pick) -> None:
    """Draw a chart whose cells can be clicked, with its text alternative. See `draw_report_chart`."""

    def take() -> None:
        cells = st.session_state[key]["selection"].get("cell")
        if cells:
            pick(cells[0])

    st.altair_chart(chart, alt=words, height=chart.height, key=key, selection_mode="cell", on_select=take)
