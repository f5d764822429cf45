"""Which annotator pairs stand first in a table that cannot hold them all."""

from annotator.agreement.ranking import describe_unranked_pairs, rank_pairs
from annotator.agreement.records import CoefficientValue, PairAgreement

EMPTY = ((0, 0, 0, 0),) * 4


def _pair(name: str, kappa: float | None, pairs: int, warning: str | None = None) -> PairAgreement:
    value = CoefficientValue(kappa, why=None if kappa is not None else "no variation")
    return PairAgreement((name, "z"), pairs, 0.5, {"unweighted": value}, EMPTY, warning=warning)


def test_those_who_lower_the_datasets_kappa_most_stand_first() -> None:
    pairs = [_pair("a", 0.9, 500), _pair("b", 0.1, 30), _pair("c", 0.4, 300), _pair("d", 0.4, 300)]
    ranked = rank_pairs(pairs, CoefficientValue(0.6))
    assert [pair.annotators[0] for pair in ranked.pairs] == ["c", "d", "b", "a"]
    assert describe_unranked_pairs(ranked) is None


def test_who_shares_too_little_or_has_no_kappa_is_left_out_and_counted() -> None:
    pairs = [_pair("a", -1.0, 1, "few"), _pair("b", 1.0, 2, "few"), _pair("c", None, 90), _pair("d", 0.5, 90)]
    ranked = rank_pairs(pairs, CoefficientValue(0.5))
    assert ([pair.annotators[0] for pair in ranked.pairs], ranked.few, ranked.undefined) == (["d"], 2, 1)
    assert describe_unranked_pairs(ranked) == (
        "2 annotator pairs are excluded: fewer than 30 shared pairs or 10 queries. "
        "1 annotator pair is excluded: its kappa is undefined because the grades do not vary."
    )


def test_without_a_kappa_of_the_dataset_the_lowest_stands_first() -> None:
    ranked = rank_pairs([_pair("a", 0.9, 500), _pair("b", 0.1, 30)], CoefficientValue(None, why="none"))
    assert [pair.annotators[0] for pair in ranked.pairs] == ["b", "a"]
