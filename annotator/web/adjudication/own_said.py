"""What was said of a pair, in words: a grade with its name, and the pair itself. For the annotator's discussions and decisions."""

from collections.abc import Sequence
from html import escape

from annotator.web.kit.messages import tr
from annotator.web.kit.text import show_as


def name_said(outcome: str, grade: int | None, names: Sequence[str]) -> str:
    """ "2 · Highly relevant", or that it cannot be rated."""
    return tr("unrateable") if grade is None or outcome != "graded" else f"{grade} · {names[grade]}"


def describe_pair(query: str, narrative: str | None, doc_id: str, title: str) -> str:
    """The query and the document, as HTML."""
    document = f"<code>{escape(doc_id)}</code>"
    shown = f"<strong>{escape(title)}</strong> " if title and title != doc_id else ""
    told = show_as("narrative", narrative) if narrative else ""
    return f'{show_as("query", query)}{told}<p class="annotator-person" dir="auto">{shown}{document}</p>'
