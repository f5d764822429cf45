"""Write the findings about annotators: constant grades, leniency, changes, haste, failed checks.

A sentence says what was seen and what to look at, never what a person is like.
"""

from collections.abc import Collection, Sequence

import numpy as np

from annotator.agreement.diagnosis.against_others import ClaimedLeaning, LowAgreementAnnotator
from annotator.agreement.diagnosis.careless_work import ConstantAnnotators, FailingAnnotator, QuickAnnotator
from annotator.agreement.diagnosis.drift import GradingDrift
from annotator.agreement.diagnosis.verdict import (
    add_note_on_left_out,
    show_both,
    show_pairs,
    show_value,
    show_with_interval,
)
from annotator.agreement.records import (
    FEW_PAIRS,
    DiagnosisFinding,
    Interval,
    Leaning,
    MeasuredAgreement,
    PairAgreement,
    PairSelection,
)
from annotator.domain.figures import show_number
from annotator.domain.messages import Message, join, say, say_n

ALPHA_GAINS = 0.02
MOST_NAMED = 5
MOST_CONSTANT = 3


def describe_constants(
    constants: ConstantAnnotators, measured: MeasuredAgreement, grade_names: Sequence[str]
) -> list[DiagnosisFinding]:
    """Return findings about annotators who almost always give one grade: all, then the first few."""
    people = constants.people
    if not people:
        return []
    findings = [
        DiagnosisFinding(
            "constant",
            say(
                "{annotator} gave {grade} ({name}) in {own:.0%} of {judgments} of shared pairs; the others "
                "gave it in {others:.0%} of the same pairs. Check whether {annotator} judges each document.",
                annotator=annotator.annotator,
                grade=annotator.grade,
                name=grade_names[annotator.grade],
                own=annotator.own,
                judgments=show_pairs(annotator.judgments),
                others=annotator.others,
            ),
            PairSelection("given", (annotator.annotator,), grade=annotator.grade),
        )
        for annotator in people[:MOST_CONSTANT]
    ]
    alpha = measured.krippendorff_alpha["ordinal"].value
    figures = {
        "people": say_n("{n} annotator", "{n} annotators", len(people)),
        "share": constants.share,
        "without": show_number(constants.alpha_without, 2),
        "pairs": show_pairs(constants.pairs_without),
        "alpha": None if alpha is None else show_number(alpha, 2),
        "all": show_pairs(measured.pairs),
    }
    if alpha is None or np.isnan(constants.alpha_without) or constants.pairs_without < FEW_PAIRS:
        if len(people) == 1:
            return findings
        sentence = say(
            "Almost always the same grade, where the others differ: {people} ({share:.0%} of the "
            "judgments of shared pairs).",
            **figures,
        )
    else:
        sentence = say(
            "Almost always the same grade, where the others differ: {people} ({share:.0%} of the "
            "judgments of shared pairs). Ordinal alpha is {without} among the others ({pairs}) and "
            "{alpha} with them ({all}).",
            **figures,
        )
    return [DiagnosisFinding("constants", sentence), *findings]


def describe_leanings(
    leanings: Sequence[ClaimedLeaning], measured: MeasuredAgreement
) -> list[DiagnosisFinding]:
    """Return findings about annotators who grade higher or lower than the others, or than one of them."""
    findings = []
    for claim in leanings:
        leaning, than = claim.leaning, claim.than
        sentence = _describe_leaning(leaning, measured) if than is None else _describe_between(leaning, than)
        annotators = (leaning.annotator,) if than is None else tuple(sorted((leaning.annotator, than)))
        selection = PairSelection("differing", annotators)
        findings.append(DiagnosisFinding("lenient" if leaning.mean > 0 else "severe", sentence, selection))
    return findings


def _describe_between(leaning: Leaning, than: str) -> Message:
    return say(
        "{annotator} grades the same pairs {by} grades higher than {than} on average. Compare how "
        "the two read the rubric."
        if leaning.mean > 0
        else "{annotator} grades the same pairs {by} grades lower than {than} on average. Compare how the "
        "two read the rubric.",
        annotator=leaning.annotator,
        than=than,
        by=show_with_interval(abs(leaning.mean), _find_size(leaning)),
    )


def _describe_leaning(leaning: Leaning, measured: MeasuredAgreement) -> Message:
    alpha = measured.krippendorff_alpha["ordinal"].value
    by = show_with_interval(abs(leaning.mean), _find_size(leaning))
    figures = {"annotator": leaning.annotator, "by": by}
    if alpha is None or not _gains(leaning, alpha):
        return say(
            "{annotator} grades the same pairs {by} grades higher than the others on average. Compare "
            "how they read the rubric."
            if leaning.mean > 0
            else "{annotator} grades the same pairs {by} grades lower than the others on average. Compare how "
            "they read the rubric.",
            **figures,
        )
    figures |= {
        "alpha": show_number(alpha, 2),
        "without": show_number(leaning.alpha_without, 2),
        "pairs": show_pairs(leaning.pairs_without or 0),
        "all": show_pairs(measured.pairs),
    }
    return say(
        "{annotator} grades the same pairs {by} grades higher than the others on average. Ordinal "
        "alpha is {without} among the others ({pairs}) and {alpha} with {annotator} ({all}). Compare "
        "how they read the rubric."
        if leaning.mean > 0
        else "{annotator} grades the same pairs {by} grades lower than the others on average. Ordinal "
        "alpha is {without} among the others ({pairs}) and {alpha} with {annotator} ({all}). Compare "
        "how they read the rubric.",
        **figures,
    )


def _gains(leaning: Leaning, alpha: float) -> bool:
    """Return whether alpha is clearly higher without the annotator, over enough pairs."""
    if leaning.alpha_without is None or (leaning.pairs_without or 0) < FEW_PAIRS:
        return False
    return leaning.alpha_without - alpha >= ALPHA_GAINS


def describe_agrees_less(
    annotators: Sequence[LowAgreementAnnotator], left_out: tuple[str, ...] = ()
) -> list[DiagnosisFinding]:
    """Return findings about annotators who agree less with the others, after a few in one sentence.

    `annotators`: sorted by effect, greatest first. `left_out`: annotators who give almost always the same
    grade, so their judgments do not count.
    """
    findings = [
        DiagnosisFinding(
            "less",
            _describe_less(annotator, some_left_out=bool(left_out)),
            PairSelection("differing", annotators=(annotator.annotator,), without=left_out),
        )
        for annotator in annotators[:MOST_NAMED]
    ]
    if len(annotators) > MOST_NAMED:
        rest = annotators[MOST_NAMED:]
        named: Message = join(annotator.annotator for annotator in rest[:MOST_NAMED])
        if len(rest) > MOST_NAMED:
            named = say("{named} and {n} more", named=named, n=len(rest) - MOST_NAMED)
        findings.append(DiagnosisFinding("less", say("Also below the others: {named}.", named=named)))
    return findings


def _describe_less(annotator: LowAgreementAnnotator, *, some_left_out: bool) -> Message:
    return say(
        "{annotator} agrees less than the others: Cohen's kappa with the others is {kappa} "
        "({comparisons}), {everybody} among all, both without annotators who almost always give the "
        "same grade. Check whether {annotator} has harder queries or reads the rubric differently."
        if some_left_out
        else "{annotator} agrees less than the others: Cohen's kappa with the others is {kappa} "
        "({comparisons}), {everybody} among all. Check whether {annotator} has harder queries or "
        "reads the rubric differently.",
        annotator=annotator.annotator,
        kappa=show_value(annotator.kappa),
        comparisons=say_n("{n} comparison", "{n} comparisons", annotator.comparisons),
        everybody=show_number(annotator.everybody, 2),
    )


def _find_size(leaning: Leaning) -> Interval | None:
    """Return the interval of the leaning's absolute value."""
    return leaning.ci95 if leaning.ci95 is None or leaning.mean > 0 else (-leaning.ci95[1], -leaning.ci95[0])


def describe_changes(changes: Sequence[GradingDrift]) -> list[DiagnosisFinding]:
    """Return findings about differences between the end and the beginning of the work.

    Each links to the pairs of the last third; if agreement has risen, to those of the first third.
    """
    findings = []
    for change in changes:
        has_risen = change.annotator is None and change.last >= change.first
        span = change.beginning if has_risen else change.end
        annotators = () if change.annotator is None else (change.annotator,)
        pairs = PairSelection(annotators=annotators, span=span)
        findings.append(DiagnosisFinding("drift", _describe_change(change), pairs))
    return findings


def _describe_change(change: GradingDrift) -> Message:
    of_leaning = change.annotator is not None
    figures = {
        "first": show_number(change.first, 2, signed=of_leaning),
        "last": show_number(change.last, 2, signed=of_leaning),
        "change": show_with_interval(change.last - change.first, change.ci95, signed=True),
        "until": change.until,
        "since": change.since,
    }
    if of_leaning:
        return say(
            "{annotator} has become stricter compared with the others: {first} grades for the first "
            "third of the pairs (until {until}), {last} for the last third (since {since}), a change of "
            "{change}."
            if change.last < change.first
            else "{annotator} has become more lenient compared with the others: {first} grades for the first "
            "third of the pairs (until {until}), {last} for the last third (since {since}), a change of "
            "{change}.",
            annotator=change.annotator,
            **figures,
        )
    return say(
        "Agreement has fallen: Cohen's kappa is {first} for the first third of the pairs (until "
        "{until}) and {last} for the last third (since {since}), a change of {change}. Check what "
        "has changed and go through the guideline again with the team."
        if change.last < change.first
        else "Agreement has risen: Cohen's kappa is {first} for the first third of the pairs (until "
        "{until}) and {last} for the last third (since {since}), a change of {change}. Consider "
        "judging the first pairs again.",
        **figures,
    )


def describe_failing(failing: Sequence[FailingAnnotator]) -> list[DiagnosisFinding]:
    """Return findings about annotators who repeat their judgments differently, or judge gold pairs wrong."""
    return [
        DiagnosisFinding(
            annotator.kind,
            _describe_failing(annotator),
            PairSelection(annotator.kind, annotators=(annotator.annotator,)),
        )
        for annotator in failing
    ]


def _describe_failing(annotator: FailingAnnotator) -> Message:
    figures = {
        "annotator": annotator.annotator,
        "right": annotator.right,
        "of": annotator.of,
        "share": annotator.right / annotator.of,
        "low": annotator.share[0],
        "high": annotator.share[1],
    }
    if annotator.kind == "repeat":
        return say(
            "{annotator} repeated the same judgment on only {right} of {of} repeats ({share:.0%}, 95 % "
            "confidence interval {low:.0%} to {high:.0%}). Go through these pairs together: the "
            "guideline may be unclear.",
            **figures,
        )
    if annotator.difference is None:
        return say(
            "{annotator} judged {right} of {of} gold pairs correctly ({share:.0%}, 95 % confidence "
            "interval {low:.0%} to {high:.0%}). Go through the others together.",
            **figures,
        )
    return say(
        "{annotator} judged {right} of {of} gold pairs correctly ({share:.0%}, 95 % confidence "
        "interval {low:.0%} to {high:.0%}); the grades differ from the correct ones by {difference} "
        "on average. Go through the others together.",
        difference=show_number(annotator.difference, 2, signed=True),
        **figures,
    )


def describe_quick(quick: Sequence[QuickAnnotator]) -> list[DiagnosisFinding]:
    """Return findings about annotators who judged some pairs in haste and agree less on them."""
    return [
        DiagnosisFinding(
            "quick",
            say(
                "{annotator} judged {judgments} in less than {limit:.1f} seconds each (their median is "
                "{median:.1f}), and agrees less with the others there: {matching:.0%} of the comparisons, "
                "against {usually:.0%} elsewhere. Review these pairs.",
                annotator=annotator.annotator,
                limit=annotator.limit,
                judgments=show_pairs(annotator.judgments),
                median=annotator.median,
                matching=annotator.matching,
                usually=annotator.usually,
            ),
            PairSelection("quick", annotators=(annotator.annotator,)),
        )
        for annotator in quick
    ]


def describe_annotator_pairs(
    measured: MeasuredAgreement,
    extremes: tuple[PairAgreement, PairAgreement] | None,
    left_out: Collection[str] = (),
) -> list[DiagnosisFinding]:
    """Return findings about annotator pairs without a kappa, and with the lowest and highest kappa.

    `left_out`: annotators that `extremes` does not compare.
    """
    pairs = measured.annotator_pairs
    findings = []
    undefined = [pair for pair in pairs if pair.cohen_kappa["unweighted"].value is None]
    if undefined and len(undefined) < len(pairs):
        named: Message = join(show_both(pair.annotators) for pair in undefined[:3])
        if len(undefined) > 3:
            named = say("{named} and {n} more", named=named, n=len(undefined) - 3)
        findings.append(
            DiagnosisFinding(
                "undefined",
                say(
                    "Excluded from the mean because their grades do not vary and kappa is undefined: {named}.",
                    named=named,
                ),
            )
        )
    if extremes is not None:
        low, high = extremes
        findings.append(
            DiagnosisFinding(
                "least",
                add_note_on_left_out(
                    say(
                        "Lowest agreement: {low} ({low_kappa}, {pairs}). Highest: {high} ({high_kappa}).",
                        low=show_both(low.annotators),
                        low_kappa=show_value(low.cohen_kappa["unweighted"]),
                        pairs=show_pairs(low.pairs),
                        high=show_both(high.annotators),
                        high_kappa=show_value(high.cohen_kappa["unweighted"]),
                    ),
                    left_out,
                ),
                PairSelection("differing", annotators=low.annotators),
            )
        )
    return findings
