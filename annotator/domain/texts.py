"""Check and clean typed texts: they have words, are not too long, and every character can be stored."""

import json
import re
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any, NamedTuple

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say

MAX_TEXT, MAX_OPTIONS = 10_000, 100_000
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class TextFault(NamedTuple):
    """A fault of a text: `expected` and `found` for an error in a file, `message` for a page."""

    expected: str
    found: str
    message: Message


NO_WORDS = TextFault("some words", "nothing", say("expected some words, found nothing"))


def find_fault(text: str, *, empty: TextFault | None, most: int = MAX_TEXT) -> TextFault | None:
    """Return the fault of a text, or None.

    `empty`: the fault to return for a text without words; None allows it. `most`: the maximum number of
    characters.
    """
    stripped = text.strip()
    if not stripped:
        return empty
    if len(stripped) > most:
        length = len(stripped)
        message = say("expected at most {most:,} characters, found {found:,}", most=most, found=length)
        return TextFault(f"at most {most:,} characters", f"{length:,}", message)
    if holds_no_text(stripped):
        message = say("expected text, found a character that cannot be stored")
        return TextFault("text", "a character that cannot be stored", message)
    return None


def check_text(name: str, text: str, *, empty: TextFault | None, most: int = MAX_TEXT) -> str:
    """Return the text, cleaned and stripped. Raises ValidationError for a fault."""
    cleaned = clean_text(text)
    fault = find_fault(cleaned, empty=empty, most=most)
    if fault is not None:
        raise ValidationError(say("{field}: {fault}", field=name, fault=fault.message))
    return cleaned.strip()


def read_note(note: object) -> str | None:
    """Return the note that a browser sends, cleaned; None if it is empty. Raises ValidationError for a bad one."""
    if note is not None and not isinstance(note, str):
        raise ValidationError(f"note: expected a text, found {note!r:.80}")
    if note is None or not note.strip():
        return None
    if len(note) > MAX_TEXT:
        raise ValidationError(f"note: expected at most {MAX_TEXT:,} characters, found {len(note):,}")
    return clean_text(note)


def check_options(options: Mapping[str, Any]) -> None:
    """Raise ValidationError if the options of an import or a round are too long to be recorded."""
    length = len(json.dumps(options, ensure_ascii=False, default=str))
    if length > MAX_OPTIONS:
        fault = say("expected at most {most:,} characters, found {found:,}", most=MAX_OPTIONS, found=length)
        raise ValidationError(say("{field}: {fault}", field=say("options"), fault=fault))


def clean_text(text: str) -> str:
    """Replace each NUL and lone surrogate by U+FFFD: no database can store them.

    So a person loses neither the rest of a typed text nor the grade that comes with it.
    """
    return UNSTORABLE.sub("\ufffd", text)


def holds_no_text(text: str) -> bool:
    """Return whether the text has a NUL or a lone surrogate: no database and no UTF-8 file can store them."""
    return UNSTORABLE.search(text) is not None


_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")


def check_version(version: str) -> str:
    """Return the version. Raises ValidationError unless it is MAJOR.MINOR.PATCH."""
    if not _VERSION.fullmatch(version):
        raise ValidationError(
            say("Enter a version such as 1.0.0 (MAJOR.MINOR.PATCH), not {found!r}.", found=version)
        )
    return version


EXCERPT_OF, EXCERPT = 1_500, 200
"""The characters of a document that an excerpt is cut from, and the longest excerpt."""
_UNSEEN_IN_HTML = re.compile(
    r"<(script|style|head)\b.*?(</\1\s*>|\Z)|<!--.*?(-->|\Z)|<[^<>]*(>|\Z)", re.S | re.I
)
_HEADING = re.compile(r"^#{1,6}[ \t]+", re.M)
_ONLY_SIGNS = re.compile(r"^[\s=\-~^*#_+|:.`\"']+$", re.M)


def cut_excerpt(text: str | None, media_type: str, *, title: str = "") -> str:
    """Return the first words of a document on one line, without markup and title; "" without a text.

    `text`: its beginning; EXCERPT_OF characters are enough. The excerpt ends with "…" if the document
    continues.
    """
    words = text or ""
    if media_type == "text/html":
        words = unescape(_UNSEEN_IN_HTML.sub(" ", words))
    words = " ".join(_ONLY_SIGNS.sub(" ", _HEADING.sub("", words)).split())
    heading = " ".join(title.split())
    if heading and words.startswith(heading):
        words = words[len(heading) :].lstrip()
    if len(words) <= EXCERPT and len(text or "") < EXCERPT_OF:
        return words
    return words[:EXCERPT].rstrip() + "…"


def choose_metadata(extra: Mapping[str, Any], shown: Sequence[str]) -> dict[str, str]:
    """Return the columns that the lead chose, as text; a list or object as JSON."""
    return {
        column: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for column in shown
        if (value := extra.get(column)) not in (None, "")
    }
