"""`annotator calibrate …`: which pairs are training or gold, and what the checks show of each annotator."""

from pathlib import Path
from typing import Annotated

import typer

from annotator.cli.terminal import (
    AsOption,
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
from annotator.domain.messages import count_of, show_percent
from annotator.domain.people import OPERATOR

app = typer.Typer(help="Training and gold pairs, and what they show.", no_args_is_help=True)


@app.command()
def mark(
    dataset: DatasetArgument,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV: query_id,doc_id,kind,grade,explanation.")
    ],
    dry_run: DryRunOption = False,
    as_: AsOption = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Mark pairs as training or gold: all of the file's lines, or none."""
    from annotator.labeling.calibration_service import mark_file

    opened, actor = open_as(database, as_)
    done = mark_file(opened, actor, dataset, read_bytes(file), str(file), now=now(), dry_run=dry_run)
    if json:
        print_json(done)
        return
    verb = "Would mark" if dry_run else "Marked"
    typer.echo(
        f"{verb} {count_of(done.added, 'pair')} newly and {done.changed} otherwise than before; "
        f"{count_of(done.unchanged, 'was', 'were')} marked so."
    )


@app.command()
def unmark(
    dataset: DatasetArgument,
    query_id: Annotated[str, typer.Argument(help="The pair's query.", metavar="QUERY_ID")],
    doc_id: Annotated[str, typer.Argument(help="The pair's document.", metavar="DOC_ID")],
    as_: AsOption = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Make a marked pair ordinary work again, except for those who have answered it."""
    from annotator.domain.errors import NotFound
    from annotator.labeling.calibration_service import list_checks, unmark_pair

    opened, actor = open_as(database, as_)
    marked = {(one.query_id, one.doc_id): one for one in list_checks(opened, OPERATOR, dataset, now=now())}
    found = marked.get((query_id, doc_id))
    if found is None:
        raise NotFound(f"{query_id} {doc_id} is not marked; see: annotator calibrate list {dataset}")
    unmark_pair(opened, actor, dataset, found.pair, now=now())
    if json:
        print_json({"query_id": query_id, "doc_id": doc_id, "kind": found.kind})
        return
    typer.echo(f"{query_id} {doc_id} is ordinary work again.")


@app.command("list")
def list_(dataset: DatasetArgument, database: DatabaseOption = None, json: JsonOption = False) -> None:
    """List the marked pairs."""
    from annotator.labeling.calibration_service import list_checks

    found = list_checks(open_database(database), OPERATOR, dataset, now=now())
    if json:
        print_json(found)
        return
    rows = [
        (one.query_id, one.doc_id, one.kind, one.grade, one.answered, one.explanation, one.marked_by)
        for one in found
    ]
    columns = ("query_id", "doc_id", "kind", "grade", "answered", "explanation", "marked_by")
    print_table(columns, rows, empty=f"No pair is marked. Next: annotator calibrate mark {dataset} FILE")


@app.command()
def results(dataset: DatasetArgument, database: DatabaseOption = None, json: JsonOption = False) -> None:
    """Show what training, gold pairs and repeats say of each annotator, by name."""
    from annotator.labeling.calibration_service import compute_results

    found = compute_results(open_database(database), OPERATOR, dataset, now=now())
    if json:
        print_json(found)
        return
    rows = [
        (
            one.annotator,
            f"{one.training.done}/{one.training.total}" if one.training else "",
            _share(one.training.first) if one.training else "",
            _share(one.training.latest) if one.training else "",
            one.gold.answered,
            _share(one.gold.exact),
            "" if one.gold.difference is None else f"{one.gold.difference:+.2f}",
            one.repeats.n,
            _share(one.repeats.equal),
            "" if one.repeats.difference is None else f"{one.repeats.difference:.2f}",
        )
        for one in found
    ]
    columns = (
        "annotator", "training", "first", "latest", "gold", "exact", "signed", "repeats", "equal", "distance",
    )  # fmt: skip
    print_table(columns, rows, empty="Nobody has been checked yet.")


def _share(value: float | None) -> str:
    return "" if value is None else show_percent(value, 0)
