"""Check a text that somebody typed: it has words, is not too long, and every character can be stored."""

import re
from typing import NamedTuple

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say

MAX_TEXT = 10_000
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class TextFault(NamedTuple):
    """A fault of a text: as `expected` and `found` for errors in a file, and as a `message` for a page."""

    expected: str
    found: str
    message: Message


NO_WORDS = TextFault("some words", "nothing", say("expected some words, found nothing"))


def find_fault(text: str, *, empty: TextFault | None) -> TextFault | None:
    """Return what is wrong with a text; None if nothing is.

    `empty`: the fault of a text without words; None allows it.
    """
    stripped = text.strip()
    if not stripped:
        return empty
    if len(stripped) > MAX_TEXT:
        length = len(stripped)
        message = say("expected at most {most:,} characters, found {found:,}", most=MAX_TEXT, found=length)
        return TextFault(f"at most {MAX_TEXT:,} characters", f"{length:,}", message)
    if holds_no_text(stripped):
        message = say("expected text, found a character that no text may hold")
        return TextFault("text", "a character that no text may hold", message)
    return None


def check_text(name: Message, text: str, *, empty: TextFault | None) -> str:
    """Return the text without the white space around it. Raises ValidationError for what `find_fault` finds."""
    fault = find_fault(text, empty=empty)
    if fault is not None:
        raise ValidationError(say("{field}: {fault}", field=name, fault=fault.message))
    return text.strip()


def holds_no_text(text: str) -> bool:
    """Return whether the text has a NUL or a lone surrogate, which no database and no UTF-8 file can store."""
    return UNSTORABLE.search(text) is not None
