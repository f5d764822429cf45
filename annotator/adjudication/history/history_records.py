"""Records of the audit log, and of the history of one pair.

An entry of the log has the person, the time, the action, and the values before and after. A pair's history
names leads, who are responsible for their decisions, and never an annotator.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, tzinfo
from typing import Any

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say


@dataclass(frozen=True, slots=True)
class AuditLogFilter:
    """Selects entries of the audit log; None: no condition."""

    pair: str | None = None  # the key
    action: str | None = None
    person: str | None = None  # a username; "operator" for the command line
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditLogEntry:
    """Something that a lead did."""

    number: int
    at: datetime
    username: str | None  # None for the operator at the command line, like the name
    name: str | None
    action: str
    pair: str | None  # the key; None, like the ids, if it is about no single pair
    query_id: str | None
    doc_id: str | None
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    hidden: bool = False  # the reader may still judge the pair, so `before` and `after` are left out


@dataclass(frozen=True, slots=True)
class AuditLogPage:
    """A page of the audit log, the latest entry first."""

    total: int  # entries that the filter lets through
    events: tuple[AuditLogEntry, ...]


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """Something that happened to a pair."""

    at: datetime
    who: str  # a lead's name, "Annotator A", or "" if it was nobody
    action: str  # for programs
    said: Message  # the event as a sentence without its subject; also the JSON key


def read_day_or_time(text: str, zone: tzinfo | None = None, *, last: bool = False) -> datetime:
    """Return the time of a text such as "2026-03-04" or "2026-03-04T12:00+09:00" (ISO 8601).

    `zone`: the zone of a text without one (None: this computer's). A day means its first moment, with `last`
    its last. Raises ValidationError for any other text, and if the year in UTC is not 1 to 9999.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        if len(text.strip()) <= len("2026-03-04") and last:
            moment = datetime.combine(moment, time.max)
        if moment.tzinfo is None:
            moment = moment.astimezone() if zone is None else moment.replace(tzinfo=zone)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):  # OverflowError: the year 0 or 10000 in UTC
        raise ValidationError(
            say(
                "Invalid time {found!r}: enter a day such as 2026-03-04, or a time such as 2026-03-04T12:00.",
                found=text,
            )
        ) from None
    return moment
