"""`annotator release …`: check the gates, publish, list, verify a folder."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotator.cli.terminal import (
    DatabaseOption,
    DatasetArgument,
    JsonOption,
    now,
    open_database,
    print_json,
    print_table,
    resolve_actor,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from annotator.releases.gates import Gate
    from annotator.storage.database import Database

app = typer.Typer(help="Releases: gates, publishing, verification.", no_args_is_help=True)


@app.command()
def check(dataset: DatasetArgument, database: DatabaseOption = None, json: JsonOption = False) -> None:
    """Say which gates a release would meet now. Exit 3 while one is not met."""
    from annotator.domain.errors import GateNotMet
    from annotator.domain.people import OPERATOR
    from annotator.releases.service import check_release, explain_check

    opened, _ = _open(database)
    found = check_release(opened, OPERATOR, dataset)
    if json:
        print_json({"version": found.version, "gates": found.gates})
    else:
        _print_gates(found.gates)
    missing = explain_check(found)
    if missing:
        raise GateNotMet(missing)


@app.command()
def publish(
    dataset: DatasetArgument,
    version: Annotated[str, typer.Argument(help="MAJOR.MINOR.PATCH.", metavar="VERSION")],
    lead: Annotated[str, typer.Option("--as", metavar="LEAD", help="The lead who publishes.")],
    note: Annotated[str, typer.Option(help="What this release is for; kept in its manifest.")] = "",
    override: Annotated[
        list[str] | None,
        typer.Option(metavar="GATE=REASON", help="Publish although this gate is not met. Repeatable."),
    ] = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Freeze what is settled into a new folder below the exports folder (ANNOTATOR_EXPORTS_DIR).

    With SOURCE_DATE_EPOCH set, the release bears that time.
    """
    from annotator.releases.service import publish_release

    overrides = _read_overrides(override or [])
    opened, exports_dir = _open(database)
    made = publish_release(
        opened,
        resolve_actor(opened, lead),
        dataset,
        version,
        exports_dir=exports_dir,
        now=_release_time(),
        note=note,
        overrides=overrides,
    )
    for name in sorted(set(overrides) - set(made.overridden)):
        typer.echo(f"{name} is met: its override was not needed and is not kept.", err=True)
    if json:
        print_json(made)
        return
    typer.echo(f"Published {made.dataset} {made.version}: {made.qrels} qrels in {made.path}")


@app.command("list")
def list_(dataset: DatasetArgument, database: DatabaseOption = None, json: JsonOption = False) -> None:
    """List the releases of a dataset, and whether their folders are whole."""
    from annotator.domain.people import OPERATOR
    from annotator.releases.service import list_releases

    opened, exports_dir = _open(database)
    found = list_releases(opened, OPERATOR, dataset, exports_dir=exports_dir)
    if json:
        print_json(found)
        return
    rows = [
        (item.version, item.created_at, item.published_by, item.qrels, item.folder, item.path, item.note)
        for item in found
    ]
    columns = ("version", "created_at", "published_by", "qrels", "folder", "path", "note")
    print_table(columns, rows, empty="No release yet. See what one needs: annotator release check DATASET")


@app.command()
def verify(
    path: Annotated[Path, typer.Argument(help="A release's folder.", metavar="PATH")],
    json: JsonOption = False,
) -> None:
    """Verify a release's folder by itself: checksums, added files, content hash, counts. Exit 3 if changed."""
    from dataclasses import asdict

    from annotator.domain.errors import GateNotMet
    from annotator.releases.service import verify_release

    found = verify_release(path)
    named = f"{found.dataset} {found.version}"
    if json:
        print_json({"whole": found.whole, **asdict(found)})
    elif found.whole:
        typer.echo(f"{named} is whole: {found.files} files, content {found.content_sha256}")
    if not found.whole:
        faults = [f"- {fault.path}: expected {fault.expected}, found {fault.found}" for fault in found.faults]
        raise GateNotMet("\n".join([f"{named} is not as it was published:", *faults]))


def _open(url: str | None) -> "tuple[Database, Path]":
    """The database and the exports folder, after finishing what a killed publish left half done."""
    from annotator.releases.service import finish_publishing
    from annotator.settings import Settings

    database, exports_dir = open_database(url), Settings().exports_dir
    for finished in finish_publishing(database, exports_dir=exports_dir, now=now()):
        typer.echo(f"Put in place what an interrupted publish had recorded: {finished}", err=True)
    return database, exports_dir


def _release_time() -> datetime:
    """The present, or SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch/)."""
    from annotator.domain.errors import ValidationError

    found = os.environ.get("SOURCE_DATE_EPOCH")
    if not found:
        return now()
    try:
        return datetime.fromtimestamp(int(found), UTC)
    except (ValueError, OverflowError, OSError):
        raise ValidationError(f"SOURCE_DATE_EPOCH: expected seconds since 1970, found {found!r}") from None


def _read_overrides(given: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in given:
        gate, equals, reason = item.partition("=")
        if not equals or gate in found:
            raise typer.BadParameter(
                f"expected each GATE=REASON once, found {item!r}", param_hint="--override"
            )
        found[gate] = reason
    return found


def _print_gates(gates: "Iterable[Gate]") -> None:
    rows: list[tuple[Any, ...]] = [
        (gate.name, gate.required, gate.measured, "yes" if gate.met else "no", gate.why) for gate in gates
    ]
    print_table(("gate", "required", "measured", "met", "why"), rows, empty="")
