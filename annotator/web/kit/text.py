"""Text that others wrote, as a page may show it: nothing in it is ever markup.

Documents, queries, notes and rubrics may hold any characters. `st.html` gets them escaped; labels and captions
of widgets are Markdown, so there every character that could mean something is escaped for that.
"""

import re
from html import escape

_INSIDE_A_WORD = (
    r"(?<=[^\W_])_(?=[^\W_])"  # means nothing there, and a screen reader would read its backslash
)
_PUNCTUATION = re.compile(rf"(?!{_INSIDE_A_WORD})([!-/:-@\[-`{{-~])")


def escape_markdown(text: str) -> str:
    """The text for a widget's label or caption, on one line, shown as it is."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def show_as(name: str, text: str, *, place: str = "p") -> str:
    """HTML: a text of others in an element of the class `annotator-<name>`, in its own direction."""
    return f'<{place} class="annotator-{name}" dir="auto">{escape(text)}</{place}>'
