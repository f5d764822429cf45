"""Run `annotator import …` and `annotator remap`: import files, all or nothing, and change document ids."""

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotator.cli.terminal import (
    CommandGroup,
    CommandOnFormats,
    Console,
    DatasetArgument,
    DryRunOption,
    EncodingOption,
    FileConsole,
    JsonOption,
    LeadConsole,
    now,
    print_json,
    print_table,
)
from annotator.domain.messages import count_of
from annotator.domain.people import OPERATOR

if TYPE_CHECKING:
    from annotator.importing.remapping.remapping import RemapReport
    from annotator.importing.report import FolderReport, ImportReport
    from annotator.importing.search_endpoint.endpoint_records import FetchReport


app = CommandGroup(
    help="Import files: all of a file, or nothing and a list of every bad line.", no_args_is_help=True
)

DEFAULT_DEPTH = 100
PathArgument = Annotated[Path, typer.Argument(metavar="PATH", help="The file (documents: or a folder).")]
ProvenanceOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="YAML or JSON: how the grades were made, as far as known (who, when, how, blind, guideline, licence, note).",
    ),
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="NAME=COLUMN",
        help='The name of an expected column in this table, as in "text=質問" (repeatable).',
    ),
]
MapGradesOption = Annotated[
    str | None,
    typer.Option(
        "--map-grades", metavar="VALUE=GRADE,…", help='Read another scale, as in "4=3,-1=unrateable".'
    ),
]


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """The options that say how to read a file."""

    format_name: str | None = typer.Option(
        None, "--format", metavar="F", help="The file's format, where its content does not show it."
    )
    encoding: EncodingOption = None


@app.command(cls=CommandOnFormats)
def queries(
    dataset: DatasetArgument,
    path: PathArgument,
    reading: ReadingOptions = ReadingOptions(),
    column: ColumnOption = None,
    no_header: bool = typer.Option(
        False, "--no-header", help="CSV or TSV of two columns, id and text, without a header."
    ),
    console: FileConsole = FileConsole(),
) -> None:
    """Queries: any ground-truth format, or CSV, TSV or JSONL (query_id, text, …)."""
    from annotator.importing.texts.texts_service import import_queries

    columns, following = _read_columns(column), f"annotator import documents {dataset} PATH"
    _import(import_queries, dataset, path, reading, console, following, columns=columns, header=not no_header)


@app.command()
def documents(
    dataset: DatasetArgument,
    path: PathArgument,
    sections: bool = typer.Option(
        False, "--sections", help="Make a document of every section: PATH#heading."
    ),
    cut: str | None = typer.Option(
        None,
        metavar="articles|paragraphs|items",
        help="Law texts: make a document of every article, paragraph or item.",
    ),
    doc_id: str | None = typer.Option(
        None,
        metavar="PATTERN",
        help='The ids of files, as in "{stem}": path, stem, name, heading, own_heading, front.KEY.',
    ),
    title: str | None = typer.Option(
        None, metavar="PATTERN", help='The titles of files, as in "{own_heading|name}".'
    ),
    reading: ReadingOptions = ReadingOptions(),
    column: ColumnOption = None,
    console: FileConsole = FileConsole(),
) -> None:
    """Documents: JSONL, CSV or TSV (doc_id, title, text, url, …), or a folder of .md .rst .txt .html (and, with an
    extra, .docx .pdf .xlsx) files."""
    from annotator.importing.texts.texts_service import import_documents

    following = (
        f"annotator import run {dataset} FILE, or: annotator pool {dataset} --depth 10 --retrieve bm25"
    )
    choices = {"sections": sections, "cut": cut, "doc_id": doc_id, "title": title}
    columns = _read_columns(column)
    _import(import_documents, dataset, path, reading, console, following, columns=columns, **choices)


@app.command()
def run(
    dataset: DatasetArgument,
    path: Path | None = typer.Argument(
        None, metavar="[PATH]", help="The file, or a folder of runs.", show_default=False
    ),
    system: str | None = typer.Option(
        None, metavar="S", help="The system's name, instead of the file's own."
    ),
    spec: Path | None = typer.Option(
        None,
        "--from",
        metavar="SPEC.yaml",
        help="Instead of PATH: a live search endpoint, as this file describes it (annotator import specs).",
    ),
    depth: int | None = typer.Option(
        None, metavar="K", help="--from: how many results of each query (default: 100)."
    ),
    save: Path | None = typer.Option(
        None, metavar="FILE", help="--from: the run file to write or to continue (default: SYSTEM.run.jsonl)."
    ),
    allow_failures: bool = typer.Option(
        False,
        "--allow-failures",
        help="--from: import the answers although queries failed; these are recorded.",
    ),
    order: str = typer.Option(
        "score",
        metavar="score|rank",
        help="Order results by score, as trec_eval does, or by the file's ranks.",
    ),
    skip_unknown_queries: bool = typer.Option(
        False, help="Leave out results for queries that the dataset does not have."
    ),
    duplicates: str = typer.Option(
        "refuse",
        metavar="refuse|first",
        help="If a query lists a document twice: refuse, or keep its best rank.",
    ),
    id_field: str | None = typer.Option(
        None, metavar="NAME", help="JSON: the field that names a result's document."
    ),
    response_time_unit: str | None = typer.Option(
        None, metavar="ms|s", help="JSON: the unit of response_time (default: ms)."
    ),
    reading: ReadingOptions = ReadingOptions(),
    console: FileConsole = FileConsole(),
) -> None:
    """One system's run, or a folder of runs: TREC lines (query_id Q0 doc_id rank score tag), or JSON with any further
    fields; with --from, the answers of a live search endpoint."""
    from annotator.domain.errors import ValidationError
    from annotator.importing.runs.runs_service import import_run, import_runs

    of_file = (skip_unknown_queries, id_field, response_time_unit, reading.format_name, reading.encoding)
    of_endpoint = (depth, save, allow_failures)
    if (path is None) == (spec is None):
        raise typer.BadParameter("expected either PATH or --from SPEC.yaml")
    if any(of_file if spec else of_endpoint):
        names = (
            "--skip-unknown-queries, --id-field, --response-time-unit, --format and --encoding read a file"
            if spec
            else "--depth, --save and --allow-failures belong to --from"
        )
        raise typer.BadParameter(names)
    if path is None or spec is not None:
        if system is None:
            raise typer.BadParameter("--from needs the system's name: --system NAME")
        _fetch(
            console,
            dataset,
            spec or Path(),
            system=system,
            depth=DEFAULT_DEPTH if depth is None else depth,
            save=save,
            allow_failures=allow_failures,
            order=order,
            duplicates=duplicates,
            dry_run=console.dry_run,
        )
        return
    choices = {
        "order": order,
        "duplicates": duplicates,
        "skip_unknown_queries": skip_unknown_queries,
        "id_field": id_field,
        "response_time_unit": response_time_unit,
    }
    following = f"annotator pool {dataset} --depth 10"
    if not path.is_dir():
        _import(import_run, dataset, path, reading, console, following, system=system, **choices)
        return
    if system is not None:
        raise ValidationError(
            f"--system: {path} is a folder, whose files are systems of their own, named by tag or file name"
        )
    _import(import_runs, dataset, path, reading, console, following, **choices)


def _fetch(console: FileConsole, dataset: str, spec: Path, **options: Any) -> None:
    """Fetch a run from a search endpoint and show the result. Prints progress on stderr, terminal or not."""
    import os
    import time
    from dataclasses import asdict

    from annotator.importing.search_endpoint.search_endpoint_service import FetchEnvironment, fetch_run

    database = console.open()
    gc.disable()
    try:
        report = fetch_run(
            database,
            OPERATOR,
            dataset,
            spec,
            now=now(),
            environment=FetchEnvironment(time.monotonic, time.sleep, os.environ),
            report_progress=lambda step: typer.echo(f"{step} …", err=True),
            **options,
        )
    except KeyboardInterrupt:
        typer.echo("Interrupted. To continue with the missing queries, run the same command again.", err=True)
        raise
    if console.json:
        figures = asdict(report)
        imported = figures.pop("run") or {"kind": "run", "dry_run": True}
        print_json({**imported, "fetch": figures})
    elif report.run is not None:
        _print_report(report.run, f"annotator pool {dataset} --depth 10")
    else:
        _show_sample(report)


def _show_sample(report: "FetchReport") -> None:
    import json

    sample = dict(report.sample or {})
    results = sample.pop("results")
    typer.echo(f"{report.host} answered the first of {count_of(report.queries, 'query')}:")
    typer.echo(json.dumps(sample, ensure_ascii=False))
    for result in results:
        typer.echo(f"- {json.dumps(result, ensure_ascii=False)}")
    if not results:
        typer.echo("- no result")
    if report.missing_signals:
        typer.echo(
            f"No result has a value for {', '.join(report.missing_signals)}: check the path in the spec."
        )
    typer.echo("A dry run: nothing else was sent, nothing was written or stored.")


@app.command()
def specs(
    name: str | None = typer.Argument(None, metavar="[NAME]", help="The one to print."),
    json: JsonOption = False,
) -> None:
    """Ready specs of search endpoints to start from: list them, or print one."""
    from annotator.importing.search_endpoint.spec import TEMPLATES, print_template

    if name is None and json:
        print_json(TEMPLATES)
    elif name is None:
        typer.echo("\n".join(TEMPLATES))
        typer.echo("Print one: annotator import specs NAME > spec.yaml", err=True)
    elif json:
        print_json({"name": name, "spec": print_template(name)})
    else:
        typer.echo(print_template(name), nl=False)


@app.command()
def contents(dataset: DatasetArgument, console: Console = Console()) -> None:
    """Show the dataset's contents by kind, and the latest import of each."""
    from annotator.importing.uploads.import_service import show_contents

    held = show_contents(console.open(), OPERATOR, dataset)
    if console.show_json(held):
        return
    rows = [
        (
            item.kind,
            item.count,
            item.last.path if item.last else None,
            item.last.imported_at if item.last else None,
            (item.last.by or "operator") if item.last else None,
        )
        for item in held.counts
    ]
    print_table(("kind", "number", "last import", "at", "by"), rows, empty="")
    if held.without_text:
        typer.echo(f"{count_of(held.without_text, 'document has', 'documents have')} no text yet")


@app.command()
def look(
    path: Path = typer.Argument(..., metavar="PATH", help="A file or a folder."),
    json: JsonOption = False,
) -> None:
    """Show the likely content of a file or folder, its encoding, columns and first records. Needs no database."""
    from dataclasses import asdict

    from annotator.domain.errors import NotFound
    from annotator.formats.syntax.tables import KINDS
    from annotator.importing.uploads.preview import preview_file
    from annotator.importing.uploads.recognition import ImportChoices, recognize_file, recognize_folder

    if not path.exists():
        raise NotFound(f"{path}: there is no such file or folder")
    root = path.parent
    items = list(recognize_folder(path, root)) if path.is_dir() else [recognize_file(path, root)]
    previews = [
        preview_file(
            root / item.path,
            ImportChoices(
                item.kind, item.format, item.encoding, item.names if item.format in (None, *KINDS) else {}
            ),
        )
        for item in items
    ]
    if json:
        shown = zip(items, previews, strict=True)
        print_json([{**asdict(item), "preview": asdict(preview)} for item, preview in shown])
        return
    for item, preview in zip(items, previews, strict=True):
        certain = "" if item.is_certain else " (not certain)"
        named = "".join(f" --column {name}={column}" for name, column in item.names.items())
        encoding = f" --encoding {item.encoding}" if item.encoding else ""
        typer.echo(f"{item.path}: {item.kind}{certain}{encoding}{named}")
        if item.fault:
            typer.echo(item.fault)
        print_table(preview.columns or ("first lines",), preview.rows, empty="")


@app.command()
def pairs(
    dataset: DatasetArgument,
    path: PathArgument,
    reading: ReadingOptions = ReadingOptions(),
    column: ColumnOption = None,
    console: FileConsole = FileConsole(),
) -> None:
    """Pairs to be judged: CSV, TSV or JSONL (query_id, doc_id)."""
    from annotator.importing.texts.texts_service import import_pairs

    columns = _read_columns(column)
    _import(import_pairs, dataset, path, reading, console, "annotator serve", columns=columns)


@app.command()
def judgments(
    dataset: DatasetArgument,
    path: PathArgument,
    reading: ReadingOptions = ReadingOptions(),
    column: ColumnOption = None,
    simulated: bool = typer.Option(
        False, "--simulated", help="Mark the annotators who are new as simulated."
    ),
    map_grades: MapGradesOption = None,
    provenance: ProvenanceOption = None,
    console: FileConsole = FileConsole(),
) -> None:
    """Judgments made elsewhere: CSV, TSV or JSONL (query_id, doc_id, annotator, grade, note, judged_at, seconds)."""
    from annotator.importing.judgments.judgments_service import import_judgments

    _import(
        import_judgments,
        dataset,
        path,
        reading,
        console,
        f"annotator agreement {dataset}",
        simulated=simulated,
        map_grades=map_grades,
        columns=_read_columns(column),
        declared=_read_declared(provenance),
    )


@app.command(cls=CommandOnFormats)
def qrels(
    dataset: DatasetArgument,
    path: Path = typer.Argument(..., metavar="PATH", help="The file (beir: the folder)."),
    rejudge: bool = typer.Option(
        False, "--rejudge", help="Have the pairs judged; the grades stay as suggestions for leads."
    ),
    grades_by: str | None = typer.Option(
        None,
        metavar="position|all=N|places=…",
        help="For a file without grades: list length down to 1, one grade, or by place (3:3,6:2,10:1).",
    ),
    map_grades: MapGradesOption = None,
    as_judgments: bool = typer.Option(
        False,
        "--as-judgments",
        help="Take the annotators' own grades in the file as their independent judgments.",
    ),
    provenance: ProvenanceOption = None,
    reading: ReadingOptions = ReadingOptions(),
    console: FileConsole = FileConsole(),
) -> None:
    """An earlier ground truth, of any format: its grades settle the pairs that nobody has judged here."""
    from annotator.importing.judgments.judgments_service import import_qrels

    _import(
        import_qrels,
        dataset,
        path,
        reading,
        console,
        "annotator serve" if rejudge else f"annotator release check {dataset}",
        rejudge=rejudge,
        grades_by=grades_by,
        map_grades=map_grades,
        as_judgments=as_judgments,
        declared=_read_declared(provenance),
    )


def _read_columns(given: list[str] | None) -> dict[str, str] | None:
    """Return {expected name: column in the file}. An option that is not NAME=COLUMN is wrong usage."""
    columns: dict[str, str] = {}
    for option in given or ():
        name, mark, column = option.partition("=")
        if not mark or not name.strip() or not column.strip() or name.strip() in columns:
            raise typer.BadParameter(f"--column: expected NAME=COLUMN, each name once, found {option!r:.80}")
        columns[name.strip()] = column.strip()
    return columns or None


def _read_declared(path: Path | None) -> dict[str, Any] | None:
    from annotator.importing.judgments.provenance import read_provenance

    return None if path is None else read_provenance(path)


def _import(
    service: "Callable[..., ImportReport | FolderReport]",
    dataset: str,
    path: Path,
    reading: ReadingOptions,
    console: FileConsole,
    following: str,
    **choices: Any,
) -> None:
    """Call a service that imports a file, and show its report. `following`: the command to run next.

    Shows progress on stderr if that is a terminal. Turns the cyclic garbage collector off until the command ends (see
    main.py): an import keeps all its records until the end, and scanning them repeatedly costs a fifth of the time.
    """
    gc.disable()
    if sys.stderr.isatty():
        choices["report_progress"] = lambda step: typer.echo(f"{step} …", err=True)
    report = service(
        console.open(),
        OPERATOR,
        dataset,
        path,
        format_name=reading.format_name,
        encoding=reading.encoding,
        dry_run=console.dry_run,
        now=now(),
        **choices,
    )
    if not console.show_json(report):
        _print_report(report, following)


def _print_report(report: "ImportReport | FolderReport", following: str) -> None:
    for file in getattr(report, "files", ()):
        _show_counts(file)
    _show_counts(report)
    if report.dry_run:
        typer.echo("A dry run: nothing was stored.")
    elif not report.added and not report.changed:
        typer.echo("Nothing changed: all of it was there already.")
    else:
        typer.echo(f"Next: {following}")


def _show_counts(report: "ImportReport | FolderReport") -> None:
    counts = f"{report.read:,} read, {report.added:,} new, {report.changed:,} changed, {report.unchanged:,} as before"
    typer.echo(f"{report.path}: {report.kind}: {counts}")
    for note in report.notes:
        typer.echo(f"- {note}")


NAMED = 10


def remap(
    dataset: DatasetArgument,
    path: Path = typer.Argument(
        ...,
        metavar="FILE",
        help="CSV, TSV or JSONL: old_doc_id, new_doc_id (--queries: old_query_id, new_query_id).",
    ),
    queries: bool = typer.Option(False, "--queries", help="Rename queries instead of documents."),
    encoding: EncodingOption = None,
    dry_run: DryRunOption = False,
    console: LeadConsole = LeadConsole(),
) -> None:
    """Give documents (--queries: queries) new ids. Renamed documents keep their judgments; for split or merged ones the grades become suggestions."""
    from annotator.importing.remapping.remapping_service import remap_documents, rename_queries

    opened, actor = console.open_as()
    if queries:
        renaming = rename_queries(opened, actor, dataset, path, now=now(), encoding=encoding, dry_run=dry_run)
        if console.json:
            print_json(renaming)
            return
        renamed = count_of(len(renaming.renamed), "query", "queries")
        typer.echo(f"{path}: {renamed} renamed, {renaming.applied:,} had the new id already")
        if renaming.unknown:
            count = count_of(len(renaming.unknown), "old id is", "old ids are")
            typer.echo(f"- {count} not in the dataset: {_name(renaming.unknown)}")
        if renaming.dry_run:
            typer.echo("A dry run: nothing was stored.")
        return
    report = remap_documents(opened, actor, dataset, path, now=now(), encoding=encoding, dry_run=dry_run)
    if console.show_json(report):
        return
    for line in _describe(report):
        typer.echo(line)
    if report.dry_run:
        typer.echo("A dry run: nothing was stored.")
    elif report.renamed or report.split or report.merged:
        typer.echo(f"Next: annotator import documents {dataset} PATH, so that each new id has its own text")
    else:
        typer.echo("Nothing changed.")


def _describe(report: "RemapReport") -> Iterator[str]:
    yield (
        f"{report.path}: {count_of(report.read, 'link')}: {count_of(len(report.renamed), 'document')} renamed, "
        f"{len(report.split):,} split, {len(report.merged):,} made of several"
    )
    if report.renamed:
        merged = (
            f"; for {report.pairs_met:,} of them the new id had a pair already" if report.pairs_met else ""
        )
        yield f"- {count_of(report.pairs_carried, 'pair keeps its', 'pairs keep their')} judgments{merged}"
    if report.pairs_retired:
        yield (
            f"- {count_of(report.pairs_retired, 'pair')} left the pool, {report.pairs_new:,} joined it to be judged; "
            f"{count_of(report.suggestions, 'grade is a suggestion', 'grades are suggestions')}, for leads only"
        )
    counts = (
        (
            report.documents_new,
            "new document is known by its id only",
            "new documents are known by their id only",
        ),
        (
            report.documents_dropped,
            "document without pairs or judgments is removed",
            "documents without pairs or judgments are removed",
        ),
        (report.repeated, "line repeats another one", "lines repeat another one"),
        (
            report.applied,
            "old id had its new id already",
            "old ids had their new ids already",
        ),
    )
    yield from (f"- {count_of(count, singular, plural)}" for count, singular, plural in counts if count)
    if report.unknown:
        yield f"- {count_of(len(report.unknown), 'old id is', 'old ids are')} not in the dataset: {_name(report.unknown)}"
    if report.left_over:
        yield f"- {count_of(len(report.left_over), 'document with pairs is', 'documents with pairs are')} not in the file: {_name(report.left_over)}"


def _name(ids: Iterable[str]) -> str:
    every = list(ids)
    return ", ".join(every[:NAMED]) + (", …" if len(every) > NAMED else "")
