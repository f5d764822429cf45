"""One run of the app, called by script/main.py: check the session, then draw the sidebar and the requested page.

navigation.py lists the pages. After a lead has opened any page, the imports of the pages Agreement and
Evaluation run in the background: about two seconds of a core and 120 MB, which a server without leads saves.
"""

from functools import cache, partial
from importlib import import_module
from threading import Thread

import streamlit as st
import structlog

from annotator.domain.people import includes
from annotator.people.service import list_role_givers
from annotator.web.kit.messages import join_names, tr
from annotator.web.kit.text import escape_markdown
from annotator.web.kit.words import name_role
from annotator.web.navigation import PAGES, AppPage, is_for_reading, list_pages
from annotator.web.page_context import PageContext, draw_signed_out, find_context, note_visit
from annotator.web.server.request_id import make_request_id
from annotator.web.server.uploads import watch_file_fields
from annotator.web.sidebar import declare_language, draw_account_menu, draw_sidebar, list_parameters

NEEDED = (
    "annotator.web.agreement.page",
    "scipy.sparse",
    "annotator.web.agreement.tabs",
    "altair",
    "annotator.web.evaluation.page",
    "annotator.web.evaluation.choice",
    "annotator.web.evaluation.score_tabs",
    "annotator.web.evaluation.query_view",
    "ir_measures",
    "pytrec_eval",
    "scipy.special",
    "threadpoolctl",
    "scipy.optimize",
)


@cache
def preload() -> Thread:
    """Start the imports in a thread, once per process, and return it."""
    thread = Thread(target=_import_all, name="preload", daemon=True)
    thread.start()
    return thread


def _import_all() -> None:
    for name in NEEDED:
        import_module(name)


def draw_app() -> None:
    structlog.contextvars.bind_contextvars(request_id=make_request_id(), route="/_stcore/stream")
    context = find_context()
    pages = {page.address: _register(page, context) for page in PAGES}
    begin = partial(_go_home, pages, context) if context else draw_signed_out
    home = st.Page(begin, title="Annotator", url_path="home", default=True)
    current_page = st.navigation([home, *pages.values()], position="hidden")
    structlog.contextvars.bind_contextvars(route=f"/{current_page.url_path}")
    reading = is_for_reading(current_page.url_path, st.query_params)
    st.set_page_config(
        page_title=current_page.title if current_page is home else f"{current_page.title} · Annotator",
        layout="wide",
        initial_sidebar_state="collapsed" if reading else "auto",
    )
    declare_language()
    if context is not None:
        note_visit(current_page.url_path, context.now)
        with st.sidebar:
            draw_sidebar(context, pages)
        draw_account_menu(context, pages, current_page.url_path, reading=reading)
    with watch_file_fields():
        current_page.run()


def _register(page: AppPage, context: PageContext | None) -> st.Page:
    """Return the page for Streamlit. Also registers pages that the person may not see, so we can explain why.

    Without an icon: Streamlit would fetch it from another site for the browser's tab."""
    draw = partial(_draw_page, page, context) if context else draw_signed_out
    return st.Page(draw, title=tr(page.title), url_path=page.address)


def _draw_page(page: AppPage, context: PageContext) -> None:
    is_new = not context.person.memberships and not context.person.must_change_password
    is_open = page in list_pages(context.person, context.dataset)
    if not is_open:
        st.title(tr(page.title))
    if is_new:
        _draw_no_role(context)
    if is_open:
        _warn_of_other_dataset(page, context)
        if context.is_archived:
            words = tr(
                "This dataset is archived. Nothing in it can be judged or changed until a lead unarchives it."
            )
            st.info(words, icon=":material/archive:")
        if context.dataset is not None and page.shows_figures:
            from annotator.overview.service import keep_answers

            context.call(keep_answers, context.dataset, now=context.now)
        import_module(page.module).draw(context)
        if context.role is not None and includes(context.role, "lead"):
            preload()
    elif context.person.must_change_password:
        st.warning(tr("Choose your own password first, on the page Account."), icon=":material/key:")
    elif not is_new:
        role = name_role(page.least or "")
        needed = (
            tr("This page needs the role {role} on every dataset.", role=role)
            if page.everywhere
            else tr("This page needs the role {role} on this dataset.", role=role)
        )
        st.error(needed, icon=":material/block:")


def _draw_no_role(context: PageContext) -> None:
    """Name the people who can give a role to this person without a role."""
    names = join_names(context.call(list_role_givers))
    words = (
        tr("You have no role on a dataset yet. Ask one of these people: {names}.", names=names)
        if names
        else tr("You have no role on a dataset yet. Ask the person who made your account.")
    )
    st.info(escape_markdown(words), icon=":material/info:")


def _warn_of_other_dataset(page: AppPage, context: PageContext) -> None:
    """Warn if the URL names a dataset that this person cannot see, because the page shows another dataset."""
    wanted = st.query_params.get("dataset")
    if not wanted or context.dataset in (None, wanted):
        return
    if page.least is not None and not page.everywhere:  # a page about a dataset
        words = tr(
            "There is no dataset named {wanted}, or you have no role on it. This page shows {shown}.",
            wanted=wanted,
            shown=context.dataset,
        )
        st.warning(escape_markdown(words), icon=":material/help:")


def _go_home(pages: dict[str, st.Page], context: PageContext) -> None:
    first = list_pages(context.person, context.dataset)[0]
    st.switch_page(pages[first.address], query_params=list_parameters(context))
