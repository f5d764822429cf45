"""Describe an evaluation as plain JSON values, and write it as CSV.

In JSON undefined figures are null, with the reason in `why`. `schemas/evaluation.schema.json` describes it and
ships with the program. The CSV has a row for each system and measure, over all queries and then by group.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotator.evaluation.dataset_analysis.holes import JudgingNeed
from annotator.evaluation.dataset_analysis.system_order import ResampledOrder
from annotator.evaluation.differences.comparison import SystemComparison
from annotator.evaluation.differences.sweep import Sweep
from annotator.evaluation.evaluate import (
    DatasetAnalysis,
    Evaluation,
    MeasureSummary,
    QueryGroup,
    SystemSummary,
    choose_main_measure,
)
from annotator.evaluation.reports.structure_report import describe_structure
from annotator.evaluation.scores.summary import ScoreSpread
from annotator.evaluation.targets import TargetCheck
from annotator.formats.syntax.spreadsheet import write_sheet

if TYPE_CHECKING:
    from annotator.pooling.rounds.pool_records import SystemOrder


SCHEMA = Path(__file__).parent / "schemas" / "evaluation.schema.json"
MOST_HOLES = 10_000
MOST_SHARES = 10
NONE_DETECTABLE = "these queries cannot show even the largest possible difference"


def build_json(
    evaluation: Evaluation,
    *,
    truth_source: Mapping[str, Any],
    targets: Sequence[TargetCheck] = (),
    by_query: bool = False,
    extra: Mapping[str, Any] | None = None,
    expected_order: "SystemOrder | None" = None,
) -> dict[str, Any]:
    """Return an evaluation as plain JSON values.

    `truth_source`: where the truth is, {"path": …} or {"dataset": …}. `by_query` adds the scores of every
    query. `extra`: the result of `describe_robustness`, merged into the key "dataset". `expected_order` None:
    the key is left out.
    """
    table = evaluation.table
    thresholds = [measure.relevant_from for measure in table.measures if measure.relevant_from is not None]
    return {
        "truth": {**truth_source, "version": table.truth.version, "content_sha256": table.truth.sha256},
        "profile": evaluation.profile.name,
        "queries": len(table.query_ids),
        "left_out": dict(table.left_out),
        **(
            {"queries_you_may_still_judge": len(table.truth.blind_queries)}
            if table.truth.blind_queries
            else {}
        ),
        "relevant_from": thresholds[0] if thresholds else 1,
        "comparable": table.comparable,
        "seed": evaluation.options.seed,
        "resamples": evaluation.options.resamples,
        "measures": [_pick(measure, "name formula relevant_from ideal") for measure in table.measures],
        **({} if expected_order is None else {"expected_order": asdict(expected_order)}),
        "systems": [_describe_system(evaluation, system, by_query=by_query) for system in evaluation.systems],
        "groups": [_describe_group(group) for group in evaluation.groups],
        "comparisons": [_describe_comparison(comparison) for comparison in evaluation.comparisons],
        "dataset": _describe_dataset(evaluation.dataset, extra or {}),
        "structure": [describe_structure(structure) for structure in evaluation.structure],
        "sweeps": [_describe_sweep(sweep) for sweep in evaluation.sweeps],
        "targets": [_pick(target, "system measure required measured met note") for target in targets],
        "sentences": [str(sentence) for sentence in evaluation.sentences],
    }


def _describe_dataset(dataset: DatasetAnalysis, extra: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **extra,
        "saturation": [
            {
                **_pick(
                    saturation,
                    "measure lowest highest saturated queries equal_queries perfect_queries",
                ),
                "shares": [_pick(share, "query_id share") for share in saturation.shares[:MOST_SHARES]],
            }
            for saturation in dataset.saturation
        ],
        "power": [
            {
                **_pick(power, "measure a b sd detectable"),
                **({"why": NONE_DETECTABLE} if power.detectable is None else {}),
                "queries_needed": power.queries_for_difference,
                "queries_needed_for_d_0.3": power.queries_for_small_effect,
            }
            for power in dataset.power
        ],
        "order": {**_describe_orders(dataset.order), **extra.get("order", {})},
        "holes": _describe_holes(dataset.holes),
        **_describe_need(dataset.holes),
        "single_relevant": dataset.single_relevant,
        "wins": {measure: dict(wins) for measure, wins in dataset.wins.items()},
    }


def _describe_orders(orders: Mapping[str, ResampledOrder]) -> dict[str, Any]:
    """Return the order by the main measure, with the orders by all measures under "by_measure"."""
    described = {
        measure: {
            **_pick(order, "systems tau tau_range tau_ap same_winner"),
            "neighbours": [
                {**_pick(swap, "higher lower"), "swapped": swap.share} for swap in order.neighbours
            ],
        }
        for measure, order in orders.items()
    }
    main = choose_main_measure(list(described))
    return {"measure": main, **described.get(main or "", {}), "by_measure": described}


def _describe_system(evaluation: Evaluation, system: SystemSummary, *, by_query: bool) -> dict[str, Any]:
    described = _describe_summary(system)
    if by_query:
        table = evaluation.table
        scores = next(scores for scores in table.systems if scores.system == system.system)
        columns = {measure.name: scores.values[measure.name].tolist() for measure in table.measures}
        described["by_query"] = {
            query_id: {name: _drop_nan(values[row]) for name, values in columns.items()}
            for row, query_id in enumerate(table.query_ids)
        }
    return described


def _describe_summary(system: SystemSummary) -> dict[str, Any]:
    return {
        **_pick(system, "system queries coverage"),
        "measures": {name: _describe_measure(summary) for name, summary in system.measures.items()},
        "latency_ms": system.latency_ms and _pick(system.latency_ms, "p50 p95 p99"),
        "notes": list(system.notes),
    }


def _describe_measure(summary: MeasureSummary) -> dict[str, Any]:
    score = summary.score
    described: dict[str, Any] = {
        "value": score.value,
        **_pick(summary, "ci95"),
        **_pick(score, "judged condensed bounds queries"),
        "spread": _describe_spread(summary.spread),
    }
    return described if score.why is None else {**described, "why": str(score.why)}


def _describe_spread(spread: ScoreSpread | None) -> dict[str, Any] | None:
    if spread is None:
        return None
    return {
        "sd": spread.sd,
        "min": spread.lowest,
        "quartiles": list(spread.quartiles),
        "max": spread.highest,
    }


def _describe_group(group: QueryGroup) -> dict[str, Any]:
    return {
        "by": group.field,
        "value": group.value,
        "queries": group.queries,
        "best": {measure: list(systems) for measure, systems in group.best.items()},
        "systems": [_describe_summary(system) for system in group.systems],
    }


def _describe_comparison(comparison: SystemComparison) -> dict[str, Any]:
    return {
        **_pick(comparison, "a b measure queries difference ci95 wins ties losses"),
        "t": _pick(comparison.t_test, "t p ci95"),
        "wilcoxon": {"w": comparison.wilcoxon.statistic, **_pick(comparison.wilcoxon, "p exact")},
        "randomization": _pick(comparison.randomization, "p exact"),
        "cohens_d": comparison.t_test.cohens_d,
        "p_holm": comparison.p_holm,
        "verdict": str(comparison.verdict),
    }


def _describe_sweep(sweep: Sweep) -> dict[str, Any]:
    return {
        **_pick(sweep, "family measure systems complete"),
        "parameters": [
            {
                **_pick(parameter, "name range"),
                "values": [_pick(value, "value mean systems") for value in parameter.values],
            }
            for parameter in sweep.parameters
        ],
        "best": {
            "system": sweep.best,
            "value": sweep.best_score,
            "ci95": sweep.best_ci95 and list(sweep.best_ci95),
        },
    }


def _describe_holes(need: JudgingNeed | None) -> list[dict[str, Any]]:
    """Return an entry for each hole and system that has it, most influential holes first, at most MOST_HOLES."""
    if need is None:
        return []
    entries = (
        {"system": system, **_pick(hole, "query_id doc_id"), "rank": rank, "influence": hole.influence}
        for hole in need.holes
        for system, rank in hole.ranks.items()
    )
    return [entry for entry, _ in zip(entries, range(MOST_HOLES), strict=False)]


def _describe_need(need: JudgingNeed | None) -> dict[str, Any]:
    if need is None:
        return {"open_orders": [], "holes_by_system": {}, "holes_by_query": {}}
    return {
        "open_orders": [
            {
                **_pick(order, "a b"),
                "measure": need.measure,
                "difference": order.difference,
                "bounds": [order.lowest, order.highest],
            }
            for order in need.open_orders
        ],
        "holes_by_system": dict(need.by_system),
        "holes_by_query": dict(need.by_query),
    }


def _pick(record: object, names: str) -> dict[str, Any]:
    """Return these fields of a record as plain JSON values."""
    fields = ((name, getattr(record, name)) for name in names.split())
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields}


def _drop_nan(value: float) -> float | None:
    return value if value == value else None


COLUMNS = (
    "by",
    "value",
    "system",
    "measure",
    "score",
    "ci95_low",
    "ci95_high",
    "judged",
    "condensed",
    "bounds_low",
    "bounds_high",
    "queries",
)


def write_csv(evaluation: Evaluation) -> Iterator[str]:
    """Yield the file in pieces. `by` and `value` are empty in rows over all queries."""
    return write_sheet(COLUMNS, _list_rows(evaluation))


def _list_rows(evaluation: Evaluation) -> Iterator[tuple[Any, ...]]:
    yield from _list_systems("", "", evaluation.systems)
    for group in evaluation.groups:
        yield from _list_systems(group.field, group.value, group.systems)


def _list_systems(field: str, value: str, systems: Iterable[SystemSummary]) -> Iterator[tuple[Any, ...]]:
    nothing = (None,) * 6
    for system in systems:
        for name, summary in system.measures.items():
            score, ci95 = summary.score, summary.ci95 or (None, None)
            bounds = score.bounds or (None, None)
            yield (
                field,
                value,
                system.system,
                name,
                score.value,
                *ci95,
                score.judged,
                score.condensed,
                *bounds,
                score.queries,
            )
        if system.latency_ms is not None:
            latency = system.latency_ms
            for percentile, figure in (("P50", latency.p50), ("P95", latency.p95), ("P99", latency.p99)):
                name = f"latency {percentile} (ms)"
                yield (field, value, system.system, name, figure, *nothing, latency.queries)
        yield (field, value, system.system, "coverage", system.coverage, *nothing, system.queries)
