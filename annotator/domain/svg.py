"""What every picture is made of: text that XML bears, lines of text, and the frame that tells its content in words.

Shared by the pictures of a release and those of an agreement report. Pure text; deterministic.
"""

import unicodedata
from collections.abc import Sequence
from html import escape

LONGEST = 66
JOINERS = "\u200c\u200d"  # parts of emoji and of words in some scripts


def draw_text(x: float, y: float, words: str, kind: str, *, anchor: str = "", place: str = "") -> str:
    """A line of text of the class `kind` at (x, y), or where `place`, a transformation, puts it."""
    marks = [place or f'x="{x:g}" y="{y:g}"']
    marks += [f'class="{kind}"'] if kind else []
    marks += [f'text-anchor="{anchor}"'] if anchor else []
    return f"<text {' '.join(marks)}>{escape(words)}</text>"


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
    """The whole picture. `described`: every number, for those who do not see it. `name`: sets its ids apart from those
    of other pictures on the page."""
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
    """At most so many columns, full-width characters counting two."""
    kept: list[str] = []
    room = longest
    for character in clean(words):
        room -= 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if room < 0:
            return "".join(kept).rstrip() + "…"
        kept.append(character)
    return "".join(kept)


def clean(words: str) -> str:
    """Without characters that XML refuses or that turn the direction of what follows."""
    return "".join(
        character
        for character in words
        if character in JOINERS or unicodedata.category(character) not in ("Cc", "Cs", "Cf", "Cn")
    )
