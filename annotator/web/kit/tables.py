"""Draw tables as plain HTML, with cells that may be links, and links for mouse and keyboard alike.

Plain HTML wraps on a narrow screen, and a screen reader finds its headings. With linked cells the keyboard
reaches everything that a click on a chart opens.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from annotator.domain.figures import write_minus

LONG = 12
SENTENCE = 30  # a text of more characters
FIGURES, NUMBERS = "annotator-figure", ' class="annotator-number"'
FIGURE = re.compile(r"[^\W\d]{0,3}\W{0,3}\d.{0,18}(?: \[[^\]]*\])?")
NUMBER = re.compile(r"[^\w\[(]{0,3}\d[\d,.]*(?:\s?[%s/]\s?[\d,.]*)?(?: \[[^\]]*\])?")


def draw_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Draw the rows as plain text, None as a dash. See `draw_link_table`."""
    shown_rows = [["–" if cell is None else str(cell) for cell in row] for row in rows]
    draw_link_table(caption, columns, shown_rows, roomy=True)


def classify_column(cells: Sequence[str], *, roomy: bool = False, names_row: bool = False) -> str:
    """Return the CSS classes of a column's cells.

    A figure or time ("68 %", "Jan 2, 2026 12:04") stays on one line, and numbers stand to the right. A long word (an
    id, a text without spaces) may break anywhere. `roomy`: a sentence keeps its width next to figures, so on a narrow
    screen the table scrolls, and its rows do not grow. `names_row`: the cells are names, not amounts.
    """
    filled = [cell for cell in cells if cell not in ("", "–")]
    if filled and all(FIGURE.fullmatch(cell) for cell in filled):
        is_number = not names_row and all(NUMBER.fullmatch(cell) for cell in filled)
        return f"{FIGURES} annotator-number" if is_number else FIGURES
    kinds = {
        "annotator-long": any(len(word) > LONG for cell in filled for word in cell.split()),
        "annotator-sentence": roomy and any(len(cell) > SENTENCE for cell in filled),
    }
    return " ".join(kind for kind, holds in kinds.items() if holds)


def escape_breakable(cell: str) -> str:
    """Return the text for HTML. A long id breaks first after its signs (_ / . #)."""
    parts = re.split(r"(\s+)", cell)
    return "".join(
        re.sub(r"(?<=\w)([_/.#])(?=\w)", r"\1<wbr>", escape(part)) if len(part) > LONG else escape(part)
        for part in parts
    )


@dataclass(frozen=True, slots=True)
class Link:
    """A cell with a link to the URL `address`. `says`: replaces its text for screen readers."""

    text: str
    address: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class TintedCell:
    """A cell of a heat map. `fill`, `ink`: CSS colours of its background and text."""

    text: str
    fill: str
    ink: str


Cell = str | Link | TintedCell | Sequence[str | Link]
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

    `tall`: as high as its rows. `roomy`: see `classify_column`.
    `stacked`: a narrow screen shows the cells of a row below each other, each with its column name.
    """
    shown_rows = [list(row) for row in rows]
    kinds = [
        classify_column([_text(row[at]) for row in shown_rows], roomy=roomy, names_row=not at)
        for at in range(len(columns))
    ]
    marks = [f' class="{kind}"' if kind else "" for kind in kinds]
    heads = "".join(
        f'<th scope="col" dir="auto"{NUMBERS if "annotator-number" in kind else ""}>{escape(name)}</th>'
        for name, kind in zip(columns, kinds, strict=True)
    )
    if stacked:
        marks = [
            f'{mark} data-column="{escape(name)}"' if FIGURES in mark or not mark else mark
            for name, mark in zip(columns, marks, strict=True)
        ]
    body = "".join(f"<tr>{_row(row, marks)}</tr>" for row in shown_rows)
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
    cells = [
        f"{mark}{_tint(cell)}>{_cell(cell, is_figure=FIGURES in mark)}"
        for mark, cell in zip(marks, row, strict=True)
    ]
    first = f'<th scope="row" dir="auto"{cells[0]}</th>'
    return first + "".join(f'<td dir="auto"{cell}</td>' for cell in cells[1:])


def _tint(cell: Cell) -> str:
    return f' style="background: {cell.fill}; color: {cell.ink}"' if isinstance(cell, TintedCell) else ""


def _cell(cell: Cell, *, is_figure: bool) -> str:
    if isinstance(cell, TintedCell):
        cell = cell.text
    if isinstance(cell, str):
        return escape_breakable(write_minus(cell) if is_figure else cell)
    if isinstance(cell, Link):
        return write_link(cell.text, cell.address, says=cell.says)
    return "<br>".join(_cell(part, is_figure=is_figure) for part in cell if not isinstance(part, str) or part)


def _text(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    return cell.text if isinstance(cell, (Link, TintedCell)) else " ".join(_text(part) for part in cell)


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
