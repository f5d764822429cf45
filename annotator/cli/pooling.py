"""Run `annotator pool` and `annotator pairs`: make pairs of candidates, and list the pool."""

import sys
from collections.abc import Sequence
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
    depth: Annotated[
        int | None, typer.Option(help="How many results of each system per query (with --holes: 10).")
    ] = None,
    systems: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Only these imported runs (default: all; '' for none)."),
    ] = None,
    retrieve: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Also search the dataset's documents: bm25, tfidf, lsa, hybrid.",
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="LIST=W,…",
            help="What hybrid fuses: retrievers and run:SYSTEM, with their weights.",
        ),
    ] = None,
    title_boost: Annotated[
        str | None,
        typer.Option(
            metavar="exact=W,partial=W",
            help="With hybrid: weights of documents whose title matches the query.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws the documents that LSA learns from.")] = 0,
    holes: Annotated[
        bool,
        typer.Option(
            "--holes",
            help="Only unjudged documents of the runs, most influential for the systems' order first.",
        ),
    ] = False,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="With --holes: at most so many new pairs.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be made; change nothing.")
    ] = False,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Make pairs of the best candidates of each system, with their provenance."""
    if holes:
        if retrieve or weights or title_boost:
            raise typer.BadParameter("--holes takes documents of imported runs: leave --retrieve out")
        _pool_holes(
            dataset, depth=depth, systems=systems, limit=limit, dry_run=dry_run, database=database, json=json
        )
        return
    if limit is not None:
        raise typer.BadParameter("--limit goes with --holes")
    if depth is None:
        raise typer.BadParameter("expected --depth K, or --holes")
    from annotator.pooling.retrievers.options import read_weights
    from annotator.pooling.retrievers.records import RetrievalOptions
    from annotator.pooling.service import pool_runs

    retrieval = RetrievalOptions(
        seed=seed,
        weights={} if weights is None else read_weights(weights, option="--weights"),
        title_boost={} if title_boost is None else read_weights(title_boost, option="--title-boost"),
    )

    report = pool_runs(
        open_database(database),
        OPERATOR,
        dataset,
        depth=depth,
        now=now(),
        systems=None if systems is None else _split(systems),
        retrievers=_split(retrieve or ""),
        retrieval=retrieval,
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

    listed = list_pairs(open_database(database), OPERATOR, dataset, status=status)
    if json:
        print_json(listed)
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
        for pair in listed
    ]
    print_table(
        ("pair", "query_id", "doc_id", "status", "provenance"),
        rows,
        empty=f"No such pair. Make some: annotator pool {dataset} --depth 10",
    )


def _pool_holes(
    dataset: str,
    *,
    depth: int | None,
    systems: str | None,
    limit: int | None,
    dry_run: bool,
    database: str | None,
    json: bool,
) -> None:
    from annotator.evaluation.evaluate import HOLE_DEPTH
    from annotator.evaluation.holes_service import pool_holes

    report = pool_holes(
        open_database(database),
        OPERATOR,
        dataset,
        now=now(),
        depth=HOLE_DEPTH if depth is None else depth,
        systems=None if systems is None else _split(systems),
        limit=limit,
        dry_run=dry_run,
    )
    if json:
        print_json(report)
        return
    verb = "Would make" if report.dry_run else "Made"
    typer.echo(
        f"{count_of(report.holes, 'unjudged document')} in the systems' top {report.depth}. "
        f"{verb} {count_of(len(report.documents), 'new pair')}; "
        f"{count_of(report.already_there, 'was', 'were')} in the pool already; {report.left:,} left."
    )
    typer.echo(f"{report.sentence}\n")
    rows = [
        (
            document.query_id,
            document.doc_id,
            f"{document.influence:.4f}",
            ", ".join(f"{by.system} at {by.rank}" for by in document.provenance),
        )
        for document in report.documents[:SHOWN]
    ]
    print_table(("query_id", "doc_id", "influence", "provenance"), rows, empty="No new pair.")
    if len(report.documents) > SHOWN:
        typer.echo(f"{len(report.documents) - SHOWN:,} more: --json lists all")


def _split(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",") if name.strip())


def _show_progress(work: str, share: float) -> None:
    """Rewrite one line on stderr with the share that is done; print nothing unless stderr is a terminal."""
    if sys.stderr.isatty():
        typer.echo(f"\r{work} {show_percent(share, 0)} ", nl=share >= 1, err=True)


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
    for query_ids, (has, have, lack) in notes:
        if query_ids:
            _print_names(f"{count_of(len(query_ids), f'query {has}', f'queries {have}')} {lack}", query_ids)
    for note in report.notes:
        if note.kind == "no_candidate":
            lacking = count_of(len(note.names), "query has no candidate", "queries have no candidate")
            _print_names(f"{note.system}: {lacking}", note.names)


def _print_names(sentence: str, names: Sequence[str]) -> None:
    typer.echo(f"\n{sentence}: {', '.join(names[:SHOWN])}{' …' if len(names) > SHOWN else ''}")
