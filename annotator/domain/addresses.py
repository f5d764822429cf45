"""Check the addresses (URLs) at which people reach a server."""

import ipaddress
from urllib.parse import urlsplit

from annotator.domain.errors import ValidationError


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_address(name: str, address: str) -> str:
    """Return the address without a final slash. ValidationError, with `name`, unless it is one of http or https."""
    try:
        parts = urlsplit(address)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or set(address) & set("@?# ") or not address.isprintable():
        raise ValidationError(
            f"{name}: Expected an address such as https://annotator.example.org, found {address!r:.80}."
        )
    return address.rstrip("/")
