"""The filters of a list: one name or all, and the first and last day.

Each change calls `on_change`, which shows the list from its beginning.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import TypeVar

import streamlit as st

from annotator.web.kit.figures import find_zone
from annotator.web.kit.messages import tr

Value = TypeVar("Value", bound=str)
EVERYTHING = ""  # Streamlit takes None for an empty field, and offers to clear it
DAY_WIDTH = 160


def draw_choice(
    label: str,
    names: Mapping[Value, str],
    *,
    everything: str,
    key: str,
    width: int,
    on_change: Callable[[], None],
) -> Value | None:
    """Draw the choice of one of the names, and return the chosen value; None for `everything`."""
    shown = {EVERYTHING: everything} | {str(value): name for value, name in names.items()}
    chosen = st.selectbox(
        label,
        list(shown),
        key=key,
        on_change=on_change,
        width=width,
        format_func=lambda value: shown.get(value, value),
    )
    return next((value for value in names if value == chosen), None)


def draw_days(first_key: str, last_key: str, *, on_change: Callable[[], None]) -> list[date | None]:
    """Draw the fields for the first and last day, and return both; None for an empty field."""
    chosen = [
        st.date_input(label, value=None, key=key, on_change=on_change, width=DAY_WIDTH, format="YYYY-MM-DD")
        for label, key in ((tr("First day"), first_key), (tr("Last day"), last_key))
    ]
    return [day if isinstance(day, date) else None for day in chosen]


def find_ends(first: date | None, last: date | None) -> tuple[datetime | None, datetime | None]:
    """Return (start of the first day, end of the last day) in the reader's time zone."""
    zone = find_zone()
    return (
        None if first is None else datetime.combine(first, time.min, zone),
        None if last is None else datetime.combine(last, time.max, zone),
    )
