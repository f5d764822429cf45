"""Which annotator pairs a reader looks at first, where there are too many to read them all.

Those who lower the dataset's kappa most stand first: the distance of their kappa below it, times the pairs they share. Who
shares too little to say anything (the rule for groups, `warn_of_few`), or has no kappa, is left out and counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.agreement.enough_pairs import FEW_PAIRS, FEW_QUERIES
from annotator.agreement.records import AgreementReport, GroupAgreement, Leaning, PairAgreement, Value
from annotator.domain.messages import Message, join_sentences, say_n

MOST_PEOPLE = 100
MOST_BY_PERIOD = 20


@dataclass(frozen=True, slots=True)
class RankedPairs:
    """Annotator pairs, those who lower the dataset's kappa most first. Left out: `few` who share too little, and
    `undefined` without a kappa."""

    pairs: tuple[PairAgreement, ...]
    few: int
    undefined: int


def rank_pairs(pairs: Sequence[PairAgreement], dataset: Value, kind: str = "unweighted") -> RankedPairs:
    """Rank them. `dataset`: its kappa of this kind; where it is undefined, the lowest kappa comes first."""
    enough = [pair for pair in pairs if not pair.warning]
    known = [(pair.cohen_kappa[kind].value, pair) for pair in enough]
    defined = [(value, pair) for value, pair in known if value is not None]
    mean = dataset.value

    def weigh(one: tuple[float, PairAgreement]) -> tuple[float, tuple[str, str]]:
        kappa, pair = one
        return (kappa if mean is None else (kappa - mean) * pair.pairs, pair.annotators)

    return RankedPairs(
        tuple(pair for _, pair in sorted(defined, key=weigh)), len(pairs) - len(enough), len(enough) - len(defined)
    )  # fmt: skip


def say_left_out_pairs(ranked: RankedPairs) -> Message | None:
    """Say how many annotator pairs are left out of the ranking and why; None where all are in it."""
    said = []
    if ranked.few:
        said.append(
            say_n(
                "{n:,} annotator pair is left out: it shares fewer than {pairs} pairs or {queries} queries, too few to say "
                "much.",
                "{n:,} annotator pairs are left out: they share fewer than {pairs} pairs or {queries} queries, too few to "
                "say much.",
                ranked.few,
                pairs=FEW_PAIRS,
                queries=FEW_QUERIES,
            )
        )
    if ranked.undefined:
        said.append(
            say_n(
                "{n:,} annotator pair is left out: without variation its kappa is undefined.",
                "{n:,} annotator pairs are left out: without variation their kappa is undefined.",
                ranked.undefined,
            )
        )
    return join_sentences(said) if said else None


def rank_leanings(leanings: Sequence[Leaning]) -> list[Leaning]:
    """Those first who weigh most: how much higher or lower they grade, times the comparisons."""
    return sorted(leanings, key=lambda one: (-abs(one.mean) * one.couples, one.annotator))


def rank_groups(groups: Sequence[GroupAgreement], dataset: Value) -> list[GroupAgreement]:
    """Those first that lower the dataset's kappa most: the distance of theirs below it (below 0 where it is undefined), times
    their pairs. Last those that have too little to say anything, or no kappa."""
    mean = dataset.value or 0.0

    def weigh(group: GroupAgreement) -> tuple[bool, float, str]:
        kappa = group.measured.cohen_kappa["unweighted"].value
        lowers = 0.0 if kappa is None else (kappa - mean) * group.measured.pairs
        return (kappa is None or group.warning is not None, lowers, group.value or "")

    return sorted(groups, key=weigh)


def choose_people_by_period(report: AgreementReport) -> tuple[set[str], int]:
    """Return whose leanings by period are listed, and of how many: everybody's; of more than MOST_PEOPLE those who lean most
    over the whole time."""
    people = {one.annotator for period in report.periods for one in period.leanings}
    if len(people) <= MOST_PEOPLE:
        return people, len(people)
    ranked = [one.annotator for one in rank_leanings(report.measured.leanings) if one.annotator in people]
    return set(ranked[:MOST_BY_PERIOD]), len(people)
