"""Limit failed sign-ins over the last 15 minutes, so that a stranger who guesses never locks somebody out.

- A browser in which the person signed in before (it holds a random cookie) has its own limit, PER_DEVICE; failures
  elsewhere do not count for it.
- Any other browser may fail PER_ADDRESS_AND_NAME times per name and address. After many failures on this name from other
  addresses (ATTACKED), or on any names from this one (PER_ADDRESS), it may fail once: the right password still works at
  the first try, and those who guess from many addresses have one guess for each in 15 minutes.
- One address may fail at most MOST_PER_ADDRESS times, whatever the names: each check costs a core's time.

The address is the one the server sees: behind a reverse proxy the proxy's, unless the server trusts its X-Forwarded-For
header (uvicorn's FORWARDED_ALLOW_IPS; loopback is trusted).
"""

import ipaddress
from collections.abc import Sequence
from datetime import datetime, timedelta

from annotator.domain.people import TooManyAttempts

WINDOW = timedelta(minutes=15)
PER_DEVICE = 10
PER_ADDRESS_AND_NAME = 5
ATTACKED = 20
PER_ADDRESS = 20
MOST_PER_ADDRESS = 100


def refuse_too_many(failures: Sequence[datetime], limit: int, *, now: datetime) -> None:
    """Raise TooManyAttempts if `limit` or more of these failures lie within the window before `now`."""
    recent = sorted(failure for failure in failures if failure > now - WINDOW)
    if len(recent) >= limit:
        raise TooManyAttempts(min(recent[-limit] + WINDOW - now, WINDOW))


def check_unknown_browser(
    of_name: Sequence[tuple[datetime, str]], at_address: Sequence[datetime], address: str, *, now: datetime
) -> None:
    """Raise TooManyAttempts if an unknown browser may not try this name from this address now.

    `of_name`: (time, address) of each failure of the name in unknown browsers. `at_address`: times of failures of
    any name from this address. No address: a signed-in person changes the password.
    """
    here, elsewhere = [], 0
    for at, failed_address in of_name:
        if failed_address == address:
            here.append(at)
        elif failed_address:
            elsewhere += 1
    attacked = elsewhere >= ATTACKED
    if attacked:
        wide = widen_address(address)
        here = [
            at for at, failed_address in of_name if failed_address and widen_address(failed_address) == wide
        ]
    refuse_too_many(at_address, MOST_PER_ADDRESS, now=now)
    slow = attacked or len(at_address) >= PER_ADDRESS
    refuse_too_many(here, 1 if slow else PER_ADDRESS_AND_NAME, now=now)


def group_address(address: str) -> str:
    """Return the IPv4 address, or the IPv6 network of 64 bits (a household), that counts as one address."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:100]
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


def widen_address(group: str) -> str:
    """Return the IPv6 network of 48 bits (one customer) that counts as one address while a name is under attack."""
    try:
        network = ipaddress.ip_network(group)
    except ValueError:
        return group
    return str(network.supernet(new_prefix=48)) if network.version == 6 else group
