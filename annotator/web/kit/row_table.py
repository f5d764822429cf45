"""A table whose rows are chosen: by a click, or by Enter on the row's button; up and down move between rows.

Streamlit's own table is a canvas without a button that Enter could press. Every cell is shown as plain text. What
comes back is the key of a row, not its place, so that a row never stands for another.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from annotator.web.kit.modules import join_modules

HERE = Path(__file__).parent


def draw_rows(
    key: str,
    caption: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, Sequence[str]]],
    *,
    chosen: str | None,
    on_choose: Callable[[str], None],
    button: int = 0,
    leads_to: str = "",
    links: Sequence[str] = (),
    groups: Sequence[str] = (),
    tall: bool = False,
) -> None:
    """Draw the rows, each with its key. `button`: the column that names a row. `leads_to`: the CSS selector of what a
    choice shows, which is then brought into the window. `on_choose` runs before the page is drawn again. `links`: the
    addresses of what the rows show, where that is a page of its own: it can be opened in another tab. `groups`: the heading
    that each row belongs under, shown once above the rows that follow each other under it. `tall`: as high as its rows."""
    message = {
        "caption": caption,
        "columns": list(columns),
        "button": button,
        "chosen": chosen,
        "leadsTo": leads_to,
        "links": list(links),
        "groups": list(groups),
        "tall": tall,
        "rows": [{"key": name, "cells": list(cells)} for name, cells in rows],
    }
    _component()(
        key=key,
        data={"message": json.dumps(message, ensure_ascii=False)},
        on_chosen_change=lambda: _take(key, [name for name, _ in rows], on_choose),
    )


def _take(key: str, row_keys: list[str], on_choose: Callable[[str], None]) -> None:
    chosen_key = st.session_state[key]["chosen"]
    if chosen_key in row_keys:
        on_choose(chosen_key)


@cache
def _component() -> Any:
    html, css = ((HERE / f"row_table.{kind}").read_text(encoding="utf-8") for kind in ("html", "css"))
    js = join_modules(HERE / "row_table.js")
    return st.components.v2.component("annotator_rows", html=html, css=css, js=js)
