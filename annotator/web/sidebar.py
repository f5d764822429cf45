"""Draw the sidebar (dataset, pages in groups, counts of waiting work) and the account menu.

The menu has account, language and sign-out. It stays in the corner of the window, also with a closed sidebar.
On pages for judging and deciding, the sidebar is closed at first even on a wide screen, because the document
needs the room.
"""

import json
from html import escape
from pathlib import Path
from typing import Literal
from unicodedata import east_asian_width

import streamlit as st

from annotator.domain.figures import show_number
from annotator.domain.messages import Message, say
from annotator.overview.waiting_service import WaitingWork, count_waiting_work
from annotator.people.service import choose_language
from annotator.web.kit.components import load_component, write_message
from annotator.web.kit.controls import find_key, read_choice
from annotator.web.kit.messages import LANGUAGES, current_language, tr
from annotator.web.kit.text import escape_markdown
from annotator.web.kit.words import name_role
from annotator.web.navigation import GROUPS, MENU, AppPage, list_groups
from annotator.web.page_context import PageContext, find_context

HERE = Path(__file__).parent
STREAMLITS_WORDS: dict[str, Message] = {
    "Upload": say("Upload"),
    "Upload directories": say("Choose a folder"),
    "Drag and drop files here": say("Drop files here"),
    "Drag and drop directories here": say("Drop a folder here"),
    "{mb} MB per file": say("{mb} MB per file", mb="{mb}"),
    "No results": say("No results"),
    "Choose an option": say("Choose"),
    "Choose options": say("Choose"),
    "Press {key} to apply": say("Press {key} to apply", key="{key}"),
    "Press {key} to submit form": say("Press {key} to send", key="{key}"),
    "Skip to main content": say("Skip to main content"),
    "Sidebar": say("Sidebar"),
    "Open": say("Open the list"),
    "Link to heading": say("Link to this heading"),
    "Decrement": say("Less"),
    "Increment": say("More"),
    "file upload": say("Choose files"),
    "Selected values": say("Chosen"),
    "Remove {option}": say("Remove {option}", option="{option}"),
    "Clear all": say("Clear all"),
    "Select all": say("Select all"),
    "Show password": say("Show password"),
    "Hide password": say("Hide password"),
}
"""What Streamlit writes itself, in English only, with what a reader gets instead."""


def draw_language_choice(name: str, *, label_visibility: Literal["visible", "collapsed"] = "visible") -> None:
    """Draw a select of the languages by their own names. A choice is stored and applies immediately."""
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
    context = find_context()
    if context is not None:
        context.call(choose_language, None)


def declare_language() -> None:
    """Declare the page's language, for screen readers, fonts and the browser's translation."""
    words = json.dumps({theirs: tr(ours) for theirs, ours in STREAMLITS_WORDS.items()}, ensure_ascii=False)
    declaring = load_component("annotator_language", HERE / "streamlit_words.js")
    declaring(key="language", data={"language": current_language(), "words": words})


def _choose_language(name: str, key: str) -> None:
    context, chosen = find_context(), read_choice(name, key)
    if context is not None and isinstance(chosen, str):
        context.call(choose_language, chosen)


NAME = '<div class="annotator-name"><img src="/favicon.png" alt="" width="32" height="32"><span>Annotator</span></div>'
GROUP = '<div class="annotator-group" role="heading" aria-level="2">{}</div>'
WHO = '<div class="annotator-who"><strong dir="auto">{}</strong><span class="annotator-soft">{}</span></div>'
SIGN_OUT = (
    '<form method="post" action="/logout" class="annotator-out"><button type="submit">{}</button></form>'
)
MOST_SHOWN = 999
ROOM = 24  # narrow letters in the field with the dataset


def draw_sidebar(context: PageContext, pages: dict[str, st.Page]) -> None:
    """Draw the sidebar. `pages`: {URL path: Streamlit page}. Every link carries the chosen dataset."""
    st.html(NAME)
    _draw_dataset(context)
    waiting = _count_waiting(context)
    groups = [
        (group, listed) for group, listed in list_groups(context.person, context.dataset) if group != MENU
    ]
    for group, listed in groups:
        if group in GROUPS and len(groups) > 2:
            st.html(GROUP.format(escape(tr(GROUPS[group]))))
        for page in listed:
            _draw_page_link(context, pages, page, waiting.get(page.address, 0))


def draw_account_menu(
    context: PageContext, pages: dict[str, st.Page], address: str, *, reading: bool
) -> None:
    """Draw the menu in the corner of the window, and the script of menu and sidebar. `address`: of the page."""
    name, role = context.person.name, name_role(context.role) if context.role else tr("no role yet")
    words = {
        "account": tr("Account: {name}", name=name),
        "open": tr("Open the sidebar"),
        "close": tr("Close the sidebar"),
        "reading": reading,
        "page": address,
    }
    with st.container(key="annotator-account"):
        with st.popover(escape_markdown(name), icon=":material/account_circle:", type="tertiary"):
            st.html(WHO.format(escape(name), escape(role)))
            for group, listed in list_groups(context.person, context.dataset):
                for page in listed if group == MENU else ():
                    _draw_page_link(context, pages, page, 0)
            draw_language_choice("menu_language")
            st.html(SIGN_OUT.format(escape(tr("Sign out"))))
        load_component("annotator_sidebar", HERE / "sidebar.js")(key="sidebar", data=write_message(words))


def list_parameters(context: PageContext) -> dict[str, str]:
    """Return the query parameters that every link within the app carries."""
    return {"dataset": context.dataset} if context.dataset else {}


def _draw_page_link(context: PageContext, pages: dict[str, st.Page], page: AppPage, waiting: int) -> None:
    label = None
    if waiting:
        shown = f"{show_number(MOST_SHOWN)}+" if waiting > MOST_SHOWN else show_number(waiting)
        label = f"{tr(page.title)} :gray-badge[{shown}]"
    st.page_link(
        pages[page.address],
        label=label,
        icon=page.icon,
        query_params=list_parameters(context),
        width="stretch",
    )


def _count_waiting(context: PageContext) -> dict[str, int]:
    """Return {page address: waiting items}. Labeling does not redraw the sidebar."""
    waiting = WaitingWork()
    if context.dataset is not None and context.role is not None and not context.person.must_change_password:
        waiting = context.call(count_waiting_work, context.dataset, context.role, now=context.now)
    return {
        "work": waiting.news,
        "questions": waiting.questions,
        "disagreements": waiting.disagreements,
        "quality": waiting.checks,
    }


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
        title = titles.get(context.dataset or "", "")
        if is_cut(title):  # the field has one line; screen readers have the whole title there
            st.html(f'<div class="annotator-soft" dir="auto" aria-hidden="true">{escape(title)}</div>')


def is_cut(title: str) -> bool:
    """Return whether the title is too long for the sidebar's field. Wide letters count twice."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in title) > ROOM


def _choose(key: str) -> None:
    chosen = read_choice("chosen_dataset", key)
    if isinstance(chosen, str):
        st.query_params["dataset"] = chosen
