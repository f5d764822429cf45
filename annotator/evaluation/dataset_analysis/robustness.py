"""Measure how scores and order depend on annotators, disputed grades, and which systems were pooled.

All figures use the first results that an `Evaluation` keeps and the measure of `choose_order_measure`. A
variant of the truth replaces the grades of some pairs:

- by annotator: the annotator's own grades where available, else the settled grades (Voorhees 2000);
- lenient and strict: the highest and the lowest of the annotators' grades, where they differ.

Left out of the pool: documents that only one system has among its first results are removed from the truth,
and that system is scored again (Zobel 1998). A large loss means that a system that was not pooled would score
too low.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say
from annotator.evaluation.dataset_analysis.holes import (
    choose_order_measure,
    find_unique_contributions,
    leave_out_documents,
)
from annotator.evaluation.dataset_analysis.system_order import OrderAgreement, compare_orders
from annotator.evaluation.evaluate import FIRST_DEPTH, Evaluation
from annotator.evaluation.records import Grades, Measure, RankedRun
from annotator.evaluation.scores.scoring import RunScorer

LENIENT, STRICT = "lenient", "strict"


@dataclass(frozen=True, slots=True)
class PairGrades:
    """A settled pair and its grades by annotator."""

    query_id: str
    doc_id: str
    settled: int
    given: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class OrderUnderVariant:
    """How the systems' order under a variant of the truth agrees with their order under the truth."""

    variant: str  # an annotator, "lenient" or "strict"
    changed_pairs: int  # pairs with another grade than in the truth
    order: OrderAgreement


@dataclass(frozen=True, slots=True)
class LossWithoutPooling:
    """A system's score, and its score if it had not been pooled."""

    system: str
    unique_relevant: int  # relevant documents that no other system has among its first results
    score: float
    score_without: float

    @property
    def loss(self) -> float:
        return self.score - self.score_without


@dataclass(frozen=True, slots=True)
class Robustness:
    """How far scores and order can be trusted. Variants are empty with one system or without judgments."""

    measure: str
    by_annotator: tuple[OrderUnderVariant, ...]
    disputed: tuple[OrderUnderVariant, ...]
    left_out: tuple[LossWithoutPooling, ...]

    @property
    def sentences(self) -> list[Message]:
        """Return a sentence for each variant that changes the order."""
        return [
            _describe_swap(variant.variant, self.measure, *variant.order.swapped[0])
            for variant in (*self.by_annotator, *self.disputed)
            if variant.order.swapped
        ]


def _describe_swap(variant: str, measure: str, first: str, second: str) -> Message:
    values = {"measure": measure, "first": first, "second": second}
    if variant == LENIENT:
        return say(
            "With the highest grade for every disagreement, {second} is above {first} on {measure}.", **values
        )
    if variant == STRICT:
        return say(
            "With the lowest grade for every disagreement, {second} is above {first} on {measure}.", **values
        )
    return say(
        "With {annotator}'s own grades, {second} is above {first} on {measure}.", annotator=variant, **values
    )


def measure_robustness(evaluation: Evaluation, pairs: Iterable[PairGrades] = ()) -> Robustness | None:
    """Return how the order depends on annotators, disputed grades and pooling.

    None without a measure to order systems by (`choose_order_measure`). `pairs`: the settled pairs with their
    grades by annotator. Without them only the losses without pooling are measured.
    """
    measure = choose_order_measure(evaluation.table.measures)
    if measure is None:
        return None
    judged = list(pairs)
    variants: list[OrderUnderVariant] = []
    disputed: list[OrderUnderVariant] = []
    grades = evaluation.table.truth.grades
    if len(evaluation.first_results) > 1 and judged:
        present = _score_means(evaluation, measure.name, grades, evaluation.first_results)
        for annotator in sorted({name for pair in judged for name in pair.given}):
            own = {
                (pair.query_id, pair.doc_id): pair.given[annotator]
                for pair in judged
                if annotator in pair.given
            }
            variants.append(_score_variant(evaluation, measure.name, present, annotator, own))
        differing = [pair for pair in judged if len({*pair.given.values()}) > 1]
        for name, choose in ((LENIENT, max), (STRICT, min)) if differing else ():
            chosen = {(pair.query_id, pair.doc_id): choose(pair.given.values()) for pair in differing}
            disputed.append(_score_variant(evaluation, measure.name, present, name, chosen))
    return Robustness(
        measure.name, tuple(variants), tuple(disputed), tuple(_list_losses(evaluation, measure))
    )


def _score_variant(
    evaluation: Evaluation,
    measure: str,
    present: Mapping[str, float],
    variant: str,
    grades: Mapping[tuple[str, str], int],
) -> OrderUnderVariant:
    truth = evaluation.table.truth.grades
    replaced = {query_id: dict(documents) for query_id, documents in truth.items()}
    changed = 0
    for (query_id, doc_id), grade in grades.items():
        if doc_id in replaced.get(query_id, {}) and replaced[query_id][doc_id] != grade:
            replaced[query_id][doc_id] = grade
            changed += 1
    scores = _score_means(evaluation, measure, replaced, evaluation.first_results)
    now, then = (np.array([means[system] for system in present]) for means in (present, scores))
    return OrderUnderVariant(variant, changed, compare_orders(list(present), now, then))


def _score_means(
    evaluation: Evaluation, measure: str, grades: Grades, runs: Sequence[RankedRun]
) -> dict[str, float]:
    """Return the mean of the measure by system, over the queries of the evaluation.

    A query without relevant documents under these grades counts as 0. A system without a scored query gets 0.
    """
    query_ids = evaluation.table.query_ids
    truth = replace(evaluation.table.truth, grades={query_id: grades[query_id] for query_id in query_ids})
    options = replace(evaluation.scoring, measures=(measure,), readings=False, complete=True)
    means = {run.system: 0.0 for run in runs}
    try:
        scorer = RunScorer.prepare(truth, evaluation.profile, options)
    except ValidationError:  # the variant has no query with a judged document
        return means
    for run in runs:
        if not scorer.grades.keys().isdisjoint(run.query_ids):
            means[run.system] = float(np.nansum(scorer.score(run).values[measure])) / len(query_ids)
    return means


def _list_losses(evaluation: Evaluation, measure: Measure) -> Iterable[LossWithoutPooling]:
    if len(evaluation.first_results) < 2:
        return
    grades = evaluation.table.truth.grades
    unique = find_unique_contributions(evaluation.first_results, max(FIRST_DEPTH, measure.cutoff or 0))
    present = _score_means(evaluation, measure.name, grades, evaluation.first_results)
    for run in evaluation.first_results:
        relevant = {
            query_id: {doc_id for doc_id in documents if grades.get(query_id, {}).get(doc_id, 0) > 0}
            for query_id, documents in unique[run.system].items()
        }
        without = leave_out_documents(grades, unique[run.system])
        scores = _score_means(evaluation, measure.name, without, [run])
        count = sum(len(documents) for documents in relevant.values())
        yield LossWithoutPooling(run.system, count, present[run.system], scores[run.system])


def describe_robustness(robustness: Robustness | None) -> dict[str, object]:
    """Return the robustness as plain JSON values, for the `extra` of `build_json`."""
    if robustness is None:
        return {"order": {"by_annotator": [], "disputed": []}, "left_out": []}

    def describe(variants: Iterable[OrderUnderVariant]) -> list[dict[str, object]]:
        return [
            {
                "variant": variant.variant,
                "changed_pairs": variant.changed_pairs,
                "tau": variant.order.tau,
                "tau_ap": variant.order.tau_ap,
                "swapped": [list(pair) for pair in variant.order.swapped],
            }
            for variant in variants
        ]

    return {
        "order": {
            "by_annotator": describe(robustness.by_annotator),
            "disputed": describe(robustness.disputed),
        },
        "left_out": [
            {
                "system": loss.system,
                "measure": robustness.measure,
                "unique_relevant": loss.unique_relevant,
                "score": loss.score,
                "score_without": loss.score_without,
                "loss": loss.loss,
            }
            for loss in robustness.left_out
        ],
    }
