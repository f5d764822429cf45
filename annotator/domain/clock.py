"""Limit how far a clock may be off, and keep expiry times sane.

The server's clock may jump into the future and back. Whatever lasts for a while (a session, a lease, a hold, a known
browser, a failed sign-in) counts only from CLOCK_SLACK before it was made until its normal end. So nothing outlives its
lifetime by more than CLOCK_SLACK.
"""

from datetime import datetime, timedelta

CLOCK_SLACK = timedelta(minutes=5)


def find_latest_end(now: datetime, lifetime: timedelta) -> datetime:
    """Return the latest end that something of this lifetime can have now; what ends later was made by a clock ahead."""
    return now + lifetime + CLOCK_SLACK
