"""The sentences below the pairs by status: what lacks judgments, what only checks, what waits for a lead."""

from annotator.overview.records import CountedPair, count_pairs
from annotator.web.overview.page import describe_counts


def test_nothing_is_said_when_nothing_is_left_to_do() -> None:
    assert describe_counts(count_pairs([CountedPair("unanimous", False, True, False, marked=False)])) == ""


def test_checks_are_not_said_to_wait_for_judgments() -> None:
    check = CountedPair("unjudged", False, False, False, marked=True)
    assert (
        describe_counts(count_pairs([check, check]))
        == "2 unjudged pairs are only checks of annotators and need no more judgments."
    )


def test_waiting_pairs_are_counted_by_status() -> None:
    open_pair = CountedPair("disagreement", False, True, True, marked=False)
    questioned = CountedPair("adjudicated", False, True, True, marked=False)
    begun = CountedPair("single", True, True, False, marked=False)
    assert describe_counts(count_pairs([open_pair, open_pair, questioned, begun])) == (
        "1 pair lacks judgments. 3 pairs wait for a lead (disagreement 2, adjudicated 1)."
    )
