"""One run of the app: checks the session, draws the sidebar and the page asked for. Called by script/main.py.

The pages stand in navigation.py.
"""

from functools import partial
from importlib import import_module

import streamlit as st

from annotator.web.navigation import PAGES, Page, list_pages
from annotator.web.page_context import PageContext, draw_signed_out, find_context

LOG_OUT = '<form method="post" action="/logout"><button type="submit" class="annotator-quiet">Sign out</button></form>'


def draw_app() -> None:
    """One run."""
    st.set_page_config(page_title="Annotator", page_icon=":material/bar_chart:", layout="wide")
    context = find_context()
    known = {page.address: _register(page, context) for page in PAGES}
    begin = partial(_go_home, known, context) if context else draw_signed_out
    home = st.Page(begin, title="Annotator", url_path="home", default=True)
    asked = st.navigation([home, *known.values()], position="hidden")
    if context is not None:
        with st.sidebar:
            _draw_sidebar(context, known)
    asked.run()


def _register(page: Page, context: PageContext | None) -> st.Page:
    """The page for Streamlit. It is known to it also when the person may not see it, so that we say why not."""
    draw = partial(_draw_page, page, context) if context else draw_signed_out
    return st.Page(draw, title=page.title, url_path=page.address, icon=page.icon)


def _draw_page(page: Page, context: PageContext) -> None:
    if page in list_pages(context.person, context.dataset):
        import_module(page.module).draw(context)
    elif context.person.must_change_password:
        st.warning("Choose a password of your own first: see Account.", icon=":material/key:")
    else:
        st.error(f"This page needs the role {page.least} on this dataset.", icon=":material/block:")


def _go_home(known: dict[str, st.Page], context: PageContext) -> None:
    first = list_pages(context.person, context.dataset)[0]
    st.switch_page(known[first.address], query_params=_parameters(context))


def _draw_sidebar(context: PageContext, known: dict[str, st.Page]) -> None:
    st.markdown("**Annotator**")
    names = [dataset.name for dataset in context.datasets]
    if len(names) > 1:
        titles = {dataset.name: dataset.title for dataset in context.datasets}
        st.selectbox(
            "Dataset", names, index=names.index(context.dataset or names[0]), key="chosen_dataset",
            format_func=lambda name: titles[name], on_change=_choose_dataset,
        )  # fmt: skip
    elif names:
        st.caption(context.datasets[0].title)
    for page in list_pages(context.person, context.dataset):
        st.page_link(known[page.address], query_params=_parameters(context), width="stretch")
    st.caption(f"{context.person.name} · {context.role or 'no role yet'}")
    st.html(LOG_OUT)


def _choose_dataset() -> None:
    st.query_params["dataset"] = st.session_state["chosen_dataset"]


def _parameters(context: PageContext) -> dict[str, str]:
    return {"dataset": context.dataset} if context.dataset else {}
