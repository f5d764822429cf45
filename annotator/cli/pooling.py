"""`annotator pool` and `annotator pairs`: candidates become pairs, and the pool is listed."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from annotator.cli.terminal import (
    DatabaseOption,
    DatasetArgument,
    JsonOption,
    now,
    open_database,
    print_json,
    print_table,
)
from annotator.domain.messages import count_of, show_percent
from annotator.domain.people import OPERATOR

if TYPE_CHECKING:
    from annotator.pooling.service import PoolReport

SHOWN = 10


def pool(
    dataset: DatasetArgument,
    depth: Annotated[int, typer.Option(help="How many results of each system per query.")],
    systems: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Only these imported runs (default: all; '' for none)."),
    ] = None,
    retrieve: Annotated[
        str | None, typer.Option(metavar="bm25", help="Also retrieve over the dataset's documents.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be made; change nothing.")
    ] = False,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Make pairs of the best candidates of each system, with their provenance."""
    from annotator.pooling.service import pool_runs

    report = pool_runs(
        open_database(database),
        OPERATOR,
        dataset,
        depth=depth,
        now=now(),
        systems=None if systems is None else _split(systems),
        retrievers=_split(retrieve or ""),
        dry_run=dry_run,
        progress=_show_progress,
    )
    if json:
        print_json(report)
        return
    _print_report(report)


def pairs(
    dataset: DatasetArgument,
    status: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="unjudged, unrateable, imported, single, unanimous, disagreement, reopened or adjudicated.",
        ),
    ] = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """List the pool: every pair, its status, and who proposed it."""
    from annotator.pooling.service import list_pairs

    found = list_pairs(open_database(database), OPERATOR, dataset, status=status)
    if json:
        print_json(found)
        return
    rows = [
        (
            pair.pair,
            pair.query_id,
            pair.doc_id,
            pair.status,
            ", ".join(
                by.system if by.rank is None else f"{by.system} at {by.rank}" for by in pair.provenance
            ),
        )
        for pair in found
    ]
    print_table(
        ("pair", "query_id", "doc_id", "status", "provenance"),
        rows,
        empty=f"No such pair. Make some: annotator pool {dataset} --depth 10",
    )


def _split(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",") if name.strip())


def _show_progress(what: str, share: float) -> None:
    """One line on a terminal's stderr, rewritten; nothing where stderr goes to a file."""
    if sys.stderr.isatty():
        typer.echo(f"\r{what} {show_percent(share, 0)} ", nl=share >= 1, err=True)


def _print_report(report: "PoolReport") -> None:
    verb = "Would make" if report.dry_run else "Made"
    typer.echo(
        f"{verb} {count_of(report.new, 'new pair')}; {count_of(report.already_there, 'was', 'were')} there already.\n"
    )
    rows = [(counts.system, counts.queries, counts.candidates, counts.only_here) for counts in report.systems]
    print_table(("system", "queries", "candidates", "found by it alone"), rows, empty="No candidates.")
    notes = (
        (tuple(report.short), ("has", "have", f"fewer than {count_of(report.depth, 'candidate')}")),
        (report.without, ("has", "have", "no candidate")),
        (report.too_short, ("has", "have", "no two characters in a row to match")),
    )
    for query_ids, (has, have, what) in notes:
        if query_ids:
            named = ", ".join(query_ids[:SHOWN]) + (" …" if len(query_ids) > SHOWN else "")
            typer.echo(f"\n{count_of(len(query_ids), f'query {has}', f'queries {have}')} {what}: {named}")
