"""Counts of pairs: the statuses add up to all pairs, and every other count looks at the same pairs from another side."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.settling import OPEN, PAIR_STATUSES, SETTLED
from annotator.overview.records import CountedPair, count_pairs

PAIRS = st.lists(
    st.builds(
        CountedPair,
        st.sampled_from(PAIR_STATUSES),
        st.booleans(),
        st.booleans(),
        st.booleans(),
        st.booleans(),
    )
)


def test_every_status_is_either_settled_or_open_or_without_a_grade() -> None:
    assert {*SETTLED, *OPEN, "unjudged", "unrateable"} == set(PAIR_STATUSES)
    assert not {*SETTLED} & {*OPEN}


@given(PAIRS)
def test_counts_add_up(pairs: list[CountedPair]) -> None:
    counts = count_pairs(pairs)
    assert counts.pairs == sum(counts.by_status.values()) == len(pairs)
    assert set(counts.by_status) == set(counts.waiting_by_status) == set(PAIR_STATUSES)
    assert counts.begun <= counts.to_judge <= counts.pairs
    assert counts.waiting == sum(pair.waiting for pair in pairs)
    assert (
        counts.settled + counts.disagreements + counts.by_status["unjudged"] + counts.by_status["unrateable"]
        == counts.pairs
    )


def test_a_check_is_neither_to_be_judged_nor_complete() -> None:
    counts = count_pairs([CountedPair("unjudged", False, False, False, marked=True)])
    assert (counts.pairs, counts.checks, counts.to_judge, counts.complete) == (1, 1, 0, 0)


def test_a_pair_that_was_judged_before_it_was_marked_counts_as_judged() -> None:
    kinds = [
        CountedPair(status, False, True, False, marked) for status, marked in product(SETTLED, (True, False))
    ]
    counts = count_pairs(kinds)
    assert (counts.checks, counts.complete, counts.settled) == (0, len(kinds), len(kinds))


def test_a_pair_that_lacks_judgments_is_not_complete_and_is_begun_once_somebody_judged_it() -> None:
    begun = CountedPair("unjudged", True, True, False, marked=False)
    untouched = CountedPair("unjudged", True, False, False, marked=False)
    done = CountedPair("unanimous", False, True, False, marked=False)
    counts = count_pairs([begun, untouched, untouched, done])
    assert (counts.to_judge, counts.begun, counts.complete) == (3, 1, 1)
