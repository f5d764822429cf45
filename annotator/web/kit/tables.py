"""Draw tables as plain HTML, with cells that may be links, and links for mouse and keyboard alike.

Plain HTML wraps on a narrow screen, and a screen reader finds its headings. With linked cells the keyboard
reaches everything that a click on a chart opens.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

LONG = 12
SENTENCE = 30  # a text of more characters
FIGURES = ' class="annotator-figure"'
FIGURE = re.compile(r"[^\W\d]{0,3}\W{0,2}\d.{0,18}")


def draw_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Draw the rows. Every cell is plain text with its own writing direction. The first column names its row.

    `caption`: for screen readers."""
    shown_rows = [["–" if cell is None else str(cell) for cell in row] for row in rows]
    marks = [
        mark_column([row[column_index] for row in shown_rows])
        or _mark_sentences([row[column_index] for row in shown_rows])
        for column_index in range(len(columns))
    ]
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    _write_table(caption, heads, shown_rows, marks)


def mark_column(cells: Sequence[str]) -> str:
    """Return the HTML attribute of a column's cells.

    A figure or time ("68 %", "Jan 2, 2026 12:04") stays on one line. A long word (an id, a text without
    spaces) may break anywhere.
    """
    filled = [cell for cell in cells if cell not in ("", "–")]
    if filled and all(FIGURE.fullmatch(cell) for cell in filled):
        return FIGURES
    return (
        ' class="annotator-long"' if any(len(word) > LONG for cell in filled for word in cell.split()) else ""
    )


def _mark_sentences(cells: Sequence[str]) -> str:
    """Return the HTML attribute of a column of sentences, which keeps its width next to figures.

    On a narrow screen the table scrolls, and its rows do not grow.
    """
    return ' class="annotator-sentence"' if any(len(cell) > SENTENCE for cell in cells) else ""


def escape_breakable(cell: str) -> str:
    """Return the text for HTML. A long id breaks first after its signs (_ / . #)."""
    parts = re.split(r"(\s+)", cell)
    return "".join(
        re.sub(r"(?<=\w)([_/.#])(?=\w)", r"\1<wbr>", escape(part)) if len(part) > LONG else escape(part)
        for part in parts
    )


ROOM = ' style="min-width: 16rem"'


@dataclass(frozen=True, slots=True)
class Link:
    """A cell with a link to the URL `address`. `says`: replaces its text for screen readers."""

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
    stacked: bool = False,
) -> None:
    """Draw the rows. Every text is plain text with its own writing direction. The first column names its row.

    `tall`: as high as its rows. `roomy`: sentences keep their width next to many figures on a narrow screen.
    `stacked`: a narrow screen shows the cells of a row below each other, each with its column name.
    """
    shown_rows = [list(row) for row in rows]
    marks = [mark_column([_text(row[at]) for row in shown_rows]) for at in range(len(columns))]
    rooms = [
        roomy and any(len(_text(row[at])) > SENTENCE for row in shown_rows) for at in range(len(columns))
    ]
    heads = "".join(
        f'<th scope="col" dir="auto"{ROOM if room else ""}>{escape(name)}</th>'
        for name, room in zip(columns, rooms, strict=True)
    )
    if stacked:
        marks = [
            f'{mark} data-column="{escape(name)}"' if FIGURES in mark or not mark else mark
            for name, mark in zip(columns, marks, strict=True)
        ]
    _write_table(caption, heads, shown_rows, marks, tall=tall, stacked=stacked)


def _write_table(
    caption: str,
    heads: str,
    rows: Iterable[Sequence[Cell]],
    marks: Sequence[str],
    *,
    tall: bool = False,
    stacked: bool = False,
) -> None:
    """Draw the table. `heads`: HTML of the header cells; `marks`: HTML attributes by column."""
    body = "".join(f"<tr>{_row(row, marks)}</tr>" for row in rows)
    draw_html_table(caption, heads, body, " annotator-stacked" if stacked else "", tall=tall)


def draw_html_table(caption: str, heads: str, body: str, classes: str = "", *, tall: bool = True) -> None:
    """Draw a table of our own HTML. `caption`: for screen readers. `classes`: further ones, each after a space."""
    style = ' style="max-height: none"' if tall else ""
    st.html(
        f'<div class="annotator-scroll" role="region" tabindex="0" aria-label="{escape(caption)}"{style}>'
        f'<table class="annotator-table{classes}"><caption class="annotator-unseen">{escape(caption)}</caption>'
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
    return "<br>".join(_cell(part) for part in cell if not isinstance(part, str) or part)


def _text(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    return cell.text if isinstance(cell, Link) else " ".join(_text(part) for part in cell)


SHORT = 16  # a link in a table: not to be broken


def write_link(label: str, address: str, *, says: str = "") -> str:
    """Return an HTML link that opens in this tab. `says`: what a screen reader reads instead of the label."""
    named = f' aria-label="{escape(says)}"' if says else ""
    style = ' style="white-space: nowrap"' if len(label) <= SHORT else ""
    return (
        f'<a class="annotator-link" href="{escape(address)}" target="_self"{named}{style}>{escape(label)}</a>'
    )


def draw_file_link(label: str, address: str) -> None:
    st.html(f'<a class="annotator-link annotator-file" href="{escape(address)}" download>{escape(label)}</a>')
