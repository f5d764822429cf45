"""Bound the effect of a server clock that jumps into the future and back.

A session, a lease, a hold, a known browser or a failed sign-in counts only from CLOCK_SLACK before its start
until its normal end. So it outlives its lifetime by at most CLOCK_SLACK.
"""

from datetime import datetime, timedelta

CLOCK_SLACK = timedelta(minutes=5)


def find_latest_end(now: datetime, lifetime: timedelta) -> datetime:
    """Return the latest plausible end for something of this lifetime.

    A later end was set by a clock that was ahead.
    """
    return now + lifetime + CLOCK_SLACK
