"""Decide whether the dataset's kappa meets its target: yes, no, or not known yet.

The 95 % interval of the unweighted Cohen's kappa decides. The target is met if the whole interval is at or
above it, and not met if the whole interval is below it. The result is unknown if the interval spans the
target, is missing, or rests on fewer than FEW_PAIRS pairs or FEW_QUERIES queries (it would be too narrow:
eight pairs that all agree give [1, 1]). It is also unknown if kappa comes mostly from annotators who share
few pairs: the mean over annotator pairs is then too low (docs/statistics.md).

Format the figures in the sentences of the diagnosis: with their interval, and with what they count.
"""

import math
from collections.abc import Collection, Sequence

from annotator.agreement.records import (
    FEW_PAIRS,
    FEW_QUERIES,
    AgreementVerdict,
    CoefficientValue,
    Interval,
    MeasuredAgreement,
)
from annotator.domain.figures import show_number
from annotator.domain.messages import Message, join_sentences, say, say_n


def show_value(value: CoefficientValue) -> str:
    """Return a value with its interval: 0.72 [0.65, 0.78]."""
    return show_with_interval(value.value if value.value is not None else float("nan"), value.ci95)


def show_with_interval(figure: float, ci95: Interval | None, *, signed: bool = False) -> str:
    """Return a figure with its interval; `signed`: with a plus sign if it is above 0."""
    shown = [show_number(end, 2, signed=signed) for end in ci95 or ()]
    return show_number(figure, 2, signed=signed) + (f" [{', '.join(shown)}]" if shown else "")


def show_both(annotators: Sequence[str]) -> Message:
    return say("{first} and {second}", first=annotators[0], second=annotators[1])


def show_pairs(number: int) -> Message:
    return say_n("{n} pair", "{n} pairs", number)


def add_note_on_left_out(sentence: str, left_out: Collection[str]) -> str:
    """Return the sentence, with a note if annotators who almost always give one grade are left out."""
    if not left_out:
        return sentence
    return join_sentences(
        [sentence, say("Annotators who almost always give the same grade are excluded here.")]
    )


def round_up(number: float) -> int:
    """Round up to two leading digits: an estimate of how much work is needed deserves no more."""
    whole = math.ceil(round(number, 6))
    unit = int(10 ** max(0, len(str(whole)) - 2))
    return -(-whole // unit) * unit


DIGITS = 6  # limits are rounded before they are compared, so that 0.7 is 0.7 on every machine
MOST_TIMES = 4
"""If more than this many times the present pairs would be needed, no number is given.

Kappa is then less than about a standard error, a quarter of the interval's width, from the target: it may be chance."""


def judge(measured: MeasuredAgreement, *, target: float, unrateable: int = 0) -> AgreementVerdict:
    """Return the verdict with its sentence. `unrateable`: the number of judgments “cannot rate”."""
    kappa = measured.cohen_kappa["unweighted"]
    if not measured.pairs:
        return AgreementVerdict(
            "unknown", kappa, target, None, _describe_nothing_shared(measured, unrateable)
        )
    figures = {
        "kappa": show_value(kappa),
        "target": target,
        "pairs": show_pairs(measured.pairs),
        "queries": say_n("{n} query", "{n} queries", measured.queries),
    }
    missing = _count_missing(measured)
    if missing:
        return AgreementVerdict("unknown", kappa, target, missing, _describe_little(kappa, missing, figures))
    if kappa.value is None or kappa.ci95 is None:
        return AgreementVerdict("unknown", kappa, target, None, _describe_undefined(kappa, figures))
    if _is_scattered(measured):
        alpha = show_value(measured.krippendorff_alpha["nominal"])
        return AgreementVerdict("unknown", kappa, target, None, _describe_scattered(alpha, figures))
    low, high = (round(limit, DIGITS) for limit in kappa.ci95)
    if low >= target:
        met = say(
            "Target met: Cohen's kappa is {kappa} ({pairs} of {queries}), clearly at or above {target:g}.",
            **figures,
        )
        return AgreementVerdict("met", kappa, target, None, met)
    if high < target:
        not_met = say(
            "Target not met: Cohen's kappa is {kappa} ({pairs} of {queries}), clearly below {target:g}. "
            "Discuss the disagreements, clarify the guideline, then judge more pairs.",
            **figures,
        )
        return AgreementVerdict("not met", kappa, target, None, not_met)
    further = count_further(kappa, target, measured.pairs)
    return AgreementVerdict("unknown", kappa, target, further, _describe_open(further, figures))


def count_further(kappa: CoefficientValue, target: float, pairs: int) -> int | None:
    """Return about how many more pairs, each judged twice, would move the target out of the interval.

    Assumes that kappa stays the same and that new queries have as many pairs as the old ones: the interval's
    width then shrinks with the square root of the number of queries. None if kappa equals the target or is
    too near it.
    """
    if kappa.value is None or kappa.ci95 is None or kappa.value == target:
        return None
    low, high = kappa.ci95
    needed = pairs * ((high - low) / 2 / abs(kappa.value - target)) ** 2
    return None if round(needed / pairs, DIGITS) > MOST_TIMES else max(1, round_up(needed - pairs))


def _count_missing(measured: MeasuredAgreement) -> int:
    """Return how many more pairs a meaningful interval needs, if each is of another query."""
    return max(0, FEW_PAIRS - measured.pairs, FEW_QUERIES - measured.queries)


def _is_scattered(measured: MeasuredAgreement) -> bool:
    """Return whether half of kappa's weight is on annotators who share fewer than FEW_PAIRS pairs."""
    shared = [pair.pairs for pair in measured.annotator_pairs]
    return 2 * sum(pairs for pairs in shared if pairs < FEW_PAIRS) >= sum(shared)


def _describe_nothing_shared(measured: MeasuredAgreement, unrateable: int) -> Message:
    if not measured.single_pairs and unrateable:
        return say_n(
            "There is no agreement to measure: the only judgment is “cannot rate”. Find out why.",
            "There is no agreement to measure: all {n} judgments are “cannot rate”. Find out why.",
            unrateable,
        )
    if not measured.single_pairs:
        return say("There are no judgments yet, so there is no agreement to measure.")
    return say(
        "There is no agreement to measure yet: no pair has two judgments ({pairs} with one). Have a "
        "second annotator judge the same pairs.",
        pairs=show_pairs(measured.single_pairs),
    )


def _describe_little(kappa: CoefficientValue, missing: int, figures: dict[str, object]) -> Message:
    least = {"least_pairs": FEW_PAIRS, "least_queries": FEW_QUERIES, "missing": show_pairs(missing)}
    return say(
        "The target of {target:g} cannot be checked yet: two annotators have judged only {pairs} of "
        "{queries}. At least {least_pairs} pairs of {least_queries} queries are needed. Have two "
        "annotators judge at least {missing} more, spread over queries."
        if kappa.value is None
        else "The target of {target:g} cannot be checked yet: Cohen's kappa is {kappa}, but two "
        "annotators have judged only {pairs} of {queries}, too few to rely on. At least "
        "{least_pairs} pairs of {least_queries} queries are needed. Have two annotators judge at "
        "least {missing} more, spread over queries.",
        **figures,
        **least,
    )


def _describe_undefined(kappa: CoefficientValue, figures: dict[str, object]) -> Message:
    return say(
        "The target of {target:g} cannot be checked: Cohen's kappa is undefined for {pairs} of "
        "{queries} ({why})."
        if kappa.value is None
        else "The target of {target:g} cannot be checked: Cohen's kappa is {kappa} ({pairs} of "
        "{queries}), without a confidence interval ({why}).",
        why=kappa.why,
        **figures,
    )


def _describe_scattered(alpha: str, figures: dict[str, object]) -> Message:
    return say(
        "The target of {target:g} cannot be checked: Cohen's kappa is {kappa} ({pairs} of "
        "{queries}), but at least half of the pairs are shared by annotators who have fewer than "
        "{least} in common, and the mean of such kappas is too low. Use Krippendorff's alpha "
        "({alpha}), which does not depend on who shares pairs, or let the same annotators share more "
        "pairs.",
        alpha=alpha,
        least=show_pairs(FEW_PAIRS),
        **figures,
    )


def _describe_open(further: int | None, figures: dict[str, object]) -> Message:
    if further is None:
        return say(
            "Target of {target:g} not decided: Cohen's kappa is {kappa} ({pairs} of {queries}), too close "
            "to the target to say how many more pairs would decide it.",
            **figures,
        )
    return say(
        "Target of {target:g} not decided: it lies within the confidence interval of Cohen's kappa, "
        "{kappa} ({pairs} of {queries}). Another {further} or so, judged by two annotators, would "
        "decide it, if kappa stays the same and new queries have as many pairs.",
        further=show_pairs(further),
        **figures,
    )
