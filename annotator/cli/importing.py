"""`annotator import …`: queries, documents, runs, pairs, judgments and earlier ground truths, all or nothing."""

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotator.cli.format_help import CommandOnFormats
from annotator.cli.terminal import (
    DatabaseOption,
    DatasetArgument,
    DryRunOption,
    JsonOption,
    now,
    open_database,
    print_json,
)
from annotator.domain.people import OPERATOR

if TYPE_CHECKING:
    from annotator.importing.report import ImportReport

app = typer.Typer(
    help="Read files into a dataset: all of a file, or nothing and every bad line.", no_args_is_help=True
)

PathArgument = Annotated[Path, typer.Argument(metavar="PATH", help="The file (documents: or a folder).")]
FormatOption = Annotated[
    str | None,
    typer.Option("--format", metavar="F", help="The file's format, where its content does not show it."),
]
EncodingOption = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="The text's encoding, if not UTF-8 (cp932, euc-kr …)."),
]
SystemOption = Annotated[
    str | None, typer.Option("--system", metavar="S", help="The system's name, instead of the file's own.")
]
OrderOption = Annotated[
    str,
    typer.Option(
        "--order",
        metavar="score|rank",
        help="Order results by score, as trec_eval does, or by the file's ranks.",
    ),
]
SectionsOption = Annotated[
    bool, typer.Option("--sections", help="Make a document of every section: PATH#heading.")
]


@app.command(cls=CommandOnFormats)
def queries(
    dataset: DatasetArgument,
    path: PathArgument,
    format_name: FormatOption = None,
    encoding: EncodingOption = None,
    dry_run: DryRunOption = False,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Queries: any ground-truth format, or CSV, TSV or JSONL (query_id, text, …)."""
    from annotator.importing.service import import_queries

    common = _common(format_name, encoding, dry_run=dry_run)
    report = import_queries(open_database(database), OPERATOR, dataset, path, **common)
    _show(report, f"annotator import documents {dataset} PATH", json=json)


@app.command()
def documents(
    dataset: DatasetArgument,
    path: PathArgument,
    sections: SectionsOption = False,
    format_name: FormatOption = None,
    encoding: EncodingOption = None,
    dry_run: DryRunOption = False,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Documents: JSONL, CSV or TSV (doc_id, title, text, url, …), or a folder of .md .rst .txt .html files."""
    from annotator.importing.service import import_documents

    common = _common(format_name, encoding, dry_run=dry_run)
    report = import_documents(open_database(database), OPERATOR, dataset, path, sections=sections, **common)
    following = (
        f"annotator import run {dataset} FILE, or: annotator pool {dataset} --depth 10 --retrieve bm25"
    )
    _show(report, following, json=json)


@app.command()
def run(
    dataset: DatasetArgument,
    path: PathArgument,
    system: SystemOption = None,
    order: OrderOption = "score",
    format_name: FormatOption = None,
    encoding: EncodingOption = None,
    dry_run: DryRunOption = False,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """One system's run: TREC lines (query_id Q0 doc_id rank score tag) or JSONL with any further signals."""
    from annotator.importing.service import import_run

    common = _common(format_name, encoding, dry_run=dry_run)
    report = import_run(
        open_database(database), OPERATOR, dataset, path, system=system, order=order, **common
    )
    _show(report, f"annotator pool {dataset} --depth 10", json=json)


@app.command()
def pairs(
    dataset: DatasetArgument,
    path: PathArgument,
    format_name: FormatOption = None,
    encoding: EncodingOption = None,
    dry_run: DryRunOption = False,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Pairs to be judged: CSV, TSV or JSONL (query_id, doc_id)."""
    from annotator.importing.service import import_pairs

    common = _common(format_name, encoding, dry_run=dry_run)
    report = import_pairs(open_database(database), OPERATOR, dataset, path, **common)
    _show(report, "annotator serve", json=json)


@app.command()
def judgments(
    dataset: DatasetArgument,
    path: PathArgument,
    format_name: FormatOption = None,
    encoding: EncodingOption = None,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Mark the annotators who are new as simulated.")
    ] = False,
    dry_run: DryRunOption = False,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Judgments made elsewhere: CSV, TSV or JSONL (query_id, doc_id, annotator, grade, note, judged_at, seconds)."""
    from annotator.importing.service import import_judgments

    common = _common(format_name, encoding, dry_run=dry_run)
    report = import_judgments(open_database(database), OPERATOR, dataset, path, simulated=simulated, **common)
    _show(report, f"annotator agreement {dataset}", json=json)


@app.command(cls=CommandOnFormats)
def qrels(
    dataset: DatasetArgument,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The file (beir: the folder).")],
    rejudge: Annotated[
        bool,
        typer.Option("--rejudge", help="Have the pairs judged; the grades stay as suggestions for leads."),
    ] = False,
    grades_by: Annotated[
        str | None,
        typer.Option(
            "--grades-by",
            metavar="position|all=N",
            help="For a file without grades: list length down to 1, or one grade.",
        ),
    ] = None,
    format_name: FormatOption = None,
    encoding: EncodingOption = None,
    dry_run: DryRunOption = False,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """An earlier ground truth, of any format: its grades settle the pairs that nobody has judged here."""
    from annotator.importing.service import import_qrels

    common = _common(format_name, encoding, dry_run=dry_run)
    report = import_qrels(
        open_database(database), OPERATOR, dataset, path,
        rejudge=rejudge, grades_by=grades_by, **common,
    )  # fmt: skip
    _show(report, "annotator serve" if rejudge else f"annotator release check {dataset}", json=json)


def _common(format_name: str | None, encoding: str | None, *, dry_run: bool) -> dict[str, Any]:
    """What every import is given: these options, the clock, and somebody to tell how far it is (stderr, and only a
    terminal).

    The collector of reference cycles is off from here to the end of the process: an import keeps all its
    records to the end, and walking them again and again costs a fifth of the time.
    """
    gc.disable()
    common = {"format_name": format_name, "encoding": encoding, "dry_run": dry_run, "now": now()}
    if not sys.stderr.isatty():
        return common
    return {**common, "tell": lambda step: typer.echo(f"{step} …", err=True)}


def _show(report: "ImportReport", following: str, *, json: bool) -> None:
    if json:
        print_json(report)
        return
    counts = f"{report.read:,} read, {report.added:,} new, {report.changed:,} changed, {report.unchanged:,} as before"
    typer.echo(f"{report.path}: {report.kind}: {counts}")
    for note in report.notes:
        typer.echo(f"- {note}")
    if report.dry_run:
        typer.echo("A dry run: nothing was stored.")
    elif not report.added and not report.changed:
        typer.echo("Nothing changed: all of it was there already.")
    else:
        typer.echo(f"Next: {following}")
