"""List the rows of the tables of the page Evaluation, for the page and the files. An undefined value is None."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from annotator.domain.figures import show_interval, show_number
from annotator.evaluation.dataset_analysis.robustness import LENIENT, STRICT, OrderUnderVariant
from annotator.evaluation.differences.comparison import SystemComparison
from annotator.evaluation.evaluate import Evaluation, SystemSummary
from annotator.evaluation.records import ScoreTable
from annotator.evaluation.service import EvaluationResult
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import join_names, tr
from annotator.web.kit.tables import Cell
from annotator.web.kit.words import name_field

Row = dict[str, object]
QUERIES = "queries"
MOST_HOLES = 1_000


def show_figure(cell: object, digits: int = 3) -> str:
    """Return a cell as the page shows it: 0.123 for figures, 1,234 for counts, a dash for None."""
    if cell is None or cell == "":
        return "–"
    if isinstance(cell, float):
        return show_number(cell, digits)
    return show_number(cell) if isinstance(cell, int) else str(cell)


def show_cell(column: str, cell: object, digits: int) -> str:
    """Return a cell of a table by its column: shares in per cent, p-values and d with three decimals, else `digits`."""
    if column == tr("judged"):
        return show_share(cell) if isinstance(cell, float) else show_figure(cell)
    is_test = column in (tr("t test"), "Wilcoxon", tr("randomization"), tr("p after Holm"), "d")
    return show_figure(cell, 3 if is_test else digits)


def find_digits(evaluation: Evaluation, measure: str) -> int:
    """Return the decimals that the measure's narrowest interval supports: from 2, for ±0.01 and wider, to 4."""
    intervals = [system.measures[measure].ci95 for system in evaluation.systems]
    widths = [interval[1] - interval[0] for interval in intervals if interval and interval[0] < interval[1]]
    return min(4, max(2, math.ceil(-math.log10(min(widths) / 2)))) if widths else 3


def list_system_cells(evaluation: Evaluation) -> list[list[Cell]]:
    """Return each system with its score and interval on every measure, best first on the first measure.

    ▼ and ▲ mark a difference from the baseline, or else from the best system, that chance does not explain.
    """
    measures = [measure.name for measure in evaluation.table.measures]
    digits = {name: find_digits(evaluation, name) for name in measures}
    marks = {name: _mark_differences(evaluation, name) for name in measures}
    rows: list[list[Cell]] = []
    for system in sort_systems(evaluation, measures[0]):
        row: list[Cell] = [system.system]
        for name in measures:
            summary, mark = system.measures[name], marks[name].get(system.system, "")
            score = f"{mark} {show_figure(summary.score.value, digits[name])}".strip()
            row.append([score, f"[{show_interval(summary.ci95, digits[name])}]"] if summary.ci95 else score)
        rows.append(row)
    return rows


def _mark_differences(evaluation: Evaluation, measure: str) -> dict[str, str]:
    """Return {system: "▲" or "▼"} for the systems that differ from the baseline, or else from the best system."""
    compared = evaluation.options.baseline or sort_systems(evaluation, measure)[0].system
    marks = {}
    for comparison in list_comparisons(evaluation, measure):
        if comparison.significant and compared in (comparison.a, comparison.b):
            is_first = comparison.a == compared
            is_higher = (comparison.difference > 0) == is_first
            marks[comparison.b if is_first else comparison.a] = "▲" if is_higher else "▼"
    return marks


def list_score_rows(result: EvaluationResult, measure: str) -> list[Row]:
    """Return each system's score of the measure with its other readings, best first."""
    rows: list[Row] = []
    for system in sort_systems(result.evaluation, measure):
        summary = system.measures[measure]
        low, high = summary.ci95 or (None, None)
        least, most = summary.score.bounds or (None, None)
        rows.append(
            {
                tr("system"): system.system,
                tr("score"): summary.score.value,
                tr("from"): low,
                tr("to"): high,
                tr("judged"): summary.score.judged,
                tr("condensed"): summary.score.condensed,
                tr("lowest possible"): least,
                tr("highest possible"): most,
                tr("queries"): summary.score.queries,
            }
        )
    return rows


def sort_systems(evaluation: Evaluation, measure: str) -> list[SystemSummary]:
    """Return the systems, best on the measure first, undefined values last. Equal systems keep their order."""
    lower_is_better = measure in ("FirstRank", "TFFU")

    def key(system: SystemSummary) -> tuple[bool, float]:
        value = system.measures[measure].score.value
        return value is None, 0.0 if value is None else value if lower_is_better else -value

    return sorted(evaluation.systems, key=key)


def list_difference_rows(result: EvaluationResult, measure: str) -> list[Row]:
    """Return every comparison on the measure, largest difference first."""
    return [
        {
            tr("systems"): f"{comparison.b} − {comparison.a}",
            tr("difference"): comparison.difference,
            tr("from"): None if comparison.ci95 is None else comparison.ci95[0],
            tr("to"): None if comparison.ci95 is None else comparison.ci95[1],
            tr("wins"): comparison.wins,
            tr("ties"): comparison.ties,
            tr("losses"): comparison.losses,
            tr("t test"): comparison.t_test.p,
            "Wilcoxon": comparison.wilcoxon.p,
            tr("randomization"): comparison.randomization.p,
            tr("p after Holm"): comparison.p_holm,
            "d": comparison.t_test.cohens_d,
            tr("verdict"): tr(comparison.verdict),
        }
        for comparison in list_comparisons(result.evaluation, measure)
    ]


def list_comparisons(evaluation: Evaluation, measure: str) -> list[SystemComparison]:
    """Return the comparisons on the measure, largest difference first."""
    comparisons = [comparison for comparison in evaluation.comparisons if comparison.measure == measure]
    return sorted(comparisons, key=lambda comparison: -abs(comparison.difference))


def list_group_rows(result: EvaluationResult, measure: str) -> list[Row]:
    """Return for each group the systems' scores of the measure and the best systems."""
    return [
        {
            name_field(group.field): group.value,
            tr("queries"): group.queries,
            **{system.system: system.measures[measure].score.value for system in group.systems},
            tr("best"): join_names(group.best.get(measure, ())),
        }
        for group in result.evaluation.groups
    ]


def list_saturation_rows(result: EvaluationResult, _measure: str) -> list[Row]:
    """Return for each measure how well it can rank the systems."""
    return [
        {
            tr("measure"): saturation.measure,
            tr("lowest mean"): saturation.lowest,
            tr("highest mean"): saturation.highest,
            tr("queries"): saturation.queries,
            tr("the same for all systems"): saturation.equal_queries,
            tr("1.0 for all systems"): saturation.perfect_queries,
            tr("can rank the systems"): tr("no") if saturation.saturated else tr("yes"),
        }
        for saturation in result.evaluation.dataset.saturation
    ]


def list_power_rows(result: EvaluationResult, measure: str) -> list[Row]:
    """Return for every two systems the difference that the queries can detect, largest difference first."""
    powers = [power for power in result.evaluation.dataset.power if power.measure == measure]
    return [
        {
            tr("systems"): f"{power.b} − {power.a}",
            tr("difference"): power.difference,
            tr("smallest detectable difference"): tr("none")
            if power.detectable is None
            else power.detectable,
            tr("queries"): power.queries,
            tr("queries needed for this difference"): power.queries_for_difference,
            tr("queries needed for d = 0.3"): power.queries_for_small_effect,
        }
        for power in sorted(powers, key=lambda power: -abs(power.difference))
    ]


def list_order_rows(result: EvaluationResult, measure: str) -> list[Row]:
    """Return neighbours in the systems' order and how often resampled queries swap them."""
    order = result.evaluation.dataset.order.get(measure)
    if order is None:
        return []
    return [
        {
            tr("higher"): swap.higher,
            tr("lower"): swap.lower,
            tr("swapped in resamples"): show_share(swap.share, 1),
        }
        for swap in order.neighbours
    ]


def list_variant_rows(result: EvaluationResult, _measure: str) -> list[Row]:
    """Return how the order of systems changes with each annotator's grades and with other disputed grades."""
    if result.robustness is None:
        return []
    variants = (*result.robustness.by_annotator, *result.robustness.disputed)
    return [
        {
            tr("grades of"): name_variant(variant),
            tr("changed pairs"): variant.changed_pairs,
            "τ": variant.order.tau,
            "τ_AP": variant.order.tau_ap,
            tr("changed order"): "; ".join(f"{second} > {first}" for first, second in variant.order.swapped),
        }
        for variant in variants
    ]


def name_variant(variant: OrderUnderVariant) -> str:
    """Return the name of a variant: an annotator, or which grade it takes for disagreements."""
    named = {
        LENIENT: tr("the highest grade for every disagreement"),
        STRICT: tr("the lowest grade for every disagreement"),
    }
    return named.get(variant.variant, variant.variant)


def list_left_out_rows(result: EvaluationResult, _measure: str) -> list[Row]:
    """Return each system's score, and its score if it had not been pooled."""
    if result.robustness is None:
        return []
    return [
        {
            tr("system"): loss.system,
            tr("relevant documents found only here"): loss.unique_relevant,
            tr("score"): loss.score,
            tr("without its own documents"): loss.score_without,
            tr("loss"): loss.loss,
        }
        for loss in result.robustness.left_out
    ]


def list_hole_rows(result: EvaluationResult, _measure: str) -> list[Row]:
    """Return the unjudged documents in the systems' first results, most influential first."""
    need = result.evaluation.dataset.holes
    if need is None:
        return []
    return [
        {
            tr("query"): hole.query_id,
            tr("document"): hole.doc_id,
            tr("ranks"): join_names(f"{system} {rank}" for system, rank in hole.ranks.items()) or "–",
            tr("influence"): hole.influence,
        }
        for hole in need.holes[:MOST_HOLES]
    ]


def list_query_rows(evaluation: Evaluation, measure: str) -> list[Row]:
    """Return the systems' scores on every query, largest difference between systems first.

    Queries with a pair that the reader may still judge come last, without scores.
    """
    table = evaluation.table
    values = np.column_stack([system.values[measure] for system in table.systems])
    rows: list[tuple[float, Row]] = []
    for query_id, scores in zip(table.query_ids, values.tolist(), strict=True):
        defined = [score for score in scores if score == score]
        spread = max(defined) - min(defined) if defined else 0.0
        shown = {
            system.system: score if score == score else None
            for system, score in zip(table.systems, scores, strict=True)
        }
        rows.append((spread, _write_query(table, query_id, shown, "")))
    blind = [
        _write_query(table, query_id, {system.system: None for system in table.systems}, tr("judge it first"))
        for query_id in table.truth.blind_queries
    ]
    return [*(row for _, row in sorted(rows, key=lambda entry: -entry[0])), *blind]


def _write_query(table: ScoreTable, query_id: str, scores: Mapping[str, float | None], remark: str) -> Row:
    text = table.truth.texts.get(query_id, "")
    return {tr("query"): query_id, tr("text"): text, **scores, tr("remark"): remark}


TABLES: Mapping[str, Callable[[EvaluationResult, str], list[Row]]] = {
    "scores": list_score_rows,
    "differences": list_difference_rows,
    "groups": list_group_rows,
    "saturation": list_saturation_rows,
    "power": list_power_rows,
    "order": list_order_rows,
    "variants": list_variant_rows,
    "left-out": list_left_out_rows,
    "holes": list_hole_rows,
}


def list_rows(result: EvaluationResult, table: str, measure: str) -> list[Row]:
    return TABLES[table](result, measure)
