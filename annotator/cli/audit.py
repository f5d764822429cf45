"""Run `annotator audit` and `annotator trail`: the audit log of the installation, and what leads did in a dataset."""

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from annotator.cli.terminal import (
    AsOption,
    DatabaseOption,
    DatasetArgument,
    LeadConsole,
    note_written,
    now,
    open_as,
    print_json,
    print_table,
)
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from datetime import datetime

    from annotator.adjudication.history.history import AuditLogPage
    from annotator.audit.records import AuditEntry, AuditFilter, AuditVerification
    from annotator.domain.people import Actor
    from annotator.storage.database import Database

SHOWN = 200


def audit(
    dataset: str | None = typer.Argument(None, help="Only entries about this dataset.", metavar="[DATASET]"),
    verify: bool = typer.Option(
        False, "--verify", help="Compute the chain again. Exit code 3 if it does not hold."
    ),
    head_was: str | None = typer.Option(
        None,
        metavar="SEQUENCE:HASH",
        help="With --verify: an earlier --head. Proves that nothing was cut off since.",
    ),
    head: bool = typer.Option(
        False, "--head", help="Print the newest entry's sequence and hash, to keep elsewhere."
    ),
    since: str | None = typer.Option(None, metavar="TIME", help="From this day or time on."),
    after: int | None = typer.Option(None, metavar="SEQUENCE", help="Only entries after this one.", min=0),
    action: str | None = typer.Option(None, metavar="ACTION", help="Only this action, such as signed_in."),
    person: str | None = typer.Option(None, metavar="USER", help="Only entries that name this person."),
    delete_personal_before: str | None = typer.Option(
        None, metavar="TIME", help="Remove usernames and addresses from entries before this time, for ever."
    ),
    limit: int | None = typer.Option(
        None, metavar="N", help="At most so many (default: the newest 200; all with --json).", min=1
    ),
    as_: AsOption = None,
    database: DatabaseOption = None,
    json: bool = typer.Option(False, "--json", help="Print one JSON object on each line, the oldest first."),
) -> None:
    """Show the audit log of the installation: sign-ins, roles, settings, imports, exports, releases."""
    from annotator.adjudication.history.history import read_day_or_time
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
    from annotator.audit.service import remove_old_personal_data

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


def trail(
    dataset: DatasetArgument,
    pair: tuple[str, str] | None = typer.Option(
        None, metavar="QUERY_ID DOC_ID", help="The whole history of this pair.", show_default=False
    ),
    action: str | None = typer.Option(None, metavar="ACTION", help="Only this action, such as decided."),
    person: str | None = typer.Option(
        None, metavar="USER", help="Only actions of this person; operator: the command line."
    ),
    since: str | None = typer.Option(None, metavar="TIME", help="From this day or time on."),
    until: str | None = typer.Option(None, metavar="TIME", help="Up to this day or time."),
    csv: Path | None = typer.Option(None, metavar="FILE", help="Write the records to this CSV file instead."),
    console: LeadConsole = LeadConsole(),
) -> None:
    """Show the activity log: the latest 200 actions of leads, or all with --csv or --json, oldest first."""
    from annotator.adjudication.history.history import AuditLogFilter, read_day_or_time, write_csv
    from annotator.adjudication.history.history_service import (
        find_pair_key,
        iterate_audit_log,
        read_audit_log,
        read_pair_history,
    )

    opened, actor = console.open_as()
    key = find_pair_key(opened, actor, dataset, *pair) if pair is not None else None
    begin = read_day_or_time(since) if since is not None else None
    end = read_day_or_time(until, last=True) if until is not None else None
    wanted = AuditLogFilter(key, action, person, begin, end)
    if csv is not None:
        from annotator.agreement.report_files import write_file

        note_written(opened, actor, dataset, "activity-log.csv")
        write_file(csv, write_csv(iterate_audit_log(opened, actor, dataset, wanted, now=now())))
        typer.echo(f"Wrote {csv}.", err=console.json)
    elif key is not None and action is None and person is None:
        history = read_pair_history(opened, actor, dataset, key, now=now())
        entries = [entry for entry in history if (begin or entry.at) <= entry.at <= (end or entry.at)]
        columns = {"when": "at", "who": "who", "what": "said"}
        console.show_records(entries, columns, empty="This pair has no history in that time.")
    elif not console.show_json(list(iterate_audit_log(opened, actor, dataset, wanted, now=now()))):
        _print_page(read_audit_log(opened, actor, dataset, wanted, limit=SHOWN, now=now()))


def _print_page(page: "AuditLogPage") -> None:
    from annotator.adjudication.history.history import describe_entry

    rows = [
        (
            event.at,
            event.username or "operator",
            event.query_id,
            event.doc_id,
            f"{event.action} (judge it first)"
            if event.hidden
            else describe_entry(event.action, event.before, event.after),
        )
        for event in page.events
    ]
    print_table(("when", "who", "query_id", "doc_id", "what"), rows, empty="No activity matches.")
    if len(rows) < page.total:
        typer.echo(
            f"Showing the latest {len(rows):,} of {page.total:,}. Write all of them with --csv FILE.",
            err=True,
        )
