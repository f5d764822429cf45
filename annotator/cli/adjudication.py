"""`annotator disagreements` and `annotator adjudicate`: the queue, as a list and as a file, and decisions in bulk."""

from pathlib import Path
from typing import Annotated

import typer

from annotator.cli.errors_file import ErrorsOption
from annotator.cli.queue_options import (
    CategoryOption,
    DistanceOption,
    GradesOption,
    JudgedByOption,
    QueryOption,
    ReasonOption,
    ShowOption,
    TasteOption,
    read_filter,
    tell_progress,
)
from annotator.cli.terminal import (
    AsOption,
    DatabaseOption,
    DatasetArgument,
    DryRunOption,
    EncodingOption,
    JsonOption,
    now,
    open_as,
    print_json,
    print_table,
    read_bytes,
)
from annotator.domain.messages import count_of

COLUMNS = ("query_id", "doc_id", "category", "grades", "distance", "impact", "status", "since")


def disagreements(
    dataset: DatasetArgument,
    sort: Annotated[
        str, typer.Option(metavar="distance|impact|age|…", help="What comes first: the furthest apart, …")
    ] = "distance",
    show: ShowOption = None,
    reason: ReasonOption = None,
    query: QueryOption = None,
    category: CategoryOption = None,
    annotator: JudgedByOption = None,
    grades: GradesOption = None,
    distance: DistanceOption = None,
    taste: TasteOption = None,
    file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write them into a file, to be filled in.")
    ] = None,
    lead: AsOption = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """List the pairs whose judgments differ or that wait for a lead otherwise, open ones first."""
    from annotator.adjudication.queue_service import find_disagreements

    opened, actor = open_as(database, lead)
    wanted = read_filter(
        show=show or ("all" if file is None else "open"), reason=reason, query=query, category=category, annotator=annotator,
        grades=grades, distance=distance, taste=taste,
    )  # fmt: skip
    if file is not None:
        from annotator.adjudication.bulk_service import export_queue

        _check_target(file)
        pieces = export_queue(opened, actor, dataset, wanted, sort, now=now(), tell=tell_progress())
        _write_file(file, b"".join(pieces), json=json)
        return
    found = find_disagreements(
        opened, actor, dataset, wanted=wanted, sort=sort, now=now(), tell=tell_progress()
    )
    if json:
        print_json([item.as_json() for item in found])
        return
    rows = [
        ("", "yours to judge first", "", "", "", "", item.status, item.since)
        if item.hidden
        else (
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
    print_table(COLUMNS, rows, empty="No disagreement.")


def adjudicate(
    dataset: DatasetArgument,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="CSV: query_id,doc_id,grade,rationale[,reason]; or an exported queue, filled in.",
        ),
    ],
    lead: Annotated[str, typer.Option("--as", metavar="LEAD", help="The lead who decides.")],
    encoding: EncodingOption = None,
    dry_run: DryRunOption = False,
    database: DatabaseOption = None,
    errors: ErrorsOption = None,
    json: JsonOption = False,
) -> None:
    """Decide disagreements from a file: all of its lines, or none."""
    del errors  # read where the command ends: see errors_file.py
    from annotator.adjudication.bulk_service import adjudicate_file

    opened, actor = open_as(database, lead)
    data = _read_file(file, encoding)
    done = adjudicate_file(opened, actor, dataset, data, str(file), now=now(), dry_run=dry_run)
    if json:
        print_json(done)
        return
    verb = "Would decide" if dry_run else "Decided"
    typer.echo(
        f"{verb} {count_of(done.decided, 'pair')} for the first time and {done.revised} anew; "
        f"{count_of(done.unchanged, 'was', 'were')} decided so before."
    )
    if done.proposed:
        typer.echo(
            f"{count_of(done.proposed, 'pair takes', 'pairs take')} a second lead, and until another one says the same nothing is decided."
        )
    if done.skipped:
        typer.echo(
            f"{count_of(done.skipped, 'row of the export has', 'rows of the export have')} no decision: nothing changes there."
        )


def order(
    dataset: DatasetArgument,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="CSV: query_id,doc_id; the documents of a query best first."),
    ],
    lead: Annotated[str, typer.Option("--as", metavar="LEAD", help="The lead who says so.")],
    encoding: EncodingOption = None,
    dry_run: DryRunOption = False,
    database: DatabaseOption = None,
    errors: ErrorsOption = None,
    json: JsonOption = False,
) -> None:
    """Put documents in order where grades do not: releases list those of one grade and mean so."""
    del errors  # read where the command ends: see errors_file.py
    from annotator.adjudication.bulk_service import order_documents

    opened, actor = open_as(database, lead)
    data = _read_file(file, encoding)
    done = order_documents(opened, actor, dataset, data, str(file), now=now(), dry_run=dry_run)
    if json:
        print_json(done)
        return
    verb = "Would put" if dry_run else "Put"
    typer.echo(
        f"{verb} the documents of {count_of(done.queries, 'query')} in order; {done.unchanged:,} had this order before."
    )


def _read_file(file: Path, encoding: str | None) -> bytes:
    """Return the file's bytes as UTF-8."""
    from annotator.formats.text import to_utf8

    return to_utf8(read_bytes(file), str(file), encoding)


def _check_target(file: Path) -> None:
    """Refuse what cannot be written before the export is noted in the trail."""
    from annotator.domain.errors import ValidationError

    if file.is_dir() or not file.absolute().parent.is_dir():
        raise ValidationError(f"--csv: expected the name of a file in a folder that is there, found {file}")


def _write_file(file: Path, data: bytes, *, json: bool) -> None:
    """Under a temporary name first; a plain message when it cannot be written."""
    from annotator.domain.errors import ValidationError

    partial = file.with_name(f".{file.name}.partial")
    try:
        partial.write_bytes(data)
        partial.replace(file)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ValidationError(f"cannot write {file}: {error.strerror}") from None
    if json:
        print_json({"file": file, "bytes": len(data)})
        return
    typer.echo(
        f"Wrote {file}. Fill in grade, rationale and reason, then: annotator adjudicate DATASET {file} --as LEAD"
    )
