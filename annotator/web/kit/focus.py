"""Keeps the keyboard's place: where the button that was pressed is gone, the focus goes to what came of it or to the page's
next task."""

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

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
