"""Run `annotator pool`, `annotator pool-rounds` and `annotator pairs`: add pairs to the pool, and list it."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from annotator.cli.terminal import Console, DatasetArgument, now, print_table
from annotator.domain.figures import show_figure, show_number, show_percent
from annotator.domain.messages import count_of
from annotator.domain.people import OPERATOR

if TYPE_CHECKING:
    from annotator.pooling.rounds.pool_records import PoolReport, PoolRequest, SystemOrder
    from annotator.storage.pairs.pool import Provenance

SHOWN = 10
WITH_HOLES = {"dataset", "depth", "systems", "holes", "limit", "dry_run", "database", "json"}


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """The options of `annotator pool` that choose the pairs."""

    depth: int | None = typer.Option(
        None,
        help="How many results of each system per query (with --holes: 10; how far down the lists a budget goes: 100).",
    )
    systems: str | None = typer.Option(
        None, metavar="A,B", help="Only these imported runs (default: all; '' for none)."
    )
    retrieve: str | None = typer.Option(
        None, metavar="A,B", help="Also search the dataset's documents: bm25, tfidf, lsa, vectors, hybrid."
    )
    weights: str | None = typer.Option(
        None,
        metavar="LIST=W,…",
        help="With hybrid: the lists to combine (retrievers and run:SYSTEM), with their weights.",
    )
    title_boost: str | None = typer.Option(
        None,
        metavar="exact=W,partial=W",
        help="With hybrid: the weight of documents whose title matches the query.",
    )
    vectors: Path | None = typer.Option(
        None, metavar="FILE", help="Embeddings of the documents: .npy, .npz, .parquet or .jsonl."
    )
    query_vectors: Path | None = typer.Option(
        None, metavar="FILE", help="Embeddings of the queries, in the same formats."
    )
    embed: Path | None = typer.Option(
        None, metavar="FOLDER", help="Make the vectors with the embedding model in this folder."
    )
    strategy: str | None = typer.Option(
        None, metavar="S", help="depth, fused, stratified (by rank), move-to-front or adaptive."
    )
    strata: str | None = typer.Option(
        None,
        metavar="RANKS:RATE,…",
        help="With stratified: ranks and the share to draw from each (1-10:1,11-50:0.2).",
    )
    budget: int | None = typer.Option(
        None, metavar="N", help="The number of pairs to spend on documents that the best lists rank high."
    )
    per_category: int | None = typer.Option(
        None, metavar="N", help="The number of pairs to spend for each category of queries."
    )
    adaptive: bool = typer.Option(
        False, "--adaptive", help="Spend the budget on what settles the order of the systems soonest."
    )
    measure: str = typer.Option(
        "nDCG@10",
        metavar="M",
        help="With --adaptive: the measure that orders the systems (nDCG@k, P@k or AP).",
    )
    seed: int = typer.Option(0, help="Seed for samples by rank and for the documents that LSA learns from.")
    holes: bool = typer.Option(
        False,
        "--holes",
        help="Only unjudged documents of the runs, most influential for the systems' order first.",
    )
    limit: int | None = typer.Option(None, metavar="N", help="With --holes: the maximum number of new pairs.")
    exclude: list[str] | None = typer.Option(
        None, metavar="FIELD=VALUE", help="Leave out documents with this value (repeatable)."
    )
    exclude_title: list[str] | None = typer.Option(
        None, metavar="REGEX", help="Leave out documents whose title matches this pattern (repeatable)."
    )
    min_length: int | None = typer.Option(
        None, metavar="N", help="Leave out documents with fewer characters."
    )
    one_per: str | None = typer.Option(
        None,
        metavar="FIELD",
        help="For each query, keep only the best ranked document of each value of this field.",
    )
    near_duplicates: str | None = typer.Option(
        None,
        metavar="0.9|exact",
        help="For each query, keep only the best ranked of near duplicates; then: annotator duplicates.",
    )


def pool(
    context: typer.Context,
    dataset: DatasetArgument,
    options: PoolOptions = PoolOptions(),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show what would be added; change nothing."),
    console: Console = Console(),
) -> None:
    """Add a round of pairs to the pool, from the results of runs and searches."""
    if options.holes:
        _check_options_of_holes(context)
        _pool_holes(dataset, options, console, dry_run=dry_run)
        return
    if options.limit is not None:
        raise typer.BadParameter("--limit goes with --holes")
    from annotator.pooling.rounds.rounds_service import make_round

    request = _make_request(options, _find_strategy(options))
    report = make_round(
        console.open(),
        OPERATOR,
        dataset,
        request,
        now=now(),
        dry_run=dry_run,
        progress=_show_progress,
    )
    if not console.show_json(report):
        _print_report(report)


def _make_request(options: PoolOptions, strategy: str) -> "PoolRequest":
    from annotator.pooling.filters.filters import read_filters
    from annotator.pooling.retrievers.records import RetrievalOptions, read_weights
    from annotator.pooling.rounds.pool_records import PoolRequest
    from annotator.pooling.rounds.strategies import read_strata, read_strategy

    return PoolRequest(
        strategy=read_strategy(strategy),
        depth=options.depth,
        systems=None if options.systems is None else _split(options.systems),
        retrievers=_split(options.retrieve or ""),
        retrieval=RetrievalOptions(
            seed=options.seed,
            weights={} if options.weights is None else read_weights(options.weights, option="--weights"),
            title_boost={}
            if options.title_boost is None
            else read_weights(options.title_boost, option="--title-boost"),
            vectors=options.vectors,
            query_vectors=options.query_vectors,
            embed=options.embed,
        ),
        strata=() if options.strata is None else read_strata(options.strata),
        budget=options.budget,
        per_category=options.per_category,
        measure=options.measure,
        seed=options.seed,
        filters=read_filters(
            exclude=options.exclude or (),
            exclude_title=options.exclude_title or (),
            min_length=options.min_length,
            one_per=options.one_per,
            near_duplicates=options.near_duplicates,
        ),
    )


def _check_options_of_holes(context: typer.Context) -> None:
    """Refuse typed options that `--holes` does not use: it reads only the results of imported runs."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if name not in WITH_HOLES and source is not None and source.name != "DEFAULT":
            option = "--" + name.replace("_", "-")
            raise typer.BadParameter(
                f"--holes goes with --depth, --systems, --limit and --dry-run only, found {option}"
            )


def _find_strategy(options: PoolOptions) -> str:
    name = options.strategy
    if options.adaptive and name not in (None, "adaptive"):
        raise typer.BadParameter("--adaptive is a strategy: leave --strategy out")
    if options.adaptive:
        return "adaptive"
    name = name or ("depth" if (options.budget or options.per_category) is None else "move-to-front")
    if options.depth is None and name in ("depth", "fused"):
        raise typer.BadParameter("expected --depth K, --budget N, --strategy stratified or --holes")
    return name


def pool_rounds(
    dataset: DatasetArgument,
    left_out: bool = typer.Option(
        False, "--left-out", help="List the candidates that the rounds left out, and by which rule."
    ),
    console: Console = Console(),
) -> None:
    """List the rounds of the pool: when, by which strategy, how many pairs each added."""
    from annotator.pooling.analysis.pool_analysis_service import iterate_left_out
    from annotator.pooling.rounds.rounds_service import list_pool_rounds

    if left_out:
        candidates = [
            (item.number, item.query_id, item.doc_id, item.rule, item.kept_doc_id)
            for item in iterate_left_out(console.open(), OPERATOR, dataset)
        ]
        candidates.sort(key=lambda candidate: candidate[:3])
        names = ("round", "query_id", "doc_id", "rule", "kept_doc_id")
        console.show_table(
            [dict(zip(names, candidate, strict=True)) for candidate in candidates],
            (*names[:-1], "judged instead"),
            [(*candidate[:-1], candidate[-1] or "") for candidate in candidates],
            empty="Nothing was left out by rule.",
        )
        return
    listed = list_pool_rounds(console.open(), OPERATOR, dataset)
    console.show_table(
        listed,
        ("round", "made (UTC)", "by", "strategy", "new pairs", "systems"),
        (
            (
                made.number,
                made.made_at.strftime("%Y-%m-%d %H:%M"),
                made.made_by or "operator",
                made.strategy,
                show_number(made.pairs),
                _describe_depths(made.figures.get("systems") or made.options.get("systems") or ()),
            )
            for made in listed
        ),
        empty="No round yet. Pairs that came before rounds were kept, or with a file, belong to none.",
    )


def pool_probabilities(
    dataset: DatasetArgument,
    output: Path | None = typer.Option(None, metavar="FILE", help="Write them to this file."),
    console: Console = Console(),
) -> None:
    """Print the settled pairs as TREC qrels with a fifth column: the probability with which each was drawn."""
    from annotator.pooling.rounds.rounds_service import list_pair_probabilities
    from annotator.pooling.rounds.samples import write_sampled_qrels

    listed = list_pair_probabilities(console.open(), OPERATOR, dataset)
    if console.show_json(listed):
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
    status: str | None = typer.Option(
        None,
        metavar="S",
        help="unjudged, unrateable, imported, single, unanimous, disagreement, reopened or adjudicated.",
    ),
    console: Console = Console(),
) -> None:
    """List the pool: every pair, its status, and who proposed it."""
    from annotator.pooling.service import list_pairs

    listed = list_pairs(console.open(), OPERATOR, dataset, status=status)
    console.show_table(
        listed,
        ("pair", "query_id", "doc_id", "status", "round", "provenance"),
        (
            (
                pair.pair,
                pair.query_id,
                pair.doc_id,
                pair.status,
                pair.round or "",
                ", ".join(map(_describe_provenance, pair.provenance)),
            )
            for pair in listed
        ),
        empty=f"No such pair. Make some: annotator pool {dataset} --depth 10",
    )


def _pool_holes(dataset: str, options: PoolOptions, console: Console, *, dry_run: bool) -> None:
    from annotator.evaluation.holes_service import HOLE_DEPTH, pool_holes

    report = pool_holes(
        console.open(),
        OPERATOR,
        dataset,
        now=now(),
        depth=HOLE_DEPTH if options.depth is None else options.depth,
        systems=None if options.systems is None else _split(options.systems),
        limit=options.limit,
        dry_run=dry_run,
    )
    if console.show_json(report):
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
    if isinstance(systems, Mapping):
        return ", ".join(f"{system} to {depth}" for system, depth in systems.items())
    return ", ".join(systems)


def _describe_provenance(by: "Provenance") -> str:
    """Return the origin of a pair: a system with its rank, or the document from which its grade was copied."""
    if by.rank is not None:
        return f"{by.system} at {by.rank}"
    return f"{by.system} of {by.signals['of']}" if "of" in by.signals else by.system


def _print_outlook(report: "PoolReport") -> None:
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
