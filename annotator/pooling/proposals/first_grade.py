"""Read the first grade of a proposal: one press, in the form of `POST /api/judgments`.

Impossible presses are refused. If the browser sends no time, text or guideline version, the server's values
are used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotator.domain.errors import ValidationError
from annotator.domain.grades import check_grade
from annotator.domain.judgments import read_event_id, read_pressed_at, read_seconds
from annotator.domain.texts import holds_no_text, read_note


@dataclass(frozen=True, slots=True)
class FirstGrade:
    """The annotator's grade for the proposed document. `event_id` makes a second delivery harmless."""

    event_id: str
    grade: int
    note: str | None
    pressed_at: datetime | None
    seconds: float | None
    document_sha256: str | None
    guideline_version: int | None


def read_first_grade(event: Mapping[str, Any]) -> FirstGrade:
    """Return the grade of a request. Raises ValidationError with the expected and the found value."""
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


def _read_sha256(value: object) -> str | None:
    if value is not None and (not isinstance(value, str) or holds_no_text(value)):
        raise ValidationError(f"document_sha256: expected a text, found {value!r:.80}")
    return value
