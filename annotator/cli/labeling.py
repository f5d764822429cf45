"""`annotator judgments` and `annotator progress`: what was judged, by whom, and what is left."""

from dataclasses import asdict
from typing import Annotated

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
from annotator.domain.messages import count_of
from annotator.domain.people import OPERATOR

COLUMNS = (
    "event_id", "query_id", "doc_id", "annotator", "outcome", "grade",
    "note", "judged_at", "seconds", "guideline_version", "reason",
)  # fmt: skip


def judgments(
    dataset: DatasetArgument,
    history: Annotated[
        bool, typer.Option("--history", help="Every judgment ever given, not only current ones.")
    ] = False,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """List every current judgment."""
    from annotator.labeling.service import list_judgments

    found = list_judgments(open_database(database), OPERATOR, dataset, history=history)
    columns = (*COLUMNS, "purpose") if history else COLUMNS
    rows = [
        {**{name: getattr(item, name) for name in columns}, "simulated": item.simulated} for item in found
    ]
    if json:
        print_json(rows)
        return
    shown = COLUMNS[1:8]
    print_table(
        shown,
        [[row[name] for name in shown] for row in rows],
        empty="No judgment yet. Annotators label in the browser: annotator serve",
    )


def progress(dataset: DatasetArgument, database: DatabaseOption = None, json: JsonOption = False) -> None:
    """Show who has judged what, and what is left."""
    from annotator.labeling.service import compute_progress

    found = compute_progress(open_database(database), OPERATOR, dataset)
    if json:
        print_json({"dataset": dataset, "at": now(), **asdict(found)})
        return
    judged = "as often as they need" if found.uneven else f"by {found.overlap}"
    typer.echo(
        f"{found.complete:,} of {count_of(found.pairs, 'pair')} judged {judged}; {found.begun} begun, "
        f"{found.pairs - found.complete - found.begun} untouched.\n"
        + (
            count_of(
                found.checks,
                "unjudged pair only checks annotators and is not among them.\n",
                "unjudged pairs only check annotators and are not among them.\n",
            )
            if found.checks
            else ""
        )
    )
    print_table(
        ("annotator", "judged", "unrateable", "put off", "last"),
        [
            (
                item.annotator + (" (simulated)" if item.simulated else ""),
                item.judged,
                item.unrateable,
                item.later,
                item.last_judged_at,
            )
            for item in found.annotators
        ],
        empty="No annotator yet: annotator people add USER --dataset " + dataset,
    )
    typer.echo("")
    print_table(
        ("query", "category", "pairs", "complete", "begun"),
        [(item.query_id, item.category, item.pairs, item.complete, item.begun) for item in found.queries],
        empty="No query yet: annotator import queries " + dataset + " FILE",
    )
