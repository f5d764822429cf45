"""How often somebody may guess: the limits on failed sign-ins.

Counted over the last 15 minutes: 5 failures for a username, wherever they come from, and 20 from an address,
whatever the username. A sign-in that succeeds clears its username's failures, so an office behind one address
is only stopped by guesses that never came right. Behind a reverse proxy the address is the proxy's unless the
server is told to trust its X-Forwarded-For header (uvicorn's FORWARDED_ALLOW_IPS; loopback is trusted).
"""

import ipaddress
from collections.abc import Sequence
from datetime import datetime, timedelta

from annotator.domain.accounts import TooManyAttempts

WINDOW = timedelta(minutes=15)
PER_USERNAME = 5
PER_ADDRESS = 20


def refuse_too_many(failures: Sequence[datetime], limit: int, *, now: datetime) -> None:
    """TooManyAttempts when `limit` or more of these failures lie within the window before `now`."""
    recent = sorted(failure for failure in failures if failure > now - WINDOW)
    if len(recent) >= limit:
        raise TooManyAttempts(recent[-limit] + WINDOW - now)


def group_address(address: str) -> str:
    """What counts as one address: an IPv4 address, or an IPv6 network of 64 bits (a household's)."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:100]
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)
