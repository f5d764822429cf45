"""The verdict and every signal of one dataset, in one call: what the service wires into the report.

Intervals here are drawn from the queries' influences (agreement/claims.py), not from resamples, so that no seed is needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotator.agreement.diagnosis.checks import find_failing
from annotator.agreement.diagnosis.constant import find_constants
from annotator.agreement.diagnosis.diagnosis import diagnose
from annotator.agreement.diagnosis.drift import Change, complete, find_changes, find_periods
from annotator.agreement.diagnosis.extremes import find_extremes
from annotator.agreement.diagnosis.grade_confusion import find_confused
from annotator.agreement.diagnosis.leniency import find_leaning, leave_one_out
from annotator.agreement.diagnosis.rest import leave_out
from annotator.agreement.diagnosis.speed import find_quick
from annotator.agreement.diagnosis.unusual_annotators import (
    estimate_against_others,
    find_less,
    measure_against_others,
)
from annotator.agreement.diagnosis.verdict import judge
from annotator.agreement.judgment_pairs import list_couples
from annotator.agreement.judgment_table import Floats, Ints, Judged
from annotator.agreement.ordering import measure_order
from annotator.agreement.records import Finding, GroupAgreement, Leaning, Measured, Period, Value, Verdict
from annotator.labeling.domain_calibration import AnnotatorResult


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a report shows beside the figures. `leanings` are those measured, with alpha without each annotator."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    periods: tuple[Period, ...]
    leanings: tuple[Leaning, ...]


def assess(
    judged: Judged,
    *,
    names: Sequence[str],
    measured: Measured,
    target: float,
    grade_names: Sequence[str],
    made_at: Ints | None = None,
    seconds: Floats | None = None,
    groups: Sequence[GroupAgreement] = (),
    checks: Sequence[AnnotatorResult] = (),
    simulated: Sequence[str] = (),
    unrateable: int = 0,
) -> Assessment:
    """Judge and diagnose. One row of `made_at` (seconds since 1970; 0: unknown) and of `seconds` (active time; 0 or NaN: unknown) for
    every row of `judged`; None leaves out what rests on it. `groups`: by category. `checks`: named as in `names`."""
    verdict = judge(measured, target=target, unrateable=unrateable)
    couples = list_couples(judged)
    constants = find_constants(judged, couples, names)
    named = [one.annotator for one in constants.people]
    estimates = estimate_against_others(couples, len(names))
    kappas = measure_against_others(estimates, names)
    leanings = _add_to_leanings(measured.leanings, leave_one_out(judged, len(names)), kappas, names)
    periods: tuple[Period, ...] = ()
    changes: tuple[Change, ...] = ()
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
    return Assessment(verdict, findings, periods, leanings)


def _add_to_leanings(
    leanings: Sequence[Leaning],
    alphas: Sequence[tuple[float, int]],
    kappas: Mapping[str, Value],
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
