"""Draw a table with selectable rows: by a click, or by Enter on the row's button; up and down move between rows.

Streamlit's own table is a canvas without buttons for Enter. Every cell is plain text. The component returns
the key of a row, not its position, so it can never select another row.
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
    """Draw the rows, each with its key.

    `button`: the column that names a row. `leads_to`: CSS selector of the content that a choice shows; the window scrolls to it.
    `on_choose`: callback. `links`: URLs of the rows' own pages, which can be opened in another tab. `groups`: each row's
    heading, shown once above neighbouring rows with the same heading. `tall`: as high as its rows."""
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
