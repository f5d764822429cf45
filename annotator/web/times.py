"""Times as the reader's clock shows them; in storage they are UTC."""

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import streamlit as st


def show_time(moment: datetime) -> str:
    """Date and time of day in the browser's zone, e.g. "2026-01-02 12:04"."""
    return moment.astimezone(_find_zone()).strftime("%Y-%m-%d %H:%M")


def _find_zone() -> tzinfo:
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (LookupError, ValueError, OSError):
        return UTC
