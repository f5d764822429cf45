"""`annotator serve`: the app in a browser, on the database as it is."""

from typing import Annotated

import typer

from annotator.cli.terminal import DatabaseOption, open_database

HostOption = Annotated[str, typer.Option(help="The address to listen on. 127.0.0.1: this machine only.")]
PortOption = Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")]


def serve(host: HostOption = "127.0.0.1", port: PortOption = 8501, database: DatabaseOption = None) -> None:
    """Serve the app; brings the database's schema up to date first. Ctrl+C ends it."""
    from annotator.accounts.service import has_anybody_who_signs_in
    from annotator.settings import Settings
    from annotator.web.serve import is_loopback, serve_app

    settings, opened = Settings(), open_database(database)
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
