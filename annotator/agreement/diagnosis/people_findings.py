"""The sentences about annotators: who gives one grade throughout, who is lenient or severe, who agrees less, what changed over time, who was in a hurry, who fails checks.

They say what was seen and what to look at, never what a person is like.
"""

from collections.abc import Collection, Sequence

import numpy as np

from annotator.agreement.diagnosis.drift import GradingDrift
from annotator.agreement.diagnosis.leniency import ClaimedLeaning
from annotator.agreement.diagnosis.speed import QuickAnnotator
from annotator.agreement.diagnosis.unusual_annotators import (
    ConstantAnnotators,
    FailingAnnotator,
    LowAgreementAnnotator,
)
from annotator.agreement.diagnosis.wording import (
    say_without,
    show_annotators,
    show_both,
    show_comparisons,
    show_figure,
    show_pairs,
    show_value,
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
from annotator.domain.messages import Message, join, say

ALPHA_GAINS = 0.02
MOST_NAMED = 5
MOST_CONSTANT = 3


def say_constants(
    found: ConstantAnnotators, measured: MeasuredAgreement, grade_names: Sequence[str]
) -> list[DiagnosisFinding]:
    """Who gives one grade almost throughout: each of the first, what they are together, and what alpha is without them."""
    people = found.people
    if not people:
        return []
    said = [
        DiagnosisFinding(
            "constant",
            say(
                "{annotator} gave {grade} ({name}) in {own:.0%} of {judgments} judged with others, who gave it to "
                "{others:.0%} of the same pairs: look whether they judge each document.",
                annotator=one.annotator,
                grade=one.grade,
                name=grade_names[one.grade],
                own=one.own,
                judgments=show_pairs(one.judgments),
                others=one.others,
            ),
            PairSelection("given", (one.annotator,), grade=one.grade),
        )
        for one in people[:MOST_CONSTANT]
    ]
    alpha = measured.krippendorff_alpha["ordinal"].value
    figures = {
        "people": show_annotators(len(people)),
        "share": found.share,
        "without": f"{found.alpha_without:.2f}",
        "pairs": show_pairs(found.pairs_without),
        "alpha": None if alpha is None else f"{alpha:.2f}",
        "all": show_pairs(measured.pairs),
    }
    if alpha is None or np.isnan(found.alpha_without) or found.pairs_without < FEW_PAIRS:
        if len(people) == 1:
            return said
        sentence = say(
            "One grade almost throughout, where the others differ: {people}, {share:.0%} of the judgments of shared pairs.",
            **figures,
        )
    else:
        sentence = say(
            "One grade almost throughout, where the others differ: {people}, {share:.0%} of the judgments of shared pairs. "
            "Ordinal alpha of all others is {without} over the {pairs} that they share, with these {alpha} over {all}.",
            **figures,
        )
    return [DiagnosisFinding("constants", sentence), *said]


def say_leanings(leanings: Sequence[ClaimedLeaning], measured: MeasuredAgreement) -> list[DiagnosisFinding]:
    """Who grades higher or lower than the others, or than one of them (leaning.find_leaning)."""
    return [
        DiagnosisFinding(
            "lenient" if one.leaning.mean > 0 else "severe",
            _say_leaning(one.leaning, measured) if one.than is None else _say_between(one.leaning, one.than),
            PairSelection(
                "differing",
                annotators=(one.leaning.annotator,)
                if one.than is None
                else tuple(sorted((one.leaning.annotator, one.than))),
            ),
        )
        for one in leanings
    ]


def _say_between(one: Leaning, than: str) -> Message:
    figures = {"annotator": one.annotator, "than": than, "by": show_figure(abs(one.mean), _of_size(one))}
    if one.mean > 0:
        return say(
            "{annotator} grades higher than {than} on the same pairs, by {by} grades on average: compare how the two read "
            "the rubric.",
            **figures,
        )
    return say(
        "{annotator} grades lower than {than} on the same pairs, by {by} grades on average: compare how the two read the "
        "rubric.",
        **figures,
    )


def _say_leaning(one: Leaning, measured: MeasuredAgreement) -> Message:
    alpha = measured.krippendorff_alpha["ordinal"].value
    figures = {"annotator": one.annotator, "by": show_figure(abs(one.mean), _of_size(one))}
    if alpha is None or not _gains(one, alpha):
        if one.mean > 0:
            return say(
                "{annotator} grades higher than the others on the same pairs, by {by} grades on average: compare how "
                "they read the rubric.",
                **figures,
            )
        return say(
            "{annotator} grades lower than the others on the same pairs, by {by} grades on average: compare how they "
            "read the rubric.",
            **figures,
        )
    figures |= {
        "alpha": f"{alpha:.2f}",
        "without": f"{one.alpha_without:.2f}",
        "pairs": show_pairs(one.pairs_without or 0),
        "all": show_pairs(measured.pairs),
    }
    if one.mean > 0:
        return say(
            "{annotator} grades higher than the others on the same pairs, by {by} grades on average; ordinal alpha of the "
            "others alone is {without} over the {pairs} that they share, with {annotator} {alpha} over {all}. Compare how "
            "they read the rubric.",
            **figures,
        )
    return say(
        "{annotator} grades lower than the others on the same pairs, by {by} grades on average; ordinal alpha of the "
        "others alone is {without} over the {pairs} that they share, with {annotator} {alpha} over {all}. Compare how "
        "they read the rubric.",
        **figures,
    )


def _gains(one: Leaning, alpha: float) -> bool:
    """Whether alpha of the others alone is higher, over enough pairs to say so."""
    if one.alpha_without is None or (one.pairs_without or 0) < FEW_PAIRS:
        return False
    return one.alpha_without - alpha >= ALPHA_GAINS


def say_agrees_less(
    found: Sequence[LowAgreementAnnotator], left_out: tuple[str, ...] = ()
) -> list[DiagnosisFinding]:
    """Who agrees surely less with the others than everybody does, those first who weigh most; of many the rest by name.
    `left_out`: whose judgments are in none of these figures, since they give one grade almost throughout."""
    said = [
        DiagnosisFinding(
            "less",
            _say_less(one, beside_some=bool(left_out)),
            PairSelection("differing", annotators=(one.annotator,), without=left_out),
        )
        for one in found[:MOST_NAMED]
    ]
    if len(found) > MOST_NAMED:
        rest = found[MOST_NAMED:]
        named: Message = join(one.annotator for one in rest[:MOST_NAMED])
        if len(rest) > MOST_NAMED:
            named = say("{named} and {n} more", named=named, n=len(rest) - MOST_NAMED)
        said.append(
            DiagnosisFinding("less", say("These agree less than the others do too: {named}.", named=named))
        )
    return said


def _say_less(one: LowAgreementAnnotator, *, beside_some: bool) -> Message:
    figures = {
        "annotator": one.annotator,
        "kappa": show_value(one.kappa),
        "comparisons": show_comparisons(one.couples),
        "everybody": f"{one.everybody:.2f}",
    }
    if beside_some:
        return say(
            "{annotator} agrees less than the others do: Cohen's kappa with all others but those who give one grade almost "
            "throughout is {kappa} over {comparisons}, that of everybody but those {everybody}. See whether their queries are "
            "harder, or they read the rubric differently.",
            **figures,
        )
    return say(
        "{annotator} agrees less than the others do: Cohen's kappa with all of them together is {kappa} over "
        "{comparisons}, that of everybody {everybody}. See whether their queries are harder, or they read the "
        "rubric differently.",
        **figures,
    )


def _of_size(one: Leaning) -> Interval | None:
    """The interval of the absolute figure."""
    return one.ci95 if one.ci95 is None or one.mean > 0 else (-one.ci95[1], -one.ci95[0])


def say_changes(changes: Sequence[GradingDrift]) -> list[DiagnosisFinding]:
    """What is otherwise at the end of the work than at its beginning. Each leads to the pairs of the third of the work that it
    asks to look at: the last, or the first where agreement has risen."""
    return [
        DiagnosisFinding(
            "drift",
            _say_agreement_changed(one),
            PairSelection(span=one.end if one.last < one.first else one.beginning),
        )
        if one.annotator is None
        else DiagnosisFinding(
            "drift", _say_leaning_changed(one), PairSelection(annotators=(one.annotator,), span=one.end)
        )
        for one in changes
    ]


def _say_agreement_changed(one: GradingDrift) -> Message:
    figures = {
        "first": f"{one.first:.2f}",
        "last": f"{one.last:.2f}",
        "change": show_figure(one.last - one.first, one.ci95, signed=True),
        "until": one.until,
        "since": one.since,
    }
    if one.last < one.first:
        return say(
            "Agreement has fallen: Cohen's kappa is {first} over the first third of the pairs (until {until}) and {last} "
            "over the last (since {since}), a change of {change}. See what came new; recall the guideline.",
            **figures,
        )
    return say(
        "Agreement has risen: Cohen's kappa is {first} over the first third of the pairs (until {until}) and {last} over "
        "the last (since {since}), a change of {change}. Consider judging the first pairs once more.",
        **figures,
    )


def _say_leaning_changed(one: GradingDrift) -> Message:
    figures = {
        "annotator": one.annotator,
        "first": f"{one.first:+.2f}",
        "last": f"{one.last:+.2f}",
        "change": show_figure(one.last - one.first, one.ci95, signed=True),
        "until": one.until,
        "since": one.since,
    }
    if one.last < one.first:
        return say(
            "Compared with the others {annotator} has become more severe: {first} grades over the first third of the pairs "
            "(until {until}), {last} over the last (since {since}), a change of {change}.",
            **figures,
        )
    return say(
        "Compared with the others {annotator} has become more lenient: {first} grades over the first third of the pairs (until "
        "{until}), {last} over the last (since {since}), a change of {change}.",
        **figures,
    )


def say_failing(failing: Sequence[FailingAnnotator]) -> list[DiagnosisFinding]:
    """Who is not consistent with themselves, who misses gold."""
    return [
        DiagnosisFinding(
            one.kind, _say_repeat(one) if one.kind == "repeat" else _say_gold(one), _checked_by(one)
        )
        for one in failing
    ]


def _checked_by(one: FailingAnnotator) -> PairSelection:
    return PairSelection(one.kind, annotators=(one.annotator,))


def _say_repeat(one: FailingAnnotator) -> Message:
    return say(
        "{annotator} gave the same answer again on {right} of {of} repeats only ({share:.0%}, 95 % interval {low:.0%} to "
        "{high:.0%}): look at these pairs together; the guideline may leave them open.",
        annotator=one.annotator,
        right=one.right,
        of=one.of,
        share=one.right / one.of,
        low=one.share[0],
        high=one.share[1],
    )


def _say_gold(one: FailingAnnotator) -> Message:
    figures = {
        "annotator": one.annotator,
        "right": one.right,
        "of": one.of,
        "share": one.right / one.of,
        "low": one.share[0],
        "high": one.share[1],
    }
    if one.difference is None:
        return say(
            "{annotator} answered {right} of {of} gold pairs right ({share:.0%}, 95 % interval {low:.0%} to {high:.0%}): "
            "go through the missed ones together.",
            **figures,
        )
    return say(
        "{annotator} answered {right} of {of} gold pairs right ({share:.0%}, 95 % interval {low:.0%} to {high:.0%}); the mean "
        "of their grades less the right ones is {difference}: go through the missed ones together.",
        difference=f"{one.difference:+.2f}",
        **figures,
    )


def say_quick(quick: Sequence[QuickAnnotator]) -> list[DiagnosisFinding]:
    """Who was in a hurry, and it shows."""
    return [
        DiagnosisFinding(
            "quick",
            say(
                "{annotator} judged {judgments} in less than {limit:.1f} seconds each ({median:.1f} is usual for them), "
                "and matches the others there less: {matching:.0%} of the comparisons, {usually:.0%} elsewhere. "
                "Look at these pairs.",
                annotator=one.annotator,
                limit=one.limit,
                judgments=show_pairs(one.judgments),
                median=one.median,
                matching=one.matching,
                usually=one.usually,
            ),
            PairSelection("quick", annotators=(one.annotator,)),
        )
        for one in quick
    ]


def say_annotator_pairs(
    measured: MeasuredAgreement,
    extremes: tuple[PairAgreement, PairAgreement] | None,
    left_out: Collection[str] = (),
) -> list[DiagnosisFinding]:
    """Which annotator pairs have no kappa, and who agree least and most where they surely differ. `left_out`: who is none of
    the latter."""
    pairs = measured.annotator_pairs
    found = []
    undefined = [pair for pair in pairs if pair.cohen_kappa["unweighted"].value is None]
    if undefined and len(undefined) < len(pairs):
        named: Message = join(show_both(pair.annotators) for pair in undefined[:3])
        if len(undefined) > 3:
            named = say("{named} and {n} more", named=named, n=len(undefined) - 3)
        found.append(
            DiagnosisFinding(
                "undefined",
                say(
                    "Left out of the mean, since without variation their kappa is undefined: {named}.",
                    named=named,
                ),
            )
        )
    if extremes is not None:
        low, high = extremes
        found.append(
            DiagnosisFinding(
                "least",
                say_without(
                    say(
                        "The annotators who agree least are {low} ({low_kappa} over {pairs}), most {high} ({high_kappa}).",
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
    return found
