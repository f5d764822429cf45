"""Run `annotator duplicates`: list near duplicates outside the pool, and accept the judged document's grade."""

from typing import TYPE_CHECKING

import typer

from annotator.cli.terminal import (
    Console,
    DatasetArgument,
    DryRunOption,
    now,
    open_as,
    print_table,
)
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from annotator.pooling.duplicates.duplicates import AcceptedDuplicates, DuplicateReport

COLUMNS = (
    "pair",
    "query_id",
    "judged document",
    "its grade",
    "near duplicate",
    "state",
    "grade",
    "round",
    "rule",
)


def duplicates(
    dataset: DatasetArgument,
    accept: bool = typer.Option(
        False, "--accept", help="Give the settled grade of the judged document to its near duplicates."
    ),
    lead: str | None = typer.Option(
        None, "--as", metavar="LEAD", help="The lead who accepts; with --accept."
    ),
    group: list[str] | None = typer.Option(
        None, metavar="PAIR", help="Only the group of this judged pair (repeatable); default: all offers."
    ),
    dry_run: DryRunOption = False,
    console: Console = Console(),
) -> None:
    """List near duplicates left out of the pool, and accept the judged document's grade for them."""
    from annotator.pooling.duplicates.duplicates_service import accept_duplicates, list_duplicates

    if accept and lead is None:
        raise typer.BadParameter("--accept needs --as LEAD: a person accepts a grade")
    if not accept and (group or dry_run):
        raise typer.BadParameter("--group and --dry-run go with --accept")
    opened, actor = open_as(console.database, lead)
    if not accept:
        report = list_duplicates(opened, actor, dataset, now=now())
        if not console.show_json(report):
            _print_report(report)
        return
    done = accept_duplicates(opened, actor, dataset, now=now(), pairs=group or (), dry_run=dry_run)
    if not console.show_json(done):
        _print_accepted(done)


def _print_report(report: "DuplicateReport") -> None:
    rows = [
        (
            group.pair or "",
            group.query_id,
            group.doc_id,
            "" if group.grade is None else group.grade,
            document.doc_id,
            document.state,
            "" if document.grade is None else document.grade,
            document.round,
            document.rule,
        )
        for group in report.groups
        for document in group.documents
    ]
    print_table(COLUMNS, rows, empty="No near duplicate was left out of the pool.")
    if not rows:
        return
    typer.echo(
        f"{count_of(report.documents, 'near duplicate')}: {report.waiting:,} waiting, {report.offered:,} offered, "
        f"{report.accepted:,} accepted, {report.out_of_date:,} out of date, {report.judged:,} judged."
    )
    if report.offered or report.out_of_date:
        typer.echo(f"Accept what is offered: annotator duplicates {report.dataset} --accept --as LEAD")
    for group in report.groups:
        for document in group.documents:
            if document.state == "out of date":
                present = "has no settled grade" if group.grade is None else f"is at {group.grade}"
                typer.echo(
                    f"Out of date: {group.query_id} {document.doc_id} was accepted at {document.grade}, "
                    f"and {group.doc_id} {present} now."
                )


def _print_accepted(done: "AcceptedDuplicates") -> None:
    verb = "Would accept" if done.dry_run else "Accepted"
    typer.echo(
        f"{verb} the grades of {count_of(done.groups, 'judged document')} for {count_of(done.accepted, 'near duplicate')}; "
        f"{count_of(done.new_pairs, 'is a new pair', 'are new pairs')}, {done.renewed:,} had another grade before."
    )
    if done.judged:
        typer.echo(
            f"{count_of(done.judged, 'near duplicate keeps its', 'near duplicates keep their')} own judgments."
        )
