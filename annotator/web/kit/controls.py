"""Controls whose options are words of the program, and the address that says in a word what is chosen.

Streamlit writes an option into the address as it is shown, so in the reader's language; whoever is sent that
address may read another.
"""

from collections.abc import Sequence

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
