"""Which of several worker processes this is, and which one a browser's cookie names."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from annotator.domain.errors import StateError
from annotator.web.session import read_cookie

WORKER_COOKIE = "annotator_worker"


@dataclass(frozen=True)
class WorkerPlace:
    """Worker `number` of `workers`, counted from 0. `control` brings it the connections that it is to serve."""

    number: int
    workers: int
    control: socket.socket


def check_workers(workers: int, *, is_sqlite: bool) -> None:
    """Raise StateError if this database or this system cannot be served by so many processes."""
    if workers == 1:
        return
    if is_sqlite:
        raise StateError(
            "--workers needs PostgreSQL: on SQLite one process writes at a time. Leave it out, or name a PostgreSQL database"
        )
    if not hasattr(os, "fork"):
        raise StateError("--workers needs Linux or macOS. Leave it out")


def find_worker(cookies: Mapping[str, str], host: str, workers: int) -> int | None:
    """Return the number in the browser's cookie, if it is that of one of so many workers."""
    value = read_cookie(cookies, WORKER_COOKIE, host) or ""
    is_number = value.isascii() and value.isdigit() and len(value) <= 3
    return int(value) if is_number and int(value) < workers else None
