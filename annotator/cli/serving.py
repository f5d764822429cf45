"""Run `annotator serve`, `demo` and `status`: the app in a browser, and a dataset's progress.

`annotator status` shows the progress of pairs, the leads' queue, and its duration at the current pace.
"""

import sys
from dataclasses import asdict, replace
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from annotator.cli.terminal import Console, DatabaseOption, DatasetArgument, now, open_database, print_table
from annotator.domain.errors import StateError
from annotator.domain.figures import show_figure
from annotator.domain.messages import count_of
from annotator.domain.people import OPERATOR

if TYPE_CHECKING:
    from annotator.adjudication.queue.queue_records import QueuePace
    from annotator.overview.service import DatasetStatus
    from annotator.settings import Settings
    from annotator.storage.database import Database


PortOption = Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")]


HostOption = Annotated[str, typer.Option(help="The address to listen on. 127.0.0.1: this machine only.")]
EVERY_ADDRESS = ("http://0.0.0.0", "http://[::]")  # to listen on; no browser can open them everywhere


def serve(
    host: HostOption = "127.0.0.1",
    port: PortOption = 8501,
    address: str | None = typer.Option(
        None,
        metavar="URL",
        help="The address at which people reach the server, for links to send (default: ANNOTATOR_ADDRESS).",
    ),
    workers: int = typer.Option(
        1, min=1, help="Only 1. For more processes, run several servers behind nginx: docs/operations.md."
    ),
    metrics_port: int | None = typer.Option(
        None, min=1, max=65535, help="The port of /metrics for Prometheus. None: not served."
    ),
    metrics_host: str = typer.Option(
        "127.0.0.1", help="The address for --metrics-port. Whoever reaches it can read the figures."
    ),
    database: DatabaseOption = None,
) -> None:
    """Serve the app, after updating the database's schema. Ctrl+C stops it.

    While nobody has an account, it prints a one-time address for creating the first admin in a browser.
    """
    _import_structlog()
    from annotator.dataset.service import read_operator_hosts
    from annotator.domain.addresses import check_address
    from annotator.guideline.service import finish_guideline_changes
    from annotator.people.service import has_anybody_who_signs_in
    from annotator.people.setup_service import is_set_up
    from annotator.releases.service import finish_publishing
    from annotator.settings import Settings
    from annotator.web.server.serve import serve_app

    if workers > 1:
        raise StateError(
            f"--workers {workers}: one command runs one process. To use several, run several servers on PostgreSQL "
            "behind nginx: docs/operations.md#several-servers"
        )
    settings = Settings()
    if address is not None:
        settings = replace(settings, address=check_address("--address", address))
    opened = open_database(database)
    read_operator_hosts(settings.search_hosts)
    finish_publishing(opened, exports_dir=settings.exports_dir, now=now())
    finish_guideline_changes(opened)
    _warn_without_https(host, settings)
    if is_set_up(opened) and not has_anybody_who_signs_in(opened):
        typer.echo(
            "Nobody can sign in: every account is disabled. Enable one: annotator people set USER --enable",
            err=True,
        )

    def announce(bound: str) -> None:
        _announce(bound)
        _announce_setup(opened, settings.address or bound)

    metrics = (metrics_host, metrics_port) if metrics_port is not None else None
    serve_app(opened, settings, host=host, port=port, ready=announce, metrics=metrics)


def _import_structlog() -> None:
    """Import structlog without rich, which Typer installs: saves 80 modules and 4 MB that our log does not need."""
    if "rich" in sys.modules:
        return
    sys.modules["rich"] = None  # type: ignore[assignment]  # the import of it fails, as if it were not installed
    try:
        import_module("structlog")
    finally:
        del sys.modules["rich"]


def _warn_without_https(host: str, settings: "Settings") -> None:
    from annotator.domain.addresses import is_loopback

    if not is_loopback(host) and not settings.secure_cookie:
        typer.echo(
            f"Warning: {host} can be reached from other machines, and without https passwords and sign-ins travel "
            "in the clear. Put a proxy with https before it and set ANNOTATOR_SECURE_COOKIE=true.",
            err=True,
        )


def _announce(address: str) -> None:
    typer.echo(f"Annotator is served at {address} (Ctrl+C ends it)")


def _announce_setup(database: "Database", address: str) -> None:
    """Print the one-time URL for making the first admin, if no account exists. To stdout, never to the log."""
    from annotator.people.setup_service import make_setup_link

    link = make_setup_link(database, now=now())
    if link is None:
        return
    host, _, port = address.rpartition(":")
    reachable = f"http://localhost:{port}" if host in EVERY_ADDRESS else address
    until = link.expires_at.strftime("%Y-%m-%d %H:%M UTC")
    typer.echo(
        f"Nobody has an account yet. Open this address to create the first admin (once, until {until}):"
    )
    typer.echo(f"  {reachable}/setup#{link.token}")
    if host in EVERY_ADDRESS:
        typer.echo("From another machine, write the server's name in place of localhost.")
    typer.echo("Without a browser: annotator people add NAME --role admin")


def demo(
    host: HostOption = "127.0.0.1",
    port: PortOption = 8501,
    no_browser: bool = typer.Option(False, "--no-browser", help="Do not open a browser."),
    with_judgments: bool = typer.Option(
        False, "--with-judgments", help="Add two simulated annotators' judgments, marked as such."
    ),
    database: DatabaseOption = None,
) -> None:
    """Create the demo dataset if it does not exist, print its sign-ins, and serve the app."""
    _import_structlog()
    from annotator.demo import build_demo
    from annotator.settings import Settings
    from annotator.web.server.serve import check_port, serve_app

    check_port(host, port)
    settings = Settings()
    _warn_without_https(host, settings)
    opened = open_database(database)
    built = build_demo(opened, now=now(), with_judgments=with_judgments)
    typer.echo(
        f"The dataset {built.dataset} {'is new' if built.made else 'exists'}: {count_of(built.pairs, 'pair')} to judge."
    )
    if built.simulated:
        typer.echo(f"Added {count_of(built.simulated, 'simulated judgment')}.")
    typer.echo(
        "Sign in as one of these people. The passwords are new and valid until the demo starts again:\n"
    )
    rows = [(item.username, item.password, item.role) for item in built.sign_ins]
    print_table(("username", "password", "role"), rows, empty="")
    typer.echo()

    def announce(address: str) -> None:
        _announce(address)
        if not no_browser:
            _open_browser(address)

    serve_app(opened, settings, host=host, port=port, ready=announce)


def _open_browser(address: str) -> None:
    """Open a browser as soon as the app answers, if there is a screen. A text browser would take over the terminal."""
    import os
    import sys
    import threading
    import time
    import urllib.request
    import webbrowser

    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return

    def wait_and_open() -> None:
        for _ in range(100):
            try:
                with urllib.request.urlopen(f"{address}/healthz", timeout=1):
                    webbrowser.open(address)
                    return
            except OSError:
                time.sleep(0.2)

    threading.Thread(target=wait_and_open, daemon=True).start()


def status(dataset: DatasetArgument, console: Console = Console()) -> None:
    """Show progress, what waits for a lead, and how long the queue will take."""
    from annotator.overview.service import show_status

    report = show_status(console.open(), OPERATOR, dataset, now=now().astimezone())
    if console.show_json(_to_json(dataset, report)):
        return
    pairs = report.pairs
    statuses = ", ".join(f"{n:,} {status}" for status, n in pairs.by_status.items() if n)
    typer.echo(f"{count_of(pairs.pairs, 'pair')}{': ' if statuses else ''}{statuses}.")
    checks = (
        f"; {count_of(pairs.checks, 'unjudged pair only checks', 'unjudged pairs only check')} annotators"
        if pairs.checks
        else ""
    )
    typer.echo(f"To judge: {count_of(pairs.to_judge, 'pair')}, {pairs.begun:,} begun{checks}.")
    for line in (_describe_queue(report), *_describe_pace(report.pace)):
        typer.echo(line)


def _to_json(dataset: str, report: "DatasetStatus") -> dict[str, object]:
    from annotator.adjudication.queue.queue_records import list_words

    queue = report.queue
    return {
        "dataset": dataset,
        "at": now(),
        "pairs": report.pairs.pairs,
        "statuses": report.pairs.by_status,
        "to_judge": report.pairs.to_judge,
        "begun": report.pairs.begun,
        "checks": report.pairs.checks,
        "queue": {
            "open": report.pairs.waiting,
            "by_status": report.pairs.waiting_by_status,
            "by_reason": {list_words(reason)[0]: n for reason, n in queue.by_reason.items()},
            "taste": queue.taste,
            "flips": queue.flips,
        },
        "pace": {**asdict(report.pace), "grows": report.pace.grows},
    }


def _describe_queue(report: "DatasetStatus") -> str:
    from annotator.domain.settling import REASONS

    pairs = report.pairs
    if not pairs.waiting:
        return "Queue: empty."
    reasons = [f"{REASONS[reason]} {n:,}" for reason, n in report.queue.by_reason.items() if n]
    flips = f"; {report.queue.flips:,} can change the order of systems" if report.queue.flips else ""
    ungraded = f"{pairs.disagreements:,} of them without a settled grade"
    return f"Queue: {count_of(pairs.waiting, 'pair waits', 'pairs wait')} for a lead, {ungraded} ({', '.join(reasons)}){flips}."


def _describe_pace(pace: "QueuePace") -> list[str]:
    """Return sentences, one per line: work in the queue, its duration at this pace, and new arrivals."""
    lines = []
    if pace.open:
        work = f"not known: {pace.why_no_work}" if pace.work is None else f"about {_show_duration(pace.work)}"
        days = (
            f"not known: {pace.why_no_days}"
            if pace.working_days_left is None
            else f"about {count_of(max(1, round(pace.working_days_left)), 'working day')} at this pace"
        )
        lines += [f"Work left: {work}.", f"It lasts: {days}."]
    if pace.decided:
        lines.append(
            f"Decided in the last 7 days: {pace.decided:,}, on {count_of(pace.working_days, 'day')}."
        )
    if pace.arrived:
        lines.append(
            f"New: {show_figure(pace.arrived_per_day)} a day{'; more come than are decided' if pace.grows else ''}."
        )
    return lines


def _show_duration(seconds: float) -> str:
    """Return a duration in rounded minutes, from two hours on in hours; at least one minute."""
    minutes = max(1, round(timedelta(seconds=seconds) / timedelta(minutes=1)))
    return count_of(minutes, "minute") if minutes < 120 else count_of(round(minutes / 60), "hour")
