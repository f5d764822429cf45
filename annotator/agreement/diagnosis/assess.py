"""Assess a dataset: every signal, the verdict, and the findings in plain sentences, the verdict first.

Intervals come from the queries' influences (agreement/intervals.py), not from resamples, so no seed is needed. A
sentence appears only if the data carry it; it names the figure it rests on and links to its pairs. Without a shared
pair only the verdict says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotator.agreement.diagnosis.drift import GradingDrift, complete, find_changes, find_periods
from annotator.agreement.diagnosis.grade_confusion import GradeConfusion, find_confused
from annotator.agreement.diagnosis.grade_findings import say_categories, say_confused, say_order, say_paradox
from annotator.agreement.diagnosis.leniency import ClaimedLeaning, find_leaning, leave_one_out
from annotator.agreement.diagnosis.people_findings import (
    say_agrees_less,
    say_annotator_pairs,
    say_changes,
    say_constants,
    say_failing,
    say_leanings,
    say_quick,
)
from annotator.agreement.diagnosis.speed import QuickAnnotator, find_quick
from annotator.agreement.diagnosis.unusual_annotators import (
    ConstantAnnotators,
    FailingAnnotator,
    LowAgreementAnnotator,
    estimate_against_others,
    find_constants,
    find_extremes,
    find_failing,
    find_less,
    leave_out,
    measure_against_others,
)
from annotator.agreement.diagnosis.verdict import judge
from annotator.agreement.judgment_pairs import list_couples
from annotator.agreement.judgment_table import Floats, GradedJudgments, Ints
from annotator.agreement.measure import measure_order
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
from annotator.domain.messages import Message, say
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
    """The findings. `leanings`: those that are sure; `groups`: by category, or none; `grade_names`: the rubric's
    names of the grades 0 to 3; `rest`: the figures without `constants` (rest.leave_out), which `confused`, `tau`, `extremes`
    and `less` are without too; `tau`: of the order within queries; `simulated`: who is no person."""
    found = [DiagnosisFinding("verdict", verdict.sentence, PairSelection() if measured.pairs else None)]
    if simulated:
        found.append(DiagnosisFinding("simulated", _say_simulated(simulated)))
    left_out = () if constants is None else tuple(one.annotator for one in constants.people)
    if measured.pairs:
        if constants is not None:
            found += say_constants(constants, measured, grade_names)
        found += say_paradox(measured, verdict.target, grade_names, left_out)
        found += say_confused(confused, grade_names, left_out)
        found += say_leanings(leanings, measured)
        found += say_agrees_less(less, left_out)
        found += say_changes(changes)
    found += say_failing(failing)
    if measured.pairs:
        found += say_quick(quick)
        found += say_categories(groups, verdict.target)
        found += say_order(measured if rest is None else rest, tau, left_out)
        found += say_annotator_pairs(measured, extremes, left_out)
    return tuple(found)


def _say_simulated(simulated: Sequence[str]) -> Message:
    return say(
        "Simulated judgments are included ({people}): these figures show how the program works, "
        "and say nothing about people.",
        people=", ".join(simulated),
    )


@dataclass(frozen=True, slots=True)
class DiagnosisAssessment:
    """What a report shows beside the figures. `leanings` are those measured, with alpha without each annotator."""

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
    """Judge and diagnose. One row of `made_at` (seconds since 1970; 0: unknown) and of `seconds` (active time; 0 or NaN: unknown) for
    every row of `judged`; None leaves out what rests on it. `groups`: by category. `checks`: named as in `names`."""
    verdict = judge(measured, target=target, unrateable=unrateable)
    couples = list_couples(judged)
    constants = find_constants(judged, couples, names)
    named = [one.annotator for one in constants.people]
    estimates = estimate_against_others(couples, len(names))
    kappas = measure_against_others(estimates, names)
    leanings = _add_to_leanings(measured.leanings, leave_one_out(judged, len(names)), kappas, names)
    periods: tuple[AgreementPeriod, ...] = ()
    changes: tuple[GradingDrift, ...] = ()
    if made_at is not None:
        timed, completed = complete(couples, made_at)
        periods, changes = find_periods(timed, completed, names), find_changes(timed, completed, names)
    others = couples.leave_out(*(names.index(name) for name in named))
    rest = leave_out(measured, others, named)
    if named:
        estimates = estimate_against_others(others, len(names))
    findings = diagnose(
        measured=measured,
        rest=rest,
        verdict=verdict,
        constants=constants,
        leanings=find_leaning(leanings, couples, names, named),
        less=find_less(others, estimates, names),
        groups=groups,
        changes=changes,
        quick=() if seconds is None else find_quick(judged, seconds, couples, names),
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
            one,
            alpha_without=None if np.isnan(without[one.annotator][0]) else without[one.annotator][0],
            pairs_without=without[one.annotator][1],
            kappa=kappas.get(one.annotator),
        )
        for one in leanings
    )
