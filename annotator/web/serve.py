"""Runs the application in this process until it is told to stop."""

import gc
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType

from annotator.domain.errors import StateError
from annotator.log import set_up_logs
from annotator.settings import Settings
from annotator.storage.database import Database


def serve_app(
    database: Database, settings: Settings, *, host: str, port: int, ready: Callable[[str], None]
) -> None:
    """Serve on host and port; `ready` is called with the address just before. Returns on SIGINT or SIGTERM.

    StateError when the port cannot be had. The database's schema must be up to date.
    """
    check_port(host, port)
    set_up_logs(settings.log_format, settings.log_level)
    from annotator.web.app import make_app
    from annotator.web.outage import PATIENCE_SECONDS
    from annotator.web.theme import make_config

    database.wait_at_most(PATIENCE_SECONDS)
    app = make_app(database, settings)
    answer_without_delay()
    gc.collect()
    gc.freeze()  # what was imported stays: a collection that looked through it all would hold up every request
    ready(f"http://{f'[{host}]' if ':' in host else host}:{port}")
    previous = signal.signal(signal.SIGTERM, _stop)
    try:
        app.run(config=make_config(host, port))
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGTERM, previous)
        database.dispose()


def check_port(host: str, port: int) -> None:
    """StateError when nobody could listen there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise StateError(
                f"cannot listen on {host}:{port}: {error.strerror}. Choose another: annotator serve --port {port + 1}"
            ) from None


def answer_without_delay() -> None:
    """Let every connection that the server will accept send what it has at once (TCP_NODELAY).

    Streamlit binds the socket itself, and names no protocol; asyncio then leaves Nagle's algorithm on, the body of an
    answer waits until its head is acknowledged, and a browser takes 40 ms for that: docs/streamlit.md.
    """
    from streamlit.web.server.starlette import starlette_server

    bind = starlette_server._bind_socket

    def bind_without_delay(address: str, port: int, backlog: int) -> socket.socket:
        bound = bind(address, port, backlog)
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what is accepted inherits it
        return bound

    starlette_server._bind_socket = bind_without_delay


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    return host in ("localhost", "::1") or host.startswith("127.")


def _stop(_number: int, _frame: FrameType | None) -> None:
    """uvicorn has closed everything by then, and gives the signal back."""
    sys.exit(0)
