"""Evaluate systems against a truth: scores, comparisons, groups of queries, and what the dataset can tell.

`evaluate_runs` reads one run at a time and keeps only its scores and its first results, so that memory does
not grow with the length of the runs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, join_first, say, say_n
from annotator.evaluation.dataset_analysis.holes import JudgingNeed, choose_order_measure, find_holes
from annotator.evaluation.dataset_analysis.system_order import (
    MeasureSaturation,
    ResampledOrder,
    measure_resampled_order,
    measure_saturation,
)
from annotator.evaluation.differences.comparison import (
    RESAMPLES,
    ComparisonPower,
    SystemComparison,
    compare_systems,
    count_wins,
    find_best_systems,
    list_mean_intervals,
    measure_powers,
    resample_means,
)
from annotator.evaluation.differences.sweep import Sweep, SweepCell, measure_sweeps
from annotator.evaluation.profiles import Profile
from annotator.evaluation.records import (
    Kind,
    Measure,
    RankedRun,
    Score,
    ScoreTable,
    SystemScores,
    Truth,
    list_document_types,
)
from annotator.evaluation.result_structure import RunStructure, StructureOptions, measure_structure
from annotator.evaluation.scores.formulas import measure_precision_curve
from annotator.evaluation.scores.scoring import RunScorer, ScoringOptions, score_runs
from annotator.evaluation.scores.summary import (
    FailedQuery,
    LatencyPercentiles,
    ScoreSpread,
    find_failed_queries,
    find_relevance_threshold,
    group_rows,
    list_expected_documents,
    list_group_fields,
    measure_coverage,
    measure_latency,
    measure_spread,
    summarize_answerable,
    summarize_measure,
)
from annotator.pooling.one_thread import ONE_THREAD

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

NOT_COMPARED: frozenset[Kind] = frozenset(("Judged", "FirstRank", "TFFU"))
"""Measures that say nothing about quality, or for which lower is better."""
BEST_IS_1: frozenset[Kind] = frozenset(("nDCG", "R", "AP", "RR", "Success"))
"""Measures by which a perfect list scores 1 on every query that has a relevant document."""
FIRST_DEPTH = 10
"""How many first results decide whether a query fails; curves over depth end here too."""
FEW_JUDGED = 0.9
"""A sentence warns of a score whose share of judged documents is below this."""
VISIBLE = 0.01
"""A score is uncertain if its bounds are at least this far apart: sentences show two decimals."""
LARGE_FALL = 0.05
"""A sentence warns of a score that the unjudged results of other systems can lower by this much or more."""
MOST_SATURATED = 3
"""Up to this many saturated measures get a sentence each; more of them share one sentence."""
MOST_VERDICTS = 5
"""Verdicts among the sentences, all on one measure; `comparisons` has all verdicts."""


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """What to compute in addition to the scores."""

    baseline: str | None = None  # None: every two systems are compared
    group_by: tuple[str, ...] = ()  # fields of queries
    seed: int = 0
    resamples: int = RESAMPLES
    compare: bool = True
    describe_runs: bool = True  # failed queries, structure, precision over depth, and sweeps
    structure: StructureOptions = field(default_factory=StructureOptions)


@dataclass(frozen=True, slots=True)
class MeasureSummary:
    """One system's mean of one measure, its 95 % interval (bootstrap by query) and how it varies over queries.

    `for_targets`: the mean over queries with a relevant document, which targets are compared with.
    """

    score: Score
    ci95: tuple[float, float] | None
    spread: ScoreSpread | None
    for_targets: float | None = None


@dataclass(frozen=True, slots=True)
class SystemSummary:
    """One system over the table's queries, or over one group of them."""

    system: str
    queries: int  # with at least one result
    coverage: float | None
    measures: Mapping[str, MeasureSummary]
    latency_ms: LatencyPercentiles | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryGroup:
    """The queries that share a value of a field: a summary of each system, and the best systems."""

    field: str
    value: str
    queries: int
    systems: tuple[SystemSummary, ...]
    best: Mapping[str, tuple[str, ...]]  # by measure; several systems if their means are equal


@dataclass(frozen=True, slots=True)
class DatasetAnalysis:
    """What the dataset can tell about these systems, beyond their scores."""

    saturation: tuple[MeasureSaturation, ...]
    power: tuple[ComparisonPower, ...]
    order: Mapping[str, ResampledOrder]  # by measure; empty with one system
    holes: JudgingNeed | None  # None without a measure of `choose_order_measure`
    single_relevant: int  # queries with exactly one relevant document
    wins: Mapping[str, Mapping[str, int]]  # by measure, then system: queries on which it scores highest


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Everything known about these systems on this truth.

    `first_results`: the first FIRST_DEPTH results of each system, or more if the measure of `holes` has a
    larger cutoff. `precision_curves`: by system, as `measure_precision_curve` returns them. `failed_queries`:
    a system has no expected document among the first FIRST_DEPTH results.
    """

    table: ScoreTable
    profile: Profile
    scoring: ScoringOptions
    options: EvaluationOptions
    systems: tuple[SystemSummary, ...]
    groups: tuple[QueryGroup, ...]
    comparisons: tuple[SystemComparison, ...]
    dataset: DatasetAnalysis
    sentences: tuple[Message, ...]  # most important first
    first_results: tuple[RankedRun, ...]
    precision_curves: Mapping[str, tuple[float, ...] | None]
    failed_queries: tuple[FailedQuery, ...]
    structure: tuple[RunStructure, ...] = ()  # only systems whose runs or truth have fields for it
    sweeps: tuple[Sweep, ...] = ()  # one for each measure and family of systems


@ONE_THREAD.limit()
def evaluate_runs(
    truth: Truth,
    runs: Iterable[RankedRun],
    profile: Profile,
    *,
    scoring: ScoringOptions | None = None,
    options: EvaluationOptions | None = None,
) -> Evaluation:
    """Evaluate `runs` against `truth` by the conventions of `profile`. Runs are read one at a time.

    Raises ValidationError for a repeated system, an unknown baseline, a run that shares no query with the
    truth, an unknown measure, and a field to group by that no query has.
    """
    scoring, options = scoring or ScoringOptions(), options or EvaluationOptions()
    scorer = RunScorer.prepare(truth, profile, scoring)
    scored: dict[str, SystemScores] = {}
    first_results: list[RankedRun] = []
    failed_queries: list[FailedQuery] = []
    precision_curves: dict[str, tuple[float, ...] | None] = {}
    threshold = find_relevance_threshold(scorer.measures)
    expected = list_expected_documents(scorer.grades, scorer.query_ids, threshold)
    structures: list[RunStructure] = []
    types = list_document_types(truth, options.structure.type_field)
    order_measure = choose_order_measure(scorer.measures)
    kept = max(FIRST_DEPTH, (order_measure and order_measure.cutoff) or 0)
    for run in runs:
        if run.system in scored:
            raise ValidationError(f"expected every system once, found {run.system!r} again")
        scored[run.system] = scorer.score(run)
        first_results.append(cut_run(run, kept))
        if options.describe_runs:
            failed_queries += find_failed_queries(run, expected, FIRST_DEPTH)
            structures.append(
                measure_structure(run, truth, options.structure, types, relevant_from=threshold)
            )
            precision_curves[run.system] = measure_precision_curve(scorer.lookup, run, threshold)
    if not scored:
        raise ValidationError("expected at least one run, found none")
    if options.baseline is not None and options.baseline not in scored:
        raise ValidationError(
            say(
                "There is no system {system!r}. Choose one of: {names}",
                system=options.baseline,
                names=join_first(list(scored)),
            )
        )
    table = scorer.build_table(tuple(scored.values()))
    groups = tuple(group for field in options.group_by for group in _summarize_groups(table, field))
    matrices = _list_matrices(table)
    comparisons = _compare(table, matrices, options) if options.compare else ()
    dataset = _analyze_dataset(scorer, table, matrices, comparisons, first_results, options)
    systems = _summarize_systems(table, options)
    evaluation = Evaluation(
        table,
        profile,
        scoring,
        options,
        systems,
        groups,
        comparisons,
        dataset,
        sentences=(),
        first_results=tuple(first_results),
        precision_curves=precision_curves,
        failed_queries=tuple(failed_queries),
        structure=tuple(structure for structure in structures if not structure.is_empty),
        sweeps=tuple(_list_sweeps(table.measures, systems)) if options.describe_runs else (),
    )
    return replace(evaluation, sentences=tuple(_list_sentences(evaluation)))


@dataclass(frozen=True, slots=True)
class SystemRanking:
    """The part of an evaluation that ranks systems: their means with intervals, and their comparisons."""

    systems: tuple[SystemSummary, ...]
    comparisons: tuple[SystemComparison, ...]


@ONE_THREAD.limit()
def rank_systems(
    truth: Truth, runs: Iterable[RankedRun], profile: Profile, *, scoring: ScoringOptions
) -> SystemRanking:
    """Return the summaries and comparisons of `evaluate_runs` without its other analyses, in half the time.

    Raises ValidationError for a repeated system, a run that shares no query with the truth, and an unknown
    measure.
    """
    options = EvaluationOptions()
    table = score_runs(truth, runs, profile, scoring)
    return SystemRanking(_summarize_systems(table, options), _compare(table, _list_matrices(table), options))


def _list_sweeps(measures: Sequence[Measure], systems: Sequence[SystemSummary]) -> Iterator[Sweep]:
    for measure in measures:
        if measure.kind not in NOT_COMPARED:
            summaries = {system.system: system.measures[measure.name] for system in systems}
            yield from measure_sweeps(
                measure.name,
                {
                    system: SweepCell(summary.score.value, summary.ci95)
                    for system, summary in summaries.items()
                },
            )


def cut_run(run: RankedRun, depth: int) -> RankedRun:
    """Return the run with at most `depth` results per query, without scores, signals, latencies and notes."""
    kept = [
        slice(int(start), min(int(start) + depth, int(stop)))
        for start, stop in zip(run.starts[:-1], run.starts[1:], strict=True)
    ]
    codes = np.concatenate([run.codes[part] for part in kept]) if kept else run.codes[:0]
    present, renumbered = np.unique(codes, return_inverse=True)
    starts = np.cumsum([0, *(part.stop - part.start for part in kept)]).astype(np.int64)
    doc_ids = tuple(run.doc_ids[code] for code in present.tolist())
    return RankedRun(run.system, run.query_ids, starts, doc_ids, renumbered.astype(np.int32))


@dataclass(frozen=True, slots=True)
class _MeasureMatrix:
    """Scores (queries x systems) on the queries with a score for every system. `rows`: in the table."""

    measure: Measure
    query_ids: tuple[str, ...]
    rows: Rows
    values: Floats


def _list_matrices(table: ScoreTable) -> list[_MeasureMatrix]:
    matrices = []
    for measure in table.measures:
        if measure.kind in NOT_COMPARED:
            continue
        values = np.column_stack([system.values[measure.name] for system in table.systems])
        rows = np.flatnonzero(~np.isnan(values).any(axis=1))
        query_ids = tuple(table.query_ids[row] for row in rows.tolist())
        matrices.append(_MeasureMatrix(measure, query_ids, rows, values[rows]))
    return matrices


def _compare(
    table: ScoreTable, matrices: Sequence[_MeasureMatrix], options: EvaluationOptions
) -> tuple[SystemComparison, ...]:
    names = [system.system for system in table.systems]
    return tuple(
        comparison
        for matrix in matrices
        if matrix.query_ids
        for comparison in compare_systems(
            dict(zip(names, matrix.values.T, strict=True)),
            matrix.measure.name,
            baseline=options.baseline,
            seed=options.seed,
            resamples=options.resamples,
        )
    )


def _summarize_systems(table: ScoreTable, options: EvaluationOptions) -> tuple[SystemSummary, ...]:
    """Summarize every system over all queries, with the intervals of its means."""
    columns = [scores.values[measure.name] for scores in table.systems for measure in table.measures]
    defined = [values[~np.isnan(values)] for values in columns]
    intervals = iter(list_mean_intervals(defined, seed=options.seed, resamples=options.resamples))
    summaries = []
    for scores in table.systems:
        summary = _summarize_rows(table, scores, None)
        with_intervals = {
            name: replace(measured, ci95=next(intervals)) for name, measured in summary.measures.items()
        }
        summaries.append(replace(summary, measures=with_intervals, notes=scores.notes))
    return tuple(summaries)


def _summarize_rows(table: ScoreTable, scores: SystemScores, rows: Rows | None) -> SystemSummary:
    results = scores.results if rows is None else scores.results[rows]
    return SystemSummary(
        system=scores.system,
        queries=int((results > 0).sum()),
        coverage=measure_coverage(scores, rows),
        measures={
            measure.name: _summarize_measure(table, scores, measure, rows) for measure in table.measures
        },
        latency_ms=measure_latency(scores, rows),
    )


def _summarize_measure(
    table: ScoreTable, scores: SystemScores, measure: Measure, rows: Rows | None
) -> MeasureSummary:
    """Return the summary; a group of queries without any relevant document has no score."""
    answerable = summarize_answerable(table, scores, measure, rows)
    if rows is not None and answerable.value is None and measure.kind != "Judged":
        return MeasureSummary(answerable, None, None)
    return MeasureSummary(
        summarize_measure(scores, measure, rows),
        None,
        measure_spread(scores, measure, rows),
        answerable.value,
    )


def _summarize_groups(table: ScoreTable, field: str) -> list[QueryGroup]:
    groups = group_rows(table, field)
    if not groups:
        raise ValidationError(
            say(
                "No query has the field {field!r}. Choose one of: {names}",
                field=field,
                names=join_first(list_group_fields(table.truth)) or say("no fields"),
            )
        )
    summarized = []
    for value, rows in groups.items():
        best: dict[str, tuple[str, ...]] = {}
        for measure in table.measures:
            if measure.kind in NOT_COMPARED:
                continue
            if not table.answerable[measure.name][rows].any():
                best[measure.name] = ()
                continue
            scores = {system.system: system.values[measure.name][rows] for system in table.systems}
            defined = {name: values[~np.isnan(values)] for name, values in scores.items()}
            if all(len(values) for values in defined.values()):
                best[measure.name] = find_best_systems(defined)
        systems = tuple(_summarize_rows(table, system, rows) for system in table.systems)
        summarized.append(QueryGroup(field, value, len(rows), systems, best))
    return summarized


def _analyze_dataset(
    scorer: RunScorer,
    table: ScoreTable,
    matrices: Sequence[_MeasureMatrix],
    comparisons: Sequence[SystemComparison],
    first_results: Sequence[RankedRun],
    options: EvaluationOptions,
) -> DatasetAnalysis:
    names = [system.system for system in table.systems]
    order = {}
    if len(names) > 1:
        for matrix in matrices:
            if len(matrix.query_ids) > 1:
                resampled = resample_means(matrix.values, seed=options.seed, resamples=options.resamples)
                order[matrix.measure.name] = measure_resampled_order(
                    names, matrix.values.mean(axis=0), resampled
                )
    return DatasetAnalysis(
        saturation=tuple(
            measure_saturation(matrix.measure.name, matrix.query_ids, matrix.values)
            for matrix in matrices
            if matrix.query_ids
        ),
        power=tuple(measure_powers(comparisons)),
        order=order,
        holes=_find_holes(scorer, table, first_results),
        single_relevant=_count_single_relevant(table),
        wins={
            matrix.measure.name: count_wins(dict(zip(names, matrix.values.T, strict=True)))
            for matrix in matrices
            if matrix.query_ids
        },
    )


def _find_holes(
    scorer: RunScorer, table: ScoreTable, first_results: Sequence[RankedRun]
) -> JudgingNeed | None:
    """Return the holes of the compared queries; None without a measure to order systems by."""
    measure = choose_order_measure(table.measures)
    if measure is None:
        return None
    answered = np.ones(len(table.query_ids), dtype=bool)
    if not scorer.options.complete:
        answered = np.all([system.results > 0 for system in table.systems], axis=0)
    grades = scorer.profile.choose_grades(table.truth)
    return find_holes(
        first_results,
        grades,
        measure,
        [table.query_ids[row] for row in np.flatnonzero(answered).tolist()],
        relevant_from=scorer.find_threshold(measure),
        may_join=[query_id for query_id in table.left_out if grades[query_id]],
        unjudged=dict(zip(scorer.query_ids, scorer.unjudged.count().tolist(), strict=True)),
    )


def _count_single_relevant(table: ScoreTable) -> int:
    threshold = find_relevance_threshold(table.measures)
    return sum(
        sum(grade >= threshold for grade in table.truth.grades[query_id].values()) == 1
        for query_id in table.query_ids
    )


def _list_sentences(evaluation: Evaluation) -> list[Message]:
    """Return the key results, most important first."""
    table, dataset = evaluation.table, evaluation.dataset
    sentences: list[Message] = []
    if not table.comparable:
        sentences.append(
            say(
                "The ideal ranking comes from the results themselves. These scores cannot be compared "
                "between systems or with other programs' scores."
            )
        )
    sentences += _list_unanswerable_sentences(table)
    sentences += _list_identical_sentences(evaluation)
    sentences += _list_saturation_sentences(dataset)
    sentences += _list_winner_sentences(dataset)
    shown = [comparison for comparison in evaluation.comparisons if comparison.significant]
    main = choose_main_measure([comparison.measure for comparison in shown])
    largest = sorted(
        (comparison for comparison in shown if comparison.measure == main),
        key=lambda comparison: -abs(comparison.difference),
    )
    sentences += [comparison.verdict for comparison in largest[:MOST_VERDICTS]]
    if not shown and any(comparison.is_tested for comparison in evaluation.comparisons):
        sentences.append(say("No significant difference between systems (Holm, p ≥ .05)."))
        sentences += [entry.sentence for entry in choose_power(dataset.power)[:1]]
    sentences += _list_judged_sentences(evaluation)
    if dataset.holes is not None and len(table.systems) > 1:
        sentences.append(dataset.holes.sentence)
    if dataset.single_relevant:
        sentences.append(
            say_n(
                "{n} of {queries:,} queries has a single document of grade {grade} or more.",
                "{n:,} of {queries:,} queries have a single document of grade {grade} or more.",
                dataset.single_relevant,
                queries=len(table.query_ids),
                grade=find_relevance_threshold(table.measures),
            )
        )
    return sentences


def _list_unanswerable_sentences(table: ScoreTable) -> list[Message]:
    """Return a sentence on queries without a relevant document for each threshold, and one on queries in no mean."""
    sentences: list[Message] = []
    counts: set[int] = set()
    queries = len(table.query_ids)
    for measure in table.measures:
        answerable = int(table.answerable[measure.name].sum())
        if measure.kind in BEST_IS_1 and 0 < answerable < queries and answerable not in counts:
            sentences.append(
                say_n(
                    "{n} of {queries:,} queries has no document of grade {grade} or more. There {measure} is 0 "
                    "for every system; its highest possible mean is {highest:.3f}.",
                    "{n:,} of {queries:,} queries have no document of grade {grade} or more. There {measure} is 0 "
                    "for every system; its highest possible mean is {highest:.3f}.",
                    queries - answerable,
                    queries=queries,
                    grade=measure.relevant_from or 1,
                    measure=measure.name,
                    highest=answerable / queries,
                )
            )
            counts.add(answerable)
    if table.left_out:
        query_id, why = next(iter(table.left_out.items()))
        sentences.append(
            say_n(
                "{n} query is in no mean: {query} ({why}).",
                "{n:,} queries are in no mean, such as {query} ({why}).",
                len(table.left_out),
                query=query_id,
                why=why,
            )
        )
    return sentences


def _list_identical_sentences(evaluation: Evaluation) -> list[Message]:
    """Return a sentence for each pair of systems with equal scores on every query and measure."""
    differing: dict[tuple[str, str], bool] = {}
    for comparison in evaluation.comparisons:
        pair = (comparison.a, comparison.b)
        differing[pair] = differing.get(pair, False) or comparison.ties < comparison.queries
    return [
        say("{a} and {b} have the same scores on every query: there is no difference to test.", a=a, b=b)
        for (a, b), differs in differing.items()
        if not differs
    ][:MOST_VERDICTS]


def _list_saturation_sentences(dataset: DatasetAnalysis) -> list[Message]:
    """Return a sentence for each measure that ranks these systems poorly, or one sentence if there are many."""
    sentences: list[Message] = []
    for saturated in (True, False):
        poor = [
            (saturation.measure, saturation.sentence)
            for saturation in dataset.saturation
            if saturation.sentence and saturation.saturated == saturated
        ]
        if len(poor) > MOST_SATURATED:
            together = say(
                "{n:,} of {all:,} measures, such as {measure}, cannot rank these systems: "
                "all of them score 0.99 or more, or within 0.005 of each other."
                if saturated
                else "{n:,} of {all:,} measures, such as {measure}, depend on fewer than half of the queries: all "
                "others give every system the same score.",
                n=len(poor),
                all=len(dataset.saturation),
                measure=poor[0][0],
            )
            sentences.append(together)
        else:
            sentences += [sentence for _, sentence in poor]
    return sentences


def choose_power(power: Sequence[ComparisonPower]) -> list[ComparisonPower]:
    """Return the entries of the main measure (`choose_main_measure`), largest difference first."""
    main = choose_main_measure([entry.measure for entry in power])
    return sorted(
        (entry for entry in power if entry.measure == main), key=lambda entry: -abs(entry.difference)
    )


def choose_main_measure(names: Sequence[str]) -> str | None:
    """Return the first nDCG, or else the first measure; None without any."""
    return next((name for name in names if name.lower().startswith("ndcg")), names[0] if names else None)


def _list_winner_sentences(dataset: DatasetAnalysis) -> list[Message]:
    """Return a sentence for each two nDCG measures whose best systems differ."""
    best = {
        name: order.systems[0] for name, order in dataset.order.items() if name.startswith(("nDCG", "NDCG"))
    }
    sentences = []
    names = list(best)
    for index, first in enumerate(names):
        for second in names[index + 1 :]:
            if best[first] != best[second]:
                sentences.append(
                    say(
                        "{first} names {a} as the best system, {second} names {b}.",
                        first=first,
                        a=best[first],
                        second=second,
                        b=best[second],
                    )
                )
    return sentences


def _list_judged_sentences(evaluation: Evaluation) -> list[Message]:
    """Return at most one sentence on a score that unjudged results make uncertain.

    If scores have a share of judged documents below FEW_JUDGED: on the one with the widest bounds. Otherwise:
    on the score that cannot rise and could fall most, if by LARGE_FALL or more.
    """
    uncertain = [
        (highest - lowest, name, system.system, summary.score, lowest, highest)
        for system in evaluation.systems
        for name, summary in system.measures.items()
        if summary.score.bounds is not None
        and summary.score.judged is not None
        and summary.score.judged < FEW_JUDGED
        for lowest, highest in (summary.score.bounds,)
        if highest - lowest >= VISIBLE
    ]
    if uncertain:
        _, measure, system, score, lowest, highest = max(uncertain, key=lambda entry: entry[0])
        return [
            say(
                "Only {share:.0%} of the documents that count for {measure} are judged for {system}. With all systems' "
                "results judged, its {score:.2f} could be anything from {lowest:.2f} to {highest:.2f}.",
                share=score.judged,
                measure=measure,
                system=system,
                score=score.value,
                lowest=lowest,
                highest=highest,
            )
        ]
    too_high = [
        (score.value - score.bounds[0], name, system.system, score)
        for system in evaluation.systems
        for name, summary in system.measures.items()
        if not (score := summary.score).may_rise and score.bounds is not None and score.value is not None
    ]
    largest = max(too_high, key=lambda entry: entry[0], default=None)
    if largest is None or largest[0] < LARGE_FALL:
        return []
    fall, measure, system, score = largest
    return [
        say(
            "{measure} of {system} may be too high: with all systems' results judged, its {score:.2f} could fall to "
            "{lowest:.2f}.",
            measure=measure,
            system=system,
            score=score.value,
            lowest=(score.value or 0.0) - fall,
        )
    ]
