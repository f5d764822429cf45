"""A table to read whose cells may lead somewhere: the keyboard's way to what a click on a chart opens."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from annotator.web.agreement.agreement_links import write_link
from annotator.web.kit.tables import SENTENCE, escape_breakable, mark_column

ROOM = ' style="min-width: 16rem"'


@dataclass(frozen=True, slots=True)
class Link:
    """A cell that leads to `address`; `says`: what a screen reader reads in place of its text."""

    text: str
    address: str
    says: str = ""


Cell = str | Link | Sequence[str | Link]
"""Text, a link, or several of them, one line each."""


def draw_link_table(
    caption: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    tall: bool = False,
    roomy: bool = False,
) -> None:
    """The rows; every text is shown as plain text in its own direction. The first column names its row. `tall`: as high
    as its rows. `roomy`: a sentence beside many figures keeps its room on a narrow screen."""
    told = [list(row) for row in rows]
    marks = [mark_column([_text(row[at]) for row in told]) for at in range(len(columns))]
    rooms = [roomy and any(len(_text(row[at])) > SENTENCE for row in told) for at in range(len(columns))]
    heads = "".join(
        f'<th scope="col" dir="auto"{ROOM if room else ""}>{escape(name)}</th>'
        for name, room in zip(columns, rooms, strict=True)
    )
    body = "".join(f"<tr>{_row(row, marks)}</tr>" for row in told)
    style = ' style="max-height: none"' if tall else ""
    st.html(
        f'<div class="annotator-scroll" role="region" tabindex="0" aria-label="{escape(caption)}"{style}>'
        f'<table class="annotator-table"><caption class="annotator-unseen">{escape(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(row: Sequence[Cell], marks: Sequence[str]) -> str:
    cells = [f"{mark}>{_cell(cell)}" for mark, cell in zip(marks, row, strict=True)]
    first = f'<th scope="row" dir="auto"{cells[0]}</th>'
    return first + "".join(f'<td dir="auto"{cell}</td>' for cell in cells[1:])


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return escape_breakable(cell)
    if isinstance(cell, Link):
        return write_link(cell.text, cell.address, says=cell.says)
    return "<br>".join(_cell(one) for one in cell if not isinstance(one, str) or one)


def _text(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    return cell.text if isinstance(cell, Link) else " ".join(_text(one) for one in cell)
