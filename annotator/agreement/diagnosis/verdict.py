"""Decide whether the dataset's kappa meets its target: yes, no, or unknown, and what would make it known.

The 95 % interval of the unweighted Cohen kappa decides: met if wholly at or above the target, not met if wholly below.
Unknown if the interval spans the target or is missing, or rests on fewer than FEW_PAIRS pairs or FEW_QUERIES queries
(it would be too narrow: eight pairs that all agree have [1, 1]). Also unknown if kappa comes mostly from annotators who
share few pairs: the mean over annotator pairs is then too low (docs/statistics.md).
"""

from annotator.agreement.diagnosis.wording import round_up, show_pairs, show_queries, show_value
from annotator.agreement.records import (
    FEW_PAIRS,
    FEW_QUERIES,
    AgreementVerdict,
    CoefficientValue,
    MeasuredAgreement,
)
from annotator.domain.messages import Message, say, say_n

DIGITS = 6  # limits are compared so far, so that 0.7 is 0.7 on every machine
OUT_OF_REACH = 100  # times the pairs there are: so near the target that judging more is no way to settle it


def judge(measured: MeasuredAgreement, *, target: float, unrateable: int = 0) -> AgreementVerdict:
    """Return the verdict with its sentence. `unrateable`: how many judgments say that a pair cannot be rated."""
    kappa = measured.cohen_kappa["unweighted"]
    if not measured.pairs:
        return AgreementVerdict(
            "unknown", kappa, target, None, _describe_nothing_shared(measured, unrateable)
        )
    figures = {
        "kappa": show_value(kappa),
        "target": target,
        "pairs": show_pairs(measured.pairs),
        "queries": show_queries(measured.queries),
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
        return AgreementVerdict("met", kappa, target, None, _describe_met(figures))
    if high < target:
        return AgreementVerdict("not met", kappa, target, None, _describe_not_met(figures))
    further = count_further(kappa, target, measured.pairs)
    return AgreementVerdict("unknown", kappa, target, further, _describe_open(further, figures))


def count_further(kappa: CoefficientValue, target: float, pairs: int) -> int | None:
    """Return about how many more double-judged pairs would move the target out of the interval.

    Assumes that kappa stays the same and that new queries have as many pairs as the old ones. Queries are resampled,
    so half the interval's width shrinks with the square root of their number; pairs grow in proportion. None if kappa
    equals the target or is too near it.
    """
    if kappa.value is None or kappa.ci95 is None or kappa.value == target:
        return None
    low, high = kappa.ci95
    needed = pairs * ((high - low) / 2 / abs(kappa.value - target)) ** 2
    return None if needed > OUT_OF_REACH * pairs else max(1, round_up(needed - pairs))


def _count_missing(measured: MeasuredAgreement) -> int:
    """Return how many pairs are missing for a meaningful interval, if new queries have as many pairs as the old ones."""
    for_queries = (FEW_QUERIES - measured.queries) * measured.pairs / max(1, measured.queries)
    return round_up(max(0, FEW_PAIRS - measured.pairs, for_queries))


def _is_scattered(measured: MeasuredAgreement) -> bool:
    """Return whether at least half of the mean kappa's weight is on annotators who share fewer than FEW_PAIRS pairs."""
    shared = [pair.pairs for pair in measured.annotator_pairs]
    return 2 * sum(pairs for pairs in shared if pairs < FEW_PAIRS) >= sum(shared)


def _describe_nothing_shared(measured: MeasuredAgreement, unrateable: int) -> Message:
    if not measured.single_pairs and unrateable:
        return say_n(
            "No judgment carries a grade, so there is no agreement to measure: the only one says that its pair cannot be "
            "rated. Look why.",
            "No judgment carries a grade, so there is no agreement to measure: all {n} say that their pair cannot be "
            "rated. Look why.",
            unrateable,
        )
    if not measured.single_pairs:
        return say("Nothing is judged yet, so there is no agreement to measure.")
    return say(
        "No pair was judged by two annotators ({pairs} by one), so there is no agreement to measure: let a second "
        "annotator judge the same pairs.",
        pairs=show_pairs(measured.single_pairs),
    )


def _describe_little(kappa: CoefficientValue, missing: int, figures: dict[str, object]) -> Message:
    least = {"least_pairs": FEW_PAIRS, "least_queries": FEW_QUERIES, "missing": show_pairs(missing)}
    if kappa.value is None:
        return say(
            "Not yet known whether the target of {target:g} is met: too little is shared, {pairs} of {queries}. It "
            "takes {least_pairs} pairs of {least_queries} queries at the least; let two annotators judge about "
            "{missing} more.",
            **figures,
            **least,
        )
    return say(
        "Not yet known whether the target of {target:g} is met: Cohen's kappa is {kappa}, but too little is shared to "
        "rely on it, {pairs} of {queries}. It takes {least_pairs} pairs of {least_queries} queries at the least; let "
        "two annotators judge about {missing} more.",
        **figures,
        **least,
    )


def _describe_undefined(kappa: CoefficientValue, figures: dict[str, object]) -> Message:
    if kappa.value is None:
        return say(
            "Not known whether the target of {target:g} is met: Cohen's kappa is undefined over {pairs} of {queries} "
            "({why}).",
            why=kappa.why,
            **figures,
        )
    return say(
        "Not known whether the target of {target:g} is met: Cohen's kappa is {kappa} over {pairs} of {queries}, without "
        "an interval ({why}).",
        why=kappa.why,
        **figures,
    )


def _describe_scattered(alpha: str, figures: dict[str, object]) -> Message:
    return say(
        "Not known whether the target of {target:g} is met: Cohen's kappa is {kappa} over {pairs} of {queries}, but half of "
        "them or more are shared by annotators who have fewer than {least} in common, and the mean of such kappas lies too "
        "low. Krippendorff's alpha, {alpha}, does not depend on who shares what: go by it, or let the same annotators "
        "share more pairs.",
        alpha=alpha,
        least=show_pairs(FEW_PAIRS),
        **figures,
    )


def _describe_met(figures: dict[str, object]) -> Message:
    return say(
        "The target is met: Cohen's kappa is {kappa} over {pairs} of {queries}, its whole interval at or above "
        "{target:g}.",
        **figures,
    )


def _describe_not_met(figures: dict[str, object]) -> Message:
    return say(
        "The target is not met: Cohen's kappa is {kappa} over {pairs} of {queries}, its whole interval below {target:g}. "
        "Talk about the disagreements, sharpen the guideline, then judge further pairs.",
        **figures,
    )


def _describe_open(further: int | None, figures: dict[str, object]) -> Message:
    if further is None:
        return say(
            "Not yet known whether the target of {target:g} is met: Cohen's kappa is {kappa} over {pairs} of {queries}, so "
            "near the target that judging more would hardly settle it.",
            **figures,
        )
    return say(
        "Not yet known whether the target of {target:g} is met: the interval of Cohen's kappa, {kappa} over {pairs} of "
        "{queries}, spans it. If kappa stays where it is and new queries have as many pairs as these, about {further} more "
        "judged by two would tell.",
        further=show_pairs(further),
        **figures,
    )
