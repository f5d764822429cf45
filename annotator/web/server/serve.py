"""Serve the application in this process until a signal stops it, and write slow database statements into its log."""

import asyncio
import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import structlog

from annotator.domain.errors import StateError
from annotator.log import set_up_logs
from annotator.settings import Settings
from annotator.storage.database import Database, list_database_files, list_open_to_others
from annotator.storage.slow_statements import SlowStatement, watch_statements
from annotator.web.server.figures import (
    begin_to_count,
    note_slow_statement,
    read_metrics_token,
    serve_figures,
)
from annotator.web.server.streamlit_options import make_config

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from uvicorn import Config, Server


OPEN_FILES = 8_192  # connections, downloads and the database; many systems begin with 1,024 and let a process ask for more
SAMPLE = "sample"  # the folder of the public sample releases below `exports/` of a source checkout
BACKLOG = 2_048  # connections that the system keeps until they are accepted
ACCEPTED_AT_ONCE = (
    32  # then those that are open are served: asyncio would take 2,048 before it looks at one of them
)
USUAL_THRESHOLD = (700, 10, 10)  # CPython's own
LOG_EVERY = 60.0  # seconds between two lines about connections that cannot be accepted
OPEN_WORK_SECONDS = 4  # that downloads and requests have to end after the signal to stop
SHUTDOWN_SECONDS = 8.0  # after which the process ends whatever is still open
LAST_LINE_SECONDS = 1.0
SWITCH_SECONDS = 0.0001
"""After how long a thread that computes lets another one go on. A judgment changes threads several times, and Python's own 5 ms make it
wait for each while somebody's page computes (benchmarks.floods)."""

log = structlog.stdlib.get_logger("annotator.web")


def serve_app(
    database: Database,
    settings: Settings,
    *,
    host: str,
    port: int,
    ready: Callable[[str], None],
    metrics: tuple[str, int] | None = None,
) -> None:
    """Serve on host and port until SIGINT or SIGTERM. Calls `ready(address)` just before.

    `metrics`: the address and port of `/metrics`, or None. The database's schema must be up to date. StateError if a port
    cannot be used.
    """
    check_port(host, port)
    if metrics is not None:
        check_port(*metrics, option="--metrics-port")
    set_up_logs(settings.log_format, settings.log_level)
    from annotator.people.second_factor.codes import read_sealing_key
    from annotator.web.app import make_app
    from annotator.web.server.outage import PATIENCE_SECONDS
    from annotator.web.single_sign_on import make_provider

    make_provider(settings)  # refuses settings that mean nothing, before anything is served
    read_sealing_key(settings.second_factor_key_file)
    read_metrics_token(settings)  # refuses a file that holds no token
    warn_of_open_files(database, settings)
    raise_open_files(OPEN_FILES)
    database.wait_at_most(PATIENCE_SECONDS)
    if settings.slow_statement_ms > 0:
        watch_statements(database, settings.slow_statement_ms / 1_000, SlowStatementLog().report)
    if metrics is not None or settings.metrics_token_file is not None:
        begin_to_count(database)
    gc.collect()
    gc.freeze()  # what was imported stays: a collection that looked through it all would hold up every request
    gc.set_threshold(*USUAL_THRESHOLD)  # cli/main.py raises it for the start
    ready(f"http://{f'[{host}]' if ':' in host else host}:{port}")
    app = make_app(database, settings)
    use_own_server()
    previous = signal.signal(signal.SIGTERM, _stop)
    if metrics is not None:
        serve_figures(*metrics)
    try:
        app.run(config=make_config(host, port))
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGTERM, previous)
        database.dispose()


def warn_of_open_files(database: Database, settings: Settings) -> None:
    """Log one warning that names what other users of the machine can get at. What exists is never changed."""
    paths = [*list_database_files(database.url), settings.fetched_runs_dir]
    if _holds_releases(settings.exports_dir):
        paths.append(settings.exports_dir)
    open_paths = list_open_to_others(paths)
    if open_paths:
        log.warning(
            "others on this machine can read this",
            paths=[str(path) for path in open_paths],
            mend="chmod -R go= PATH",
        )


def _holds_releases(exports_dir: Path) -> bool:
    """Return whether the folder holds a dataset's folder, other than the sample of a source checkout, which is public."""
    with suppress(OSError):
        return any(path.is_dir() and path.name != SAMPLE for path in exports_dir.iterdir())
    return False


def raise_open_files(number: int) -> None:
    """Raise the limit of open files and connections to `number`, as far as the system allows without an administrator."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number if hard == resource.RLIM_INFINITY else min(number, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def check_port(host: str, port: int, *, option: str = "--port") -> None:
    """Raise StateError if the port cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise StateError(
                f"cannot listen on {host}:{port}: {error.strerror}. Choose another: annotator serve {option} {port + 1}"
            ) from None


def use_own_server() -> None:
    """Let Streamlit's `App.run` start the server of this module instead of its own."""
    from streamlit.web.server.starlette import starlette_server

    starlette_server.UvicornRunner = ServerRunner  # type: ignore[misc, assignment]


class ServerRunner:
    """Bind the socket and run uvicorn, as Streamlit's UvicornRunner does.

    With limits on slow connections and on the time that a shutdown takes.
    """

    def __init__(self, app: "ASGIApp") -> None:
        self.app = app

    def run(self) -> None:
        """Serve until a signal; returns when everything is closed."""
        import uvicorn
        from streamlit import config
        from streamlit.web.server.starlette.starlette_server import _get_uvicorn_config_kwargs

        from annotator.web.server.connections import LimitedProtocol

        sys.setswitchinterval(SWITCH_SECONDS)
        host, port = config.get_option("server.address"), config.get_option("server.port")
        options = uvicorn.Config(
            self.app,
            host=host,
            port=port,
            backlog=ACCEPTED_AT_ONCE,
            **_get_uvicorn_config_kwargs()
            | {
                "http": LimitedProtocol,
                "ws_max_size": config.get_option("server.maxWidgetStateSize") * 1024 * 1024,
                "timeout_graceful_shutdown": OPEN_WORK_SECONDS + 1,
            },
        )
        with bind(host, port, BACKLOG) as bound:
            make_server(options).run(sockets=[bound])


def make_server(options: "Config") -> "Server":
    """Return uvicorn's server, changed to end in time whatever is open."""
    import uvicorn

    class EndingServer(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if not self.should_exit:
                deadline = threading.Timer(SHUTDOWN_SECONDS, end_process)
                deadline.daemon = True
                deadline.start()
            super().handle_exit(sig, frame)

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            asyncio.get_running_loop().set_exception_handler(LoopErrors())
            await super().startup(sockets)
            for bound in sockets or []:
                bound.listen(BACKLOG)  # asyncio has set it to what it accepts at once

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            asyncio.get_running_loop().call_later(OPEN_WORK_SECONDS, self._break_connections)
            await super().shutdown(sockets)

        def _break_connections(self) -> None:
            for connection in list(self.server_state.connections):
                connection.transport.abort()

    return EndingServer(options)


class LoopErrors:
    """Handle the errors of the event loop as asyncio does, but log "too many open files" once a minute only.

    asyncio writes a traceback at each connection that it cannot accept.
    """

    def __init__(self) -> None:
        self._logged = float("-inf")

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if context.get("message") != "socket.accept() out of system resource":
            loop.default_exception_handler(context)
        elif loop.time() - self._logged >= LOG_EVERY:
            self._logged = loop.time()
            log.error("new connections wait", error=str(context.get("exception")), mend="raise ulimit -n")


def end_process() -> None:
    """End the process at once, because a thread does not end.

    The database undoes open transactions, as after a crash. If nobody reads the log any more, the last line waits
    only LAST_LINE_SECONDS."""
    telling = threading.Thread(target=_log_forced_end, daemon=True)
    telling.start()
    telling.join(LAST_LINE_SECONDS)
    os._exit(0)


def _log_forced_end() -> None:
    log.warning("the server was ended with work still open")
    sys.stdout.flush()
    sys.stderr.flush()


def bind(host: str, port: int, backlog: int) -> socket.socket:
    """Return a bound socket; its accepted connections send data at once (TCP_NODELAY).

    Streamlit names no protocol when it binds; asyncio then leaves Nagle's algorithm on, the body of an answer waits
    until its head is acknowledged, and a browser takes 40 ms for that: docs/streamlit.md.
    """
    from streamlit.web.server.starlette import starlette_server

    bound = starlette_server._bind_socket(host, port, backlog)
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what is accepted inherits it
    return bound


def _stop(_number: int, _frame: FrameType | None) -> None:
    """uvicorn has closed everything by then, and gives the signal back."""
    sys.exit(0)


LINES = 60
LINE_SECONDS = 60.0


class SlowStatementLog:
    """Writes a line for each statement, and says how many it has left out. Safe to use from several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._until, self._written, self._left_out = float("-inf"), 0, 0

    def report(self, statement: SlowStatement) -> None:
        """Write a line. The request's number and route come from the context of the request."""
        note_slow_statement()
        with self._lock:
            if self._clock() >= self._until:
                self._until, self._written = self._clock() + LINE_SECONDS, 0
            if self._written >= LINES:
                self._left_out += 1
                return
            self._written += 1
            left_out, self._left_out = self._left_out, 0
        further = {"left_out": left_out} if left_out else {}
        log.warning(
            "slow statement",
            statement=statement.text,
            ms=round(statement.seconds * 1_000),
            failed=statement.failed,
            **further,
        )
