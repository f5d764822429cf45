"""The number of a request: in each of its log lines, in its answer's header X-Request-Id, and on error pages.

A proxy may bring the number of its own log. It counts only from a proxy that the server trusts (FORWARDED_ALLOW_IPS), and
only in a form that can neither break a log line nor fill the log. Everybody else's is ignored, and a new one is made.
"""

import re
import secrets
from functools import lru_cache
from typing import Any

import structlog
from starlette.types import Scope
from uvicorn.middleware.proxy_headers import _TrustedHosts

HEADER = b"x-request-id"
FORM = re.compile(r"[A-Za-z0-9._-]{8,64}")
FROM_PROXY = "annotator.request_id"  # in the scope: the number that a trusted proxy brought


def make_request_id() -> str:
    """Return a new number: 12 hexadecimal digits."""
    return secrets.token_hex(6)


def find_request_id(scope: Scope) -> str:
    """Return the number that a trusted proxy brought, or else a new one."""
    return scope.get(FROM_PROXY) or make_request_id()


def current_request_id() -> str:
    """Return the number of the request or page run that is being served; a new one outside of any."""
    return str(structlog.contextvars.get_contextvars().get("request_id") or make_request_id())


def keep_id_of_proxy(scope: Scope, peer: str, trusted: str | list[str]) -> None:
    """Keep the header's number in the scope if the other end of the connection is a trusted proxy.

    `trusted` is uvicorn's `forwarded_allow_ips`. A number that came twice, or in another form, does not count.
    """
    given = [value for name, value in scope["headers"] if name == HEADER]
    if len(given) != 1 or peer not in _read_trusted(
        trusted if isinstance(trusted, str) else ",".join(trusted)
    ):
        return
    number = given[0].decode("latin-1")
    if FORM.fullmatch(number):
        scope[FROM_PROXY] = number


@lru_cache(maxsize=8)
def _read_trusted(hosts: str) -> Any:
    return _TrustedHosts(hosts)
