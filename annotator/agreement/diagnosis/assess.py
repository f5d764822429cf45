"""Assess a dataset: the verdict, then the findings in plain sentences.

Intervals come from the queries' influences (agreement/intervals.py), not from resamples, so no seed is
needed. A finding appears only if the data prove it. Its sentence names the figure behind it and links to the
pairs. Without a shared pair, findings other than the verdict can only be about simulated annotators and
failed checks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotator.agreement.comparisons import list_comparisons, measure_order
from annotator.agreement.diagnosis.against_others import (
    estimate_against_others,
    find_extremes,
    find_leaning,
    find_less,
    leave_one_out,
    measure_against_others,
)
from annotator.agreement.diagnosis.careless_work import find_constants, find_failing, find_quick, leave_out
from annotator.agreement.diagnosis.drift import GradingDrift, complete, find_changes, find_periods
from annotator.agreement.diagnosis.grade_confusion import find_confused
from annotator.agreement.diagnosis.grade_findings import (
    describe_categories,
    describe_confused,
    describe_order,
    describe_paradox,
)
from annotator.agreement.diagnosis.people_findings import (
    describe_agrees_less,
    describe_annotator_pairs,
    describe_changes,
    describe_constants,
    describe_failing,
    describe_leanings,
    describe_quick,
)
from annotator.agreement.diagnosis.verdict import judge
from annotator.agreement.judgment_table import Floats, GradedJudgments, Ints
from annotator.agreement.records import (
    AgreementPeriod,
    AgreementVerdict,
    CoefficientValue,
    DiagnosisFinding,
    GroupAgreement,
    Leaning,
    MeasuredAgreement,
    PairSelection,
)
from annotator.domain.messages import Message, join, say
from annotator.labeling.records import AnnotatorResult


def describe_simulated(simulated: Sequence[str]) -> Message:
    """Say that some annotators are not people."""
    return say(
        "Simulated judgments are included ({people}): the figures only show how the program works.",
        people=join(simulated),
    )


@dataclass(frozen=True, slots=True)
class DiagnosisAssessment:
    """The diagnosis that a report shows with the figures."""

    verdict: AgreementVerdict
    findings: tuple[DiagnosisFinding, ...]
    periods: tuple[AgreementPeriod, ...]
    leanings: tuple[Leaning, ...]  # all measured ones, with alpha without each annotator


def assess(
    judged: GradedJudgments,
    *,
    names: Sequence[str],
    measured: MeasuredAgreement,
    target: float,
    grade_names: Sequence[str],
    made_at: Ints | None = None,
    seconds: Floats | None = None,
    groups: Sequence[GroupAgreement] = (),
    checks: Sequence[AnnotatorResult] = (),
    simulated: Sequence[str] = (),
    unrateable: int = 0,
) -> DiagnosisAssessment:
    """Return the verdict, the findings (the most important first), the periods and the leanings.

    `names[n]` is annotator n of `judged`. `made_at` (seconds since 1970; 0: unknown) and `seconds` (active
    time; 0 or NaN: unknown) have one value per row of `judged`; None leaves out the findings that need them.
    `groups`: by category. `checks`: results under the names in `names`. `grade_names`: the rubric's names of
    the grades 0 to 3. `simulated`: annotators who are not people. `unrateable`: the number of judgments
    “cannot rate”.
    """
    verdict = judge(measured, target=target, unrateable=unrateable)
    comparisons = list_comparisons(judged)
    constants = find_constants(judged, comparisons, names)
    named = tuple(annotator.annotator for annotator in constants.people)
    estimates = estimate_against_others(comparisons, len(names))
    kappas = measure_against_others(estimates, names)
    leanings = _add_to_leanings(measured.leanings, leave_one_out(judged, len(names)), kappas, names)
    periods: tuple[AgreementPeriod, ...] = ()
    changes: tuple[GradingDrift, ...] = ()
    if made_at is not None:
        timed, completed = complete(comparisons, made_at)
        periods, changes = find_periods(timed, completed, names), find_changes(timed, completed, names)
    findings = [DiagnosisFinding("verdict", verdict.sentence, PairSelection() if measured.pairs else None)]
    if simulated:
        findings.append(DiagnosisFinding("simulated", describe_simulated(simulated)))
    if not measured.pairs:
        findings += describe_failing(find_failing(checks))
        return DiagnosisAssessment(verdict, tuple(findings), periods, leanings)
    others = comparisons.leave_out(*(names.index(name) for name in named))
    rest = leave_out(measured, others, named)
    if named:
        estimates = estimate_against_others(others, len(names))
    findings += describe_constants(constants, measured, grade_names)
    findings += describe_paradox(measured, target, grade_names, named)
    findings += describe_confused(find_confused(groups, others, names, named), grade_names, named)
    findings += describe_leanings(find_leaning(leanings, comparisons, names, named), measured)
    findings += describe_agrees_less(find_less(others, estimates, names), named)
    findings += describe_changes(changes)
    findings += describe_failing(find_failing(checks))
    if seconds is not None:
        findings += describe_quick(find_quick(judged, seconds, comparisons, names))
    findings += describe_categories(groups, target)
    findings += describe_order(rest, measure_order(others, len(names)), named)
    findings += describe_annotator_pairs(measured, find_extremes(rest, others, names), named)
    return DiagnosisAssessment(verdict, tuple(findings), periods, leanings)


def _add_to_leanings(
    leanings: Sequence[Leaning],
    alphas: Sequence[tuple[float, int]],
    kappas: Mapping[str, CoefficientValue],
    names: Sequence[str],
) -> tuple[Leaning, ...]:
    without = dict(zip(names, alphas, strict=True))
    return tuple(
        replace(
            leaning,
            alpha_without=None if np.isnan(without[leaning.annotator][0]) else without[leaning.annotator][0],
            pairs_without=without[leaning.annotator][1],
            kappa=kappas.get(leaning.annotator),
        )
        for leaning in leanings
    )
