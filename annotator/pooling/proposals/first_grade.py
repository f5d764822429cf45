"""Reads the first grade that comes with a proposal: one press, as `POST /api/judgments` takes them. Pure rules.

Refuses what no press could have produced. What the browser leaves out is taken from the server: the time, the text and
the version of the guideline.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotator.domain.errors import ValidationError
from annotator.domain.grades import check_grade
from annotator.domain.judgments import read_event_id
from annotator.domain.press_times import read_pressed_at, read_seconds
from annotator.domain.texts import clean_text, holds_no_text

MAX_NOTE = 10_000


@dataclass(frozen=True, slots=True)
class FirstGrade:
    """The annotator's own grade for the document that they propose; `event_id` makes a second delivery harmless."""

    event_id: str
    grade: int
    note: str | None
    pressed_at: datetime | None
    seconds: float | None
    document_sha256: str | None
    guideline_version: int | None


def read_first_grade(event: Mapping[str, Any]) -> FirstGrade:
    """Return the grade of a request. ValidationError says what was expected and found."""
    version, pressed_at = event.get("guideline_version"), event.get("pressed_at")
    return FirstGrade(
        event_id=read_event_id(event.get("id")),
        grade=check_grade(event.get("grade")),
        note=read_note(event.get("note")),
        pressed_at=None if pressed_at is None else read_pressed_at(pressed_at),
        seconds=read_seconds(event.get("seconds")),
        document_sha256=_read_sha256(event.get("document_sha256")),
        guideline_version=version if type(version) is int else None,
    )


def read_note(note: object) -> str | None:
    """Return a note, None when it is empty."""
    if note is None or note == "":
        return None
    if not isinstance(note, str):
        raise ValidationError(f"note: expected a text, found {note!r:.80}")
    if len(note) > MAX_NOTE:
        raise ValidationError(f"note: expected at most {MAX_NOTE:,} characters, found {len(note):,}")
    return clean_text(note) if note.strip() else None


def _read_sha256(value: object) -> str | None:
    if value is not None and (not isinstance(value, str) or holds_no_text(value)):
        raise ValidationError(f"document_sha256: expected a text, found {value!r:.80}")
    return value
