"""Run `annotator backup`, `restore`, `copy` and `check-upgrade`: the installation as a whole.

`backup` and `check-upgrade` do not change the schema, so a backup is possible before an upgrade.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annotator.cli.terminal import Console, now, open_as_it_is, print_table
from annotator.domain.figures import show_number
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from annotator.domain.audit import AuditAction
    from annotator.installation.records import ReportProgress, UpgradeCheck
    from annotator.installation.service import BackupFolders
    from annotator.storage.database import Database


BackupArgument = Annotated[Path, typer.Argument(help="The file of the backup.", metavar="FILE")]
ProgramsOption = Annotated[
    Path | None,
    typer.Option(
        "--pg-bin",
        metavar="DIR",
        help="The folder of pg_dump and pg_restore (default: ANNOTATOR_PG_BIN, else the PATH).",
        show_default=False,
    ),
]
NoExportsOption = Annotated[
    bool,
    typer.Option("--no-exports", help="The database only: no folders of releases and no fetched runs."),
]
SHOWN_STEP = 5  # per cent between two lines of progress, where stderr is no terminal


def backup(
    file: BackupArgument,
    no_exports: NoExportsOption = False,
    pg_bin: ProgramsOption = None,
    console: Console = Console(),
) -> None:
    """Write the database, the releases and the fetched runs into one file, while people work.

    Exit code 3: the backup is written, and the folder of a release is not as it was published.
    """
    from annotator.domain.audit import AuditAction
    from annotator.installation.service import write_backup

    opened = open_as_it_is(console.database)
    report = write_backup(
        opened,
        file,
        _find_folders(None, left_out=no_exports),
        programs=_find_programs(pg_bin),
        now=now(),
        progress=_make_progress(),
    )
    manifest = report.manifest
    details = {"sha256": report.sha256, "bytes": report.bytes, "releases": manifest.releases}
    _note(opened, AuditAction.backup_written, report.path.name, details)
    if not console.show_json(
        {
            "path": report.path,
            "bytes": report.bytes,
            "sha256": report.sha256,
            "database": manifest.database,
            "schema": manifest.schema,
            "created_at": manifest.created_at,
            "tables": manifest.tables,
            "files": len(manifest.members),
            "releases": manifest.releases,
            "problems": manifest.problems,
        }
    ):
        judgments = count_of(manifest.tables.get("judgment", 0), "judgment")
        releases = count_of(manifest.releases, "release")
        typer.echo(
            f"Saved {judgments} and {releases} in {report.path} ({show_number(report.bytes / 1e6, 1)} MB)."
        )
        typer.echo(f"SHA-256: {report.sha256}")
        typer.echo(
            "It holds password hashes and every grade with its name: keep it where only you can read it."
        )
    for problem in manifest.problems:
        typer.echo(problem, err=True)
    if manifest.problems:
        raise SystemExit(3)


def restore(
    file: BackupArgument,
    exports: Path | None = typer.Option(
        None,
        metavar="DIR",
        help="Where the releases go (default: ANNOTATOR_EXPORTS_DIR, else exports).",
        show_default=False,
    ),
    no_exports: NoExportsOption = False,
    pg_bin: ProgramsOption = None,
    console: Console = Console(),
) -> None:
    """Restore a backup of the whole installation into an empty database: all of it, or nothing.

    One dataset is restored by: annotator dataset restore.
    """
    from annotator.domain.audit import AuditAction
    from annotator.installation.service import restore_backup

    opened = open_as_it_is(console.database)
    report = restore_backup(
        file,
        opened,
        _find_folders(exports, left_out=no_exports),
        programs=_find_programs(pg_bin),
        now=now(),
        progress=_make_progress(),
    )
    manifest = report.manifest
    details = {"made": manifest.created_at, "schema": manifest.schema, "releases": report.releases}
    _note(opened, AuditAction.backup_restored, report.path.name, details)
    if not console.show_json(
        {
            "path": report.path,
            "database": report.database,
            "created_at": manifest.created_at,
            "schema": manifest.schema,
            "migrated_to": report.migrated_to,
            "tables": manifest.tables,
            "releases": report.releases,
            "fetched_runs": report.fetched_runs,
            "withdrawn_links": report.withdrawn_links,
            "problems": manifest.problems,
        }
    ):
        judgments = count_of(manifest.tables.get("judgment", 0), "judgment")
        typer.echo(
            f"Restored {judgments} and {count_of(report.releases, 'release')} as of "
            f"{manifest.created_at:%Y-%m-%d %H:%M UTC} into {report.database}."
        )
        if report.migrated_to is not None:
            typer.echo(f"Its schema {manifest.schema} is {report.migrated_to} now.")
        typer.echo("Everybody signs in again.")
        if report.withdrawn_links:
            typer.echo(
                f"{count_of(report.withdrawn_links, 'link')} for invitations and passwords no longer valid: make new ones."
            )
    for problem in manifest.problems:
        typer.echo(f"When the backup was made: {problem}", err=True)


def copy(
    to: str = typer.Option(..., metavar="URL", help="The empty database to copy everything into."),
    console: Console = Console(),
) -> None:
    """Copy everything into another database, from SQLite to PostgreSQL or back, and compare it.

    Stop the server first: what is stored after the copy began is not in it.
    """
    from annotator.domain.audit import AuditAction
    from annotator.installation.copy_service import copy_installation
    from annotator.storage.database import Database

    source, target = console.open(), Database(to)
    report = copy_installation(source, target, _make_progress())
    for opened in (source, target):
        _note(
            opened,
            AuditAction.installation_copied,
            report.target,
            {"from": report.source, "rows": report.rows},
        )
    if not console.show_json(report):
        typer.echo(
            f"Copied {count_of(report.rows, 'row')} of {count_of(len(report.tables), 'table')} from {report.source} to {report.target}."
        )
        typer.echo("The content of every table is the same on both sides.")
        typer.echo("Folders of releases stay where they are.")
    if report.changed:
        typer.echo(
            f"Something was stored in {report.source} while it was copied, and is not in the copy ({', '.join(report.changed)}). "
            "Stop the server, and copy again into an empty database.",
            err=True,
        )
        raise SystemExit(3)


def check_upgrade(
    backup: Path | None = typer.Option(None, metavar="FILE", help="The latest backup, to compare with."),
    rehearse: bool = typer.Option(
        False,
        "--rehearse",
        help="Try the migrations: on a copy (SQLite), or in a transaction that is rolled back, for which everybody waits (PostgreSQL).",
    ),
    console: Console = Console(),
) -> None:
    """Show what this version would change in the database's schema, and whether it can. Changes nothing."""
    from annotator.installation import upgrade_service

    check = upgrade_service.check_upgrade(open_as_it_is(console.database), backup=backup, rehearse=rehearse)
    if not console.show_json(
        {
            "database": check.database,
            "schema": check.schema,
            "needed": check.needed,
            "ready": check.is_ready,
            "migrations": check.migrations,
            "rolling": check.rolls,
            "refusals": check.refusals,
            "bytes": check.bytes,
            "free_bytes": check.free_bytes,
            "rehearsed": check.rehearsed,
            "backup_at": check.backup_at,
            "judgments_since": check.judgments_since,
            "look_alikes": check.look_alikes,
        }
    ):
        _print_check(check)
    for refusal in (*check.look_alikes, *check.refusals):
        typer.echo(refusal, err=True)
    if not check.is_ready:
        raise SystemExit(1)


def _note(database: "Database", action: "AuditAction", target: str, details: "Mapping[str, Any]") -> None:
    """Append to the audit log. The action is already done, so a failure only prints a warning."""
    from annotator.domain.errors import DatabaseUnavailable
    from annotator.installation.service import note_installation_act

    try:
        note_installation_act(database, action, target=target, details=details, now=now())
    except DatabaseUnavailable as error:
        typer.echo(f"The audit log has no entry of this: {error.describe()}", err=True)


def _print_check(check: "UpgradeCheck") -> None:
    typer.echo(
        f"Schema of {check.database}: {check.schema or 'none yet'}; this version needs {check.needed}."
    )
    if not check.migrations:
        if check.is_ready:
            typer.echo("Nothing to do.")
        return
    print_table(("migration", "does"), [(item.revision, item.summary) for item in check.migrations], empty="")
    if check.rolls:
        typer.echo(
            "Several servers can be restarted with the new version one after the other, while people work."
        )
    else:
        stopping = ", ".join(item.revision for item in check.migrations if not item.rolls)
        typer.echo(f"Stop all servers first: those of the version before cannot go on after {stopping}.")
    free = "" if check.free_bytes is None else f", {show_number(check.free_bytes / 1e6)} MB free on its disk"
    typer.echo(f"Size of the database: {show_number(check.bytes / 1e6)} MB{free}.")
    if check.rehearsed and check.is_ready:
        typer.echo("Rehearsed: the migrations run on the present rows.")
    elif not check.rehearsed:
        typer.echo("Not rehearsed: try the migrations with --rehearse.")
    if check.backup_at is None:
        typer.echo("Make a backup first: annotator backup FILE")
    else:
        typer.echo(
            f"The backup was made on {check.backup_at:%Y-%m-%d %H:%M UTC}. "
            f"Judgments since then: {check.judgments_since or 0:,}."
        )


def _find_folders(exports: Path | None, *, left_out: bool) -> "BackupFolders":
    from annotator.installation.service import BackupFolders
    from annotator.settings import Settings

    settings = Settings()
    if left_out:
        return BackupFolders(None, None)
    return BackupFolders(exports or settings.exports_dir, settings.fetched_runs_dir)


def _find_programs(folder: Path | None) -> Path | None:
    from annotator.settings import Settings

    return folder or Settings().pg_bin


def _make_progress() -> "ReportProgress":
    """Return a function that prints the progress on stderr, in steps of 5 %."""
    shown: dict[str, int] = {}

    def report(what: str, done: int, whole: int) -> None:
        percent = 100 if done >= whole else 100 * done // whole
        step = percent - percent % SHOWN_STEP
        if shown.get(what) == step:
            return
        shown[what] = step
        if sys.stderr.isatty():
            typer.echo(f"\r{what}: {percent} %", err=True, nl=percent == 100)
        elif percent == 100:
            typer.echo(f"{what}: done", err=True)

    return report
