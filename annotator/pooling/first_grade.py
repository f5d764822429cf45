"""Reads the first grade that comes with a proposal: one press, as `POST /api/judgments` takes them. Pure rules.

Refuses what no press could have produced. What the browser leaves out is taken from the server: the time, the text and
the version of the guideline.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from annotator.domain.errors import ValidationError
from annotator.domain.grades import check_grade
from annotator.domain.texts import holds_no_text

MAX_NOTE, MAX_SECONDS = 10_000, 86_400.0


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


def read_first_grade(found: Mapping[str, Any]) -> FirstGrade:
    """The grade of a request. ValidationError says what was expected and found."""
    version = found.get("guideline_version")
    return FirstGrade(
        event_id=_read_uuid(found.get("id")),
        grade=check_grade(found.get("grade")),
        note=read_note(found.get("note")),
        pressed_at=_read_time(found.get("pressed_at")),
        seconds=_read_seconds(found.get("seconds")),
        document_sha256=_read_sha256(found.get("document_sha256")),
        guideline_version=version if type(version) is int else None,
    )


def read_note(found: object) -> str | None:
    """A note, None when it is empty."""
    if found is None or found == "":
        return None
    if not isinstance(found, str):
        raise ValidationError(f"note: expected a text, found {found!r:.80}")
    if len(found) > MAX_NOTE:
        raise ValidationError(f"note: expected at most {MAX_NOTE:,} characters, found {len(found):,}")
    if holds_no_text(found):
        raise ValidationError("note: expected text, found a character that is none")
    return found if found.strip() else None


def _read_uuid(found: object) -> str:
    try:
        return str(uuid.UUID(str(found)))
    except ValueError:
        raise ValidationError(f"id: expected a UUID, found {found!r:.80}") from None


def _read_time(found: object) -> datetime | None:
    if found is None:
        return None
    try:
        time = datetime.fromisoformat(str(found))
        if time.tzinfo is not None:
            return time.astimezone(UTC)
    except (ValueError, OverflowError):  # the latter: a time of the year 0 in UTC
        pass
    raise ValidationError(f"pressed_at: expected an ISO 8601 time with its zone, found {found!r:.80}")


def _read_seconds(found: object) -> float | None:
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise ValidationError(f"seconds: expected a number, found {found!r:.80}")
    if not 0 <= found <= MAX_SECONDS:  # no NaN is
        raise ValidationError(f"seconds: expected 0 to {MAX_SECONDS:.0f}, found {found!r:.80}")
    return float(found)


def _read_sha256(found: object) -> str | None:
    if found is not None and (not isinstance(found, str) or holds_no_text(found)):
        raise ValidationError(f"document_sha256: expected a text, found {found!r:.80}")
    return found
