"""Which annotator pairs a reader looks at first, where there are too many to read them all.

Those who lower the dataset's kappa most stand first: the distance of their kappa below it, times the pairs they share. Who
shares too little to say anything (the rule for groups, `warn_of_few`), or has no kappa, is left out and counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.domain.agreement import Leaning, PairAgreement, Value
from annotator.domain.enough_pairs import FEW_PAIRS, FEW_QUERIES
from annotator.domain.messages import Message, join_sentences, say_n


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
