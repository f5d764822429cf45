"""Records of the audit log, and of the history of one pair.

An event says who, when, what, and the values before and after. A pair's history names leads, who answer for their
decisions, and never an annotator.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, tzinfo
from typing import Any

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say


@dataclass(frozen=True, slots=True)
class AuditLogFilter:
    """Which records. `pair`: its key; `person`: a username, "operator" for the command line; `since`, `until`: from the
    first of these moments to the second."""

    pair: str | None = None
    action: str | None = None
    person: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditLogEntry:
    """Something that a lead did. `username`, `name`: None for the operator at the command line. `pair` and its ids: None
    where it is about no single pair. `hidden`: the reader may still judge the pair, so what was said of it is left out."""

    number: int
    at: datetime
    username: str | None
    name: str | None
    action: str
    pair: str | None
    query_id: str | None
    doc_id: str | None
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class AuditLogPage:
    """Some of the records, the latest first; `total`: how many the filter lets through."""

    total: int
    events: tuple[AuditLogEntry, ...]


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """Something that happened to a pair. `who`: a lead's name, "Annotator A", "" where it was nobody; `action`: one word or
    two for programs; `said`: the same as a sentence without its subject."""

    at: datetime
    who: str
    action: str
    said: Message


def read_moment(said: str, zone: tzinfo | None = None, *, last: bool = False) -> datetime:
    """A day or a moment as ISO 8601 writes it: "2026-03-04", "2026-03-04T12:00+09:00". Without a zone of its own it is meant in
    `zone` (None: this computer's); a day is its first moment, or its `last`. ValidationError for anything else, and for a
    moment that no calendar in UTC has."""
    try:
        found = datetime.fromisoformat(said.strip())
        if len(said.strip()) <= len("2026-03-04") and last:
            found = datetime.combine(found, time.max)
        if found.tzinfo is None:
            found = found.astimezone() if zone is None else found.replace(tzinfo=zone)
        found.astimezone(UTC)
    except (ValueError, OverflowError):  # the latter: a time of the year 0 or 10000 in UTC
        raise ValidationError(
            say(
                "expected a day such as 2026-03-04, or a time such as 2026-03-04T12:00, found {found!r}",
                found=said,
            )
        ) from None
    return found
