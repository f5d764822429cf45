"""`annotator disagreements` and `annotator adjudicate`: the queue, and decisions in bulk."""

from pathlib import Path
from typing import Annotated

import typer

from annotator.cli.terminal import (
    DatabaseOption,
    DatasetArgument,
    DryRunOption,
    JsonOption,
    now,
    open_as,
    open_database,
    print_json,
    print_table,
    read_bytes,
)


def disagreements(
    dataset: DatasetArgument,
    sort: Annotated[
        str, typer.Option(metavar="distance|impact|age", help="What comes first: the furthest apart, …")
    ] = "distance",
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """List the pairs whose judgments differ or that quality control reopened, open ones first."""
    from annotator.disputes.service import find_disagreements
    from annotator.domain.people import OPERATOR

    found = find_disagreements(open_database(database), OPERATOR, dataset, sort=sort, now=now())
    if json:
        print_json([item.as_json() for item in found])
        return
    rows = [
        (
            item.query_id,
            item.doc_id,
            item.category,
            " ".join(f"{name}={grade}" for name, grade in item.grades.items()),
            item.distance,
            item.impact,
            "open (reopened)" if item.reopened else item.status,
            item.since,
        )
        for item in found
    ]
    columns = ("query_id", "doc_id", "category", "grades", "distance", "impact", "status", "since")
    print_table(columns, rows, empty="No disagreement.")


def adjudicate(
    dataset: DatasetArgument,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV: query_id,doc_id,grade,rationale[,reason].")
    ],
    lead: Annotated[str, typer.Option("--as", metavar="LEAD", help="The lead who decides.")],
    dry_run: DryRunOption = False,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Decide disagreements from a file: all of its lines, or none."""
    from annotator.bulk.service import adjudicate_file

    opened, actor = open_as(database, lead)
    done = adjudicate_file(opened, actor, dataset, read_bytes(file), str(file), now=now(), dry_run=dry_run)
    if json:
        print_json(done)
        return
    verb = "Would decide" if dry_run else "Decided"
    typer.echo(
        f"{verb} {done.decided} pairs for the first time and {done.revised} anew; {done.unchanged} were decided so before."
    )
