"""`annotator serve`: the app in a browser, on the database as it is; `annotator demo`: the same with the demo dataset."""

from typing import Annotated

import typer

from annotator.cli.terminal import DatabaseOption, now, open_database, print_table
from annotator.domain.messages import count_of

HostOption = Annotated[str, typer.Option(help="The address to listen on. 127.0.0.1: this machine only.")]
PortOption = Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")]


def serve(host: HostOption = "127.0.0.1", port: PortOption = 8501, database: DatabaseOption = None) -> None:
    """Serve the app; brings the database's schema up to date first. Ctrl+C ends it."""
    from annotator.people.service import has_anybody_who_signs_in
    from annotator.releases.service import finish_publishing
    from annotator.settings import Settings
    from annotator.web.serve import is_loopback, serve_app

    settings, opened = Settings(), open_database(database)
    finish_publishing(opened, exports_dir=settings.exports_dir, now=now())
    if not is_loopback(host) and not settings.secure_cookie:
        typer.echo(
            f"Warning: {host} can be reached from other machines, and without https passwords and sign-ins travel "
            "in the clear. Put a proxy with https before it and set ANNOTATOR_SECURE_COOKIE=true.",
            err=True,
        )
    if not has_anybody_who_signs_in(opened):
        typer.echo(
            "Nobody can sign in yet. Add the first admin: annotator people add NAME --role admin", err=True
        )
    serve_app(opened, settings, host=host, port=port, ready=_announce)


def _announce(address: str) -> None:
    typer.echo(f"Annotator is served at {address} (Ctrl+C ends it)")


def demo(
    port: PortOption = 8501,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser.")] = False,
    with_judgments: Annotated[
        bool,
        typer.Option("--with-judgments", help="Add two simulated annotators' judgments, marked as such."),
    ] = False,
    database: DatabaseOption = None,
) -> None:
    """Build the demo dataset if absent, print sign-ins for it, and serve the app."""
    from annotator.demo import build_demo
    from annotator.settings import Settings
    from annotator.web.serve import check_port, serve_app

    check_port("127.0.0.1", port)
    opened = open_database(database)
    built = build_demo(opened, now=now(), with_judgments=with_judgments)
    typer.echo(
        f"The dataset {built.dataset} is {'made' if built.made else 'there'}: {count_of(built.pairs, 'pair')} to judge."
    )
    if built.simulated:
        typer.echo(f"Added {count_of(built.simulated, 'simulated judgment')}.")
    typer.echo("Sign in as one of them. The passwords are new, and hold until the demo is started again:\n")
    rows = [(item.username, item.password, item.role) for item in built.sign_ins]
    print_table(("username", "password", "role"), rows, empty="")
    typer.echo()

    def announce(address: str) -> None:
        _announce(address)
        if not no_browser:
            _open_browser(address)

    serve_app(opened, Settings(), host="127.0.0.1", port=port, ready=announce)


def _open_browser(address: str) -> None:
    """Open it as soon as the app answers, where there is a screen; a text browser would take over the terminal."""
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
