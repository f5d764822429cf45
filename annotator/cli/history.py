"""Run `annotator trail`: what leads did, and the history of one pair."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annotator.cli.terminal import (
    AsOption,
    DatabaseOption,
    DatasetArgument,
    JsonOption,
    note_written,
    now,
    open_as,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from annotator.adjudication.history.history import AuditLogPage, HistoryEntry

SHOWN = 200


def trail(
    dataset: DatasetArgument,
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="QUERY_ID DOC_ID", help="The whole history of this pair.", show_default=False),
    ] = None,
    action: Annotated[
        str | None, typer.Option(metavar="ACTION", help="Only this action, such as decided.")
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(metavar="USER", help="Only actions of this person; operator: the command line."),
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="From this day or time on.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Up to this day or time.")] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the records to this CSV file instead.")
    ] = None,
    as_: AsOption = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Show the activity log: the latest 200 actions of leads, or all with --csv or --json, oldest first."""
    from annotator.adjudication.history.history import AuditLogFilter, read_day_or_time, write_csv
    from annotator.adjudication.history.history_service import (
        find_pair_key,
        iterate_audit_log,
        read_audit_log,
        read_pair_history,
    )

    opened, actor = open_as(database, as_)
    key = find_pair_key(opened, actor, dataset, *pair) if pair is not None else None
    begin = read_day_or_time(since) if since is not None else None
    end = read_day_or_time(until, last=True) if until is not None else None
    wanted = AuditLogFilter(key, action, person, begin, end)
    if csv is not None:
        from annotator.agreement.report_files import write_file

        note_written(opened, actor, dataset, "activity-log.csv")
        write_file(csv, write_csv(iterate_audit_log(opened, actor, dataset, wanted, now=now())))
        typer.echo(f"Wrote {csv}.", err=json)
    elif key is not None and action is None and person is None:
        entries = read_pair_history(opened, actor, dataset, key, now=now())
        _print_history(
            [entry for entry in entries if (begin or entry.at) <= entry.at <= (end or entry.at)],
            json=json,
        )
    elif json:
        print_json(list(iterate_audit_log(opened, actor, dataset, wanted, now=now())))
    else:
        _print_page(read_audit_log(opened, actor, dataset, wanted, limit=SHOWN, now=now()))


def _print_history(entries: "list[HistoryEntry]", *, json: bool) -> None:
    if json:
        print_json(entries)
        return
    rows = [(entry.at, entry.who, entry.said) for entry in entries]
    print_table(("when", "who", "what"), rows, empty="This pair has no history in that time.")


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
