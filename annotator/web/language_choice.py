"""The choice of a language by its reader, and the page telling the browser which one it speaks."""

from functools import cache
from typing import Any, Literal

import streamlit as st

from annotator.people.service import choose_language
from annotator.web.kit.messages import LANGUAGES, current_language, tr
from annotator.web.kit.shown_value import find_key, read_choice
from annotator.web.page_context import find_context

BROWSER = "browser"
DECLARE = "export default function ({ data }) { document.documentElement.lang = data.language; }"


def draw_language_choice(name: str, *, label_visibility: Literal["visible", "collapsed"] = "visible") -> None:
    """A select of the languages, each in its own name; what is chosen is kept and spoken at once."""
    key, language = find_key(name, current_language())
    st.selectbox(
        tr("Language"), list(LANGUAGES), list(LANGUAGES).index(language), key=key, format_func=LANGUAGES.__getitem__,
        on_change=_choose, args=(name, key), label_visibility=label_visibility,
    )  # fmt: skip


def forget_choice() -> None:
    """Follow the browser again."""
    context = find_context()
    if context is not None:
        choose_language(context.database, context.actor, None)


def declare_language() -> None:
    """Let screen readers, fonts and the browser's own translation know in which language the page is."""
    _declaring()(key="language", data={"language": current_language()})


def _choose(name: str, key: str) -> None:
    context, chosen = find_context(), read_choice(name, key)
    if context is not None and isinstance(chosen, str):
        choose_language(context.database, context.actor, chosen)


@cache
def _declaring() -> Any:
    return st.components.v2.component("annotator_language", js=DECLARE)
