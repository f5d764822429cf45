"""Draw the shared parts of SVG pictures and coloured tables: safe text, lines, the frame, colours.

For pictures of releases and for reports of agreement and evaluations. The text is deterministic. More pairs have
a deeper colour; differing grades have another hue.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import sqrt

LONGEST = 66
JOINERS = "\u200c\u200d"  # parts of emoji and of words in some scripts


def draw_text(x: float, y: float, words: str, kind: str, *, anchor: str = "", transform: str = "") -> str:
    """Return a line of text of the class `kind` at (x, y), or at `transform` (an SVG attribute)."""
    marks = [transform or f'x="{x:g}" y="{y:g}"']
    marks += [f'class="{kind}"'] if kind else []
    marks += [f'text-anchor="{anchor}"'] if anchor else []
    return f"<text {' '.join(marks)}>{escape(words)}</text>"


def draw_line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    """Return a line of the class `kind`."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def frame_picture(
    width: int,
    height: int,
    title: str,
    described: str,
    parts: Sequence[str],
    *,
    style: str = "",
    name: str = "",
) -> str:
    """Return the whole picture.

    `described`: the text alternative, with every number. `name`: a prefix of its ids, unique on the page.
    """
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    titled, about = f"{name}title", f"{name}about"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="{titled} {about}">',
            f'<title id="{titled}">{escape(title)}</title>',
            f'<desc id="{about}">{escape(described)}</desc>',
            *([style] if style else []),
            f'<rect class="ground" width="{width}" height="{height}" rx="6"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def cut(words: str, longest: int = LONGEST) -> str:
    """Clean the words and cut them to `longest` columns, ended with "…". A full-width character takes two."""
    kept: list[str] = []
    room = longest
    for character in clean(words):
        room -= 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if room < 0:
            return "".join(kept).rstrip() + "…"
        kept.append(character)
    return "".join(kept)


def clean(words: str) -> str:
    """Remove characters that XML refuses, or that change the writing direction."""
    return "".join(
        character
        for character in words
        if character in JOINERS or unicodedata.category(character) not in ("Cc", "Cs", "Cf", "Cn")
    )


def clean_value(value: object) -> object:
    """Return a value of a template as `clean` text. Markup is clean already."""
    return value if hasattr(value, "__html__") else clean(str(value))


Colour = tuple[int, int, int]
AGREED: tuple[Colour, Colour] = (227, 240, 241), (25, 97, 107)
DIFFERED: tuple[Colour, Colour] = (251, 240, 228), (156, 74, 26)
MIDDLE = 0.179  # the luminance at which black and white have the same contrast, 4.58:1


def colour_cell(count: float, most: float, *, same: bool) -> tuple[str, bool]:
    """Return the colour (#rrggbb) of a cell with `count` of `most` pairs, and whether its text is black."""
    return colour_share(sqrt(count / most), same=same)


def colour_share(share: float, *, same: bool) -> tuple[str, bool]:
    """Return the colour of a share from 0 (pale) to 1 (deep), and whether its text is black."""
    low, high = AGREED if same else DIFFERED
    ground = [round(a + (b - a) * share) for a, b in zip(low, high, strict=True)]
    return "#{:02x}{:02x}{:02x}".format(*ground), _compute_luminance(ground) > MIDDLE


def _compute_luminance(ground: list[int]) -> float:
    """Return the relative luminance. Source: WCAG 2.2."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in ground)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A cell of a matrix."""

    text: str
    background: str = ""  # #rrggbb; "": neutral
    color: str = ""  # of the text


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A row of a matrix: a number or "", and a name or ""."""

    number: int | str
    name: str
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True, slots=True)
class ColouredMatrix:
    """A table whose colours say how high its numbers are."""

    caption: str
    columns: Sequence[int | str]
    rows: tuple[MatrixRow, ...]


def colour_text(text: str, background: str, black: bool) -> MatrixCell:
    """Return a cell in a colour of `colour_cell` or `colour_share`."""
    return MatrixCell(text, background, "#000" if black else "#fff")
