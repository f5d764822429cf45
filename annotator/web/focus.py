"""Keeps the keyboard's place: where the button that was pressed is gone, the focus goes to the page's next task."""

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

PRESSES = "presses followed"


def note_press() -> None:
    """What was pressed will not be on the page when it is drawn again. Called where the press did its work."""
    st.session_state[PRESSES] = st.session_state.get(PRESSES, 0) + 1


def keep_focus(*, from_top: bool = False) -> None:
    """At the end of a page: nothing of it is seen. `from_top`: the press led to another page, which is read from its top."""
    press = str(st.session_state.get(PRESSES, ""))
    _follower()(key="focus", data=(f"{press} top" if from_top else press) if press else None)


@cache
def _follower() -> Any:
    script = (Path(__file__).parent / "focus_kept.js").read_text(encoding="utf-8")
    return st.components.v2.component("annotator_focus_kept", js=script)
