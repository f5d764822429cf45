"""Run `annotator pool`, `annotator pool-rounds` and `annotator pairs`: add pairs to the pool, and list it."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annotator.cli import pool_options
from annotator.cli.terminal import (
    DatabaseOption,
    DatasetArgument,
    JsonOption,
    now,
    open_database,
    print_json,
    print_table,
)
from annotator.domain.figures import show_figure, show_number, show_percent
from annotator.domain.messages import count_of
from annotator.domain.people import OPERATOR

if TYPE_CHECKING:
    from annotator.pooling.rounds.pool_records import PoolReport, SystemOrder
    from annotator.storage.pairs.pool import Provenance

SHOWN = 10
WITH_HOLES = {"dataset", "depth", "systems", "holes", "limit", "dry_run", "database", "json"}


def pool(
    context: typer.Context,
    dataset: DatasetArgument,
    depth: pool_options.Depth = None,
    systems: pool_options.Systems = None,
    retrieve: pool_options.Retrieve = None,
    weights: pool_options.Weights = None,
    title_boost: pool_options.TitleBoost = None,
    vectors: pool_options.Vectors = None,
    query_vectors: pool_options.QueryVectors = None,
    embed: pool_options.Embed = None,
    strategy: pool_options.StrategyName = None,
    strata: pool_options.Strata = None,
    budget: pool_options.Budget = None,
    per_category: pool_options.PerCategory = None,
    adaptive: pool_options.Adaptive = False,
    measure: pool_options.OrderMeasureName = "nDCG@10",
    seed: pool_options.Seed = 0,
    holes: pool_options.Holes = False,
    limit: pool_options.Limit = None,
    exclude: pool_options.Exclude = None,
    exclude_title: pool_options.ExcludeTitle = None,
    min_length: pool_options.MinLength = None,
    one_per: pool_options.OnePer = None,
    near_duplicates: pool_options.NearDuplicates = None,
    dry_run: pool_options.DryRun = False,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Add a round of pairs to the pool, from the results of runs and searches."""
    if holes:
        _check_options_of_holes(context)
        _pool_holes(
            dataset, depth=depth, systems=systems, limit=limit, dry_run=dry_run, database=database, json=json
        )
        return
    if limit is not None:
        raise typer.BadParameter("--limit goes with --holes")
    name = _find_strategy(strategy, budget=budget or per_category, adaptive=adaptive)
    if depth is None and name in ("depth", "fused"):
        raise typer.BadParameter("expected --depth K, --budget N, --strategy stratified or --holes")
    from annotator.pooling.filters.filters import read_filters
    from annotator.pooling.retrievers.options import read_weights
    from annotator.pooling.retrievers.records import RetrievalOptions
    from annotator.pooling.rounds.pool_records import PoolRequest
    from annotator.pooling.rounds.rounds_service import make_round
    from annotator.pooling.rounds.strategies import read_strata, read_strategy

    request = PoolRequest(
        strategy=read_strategy(name),
        depth=depth,
        systems=None if systems is None else _split(systems),
        retrievers=_split(retrieve or ""),
        retrieval=RetrievalOptions(
            seed=seed,
            weights={} if weights is None else read_weights(weights, option="--weights"),
            title_boost={} if title_boost is None else read_weights(title_boost, option="--title-boost"),
            vectors=vectors,
            query_vectors=query_vectors,
            embed=embed,
        ),
        strata=() if strata is None else read_strata(strata),
        budget=budget,
        per_category=per_category,
        measure=measure,
        seed=seed,
        filters=read_filters(
            exclude=exclude or (),
            exclude_title=exclude_title or (),
            min_length=min_length,
            one_per=one_per,
            near_duplicates=near_duplicates,
        ),
    )
    report = make_round(
        open_database(database),
        OPERATOR,
        dataset,
        request,
        now=now(),
        dry_run=dry_run,
        progress=_show_progress,
    )
    if json:
        print_json(report)
        return
    _print_report(report)


def _check_options_of_holes(context: typer.Context) -> None:
    """Refuse typed options that `--holes` does not use: it reads only the results of imported runs."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if name not in WITH_HOLES and source is not None and source.name != "DEFAULT":
            option = "--" + name.replace("_", "-")
            raise typer.BadParameter(
                f"--holes goes with --depth, --systems, --limit and --dry-run only, found {option}"
            )


def _find_strategy(name: str | None, *, budget: int | None, adaptive: bool) -> str:
    if adaptive and name not in (None, "adaptive"):
        raise typer.BadParameter("--adaptive is a strategy: leave --strategy out")
    if adaptive:
        return "adaptive"
    return name or ("depth" if budget is None else "move-to-front")


def pool_rounds(
    dataset: DatasetArgument,
    left_out: Annotated[
        bool,
        typer.Option("--left-out", help="List the candidates that the rounds left out, and by which rule."),
    ] = False,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """List the rounds of the pool: when, by which strategy, how many pairs each added."""
    from annotator.pooling.analysis.pool_analysis_service import iterate_left_out
    from annotator.pooling.rounds.rounds_service import list_pool_rounds

    if left_out:
        candidates = [
            (item.number, item.query_id, item.doc_id, item.rule, item.kept_doc_id)
            for item in iterate_left_out(open_database(database), OPERATOR, dataset)
        ]
        candidates.sort(key=lambda candidate: candidate[:3])
        names = ("round", "query_id", "doc_id", "rule", "kept_doc_id")
        if json:
            print_json([dict(zip(names, candidate, strict=True)) for candidate in candidates])
            return
        print_table(
            (*names[:-1], "judged instead"),
            [(*candidate[:-1], candidate[-1] or "") for candidate in candidates],
            empty="Nothing was left out by rule.",
        )
        return
    listed = list_pool_rounds(open_database(database), OPERATOR, dataset)
    if json:
        print_json(listed)
        return
    rows = [
        (
            made.number,
            made.made_at.strftime("%Y-%m-%d %H:%M"),
            made.made_by or "operator",
            made.strategy,
            show_number(made.pairs),
            _describe_depths(made.figures.get("systems") or made.options.get("systems") or ()),
        )
        for made in listed
    ]
    print_table(
        ("round", "made (UTC)", "by", "strategy", "new pairs", "systems"),
        rows,
        empty="No round yet. Pairs that came before rounds were kept, or with a file, belong to none.",
    )


def pool_probabilities(
    dataset: DatasetArgument,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write them to this file.")
    ] = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Print the settled pairs as TREC qrels with a fifth column: the probability with which each was drawn."""
    from annotator.pooling.rounds.rounds_service import list_pair_probabilities
    from annotator.pooling.rounds.sampled_qrels import write_sampled_qrels

    listed = list_pair_probabilities(open_database(database), OPERATOR, dataset)
    if json:
        print_json(listed)
        return
    text = write_sampled_qrels(listed)
    if output is None:
        typer.echo(text, nl=False)
        return
    from annotator.agreement.report_files import write_file

    write_file(output, [text])
    typer.echo(f"{count_of(len(listed), 'settled pair')} written to {output}")


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
            pair.round or "",
            ", ".join(map(_describe_provenance, pair.provenance)),
        )
        for pair in listed
    ]
    print_table(
        ("pair", "query_id", "doc_id", "status", "round", "provenance"),
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
    from annotator.evaluation.holes_service import HOLE_DEPTH, pool_holes

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
            show_number(document.influence, 4),
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
    """Show the finished share on one line of stderr; print nothing unless stderr is a terminal."""
    if sys.stderr.isatty():
        typer.echo(f"\r{work} {show_percent(share, 0)} ", nl=share >= 1, err=True)


def _print_report(report: "PoolReport") -> None:
    verb = "Would make" if report.dry_run else "Made"
    typer.echo(
        f"{verb} {count_of(report.new, 'new pair')}; {count_of(report.already_there, 'was', 'were')} there already."
        + (f" Round {report.round}." if report.round else "")
    )
    if report.waiting:
        waiting = count_of(report.waiting, "pair", "pairs")
        typer.echo(f"{waiting} of earlier budget rounds, not judged yet, count towards the budget.")
    _print_outlook(report)
    typer.echo()
    if report.order:
        _print_order(report.order)
        typer.echo()
    if report.left_out:
        print_table(("left out by", "candidates"), list(report.left_out.items()), empty="")
        typer.echo()
    if report.strata:
        drawn = [
            (item.ranks, show_figure(item.rate, 6), item.candidates, item.drawn) for item in report.strata
        ]
        print_table(("ranks", "rate", "candidates", "drawn"), drawn, empty="")
        typer.echo()
    rows = [(counts.system, counts.queries, counts.candidates, counts.only_here) for counts in report.systems]
    print_table(
        ("system", "queries", "candidates", "found only by this system"), rows, empty="No candidates."
    )
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
        elif note.kind == "no_vector":
            lacking = count_of(len(note.names), "document has no vector", "documents have no vector")
            _print_names(f"{note.system}: {lacking}", note.names)


def _describe_depths(systems: Mapping[str, int] | Sequence[str]) -> str:
    """Return the systems of a round, each with its pooling depth if it is stored."""
    if isinstance(systems, Mapping):
        return ", ".join(f"{system} to {depth}" for system, depth in systems.items())
    return ", ".join(systems)


def _describe_provenance(by: "Provenance") -> str:
    """Return the origin of a pair: a system with its rank, or the document from which its grade was copied."""
    if by.rank is not None:
        return f"{by.system} at {by.rank}"
    return f"{by.system} of {by.signals['of']}" if "of" in by.signals else by.system


def _print_outlook(report: "PoolReport") -> None:
    """Print the expected benefit and cost of the new pairs."""
    per_query, expected, effort = report.per_query, report.expected_relevant, report.effort
    typer.echo(
        f"New pairs per query: median {per_query.median:g}, from {per_query.min:,} to {per_query.max:,}."
    )
    if expected.value is None or expected.ci95 is None:
        typer.echo(f"Expected relevant: not known yet ({expected.why}).")
    else:
        low, high = expected.ci95
        of = f"of {count_of(expected.pairs, 'pair')}" + (f"; {expected.why}" if expected.why else "")
        typer.echo(
            f"Expected relevant: {show_number(expected.value, 0)} (95 % interval {show_number(low, 0)} to {show_number(high, 0)}) {of}."
        )
    judgments = count_of(effort.judgments, "judgment")
    if effort.hours is None:
        typer.echo(f"Effort: {judgments}; hours not known yet ({effort.why}).")
    else:
        typer.echo(
            f"Effort: {judgments}, {show_number(effort.hours, 1)} hours at {show_number(effort.seconds, 0)} seconds each."
        )


def _print_order(order: "SystemOrder") -> None:
    """Print the order of the systems by the grades so far, and the undecided comparisons."""
    typer.echo(
        f"The systems' expected order by {order.measure}, from {count_of(order.judged, 'settled candidate')}. "
        f"{len(order.open):,} of {count_of(order.compared, 'pair of systems', 'pairs of systems')} could still swap."
    )
    scores = [(item.system, show_number(item.score, 4)) for item in order.systems[:SHOWN]]
    print_table(("system", f"expected {order.measure}"), scores, empty="No system.")
    still_open = [
        (item.higher, item.lower, show_number(item.difference, 4), show_percent(item.swap_probability, 0))
        for item in order.open[:SHOWN]
    ]
    typer.echo()
    print_table(("higher", "lower", "difference", "swap"), still_open, empty="No order is open.")
    if len(order.open) > SHOWN or len(order.systems) > SHOWN:
        typer.echo("--json lists all of them")


def _print_names(sentence: str, names: Sequence[str]) -> None:
    typer.echo(f"\n{sentence}: {', '.join(names[:SHOWN])}{' …' if len(names) > SHOWN else ''}")
