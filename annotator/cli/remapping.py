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
    EncodingOption,
    JsonOption,
    now,
    open_as,
    print_json,
)
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from annotator.importing.remapping_report import RemapReport

NAMED = 10


def remap(
    dataset: DatasetArgument,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV or JSONL: old_doc_id, new_doc_id.")],
    encoding: EncodingOption = None,
    dry_run: DryRunOption = False,
    lead: AsOption = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Give documents new ids: one to one takes the judgments along, else the grades become suggestions."""
    from annotator.importing.remapping_service import remap_documents

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
        f"{report.path}: {count_of(report.read, 'link')}: {count_of(len(report.renamed), 'document')} renamed, "
        f"{len(report.split):,} split, {len(report.merged):,} made of several"
    )
    if report.renamed:
        met = f"; {report.pairs_met:,} of them met a pair of the new id" if report.pairs_met else ""
        yield f"- {count_of(report.pairs_carried, 'pair')} went along with everything judged of them{met}"
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
            "document left, and nothing hung on it",
            "documents left, and nothing hung on them",
        ),
        (report.repeated, "line says what another one said", "lines say what another one said"),
        (
            report.applied,
            "old id had its new one from this file already",
            "old ids had their new ones from this file already",
        ),
    )
    yield from (f"- {count_of(count, one, many)}" for count, one, many in counts if count)
    if report.unknown:
        yield f"- {count_of(len(report.unknown), 'old id is', 'old ids are')} not in the dataset: {_name(report.unknown)}"
    if report.left_over:
        yield f"- {count_of(len(report.left_over), 'document with pairs is', 'documents with pairs are')} not in the file: {_name(report.left_over)}"


def _name(ids: Iterable[str]) -> str:
    every = list(ids)
    return ", ".join(every[:NAMED]) + (", …" if len(every) > NAMED else "")
