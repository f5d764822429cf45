"""Run `annotator audit`: the audit log of the installation, its chain, and its head."""

import json as json_module
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from annotator.cli.terminal import AsOption, DatabaseOption, now, open_as, print_json, print_table
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from datetime import datetime

    from annotator.audit.records import AuditEntry, AuditFilter, AuditVerification
    from annotator.domain.people import Actor
    from annotator.storage.database import Database

SHOWN = 200


def audit(
    dataset: Annotated[
        str | None, typer.Argument(help="Only entries about this dataset.", metavar="[DATASET]")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compute the chain again. Exit code 3 if it does not hold.")
    ] = False,
    head_was: Annotated[
        str | None,
        typer.Option(
            "--head-was",
            metavar="SEQUENCE:HASH",
            help="With --verify: an earlier --head. Proves that nothing was cut off since.",
        ),
    ] = None,
    head: Annotated[
        bool, typer.Option("--head", help="Print the newest entry's sequence and hash, to keep elsewhere.")
    ] = False,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="From this day or time on.")] = None,
    after: Annotated[
        int | None, typer.Option(metavar="SEQUENCE", help="Only entries after this one.", min=0)
    ] = None,
    action: Annotated[
        str | None, typer.Option(metavar="ACTION", help="Only this action, such as signed_in.")
    ] = None,
    person: Annotated[
        str | None, typer.Option(metavar="USER", help="Only entries that name this person.")
    ] = None,
    delete_personal_before: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Remove usernames and addresses from entries before this time, for ever."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", help="At most so many (default: the newest 200; all with --json).", min=1),
    ] = None,
    as_: AsOption = None,
    database: DatabaseOption = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on each line, the oldest first.")
    ] = False,
) -> None:
    """Show the audit log of the installation: sign-ins, roles, settings, imports, exports, releases."""
    from annotator.adjudication.history.history_records import read_day_or_time
    from annotator.audit.records import AuditFilter

    filters = any(value is not None for value in (dataset, since, after, action, person, limit))
    if verify + head + (delete_personal_before is not None) > 1:
        raise typer.BadParameter("--verify, --head and --delete-personal-before exclude each other")
    if (verify or head or delete_personal_before is not None) and filters:
        raise typer.BadParameter(
            "--verify, --head and --delete-personal-before are about the whole log; leave the filters out"
        )
    if head_was is not None and not verify:
        raise typer.BadParameter("--head-was needs --verify")
    opened, actor = open_as(database, as_)
    if verify:
        _verify(opened, actor, head_was, json=json)
    elif delete_personal_before is not None:
        _remove(opened, actor, read_day_or_time(delete_personal_before), json=json)
    elif head:
        _print_head(opened, actor, json=json)
    else:
        begin = read_day_or_time(since) if since is not None else None
        wanted = AuditFilter(dataset, action, person, begin, after=after)
        _print_entries(opened, actor, wanted, limit, json=json)


def _verify(database: "Database", actor: "Actor", head_was: str | None, *, json: bool) -> None:
    from annotator.audit.records import read_head
    from annotator.audit.service import verify_audit_log
    from annotator.domain.errors import GateNotMet

    earlier = read_head(head_was) if head_was is not None else None
    found = verify_audit_log(database, actor, head_was=earlier)
    if json:
        print_json(_describe(found))
    if found.problem is not None:
        raise GateNotMet(
            f"The audit log does not hold at entry {found.problem.sequence}: "
            f"expected {found.problem.expected}, found {found.problem.found}"
        )
    if not json:
        typer.echo(f"The audit log holds: {count_of(found.entries, 'entry')}.")
        if found.removed:
            typer.echo(
                f"{count_of(found.removed, 'personal value')} removed or replaced, and entries of the log account for it."
            )
        if found.head is not None:
            typer.echo(f"Head: {found.head}")


def _remove(database: "Database", actor: "Actor", before: "datetime", *, json: bool) -> None:
    from annotator.audit.removal_service import remove_old_personal_data

    gone = remove_old_personal_data(database, actor, before=before, now=now())
    if json:
        print_json({"removed": gone})
    else:
        typer.echo(f"Removed {count_of(gone, 'personal value')}. The entries stay, and the chain holds.")


def _describe(found: "AuditVerification") -> dict[str, object]:
    return {
        "holds": found.problem is None,
        "entries": found.entries,
        "head": None if found.head is None else str(found.head),
        "removed": found.removed,
        "problem": found.problem,
    }


def _print_head(database: "Database", actor: "Actor", *, json: bool) -> None:
    from annotator.audit.service import find_audit_head
    from annotator.domain.errors import StateError

    found = find_audit_head(database, actor)
    if found is None:
        raise StateError("the audit log has no entry yet")
    if json:
        print_json({"sequence": found.sequence, "sha256": found.sha256})
    else:
        typer.echo(str(found))


def _print_entries(
    database: "Database", actor: "Actor", wanted: "AuditFilter", limit: int | None, *, json: bool
) -> None:
    from annotator.audit.service import iterate_audit_log, read_audit_page

    if json:
        for entry in iterate_audit_log(database, actor, wanted, limit=limit):
            line = json_module.dumps(entry.describe(), ensure_ascii=False)
            sys.stdout.write(f"{line}\n")
        return
    page = read_audit_page(database, actor, wanted, limit=limit or SHOWN)
    rows = [_to_row(entry) for entry in reversed(page.entries)]
    print_table(
        ("entry", "when", "who", "action", "on", "dataset", "details", "from"),
        rows,
        empty="The audit log has no such entry.",
    )
    if len(rows) < page.total:
        typer.echo(
            f"Showing the newest {len(rows):,} of {page.total:,}. Print all of them with --json.", err=True
        )


def _to_row(entry: "AuditEntry") -> tuple[object, ...]:
    chained = entry.chained
    actor = entry.name("actor") or ("removed" if entry.is_removed("actor") else chained.actor_kind)
    subject = entry.name("subject") or ("removed" if entry.is_removed("subject") else "")
    details = "" if chained.details == "{}" else chained.details
    on = " ".join(part for part in (subject, chained.object) if part)
    origin = " ".join(part for part in (chained.source, entry.name("address")) if part)
    return entry.sequence, chained.at, actor, chained.action, on, chained.dataset, details, origin
