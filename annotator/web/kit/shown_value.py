"""A widget that shows what is true elsewhere: its key, and the value with which it comes to the screen.

A value written into `st.session_state` reaches the browser in one message. Where the next drawing cuts that one short the
widget shows its default, reports it, and that is taken for somebody's choice. A default comes with every drawing: so the truth
is the default, and a widget that must show something else than what stands in it is a new one. What a browser still reports of
one that is gone counts as changed, too: `read_choice` tells.
"""

from typing import TypeVar

import streamlit as st

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
