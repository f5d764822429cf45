"""Results stand by score as trec_eval orders them, and what the ranks say otherwise is counted and kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.ground_truth import RunEntry
from annotator.importing.runs.run_plan import Order, order_results, sort_by_score


def ids(entries: tuple[RunEntry, ...] | list[RunEntry]) -> str:
    return "".join(entry.doc_id for entry in entries)


def result(doc_id: str, rank: int | None, score: float | None = None) -> RunEntry:
    return RunEntry("q", doc_id, rank, score)


CONTRADICTORY = [result("a", 1, 0.1), result("b", 2, 0.3), result("c", 3, 0.2)]


@pytest.mark.parametrize(("order", "expected"), [("score", "bca"), ("rank", "abc")])
def test_results_stand_by_score_unless_the_ranks_are_asked_for(order: Order, expected: str) -> None:
    ordered = order_results(CONTRADICTORY, order)
    assert (ids(ordered.entries), ordered.by, ordered.contradictions) == (expected, order, 3)
    assert [entry.rank for entry in ordered.entries] == [1, 2, 3]


def test_the_rank_that_the_file_gave_is_kept_where_it_is_another() -> None:
    first, *_ = order_results(CONTRADICTORY, "score").entries
    assert first == RunEntry("q", "b", 1, 0.3, {"file_rank": 2})
    kept = RunEntry("q", "d", 7, 0.9, {"file_rank": "its own"})
    assert order_results([kept], "score").entries[0].signals == {"file_rank": "its own", "file_rank_": 7}


def test_equal_scores_stand_by_id_the_last_first() -> None:
    tied = [result("B", 1, 1.0), result("a", 2, 1.0), result("b", 3, 1.0)]
    ordered = order_results(tied, "score")
    assert (ids(ordered.entries), ordered.contradictions, ordered.reordered_ties) == ("baB", 0, 2)


def test_scores_are_compared_as_32_bit_floats() -> None:
    """0.1 + 1e-10 and 0.1 are the same to trec_eval, and so are scores that 32 bits cannot hold."""
    assert ids(sort_by_score([result("a", 1, 0.1 + 1e-10), result("b", 2, 0.1)])) == "ba"
    assert ids(sort_by_score([result("a", 1, 2e39), result("b", 2, 1e39)])) == "ba"
    assert ids(sort_by_score([result("a", 1, 0.1 + 1e-7), result("b", 2, 0.1)])) == "ab"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), unique=True))
def test_ids_are_compared_as_their_bytes(doc_ids: list[str]) -> None:
    ordered = sort_by_score([result(doc_id, None, 1.0) for doc_id in doc_ids])
    assert [entry.doc_id for entry in ordered] == sorted(
        doc_ids, key=lambda doc_id: doc_id.encode("utf-8"), reverse=True
    )


@given(st.permutations(range(6)), st.lists(st.sampled_from([0.0, 1.0, 1.5]), min_size=6, max_size=6))
def test_the_order_of_the_lines_does_not_matter(lines: list[int], scores: list[float]) -> None:
    entries = [result("abcdef"[at], at, score) for at, score in enumerate(scores)]
    for order in ("score", "rank"):
        assert order_results([entries[at] for at in lines], order) == order_results(entries, order)  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0.0, 1.0, 2.0])), max_size=9))
def test_a_contradiction_is_a_better_score_below_a_worse_one(results: list[tuple[int, float]]) -> None:
    entries = [result(chr(97 + at), rank, score) for at, (rank, score) in enumerate(results)]
    contradicts = any(
        entry.rank < other.rank and entry.score < other.score  # type: ignore[operator]
        for entry in entries
        for other in entries
    )
    assert bool(order_results(entries, "score").contradictions) == contradicts


def test_results_without_a_score_stand_by_rank() -> None:
    ordered = order_results([result("a", 3), result("b", 2, 9.0), result("c", 5)], "score")
    assert (ids(ordered.entries), ordered.by) == ("bac", "rank")
    assert [entry.rank for entry in ordered.entries] == [1, 2, 3]


def test_ranks_count_from_where_the_file_counts_and_have_no_gaps() -> None:
    """As trec_eval sees a run that lost results: a gap is no place."""
    ordered = order_results([result("a", 0, 2.0), result("b", 4, 1.0)], "score", first=0)
    assert [(entry.rank, dict(entry.signals)) for entry in ordered.entries] == [
        (0, {}),
        (1, {"file_rank": 4}),
    ]


def test_without_ranks_in_the_file_nothing_is_contradicted_and_each_result_gets_its_rank() -> None:
    ordered = order_results([result("a", None, 0.1), result("b", None, 0.3)], "score")
    assert [(entry.doc_id, entry.rank, dict(entry.signals)) for entry in ordered.entries] == [
        ("b", 1, {}),
        ("a", 2, {}),
    ]
    assert (ordered.contradictions, ordered.reordered_ties) == (0, 0)


def test_in_a_contradictory_file_no_ties_are_counted_as_reordered() -> None:
    ordered = order_results([*CONTRADICTORY, result("d", 4, 0.2)], "score")
    assert (ids(ordered.entries), ordered.contradictions, ordered.reordered_ties) == ("bdca", 3, 0)
