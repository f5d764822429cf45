"""What proposals add to a pool: of the relevant documents, those that no system had found."""

from annotator.pooling.proposals.proposals_service import QueryGain, count_gains

SETTLED = [
    ("Q1", 3, True), ("Q1", 2, False), ("Q1", 1, True), ("Q1", 0, True), ("Q1", None, True),
    ("Q2", 0, True),
    ("Q3", 2, False), ("Q3", 3, True), ("Q3", 3, True),
]  # fmt: skip


def test_gains_count_settled_relevant_documents_and_those_that_only_proposals_found() -> None:
    queries, total = count_gains(SETTLED, {"Q3": 2, "Q1": 4, "Q2": 1})
    assert queries == (QueryGain("Q3", 2, 3, 2), QueryGain("Q1", 4, 3, 2), QueryGain("Q2", 1, 0, 0))
    assert total == QueryGain(None, 7, 6, 4)


def test_the_total_includes_relevant_documents_of_queries_without_a_proposal() -> None:
    queries, total = count_gains([("Q1", 3, True), ("Q2", 3, False)], {"Q1": 1})
    assert queries == (QueryGain("Q1", 1, 1, 1),)
    assert total == QueryGain(None, 1, 2, 1)


def test_a_query_without_a_settled_pair_has_no_gain_yet() -> None:
    assert count_gains([], {"Q1": 2}) == ((QueryGain("Q1", 2, 0, 0),), QueryGain(None, 2, 0, 0))
