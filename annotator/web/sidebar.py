"""The sidebar: the dataset, the pages open to the person, the language, and the way out.

The choice of a language by its reader, and the page telling the browser which one it speaks.
"""

from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from annotator.adjudication.discussion.discussion_service import count_news
from annotator.people.service import choose_language
from annotator.web.kit.controls import find_key, read_choice
from annotator.web.kit.messages import LANGUAGES, current_language, tr
from annotator.web.kit.modules import join_modules
from annotator.web.kit.words import name_role
from annotator.web.navigation import list_pages
from annotator.web.page_context import PageContext, find_context

DECLARE = "export default function ({ data }) { document.documentElement.lang = data.language; }"


def draw_language_choice(name: str, *, label_visibility: Literal["visible", "collapsed"] = "visible") -> None:
    """Draw a select of the languages, each in its own name; what is chosen is kept and spoken at once."""
    key, language = find_key(name, current_language())
    st.selectbox(
        tr("Language"),
        list(LANGUAGES),
        list(LANGUAGES).index(language),
        key=key,
        format_func=LANGUAGES.__getitem__,
        on_change=_choose_language,
        args=(name, key),
        label_visibility=label_visibility,
    )


def forget_choice() -> None:
    """Follow the browser again."""
    context = find_context()
    if context is not None:
        choose_language(context.database, context.actor, None)


def declare_language() -> None:
    """Let screen readers, fonts and the browser's own translation know in which language the page is."""
    _declaring()(key="language", data={"language": current_language()})


def _choose_language(name: str, key: str) -> None:
    context, chosen = find_context(), read_choice(name, key)
    if context is not None and isinstance(chosen, str):
        choose_language(context.database, context.actor, chosen)


@cache
def _declaring() -> Any:
    return st.components.v2.component("annotator_language", js=DECLARE)


NAME = '<div class="annotator-name"><img src="/favicon.png" alt="" width="32" height="32"><span>Annotator</span></div>'
SIGN_OUT = (
    '<form method="post" action="/logout" class="annotator-out"><button type="submit">{}</button></form>'
)


def draw_sidebar(context: PageContext, pages: dict[str, st.Page]) -> None:
    """Draw it; `pages` are Streamlit's pages by address. Every link carries the chosen dataset."""
    st.html(NAME)
    _draw_dataset(context)
    for page in list_pages(context.person, context.dataset):
        label = _describe_news(context) if page.address == "work" else None
        st.page_link(
            pages[page.address],
            label=label,
            icon=page.icon,
            query_params=list_parameters(context),
            width="stretch",
        )
    role = name_role(context.role) if context.role else tr("no role yet")
    name, sign_out = escape(context.person.name), SIGN_OUT.format(escape(tr("Sign out")))
    st.html(
        f'<div class="annotator-who"><strong dir="auto">{name}</strong>'
        f'<span class="annotator-soft">{escape(role)}</span>{sign_out}</div>'
    )
    with st.container(key="annotator-language"):
        draw_language_choice("sidebar_language", label_visibility="collapsed")
    _closing()(key="sidebar")


def list_parameters(context: PageContext) -> dict[str, str]:
    """Return the query parameters that every link within the app carries."""
    return {"dataset": context.dataset} if context.dataset else {}


def _describe_news(context: PageContext) -> str | None:
    """My work, with how many discussions wait there and how many decisions on own pairs were not shown yet; None for
    none. (Where somebody judges, the sidebar is not drawn again meanwhile.)"""
    if context.dataset is None:
        return None
    news = count_news(context.database, context.actor, context.dataset, now=context.now)
    return tr("My work ({n} new)", n=news) if news else None


def _draw_dataset(context: PageContext) -> None:
    titles = {dataset.name: dataset.title for dataset in context.datasets}
    if len(titles) == 1:
        st.html(f'<div class="annotator-soft" dir="auto">{escape(context.datasets[0].title)}</div>')
    elif titles:
        names = list(titles)
        key, begun = find_key("chosen_dataset", context.dataset or names[0])
        st.selectbox(
            tr("Dataset"),
            names,
            names.index(begun) if begun in names else names.index(context.dataset or names[0]),
            key=key,
            format_func=titles.__getitem__,
            on_change=_choose,
            args=(key,),
        )


def _choose(key: str) -> None:
    chosen = read_choice("chosen_dataset", key)
    if isinstance(chosen, str):
        st.query_params["dataset"] = chosen


@cache
def _closing() -> Any:
    script = join_modules(Path(__file__).parent / "sidebar.js")
    return st.components.v2.component("annotator_sidebar", js=script)
