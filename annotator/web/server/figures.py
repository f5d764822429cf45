"""Count what `/metrics` shows to Prometheus: requests, judgments, sign-ins, waits for the database, queues, and each process.

prometheus_client counts. Without `--metrics-port` and without a token it is not imported, and nothing is counted. Labels
have a fixed set of values: never a path as the client sent it, a name or a dataset.

`GET /metrics` on the app's own port exists only if ANNOTATOR_METRICS_TOKEN_FILE names a token. No session and no cookie
counts there: whoever sends the token reads the metrics.
"""

import hmac
import os
import platform
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator import __version__
from annotator.domain.errors import AnnotatorError, StateError, ValidationError
from annotator.installation.load_service import InstallationLoad, measure_load
from annotator.settings import Settings
from annotator.storage.database import PROBE_SECONDS, Database

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily


KEEP_SECONDS = 15.0  # for which the figures that the database is asked for are kept
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Figures:
    """What one process counts."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

        disable_created_metrics()  # type: ignore[no-untyped-call] # else one figure more for each counter

        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "annotator_requests", "Answered requests.", ["route", "method", "status"], registry=registry
        )
        self.seconds = Histogram(
            "annotator_request_seconds", "Time to answer.", ["route"], buckets=BUCKETS, registry=registry
        )
        self.judgments = Counter(
            "annotator_judgments",
            "Submitted judgments: accepted (counted again if sent again), refused, or surplus.",
            ["outcome"],
            registry=registry,
        )
        self.pairs = Counter("annotator_pairs_handed_out", "Pairs given to annotators.", registry=registry)
        self.sign_ins = Counter(
            "annotator_sign_ins", "Sign-in attempts.", ["by", "outcome"], registry=registry
        )
        self.background = Counter(
            "annotator_background_tasks",
            "Background tasks that ended.",
            ["task", "outcome"],
            registry=registry,
        )
        self.running = Gauge(
            "annotator_background_tasks_running",
            "Background tasks that run now.",
            ["task"],
            registry=registry,
        )
        self.statements = Counter("annotator_slow_statements", "Slow database statements.", registry=registry)
        self.database = Histogram(
            "annotator_database_seconds",
            "Wait for a connection or for SQLite's turn to write; duration of read and write transactions.",
            ["what"],
            buckets=BUCKETS,
            registry=registry,
        )
        self.budgets = Counter(
            "annotator_budget_waits",
            "Requests, page runs, messages, websockets and texts of people who sent too many: slowed down or refused.",
            ["kind"],
            registry=registry,
        )
        self.websockets = Gauge("annotator_websockets", "Open pages.", registry=registry)

    def note_database(self, what: str, seconds: float) -> None:
        """Count a wait for the database, or a transaction (`Database.note_time`)."""
        self.database.labels(what).observe(seconds)


_figures: Figures | None = None


def begin_to_count(database: Database) -> Figures:
    """Count in this process from now on, also this database's waits and transactions."""
    global _figures  # noqa: PLW0603 - one for the process
    _figures = Figures()
    _figures.registry.register(_Process())
    _figures.registry.register(_Load(database))
    database.note_time = _figures.note_database
    return _figures


def note_request(route: str, method: str, status: int, seconds: float) -> None:
    if _figures is not None:
        _figures.requests.labels(route, method, str(status)).inc()
        _figures.seconds.labels(route).observe(seconds)


def note_submission(*, accepted: int, refused: int, surplus: int, handed_out: int) -> None:
    """Count the judgments of one request, and the pairs that it was given."""
    if _figures is not None:
        for outcome, number in (("accepted", accepted), ("refused", refused), ("surplus", surplus)):
            if number:
                _figures.judgments.labels(outcome).inc(number)
        if handed_out:
            _figures.pairs.inc(handed_out)


def note_sign_in(outcome: str, *, by: Literal["password", "provider"] = "password") -> None:
    """Count an attempt: signed in, wrong, limited, unavailable, or (by the provider) refused."""
    if _figures is not None:
        _figures.sign_ins.labels(by, outcome).inc()


def note_task_begun(task: str) -> None:
    """Count a task in the background as running. `task`: one of a fixed set of names."""
    if _figures is not None:
        _figures.running.labels(task).inc()


def note_task_ended(task: str, outcome: str) -> None:
    """Count a task in the background that has ended: done, cancelled, late, failed, or no_memory."""
    if _figures is not None:
        _figures.running.labels(task).dec()
        _figures.background.labels(task, outcome).inc()


def note_websocket(change: int) -> None:
    """Count a page that was opened (1) or closed (-1)."""
    if _figures is not None:
        _figures.websockets.inc(change)


def note_budget(kind: Literal["request", "run", "message", "websocket", "notes"]) -> None:
    """Count what was slowed down or refused because its person sent too much."""
    if _figures is not None:
        _figures.budgets.labels(kind).inc()


def note_slow_statement() -> None:
    """Count a slow statement, also one that is left out of the log."""
    if _figures is not None:
        _figures.statements.inc()


def serve_figures(host: str, port: int) -> Any:
    """Serve `/metrics` on a port of its own, in a thread of this process, which stops with it; return the server."""
    from prometheus_client import start_http_server

    server, _thread = start_http_server(port, addr=host, registry=_require_figures().registry)
    return server


def collect_figures(accept: str) -> tuple[bytes, str]:
    """Return the figures in the form that this Accept header asks for, and their content type."""
    from prometheus_client.exposition import choose_encoder

    encode, kind = choose_encoder(accept)
    return encode(_require_figures().registry), kind


def _require_figures() -> Figures:
    if _figures is None:
        raise StateError("Call begin_to_count first.")
    return _figures


def _gauge(name: str, about: str, value: float) -> "GaugeMetricFamily":
    from prometheus_client.core import GaugeMetricFamily

    return GaugeMetricFamily(name, about, value=value)


class _Process:
    """This process, by what Linux says of it; on other systems only that it runs."""

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        cpu = CounterMetricFamily(
            "annotator_process_cpu_seconds", "Processor time of each process.", labels=["pid"]
        )
        memory = GaugeMetricFamily(
            "annotator_process_resident_memory_bytes", "Resident memory of each process.", labels=["pid"]
        )
        files = GaugeMetricFamily(
            "annotator_process_open_files", "Open files and connections of each process.", labels=["pid"]
        )
        with suppress(OSError):  # this is not Linux
            stat = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            opened = sum(1 for _ in Path("/proc/self/fd").iterdir())
            ticks, page, pid = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE"), str(os.getpid())
            cpu.add_metric([pid], (int(stat[11]) + int(stat[12])) / ticks)
            memory.add_metric([pid], int(stat[21]) * page)
            files.add_metric([pid], opened)
        yield from (cpu, memory, files)
        yield _gauge("annotator_processes", "Server processes.", 1)


class _Load:
    """What waits in the database, over all datasets together. Asked for at most once in KEEP_SECONDS."""

    def __init__(self, database: Database) -> None:
        # connections of its own, which wait for nobody's lock: no scrape takes one from those who judge
        self._own = Database(database.url, patience=PROBE_SECONDS, beside=database)
        self._lock, self._until = Lock(), float("-inf")
        self._load: InstallationLoad | None = None

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import InfoMetricFamily

        kind = "sqlite" if self._own.is_sqlite else "postgresql"
        build = {"version": __version__, "python": platform.python_version(), "database": kind}
        yield InfoMetricFamily("annotator_build", "Version, Python and kind of database.", value=build)
        load = self._read()
        yield _gauge(
            "annotator_database_up",
            "1 if the server could read the database, otherwise 0.",
            float(load is not None),
        )
        if load is None:
            return
        yield _gauge("annotator_open_pairs", "Pairs that wait for annotators.", load.open_pairs)
        yield _gauge("annotator_open_disagreements", "Pairs that wait for a lead.", load.open_disagreements)
        yield _gauge("annotator_open_questions", "Questions without an answer.", load.open_questions)
        yield _gauge("annotator_leases", "Pairs reserved for annotators.", load.leases)
        yield _gauge("annotator_sessions", "Signed-in browsers.", load.sessions)
        yield _gauge(
            "annotator_waiting_locks", "Locks for which sessions of PostgreSQL wait.", load.waiting_locks
        )
        if load.published_at is not None:
            about = "When the latest release was published."
            yield _gauge("annotator_published_timestamp_seconds", about, load.published_at.timestamp())

    def _read(self) -> InstallationLoad | None:
        with self._lock:
            if monotonic() >= self._until:
                try:
                    self._load = measure_load(self._own, now=datetime.now(UTC))
                except AnnotatorError:
                    self._load = None
                self._until = monotonic() + KEEP_SECONDS
            return self._load


ADDRESS = "/metrics"
SHORTEST_TOKEN = 20
SETTING = "ANNOTATOR_METRICS_TOKEN_FILE"


def read_metrics_token(settings: Settings) -> str | None:
    """Return the token, None if none is set. ValidationError if the file cannot be read, or holds something that can be guessed."""
    if settings.metrics_token_file is None:
        return None
    try:
        token = Path(settings.metrics_token_file).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not ASCII"
        raise ValidationError(f"{SETTING}: {settings.metrics_token_file} cannot be read: {why}") from None
    if len(token) < SHORTEST_TOKEN or len(token.split()) != 1:
        raise ValidationError(
            f"{SETTING}: expected one word of at least {SHORTEST_TOKEN} characters, such as of: openssl rand -hex 32"
        )
    return token


def routes(settings: Settings) -> list[Route]:
    """Return the route, or none without a token. The token is read once."""
    token = read_metrics_token(settings)
    if token is None:
        return []
    expected = f"Bearer {token}".encode()

    async def get_metrics(request: Request) -> Response:
        given = request.headers.get("authorization", "").encode("latin-1", "replace")
        if not hmac.compare_digest(given, expected):
            refused = {"WWW-Authenticate": "Bearer"}
            return JSONResponse({"error": "this needs the metrics token"}, 401, headers=refused)
        body, kind = await run_in_threadpool(collect_figures, request.headers.get("accept", ""))
        return Response(body, headers={"Content-Type": kind})

    return [Route(ADDRESS, get_metrics, methods=["GET"])]
