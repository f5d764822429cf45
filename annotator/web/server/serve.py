"""Run the application in this process until it is told to stop, and configure Streamlit.

Stops Streamlit 1.67 from asking checkip.amazonaws.com for this machine's address: it does so on the event loop, for an
unknown websocket origin and when it prints its own address, and no option turns that off. Its other requests are usage
statistics (off by `browser.gatherUsageStats`), the e-mail prompt and `streamlit run URL` (not used here), and a theme
named by a URL in the operator's config.toml. Theme colours reach a contrast of 4.5:1 for text, 3:1 for controls.
"""

import asyncio
import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import structlog
from streamlit import net_util
from streamlit.components.v2 import manifest_scanner

from annotator.domain.errors import StateError
from annotator.formats.syntax.partial_files import hold_temporary_folder
from annotator.log import set_up_logs
from annotator.settings import Settings
from annotator.storage.database import Database, list_database_files, list_open_to_others
from annotator.storage.slow_statements import watch_statements
from annotator.web.server.figures import FOLDER, begin_to_count, forget_process, serve_figures
from annotator.web.server.slow_statement_log import SlowStatementLog
from annotator.web.server.uploads import MOST_IMPORT_MB
from annotator.web.server.worker_place import WorkerPlace, check_workers

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
SWITCH_SECONDS = 0.0005
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
    workers: int = 1,
    metrics: tuple[str, int] | None = None,
) -> None:
    """Serve on host and port; `ready` is called with the address just before. Returns on SIGINT or SIGTERM.

    `metrics`: the address and port for `/metrics`, if it is wanted.

    StateError when the port cannot be had, or not with so many worker processes. The database's schema must be up to date.
    """
    check_workers(workers, is_sqlite=database.is_sqlite)
    check_port(host, port)
    if metrics is not None:
        check_port(*metrics, option="--metrics-port")
    set_up_logs(settings.log_format, settings.log_level)
    from annotator.people.second_factor.sealing import read_sealing_key
    from annotator.web import app as _app  # noqa: F401 - every worker begins with what is imported here
    from annotator.web.server.outage import PATIENCE_SECONDS
    from annotator.web.single_sign_on import make_provider

    make_provider(settings)  # refuses settings that mean nothing, before anything is served
    read_sealing_key(settings.second_factor_key_file)
    is_counting = metrics is not None or settings.metrics_token_file is not None
    if settings.metrics_token_file is not None:
        from annotator.web.server.metrics_route import read_metrics_token

        read_metrics_token(settings)  # refuses a file that holds no token
    warn_of_open_files(database, settings)
    raise_open_files(OPEN_FILES)
    database.wait_at_most(PATIENCE_SECONDS)
    if settings.slow_statement_ms > 0:
        watch_statements(database, settings.slow_statement_ms / 1_000, SlowStatementLog().report)
    with count_figures(database, is_shared=workers > 1) if is_counting else nullcontext():
        gc.collect()
        gc.freeze()  # what was imported stays: a collection that looked through it all would hold up every request
        gc.set_threshold(*USUAL_THRESHOLD)  # cli/main.py raises it for the start
        ready(f"http://{f'[{host}]' if ':' in host else host}:{port}")
        if workers == 1:
            _run_app(database, settings, host, port, metrics=metrics)
            return
        from annotator.web.server.workers import Workers

        def run_worker(number: int, control: socket.socket) -> None:
            answers = metrics if number == 0 else None
            _run_app(database, settings, host, port, WorkerPlace(number, workers, control), answers)

        database.dispose()  # no process may use the connections of another
        with bind(host, port, BACKLOG) as bound:
            Workers(bound, workers, run_worker, forget_process if is_counting else None).run()


@contextmanager
def count_figures(database: Database, *, is_shared: bool) -> Iterator[None]:
    """Count what `/metrics` tells. `is_shared`: over several processes, in files of a folder that is deleted at the end."""
    if not is_shared:
        database.note_time = begin_to_count().note_database
        yield
        return
    with hold_temporary_folder("metrics") as folder:
        os.environ[FOLDER] = str(folder)  # before prometheus_client is imported, which reads it then
        database.note_time = begin_to_count().note_database
        yield


def _run_app(
    database: Database,
    settings: Settings,
    host: str,
    port: int,
    place: WorkerPlace | None = None,
    metrics: tuple[str, int] | None = None,
) -> None:
    """Serve in this process until it is told to stop.

    `place`: which worker it is, if there are several. `metrics`: where this process answers for all with `/metrics`.
    """
    from annotator.web.app import make_app

    app = make_app(database, settings, place)
    use_own_server(place.control if place else None)
    previous = signal.signal(signal.SIGTERM, _stop)
    if metrics is not None:
        serve_figures(database, *metrics)
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


def use_own_server(control: socket.socket | None = None) -> None:
    """Let Streamlit's `App.run` start the server of this module instead of its own. `control`: in a worker, its connections."""
    from streamlit.web.server.starlette import starlette_server

    starlette_server.UvicornRunner = partial(ServerRunner, control=control)  # type: ignore[misc, assignment]


class ServerRunner:
    """Bind the socket and run uvicorn, as Streamlit's UvicornRunner does.

    With limits on slow connections and on the time that a shutdown takes. A worker binds nothing: `control` brings its connections.
    """

    def __init__(self, app: "ASGIApp", control: socket.socket | None = None) -> None:
        self.app, self.control = app, control

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
        if self.control is not None:
            make_server(options, self.control).run(sockets=[])
            return
        with bind(host, port, BACKLOG) as bound:
            make_server(options).run(sockets=[bound])


def make_server(options: "Config", control: socket.socket | None = None) -> "Server":
    """Return uvicorn's server, changed to end in time whatever is open. `control` brings a worker its connections."""
    import uvicorn

    from annotator.web.server.handed_connections import HandedConnections

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
            if control is not None:
                self._handed = HandedConnections(control, self._make_protocol, self._end)
                self._handed.start()

        def _make_protocol(self) -> asyncio.Protocol:
            loop, state = asyncio.get_running_loop(), self.lifespan.state
            make: Any = self.config.http_protocol_class  # as uvicorn's own `startup` makes it
            protocol: asyncio.Protocol = make(
                config=self.config, server_state=self.server_state, app_state=state, _loop=loop
            )
            return protocol

        def _end(self) -> None:
            """End, since the process that accepts connections is gone."""
            self.handle_exit(signal.SIGTERM, None)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            if control is not None:
                self._handed.stop()
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
    """End at once: some thread does not. Transactions that are open are undone by the database, as after a crash.
    Whoever reads the log may have stopped reading: then the last line waits for them only LAST_LINE_SECONDS."""
    telling = threading.Thread(target=_log_forced_end, daemon=True)
    telling.start()
    telling.join(LAST_LINE_SECONDS)
    os._exit(0)


def _log_forced_end() -> None:
    log.warning("the server was ended with work still open")
    sys.stdout.flush()
    sys.stderr.flush()


def bind(host: str, port: int, backlog: int) -> socket.socket:
    """Return a socket to listen on, from which every accepted connection sends what it has at once (TCP_NODELAY).

    Streamlit names no protocol when it binds; asyncio then leaves Nagle's algorithm on, the body of an answer waits
    until its head is acknowledged, and a browser takes 40 ms for that: docs/streamlit.md.
    """
    from streamlit.web.server.starlette import starlette_server

    bound = starlette_server._bind_socket(host, port, backlog)
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what is accepted inherits it
    return bound


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    return host in ("localhost", "::1") or host.startswith("127.")


def _stop(_number: int, _frame: FrameType | None) -> None:
    """uvicorn has closed everything by then, and gives the signal back."""
    sys.exit(0)


def forbid_outgoing_requests() -> None:
    """Stop Streamlit from asking other machines for this machine's address."""
    net_util.get_external_ip = net_util.get_internal_ip = _find_no_address


def _find_no_address() -> str | None:
    return None


def ignore_components_of_packages() -> None:
    """Stop Streamlit from registering components of other installed packages.

    It reads the metadata of every package at each start for that, 0.15 s of processor, and Annotator's components are its own.
    """
    cast(Any, manifest_scanner).scan_component_manifests = list


FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Hiragino Sans', 'Yu Gothic UI', Meiryo, "
    "'Apple SD Gothic Neo', 'Malgun Gothic', 'Noto Sans CJK JP', 'Noto Sans CJK KR', sans-serif"
)
CODE_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Noto Sans Mono CJK JP', monospace"

LIGHT = {
    "primaryColor": "#19616b",
    "backgroundColor": "#ffffff",
    "secondaryBackgroundColor": "#f1f3ef",
    "textColor": "#1c2326",
    "linkColor": "#155a64",
    "borderColor": "#d3d8d3",
    "sidebar.backgroundColor": "#f4f5f1",
    "sidebar.secondaryBackgroundColor": "#e7eae4",
}
DARK = {
    "primaryColor": "#25808c",
    "backgroundColor": "#14181a",
    "secondaryBackgroundColor": "#1f2629",
    "textColor": "#e8ebe8",
    "linkColor": "#7cc4cd",
    "borderColor": "#39433f",
    "sidebar.backgroundColor": "#1a1f22",
    "sidebar.secondaryBackgroundColor": "#262e31",
}


# What a config.toml or a variable of the environment must not open: options given to the app go before both.
CLOSED = {
    "global.developmentMode": False,
    "browser.gatherUsageStats": False,
    "server.showEmailPrompt": False,
    "server.enableCORS": True,
    "server.corsAllowedOrigins": [],
    "server.enableXsrfProtection": True,
    "server.enableAgentApi": False,
    "server.enableStaticServing": False,
    "server.scriptHealthCheckEnabled": False,
    "server.trustedUserHeaders": {},
    "client.allowedOrigins": [],
}


def make_config(host: str, port: int) -> Mapping[str, Any]:
    """Return Streamlit's options by name. The garbage collection after each run is off: it took two thirds of a run."""
    return {
        **CLOSED,
        "server.address": host,
        "server.port": port,
        "server.headless": True,
        "server.fileWatcherType": "none",
        "server.runOnSave": False,
        "server.maxUploadSize": MOST_IMPORT_MB,
        "server.maxWidgetStateSize": 5,  # MB, of a message from a browser: what is typed into a page's fields
        "runner.postScriptGC": False,
        "runner.magicEnabled": False,
        "client.toolbarMode": "minimal",
        "client.showErrorDetails": "none",
        "client.showErrorLinks": False,
        "client.showSidebarNavigation": False,
        "logger.hideWelcomeMessage": True,
        "logger.enableRich": False,  # else it prints a traceback for every refusal, past our log
        "theme.font": FONT,
        "theme.codeFont": CODE_FONT,
        "theme.headingFontSizes": ["1.875rem", "1.375rem", "1.125rem", "1rem", "1rem", "1rem"],
        "theme.baseRadius": "medium",
        "theme.showSidebarBorder": False,
        **{f"theme.light.{name}": value for name, value in LIGHT.items()},
        **{f"theme.dark.{name}": value for name, value in DARK.items()},
    }
