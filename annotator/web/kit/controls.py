"""Controls that are safe in several languages, keyboard focus after a press, and widgets whose value lives elsewhere.

Streamlit writes an option into the address in the reader's language; these controls read it in any language. When a
pressed button disappears, the focus moves to its result or to the page's next task. A value set through
`st.session_state` is sent once, and an interrupted run loses it: the widget then reports its default as a choice. So
the true value is always the default, and another value makes a new widget; `read_choice` ignores reports of old ones.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from annotator.domain.messages import Message
from annotator.web.kit.messages import LANGUAGES, current_language, tr, use_language
from annotator.web.kit.words import name_word


def find_asked(key: str, options: Sequence[str]) -> str | None:
    """The option that is chosen, before its control is drawn: kept, or named in the address in any language."""
    chosen = st.session_state.get(key)
    if chosen in options:
        return str(chosen)
    asked = st.query_params.get(key)
    return next((option for option in options if asked in list_names(option)), None)


def heed_address(key: str, options: Sequence[str]) -> bool:
    """Let the control with this key begin with what the address names in another language than the reader's; whether
    that was so."""
    asked = st.query_params.get(key)
    found = find_asked(key, options)
    if found is None or key in st.session_state or asked == name_word(found):
        return False
    st.session_state[key] = found
    return True


def heed_tab(key: str, names: Sequence[Message]) -> None:
    """Before tabs with these names are drawn: open the one that the address names in another language."""
    asked, chosen = st.query_params.get(key), st.session_state.get(key)
    shown = [tr(name) for name in names]
    if (chosen or asked) in (None, *shown):
        return
    found = next((name for name in names if (chosen or asked) in _say_everywhere(name)), None)
    if found is not None:
        st.session_state[key] = tr(found)


def list_names(option: str) -> tuple[str, ...]:
    """The option as it is called in each language."""
    return (option, *_say_everywhere(option))


def _say_everywhere(word: str) -> tuple[str, ...]:
    spoken, said = current_language(), []
    for language in LANGUAGES:
        use_language(language)
        said.append(tr(word) if isinstance(word, Message) else name_word(word))
    use_language(spoken)
    return tuple(said)


PRESSES, PLACE = "presses followed", "place of the press"


def note_press(place: str = "") -> None:
    """What was pressed will not be on the page when it is drawn again. Called where the press did its work. `place`: the key of
    the container that shows what came of it, if there is one."""
    st.session_state[PRESSES] = st.session_state.get(PRESSES, 0) + 1
    st.session_state[PLACE] = place


def keep_focus(*, from_top: bool = False) -> None:
    """At the end of a page: nothing of it is seen. `from_top`: the press led to another page, which is read from its top."""
    words = [st.session_state.get(PRESSES, ""), "top" if from_top else "", st.session_state.get(PLACE, "")]
    _follower()(key="focus", data=" ".join(map(str, words)) if words[0] else None)


@cache
def _follower() -> Any:
    script = (Path(__file__).parent / "focus_kept.js").read_text(encoding="utf-8")
    return st.components.v2.component("annotator_focus_kept", js=script)


T = TypeVar("T", bool, str, str | None)


def find_key(name: str, truth: T) -> tuple[str, T]:
    """Its key and its default. Whoever changes it keeps it, and the focus with it, as long as the truth follows."""
    turn, begun = st.session_state.get(f"{name} shown", (0, truth))
    if st.session_state.get(f"{name} {turn}", begun) != truth:
        turn, begun = turn + 1, truth
    st.session_state[f"{name} shown"] = turn, begun
    return f"{name} {turn}", begun


def read_choice(name: str, key: str) -> bool | str | None:
    """In the callback of a widget: what somebody chose in it; None where it is not this one any more that the page shows."""
    turn, _ = st.session_state.get(f"{name} shown", (None, None))
    found: bool | str | None = st.session_state.get(key) if key == f"{name} {turn}" else None
    return found
