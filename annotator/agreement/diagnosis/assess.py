"""Assess a dataset: every signal, the verdict, and the findings in plain sentences, the verdict first.

Intervals come from the queries' influences (agreement/intervals.py), not from resamples, so no seed is needed. A
sentence appears only if the data carry it; it names the figure it rests on and links to its pairs. Without a shared
pair only the verdict says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotator.agreement.coefficients.kendall import measure_order
from annotator.agreement.comparisons import list_comparisons
from annotator.agreement.diagnosis.constant_annotators import ConstantAnnotators, find_constants, leave_out
from annotator.agreement.diagnosis.drift import GradingDrift, complete, find_changes, find_periods
from annotator.agreement.diagnosis.failed_checks import FailingAnnotator, find_failing
from annotator.agreement.diagnosis.grade_confusion import GradeConfusion, find_confused
from annotator.agreement.diagnosis.grade_findings import (
    describe_categories,
    describe_confused,
    describe_order,
    describe_paradox,
)
from annotator.agreement.diagnosis.leniency import ClaimedLeaning, find_leaning, leave_one_out
from annotator.agreement.diagnosis.low_agreement import (
    LowAgreementAnnotator,
    estimate_against_others,
    find_extremes,
    find_less,
    measure_against_others,
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
from annotator.agreement.diagnosis.speed import QuickAnnotator, find_quick
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
    PairAgreement,
    PairSelection,
)
from annotator.domain.messages import Message, join, say
from annotator.labeling.records import AnnotatorResult


def diagnose(
    *,
    measured: MeasuredAgreement,
    rest: MeasuredAgreement | None = None,
    verdict: AgreementVerdict,
    constants: ConstantAnnotators | None = None,
    leanings: Sequence[ClaimedLeaning] = (),
    less: Sequence[LowAgreementAnnotator] = (),
    groups: Sequence[GroupAgreement] = (),
    changes: Sequence[GradingDrift] = (),
    quick: Sequence[QuickAnnotator] = (),
    failing: Sequence[FailingAnnotator] = (),
    confused: GradeConfusion | None = None,
    tau: float | None = None,
    extremes: tuple[PairAgreement, PairAgreement] | None = None,
    simulated: Sequence[str] = (),
    grade_names: Sequence[str],
) -> tuple[DiagnosisFinding, ...]:
    """Return the findings, the most important first.

    `leanings`: those that are sure; `groups`: by category, or none; `grade_names`: the rubric's names of the grades 0
    to 3; `rest`: the figures without the annotators in `constants`, who are also left out of `confused`, `tau`,
    `extremes` and `less`; `tau`: of the order within queries; `simulated`: annotators who are not people.
    """
    findings = [DiagnosisFinding("verdict", verdict.sentence, PairSelection() if measured.pairs else None)]
    if simulated:
        findings.append(DiagnosisFinding("simulated", describe_simulated(simulated)))
    left_out = () if constants is None else tuple(annotator.annotator for annotator in constants.people)
    if measured.pairs:
        if constants is not None:
            findings += describe_constants(constants, measured, grade_names)
        findings += describe_paradox(measured, verdict.target, grade_names, left_out)
        findings += describe_confused(confused, grade_names, left_out)
        findings += describe_leanings(leanings, measured)
        findings += describe_agrees_less(less, left_out)
        findings += describe_changes(changes)
    findings += describe_failing(failing)
    if measured.pairs:
        findings += describe_quick(quick)
        findings += describe_categories(groups, verdict.target)
        findings += describe_order(measured if rest is None else rest, tau, left_out)
        findings += describe_annotator_pairs(measured, extremes, left_out)
    return tuple(findings)


def describe_simulated(simulated: Sequence[str]) -> Message:
    """Say that some annotators are not people."""
    return say(
        "Simulated judgments are included ({people}): the figures only show how the program works.",
        people=join(simulated),
    )


@dataclass(frozen=True, slots=True)
class DiagnosisAssessment:
    """The diagnosis that a report shows beside the figures.

    `leanings` are all measured ones, with alpha without each annotator.
    """

    verdict: AgreementVerdict
    findings: tuple[DiagnosisFinding, ...]
    periods: tuple[AgreementPeriod, ...]
    leanings: tuple[Leaning, ...]


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
    """Compute every signal, the verdict and the findings.

    `made_at` (seconds since 1970; 0: unknown) and `seconds` (active time; 0 or NaN: unknown) have one value per row
    of `judged`; if they are None, what rests on them is left out. `groups`: by category. `checks`: results under the
    names in `names`.
    """
    verdict = judge(measured, target=target, unrateable=unrateable)
    comparisons = list_comparisons(judged)
    constants = find_constants(judged, comparisons, names)
    named = [annotator.annotator for annotator in constants.people]
    estimates = estimate_against_others(comparisons, len(names))
    kappas = measure_against_others(estimates, names)
    leanings = _add_to_leanings(measured.leanings, leave_one_out(judged, len(names)), kappas, names)
    periods: tuple[AgreementPeriod, ...] = ()
    changes: tuple[GradingDrift, ...] = ()
    if made_at is not None:
        timed, completed = complete(comparisons, made_at)
        periods, changes = find_periods(timed, completed, names), find_changes(timed, completed, names)
    others = comparisons.leave_out(*(names.index(name) for name in named))
    rest = leave_out(measured, others, named)
    if named:
        estimates = estimate_against_others(others, len(names))
    findings = diagnose(
        measured=measured,
        rest=rest,
        verdict=verdict,
        constants=constants,
        leanings=find_leaning(leanings, comparisons, names, named),
        less=find_less(others, estimates, names),
        groups=groups,
        changes=changes,
        quick=() if seconds is None else find_quick(judged, seconds, comparisons, names),
        failing=find_failing(checks),
        confused=find_confused(groups, others, names, named),
        tau=measure_order(others, len(names)),
        extremes=find_extremes(rest, others, names),
        simulated=simulated,
        grade_names=grade_names,
    )
    return DiagnosisAssessment(verdict, findings, periods, leanings)


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
