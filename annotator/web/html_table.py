"""A table to read: plain HTML, so that it wraps on a narrow screen and a screen reader finds its headings."""

import re
from collections.abc import Iterable, Sequence
from html import escape

import streamlit as st

LONG = 12


def draw_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """The rows as they are given; every cell is shown as plain text in its own direction. `caption` is for those
    who do not see it. The first column names its row."""
    told = [["–" if cell is None else str(cell) for cell in row] for row in rows]
    long = [
        any(len(word) > LONG for row in told for word in row[place].split()) for place in range(len(columns))
    ]
    shown = [[escape_breakable(cell) for cell in row] for row in told]
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(f"<tr>{_cells(row, long)}</tr>" for row in shown)
    st.html(
        f'<div class="annotator-scroll" role="region" tabindex="0" aria-label="{escape(caption)}">'
        f'<table class="annotator-table"><caption class="annotator-unseen">{escape(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def escape_breakable(cell: str) -> str:
    """The text for HTML; a long id is broken behind its signs before it is broken anywhere."""
    parts = re.split(r"(\s+)", cell)
    return "".join(
        re.sub(r"(?<=\w)([_/.#])(?=\w)", r"\1<wbr>", escape(part)) if len(part) > LONG else escape(part)
        for part in parts
    )


def _cells(row: Sequence[str], long: Sequence[bool]) -> str:
    """Where a column holds a long word (an id, a text without spaces), it may be broken anywhere."""
    marks = [' class="annotator-long"' if is_long else "" for is_long in long]
    first = f'<th scope="row" dir="auto"{marks[0]}>{row[0]}</th>'
    rest = zip(row[1:], marks[1:], strict=True)
    return first + "".join(f'<td dir="auto"{mark}>{cell}</td>' for cell, mark in rest)
