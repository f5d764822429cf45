"""Rank annotator pairs, annotators and groups, for tables that cannot list all of them.

Those that lower the dataset's kappa most come first: their distance below that kappa, times the shared pairs.
Annotator pairs that share too little, or have no kappa, are counted and not ranked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.agreement.records import (
    FEW_PAIRS,
    FEW_QUERIES,
    AgreementReport,
    CoefficientValue,
    GroupAgreement,
    Leaning,
    PairAgreement,
)
from annotator.domain.grades import GRADES
from annotator.domain.messages import Message, join_sentences, say_n

MOST_PEOPLE = 100
MOST_BY_PERIOD = 20


@dataclass(frozen=True, slots=True)
class RankedPairs:
    """Annotator pairs, those that lower the dataset's kappa most first."""

    pairs: tuple[PairAgreement, ...]
    few: int  # pairs that are left out because they share too little
    undefined: int  # pairs that are left out because they have no kappa


def rank_pairs(pairs: Sequence[PairAgreement], dataset: CoefficientValue) -> RankedPairs:
    """Rank annotator pairs. `dataset`: its kappa; if undefined, the lowest kappa comes first."""
    enough = [pair for pair in pairs if not pair.warning]
    kappas = [(pair.cohen_kappa["unweighted"].value, pair) for pair in enough]
    defined = [(value, pair) for value, pair in kappas if value is not None]
    mean = dataset.value

    def weigh(candidate: tuple[float, PairAgreement]) -> tuple[float, tuple[str, str]]:
        kappa, pair = candidate
        return (kappa if mean is None else (kappa - mean) * pair.pairs, pair.annotators)

    return RankedPairs(
        tuple(pair for _, pair in sorted(defined, key=weigh)),
        len(pairs) - len(enough),
        len(enough) - len(defined),
    )


def describe_unranked_pairs(ranked: RankedPairs) -> Message | None:
    """Say how many annotator pairs are left out of the ranking and why; None where all are in it."""
    sentences = []
    if ranked.few:
        sentences.append(
            say_n(
                "{n:,} annotator pair is excluded: fewer than {pairs} shared pairs or {queries} queries.",
                "{n:,} annotator pairs are excluded: fewer than {pairs} shared pairs or {queries} queries.",
                ranked.few,
                pairs=FEW_PAIRS,
                queries=FEW_QUERIES,
            )
        )
    if ranked.undefined:
        sentences.append(
            say_n(
                "{n:,} annotator pair is excluded: its kappa is undefined because the grades do not vary.",
                "{n:,} annotator pairs are excluded: their kappa is undefined because the grades do not vary.",
                ranked.undefined,
            )
        )
    return join_sentences(sentences) if sentences else None


def rank_leanings(leanings: Sequence[Leaning]) -> list[Leaning]:
    """Rank leanings by their effect: how much higher or lower the annotator grades, times the comparisons."""
    return sorted(leanings, key=lambda leaning: (-abs(leaning.mean) * leaning.comparisons, leaning.annotator))


def rank_groups(groups: Sequence[GroupAgreement], dataset: CoefficientValue) -> list[GroupAgreement]:
    """Rank groups by how much they lower the dataset's kappa: their distance below it, times their pairs.

    The distance is below 0 if the dataset's kappa is undefined. Groups with too few pairs, or without a
    kappa, come last.
    """
    mean = dataset.value or 0.0

    def weigh(group: GroupAgreement) -> tuple[bool, float, str]:
        kappa = group.measured.cohen_kappa["unweighted"].value
        lowers = 0.0 if kappa is None else (kappa - mean) * group.measured.pairs
        return (kappa is None or group.warning is not None, lowers, group.value or "")

    return sorted(groups, key=weigh)


def choose_people_by_period(report: AgreementReport) -> tuple[set[str], int]:
    """Return the annotators with listed leanings by period, and the number of annotators that have any.

    All are listed; of more than MOST_PEOPLE, only those who lean most over the whole time.
    """
    people = {leaning.annotator for period in report.periods for leaning in period.leanings}
    if len(people) <= MOST_PEOPLE:
        return people, len(people)
    ranked = [
        leaning.annotator
        for leaning in rank_leanings(report.measured.leanings)
        if leaning.annotator in people
    ]
    return set(ranked[:MOST_BY_PERIOD]), len(people)


MOST_DRAWN = 4


def choose_differing_pairs(pairs: Sequence[PairAgreement]) -> list[PairAgreement]:
    """Return the MOST_DRAWN annotator pairs who differ on most pairs."""
    return sorted(pairs, key=lambda pair: (-_count_differing(pair), pair.annotators))[:MOST_DRAWN]


def _count_differing(pair: PairAgreement) -> int:
    return pair.pairs - sum(pair.confusion[grade][grade] for grade in GRADES)
