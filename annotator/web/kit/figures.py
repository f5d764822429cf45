"""Show times, shares and durations in the reader's language and time zone.

Stored times are UTC. An undefined value is a dash.
"""

from datetime import UTC, date, datetime, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import streamlit as st

from annotator.domain.figures import show_number, show_percent, write_minus
from annotator.web.kit.messages import current_language, tr, tr_n

if TYPE_CHECKING:
    from annotator.labeling.records import MedianSeconds

DAY = "yMMMd"
SHORT_DAY = "MMMd"


def show_time(moment: datetime) -> str:
    """Return date and time of day in the browser's zone: "Jan 2, 2026 12:04", "2026年1月2日 12:04"."""
    from babel.dates import format_skeleton

    here = moment.astimezone(find_zone())
    return f"{format_skeleton(DAY, here, locale=current_language())} {here:%H:%M}"


def show_day(moment: datetime, *, now: datetime) -> str:
    """Return the day in the browser's zone, with its year unless it is this one: "Jan 2", "1月2日"."""
    return show_date(moment.astimezone(find_zone()).date(), now=now)


def show_date(day: date | str, *, now: datetime | None = None) -> str:
    """Return a day (or its ISO 8601 text) in the reader's format: "Jan 2, 2026"; without the year if it is that of `now`."""
    from babel.dates import format_skeleton

    if isinstance(day, str):
        day = date.fromisoformat(day)
    this_year = now is not None and day.year == now.astimezone(find_zone()).year
    at_noon = datetime(day.year, day.month, day.day, 12)
    return str(format_skeleton(SHORT_DAY if this_year else DAY, at_noon, locale=current_language()))


def find_zone() -> tzinfo:
    """Return the browser's zone; UTC when it does not say."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (LookupError, ValueError, OSError):
        return UTC


def show_median(median: "MedianSeconds") -> str:
    """Return seconds with one decimal."""
    return "–" if median.seconds is None else tr("{seconds} s", seconds=show_number(median.seconds, 1))


def show_share(
    share: float | None, digits: int = 0, *, at_most: bool = False, limit: float | None = None
) -> str:
    """Return a share in per cent in the language's spelling: "12.5 %" (no line break), "12.5%". See `show_percent`."""
    sign = "\N{NO-BREAK SPACE}%" if current_language() == "en" else "%"
    return show_percent(share, digits, at_most=at_most, limit=limit, sign=sign)


def show_difference(value: float | None, *, signed: bool = False) -> str:
    """Return a difference in grades; `signed`: with its plus."""
    return write_minus(show_number(value, 2, signed=signed and bool(value) and round(value or 0, 2) != 0))


def show_duration(seconds: float) -> str:
    """Return an approximate duration in words: minutes up to two hours, then hours."""
    minutes = max(1, round(seconds / 60))
    if minutes < 120:
        return tr_n("about {n:,} minute", "about {n:,} minutes", minutes)
    return tr_n("about {n:,} hour", "about {n:,} hours", round(minutes / 60))
