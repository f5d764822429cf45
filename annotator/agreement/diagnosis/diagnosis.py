"""What the figures mean and what to do about it: findings in plain sentences, the verdict first.

Rules only: the figures come measured (agreement/records.py) and the signals found (drift.py, speed.py, checks.py,
grade_confusion.py). No sentence appears unless the data carry it (agreement/claims.py), every sentence names the figure it rests on, and
each finding points to the pairs it is about. Without a shared pair nothing but the verdict says so.
"""

from collections.abc import Sequence

from annotator.agreement.diagnosis.checks import Failing
from annotator.agreement.diagnosis.constant import Constants
from annotator.agreement.diagnosis.drift import Change
from annotator.agreement.diagnosis.grade_confusion import Confused
from annotator.agreement.diagnosis.grade_findings import say_categories, say_confused, say_order, say_paradox
from annotator.agreement.diagnosis.leniency import Lean
from annotator.agreement.diagnosis.people_findings import (
    say_agrees_less,
    say_annotator_pairs,
    say_changes,
    say_constants,
    say_failing,
    say_leanings,
    say_quick,
)
from annotator.agreement.diagnosis.speed import Quick
from annotator.agreement.diagnosis.unusual_annotators import AgreesLess
from annotator.agreement.records import Finding, GroupAgreement, Measured, PairAgreement, Selection, Verdict
from annotator.domain.messages import Message, say


def diagnose(
    *,
    measured: Measured,
    rest: Measured | None = None,
    verdict: Verdict,
    constants: Constants | None = None,
    leanings: Sequence[Lean] = (),
    less: Sequence[AgreesLess] = (),
    groups: Sequence[GroupAgreement] = (),
    changes: Sequence[Change] = (),
    quick: Sequence[Quick] = (),
    failing: Sequence[Failing] = (),
    confused: Confused | None = None,
    tau: float | None = None,
    extremes: tuple[PairAgreement, PairAgreement] | None = None,
    simulated: Sequence[str] = (),
    grade_names: Sequence[str],
) -> tuple[Finding, ...]:
    """The findings. `leanings`: those that are sure; `groups`: by category, or none; `grade_names`: the rubric's
    names of the grades 0 to 3; `rest`: the figures without `constants` (rest.leave_out), which `confused`, `tau`, `extremes`
    and `less` are without too; `tau`: of the order within queries; `simulated`: who is no person."""
    found = [Finding("verdict", verdict.sentence, Selection() if measured.pairs else None)]
    if simulated:
        found.append(Finding("simulated", _say_simulated(simulated)))
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
