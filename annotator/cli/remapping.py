"""`annotator remap`: documents got new ids; what was judged of them is carried over, or suggested again."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annotator.cli.terminal import (
    AsOption,
    DatabaseOption,
    DatasetArgument,
    DryRunOption,
    JsonOption,
    now,
    open_as,
    print_json,
)

if TYPE_CHECKING:
    from annotator.remapping.report import RemapReport

NAMED = 10


def remap(
    dataset: DatasetArgument,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV or JSONL: old_doc_id, new_doc_id.")],
    encoding: Annotated[
        str | None, typer.Option("--encoding", metavar="NAME", help="The text's encoding, if not UTF-8.")
    ] = None,
    dry_run: DryRunOption = False,
    lead: AsOption = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Give documents new ids: one to one takes the judgments along, else the grades become suggestions."""
    from annotator.remapping.service import remap_documents

    opened, actor = open_as(database, lead)
    report = remap_documents(opened, actor, dataset, path, now=now(), encoding=encoding, dry_run=dry_run)
    if json:
        print_json(report)
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
        f"{report.path}: {report.read:,} links: {len(report.renamed):,} documents renamed, "
        f"{len(report.split):,} split, {len(report.merged):,} made of several"
    )
    if report.renamed:
        met = f"; {report.pairs_met:,} of them met a pair of the new id" if report.pairs_met else ""
        yield f"- {report.pairs_carried:,} pairs went along with everything judged of them{met}"
    if report.pairs_retired:
        yield (
            f"- {report.pairs_retired:,} pairs left the pool, {report.pairs_new:,} joined it to be judged; "
            f"{report.suggestions:,} grades are suggestions, which only leads see"
        )
    counts = (
        (report.documents_new, "new documents are known by their id only"),
        (report.documents_dropped, "documents left with nothing that hung on them"),
        (report.repeated, "lines say what another one said"),
        (report.applied, "old ids had their new ones from this file already"),
    )
    yield from (f"- {count:,} {what}" for count, what in counts if count)
    if report.unknown:
        yield f"- {len(report.unknown):,} old ids are not in the dataset: {_name(report.unknown)}"
    if report.left_over:
        yield f"- {len(report.left_over):,} documents with pairs are not in the file: {_name(report.left_over)}"


def _name(ids: Iterable[str]) -> str:
    every = list(ids)
    return ", ".join(every[:NAMED]) + (", …" if len(every) > NAMED else "")
