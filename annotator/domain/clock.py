"""How far a clock may be off. The server's clock can come back from the future; what it stamped there must not last for ever.

Rule: what holds for a while (a session, a lease, a hold, a known browser, a failed sign-in) counts only from CLOCK_SLACK before
it was made until its normal end. So none outlives its normal lifetime by more than CLOCK_SLACK, whatever the clock did.
"""

from datetime import datetime, timedelta

CLOCK_SLACK = timedelta(minutes=5)


def find_latest_end(now: datetime, lifetime: timedelta) -> datetime:
    """Return the latest end that something of this lifetime can have now; what ends later was made by a clock ahead."""
    return now + lifetime + CLOCK_SLACK
