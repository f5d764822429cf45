"""What a text that somebody typed must be: words, not too many of them, and only characters that can be stored."""

import re
from typing import NamedTuple

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say

MAX_TEXT = 10_000
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class TextFault(NamedTuple):
    """What is wrong with a text: in two parts for whoever names a line of a file, and as `said` on a page."""

    expected: str
    found: str
    said: Message


NO_WORDS = TextFault("some words", "nothing", say("expected some words, found nothing"))


def find_fault(text: str, *, empty: TextFault | None) -> TextFault | None:
    """What is wrong with a text, None when it is fine. `empty`: the fault of one without words; None: that is fine."""
    stripped = text.strip()
    if not stripped:
        return empty
    if len(stripped) > MAX_TEXT:
        found = len(stripped)
        said = say("expected at most {most:,} characters, found {found:,}", most=MAX_TEXT, found=found)
        return TextFault(f"at most {MAX_TEXT:,} characters", f"{found:,}", said)
    if holds_no_text(stripped):
        said = say("expected text, found a character that no text may hold")
        return TextFault("text", "a character that no text may hold", said)
    return None


def check_text(name: Message, text: str, *, empty: TextFault | None) -> str:
    """The text without the white space around it. ValidationError for what `find_fault` finds."""
    fault = find_fault(text, empty=empty)
    if fault is not None:
        raise ValidationError(say("{field}: {fault}", field=name, fault=fault.said))
    return text.strip()


def holds_no_text(text: str) -> bool:
    """Whether it holds a NUL or a lone surrogate: no database and no file in UTF-8 keeps them."""
    return UNSTORABLE.search(text) is not None
