"""Signals that get lost between the stages of a search: what a run file proves, and what it does not."""

from typing import Any

import pytest

from annotator.domain.ground_truth import Run, RunEntry
from annotator.importing.runs.lost_signals import (
    LostSignal,
    count_partial_signals,
    describe_lost_signal,
    find_lost_signals,
)


def make(*signals: dict[str, Any], query_signals: dict[str, Any] | None = None) -> Run:
    """A run of one query: document d1 at rank 1 with the first signals, and so on."""
    entries = tuple(RunEntry("Q", f"d{rank}", rank, None, given) for rank, given in enumerate(signals, 1))
    return Run("s", entries, {"Q": query_signals} if query_signals else {})


def test_a_score_that_is_lost_in_fusion_is_told_with_the_ranks_it_cost() -> None:
    filler = [{"vector_rank": rank, "vector_score": 0.5} for rank in range(2, 44)]
    run = make({"bm25_rank": 1, "bm25_score": 9.0}, *filler, {"bm25_rank": 3})
    (lost,) = find_lost_signals(run)
    assert lost == LostSignal("bm25_score", "bm25", 1, 1, 41, "Q", "d44", 44, 3)
    note = describe_lost_signal(lost)
    assert note == (
        "warning: the signal bm25_score is missing in 1 result of 1 query that bm25 lists "
        "(query Q, document d44: 41 ranks lost, rank 3 in bm25 and 44 in the run)"
    )


@pytest.mark.parametrize(
    ("carrying", "lacking", "signal"),
    [
        ({"stages": ["bm25"], "bm25": 2.0}, {"stages": ["bm25"]}, "bm25"),
        ({"stages": "bm25", "bm25_score": 2.0}, {"stages": "bm25", "bm25_score": None}, "bm25_score"),
        (
            {"stages": [{"name": "bm25", "rank": 1}], "bm25_score": 2},
            {"stages": [{"name": "bm25", "rank": 1}]},
            "bm25_score",
        ),
        (
            {"stages": {"bm25": {"rank": 1, "score": 2}}},
            {"stages": {"bm25": {"rank": 1}}},
            "stages.bm25.score",
        ),
        ({"ranks": {"bm25": 1}, "scores": {"bm25": 2}}, {"ranks": {"bm25": 1}, "scores": {}}, "scores.bm25"),
        (
            {"bm25_rank": 1, "contributions": {"bm25": 0.02}},
            {"bm25_rank": 1, "contributions": {"bm25": 0.0}},
            "contributions.bm25",
        ),
        (
            {"bm25_rank": 1, "bm25_contribution": 0.02},
            {"bm25_rank": 1, "bm25_contribution": 0},
            "bm25_contribution",
        ),
    ],
)
def test_every_way_of_naming_stages_and_signals_is_understood(
    carrying: dict[str, Any], lacking: dict[str, Any], signal: str
) -> None:
    lost = find_lost_signals(make(carrying, lacking))
    assert [(item.signal, item.stage, item.doc_id) for item in lost] == [(signal, "bm25", "d2")]


@pytest.mark.parametrize("key", ["lists", "stages"])
@pytest.mark.parametrize("wrap", [str, lambda doc_id: {"id": doc_id, "score": 1}])
def test_the_lists_of_an_answer_say_which_results_a_stage_found(key: str, wrap: Any) -> None:
    lists = {key: {"bm25": [wrap("d2"), wrap("d1"), wrap("gone")], "vector": "3 ms"}}
    (lost,) = find_lost_signals(make({"bm25_score": 1.0}, {}, {}, query_signals=lists))
    assert (lost.doc_id, lost.stage_rank, lost.rank, lost.ranks_lost) == ("d2", 1, 2, 1)


@pytest.mark.parametrize(
    "signals",
    [
        [{"bm25_score": 1.0}, {}],  # no stage lists the second: bm25 may not have found it
        [{"bm25_rank": 1}, {"bm25_rank": 2}],  # nobody carries a score: none was promised
        [{"bm25_rank": 1, "bm25_score": 1.0}, {"bm25_rank": None, "bm25_score": None}],
        [{"stages": {"bm25": {"score": 1}}}, {"stages": {"bm25": None}}],
        [{"stages": ["bm25"], "bm25_score": 1}, {"stages": ["vector"], "vector_score": 1}],
        [{"file_rank": 2, "file_score": 1}, {"file_rank": 1}],  # our own signal
        [{"bm25_rank": 1, "bm25_score": 2.0}, {"bm25_rank": 2, "bm25_score": 0.0}],  # a score may be 0
        [{}, {}],
    ],
)
def test_what_a_file_does_not_prove_is_not_told(signals: list[dict[str, Any]]) -> None:
    assert find_lost_signals(make(*signals)) == []


def test_a_result_that_rose_lost_no_ranks() -> None:
    run = make({"bm25_rank": 9}, {"bm25_rank": 2, "bm25_score": 1.0})
    (note,) = map(describe_lost_signal, find_lost_signals(run))
    assert note.endswith("(query Q, document d1: rank 9 in bm25 and 1 in the run)")


def test_the_costliest_loss_comes_first_and_counts_its_queries() -> None:
    entries = [
        RunEntry("Q1", "a", 1, None, {"a_rank": 1, "a_score": 1, "b_rank": 1, "b_score": 1}),
        RunEntry("Q1", "b", 2, None, {"a_rank": 1, "b_rank": 2, "b_score": 1}),
        RunEntry("Q2", "c", 30, None, {"b_rank": 4}),
        RunEntry("Q3", "d", 5, None, {"b_rank": 4}),
    ]
    lost = find_lost_signals(Run("s", tuple(entries)))
    assert [(item.signal, item.results, item.queries, item.ranks_lost, item.doc_id) for item in lost] == [
        ("b_score", 2, 2, 26, "c"),
        ("a_score", 1, 1, 1, "b"),
    ]


def test_signals_that_only_some_results_of_a_query_carry_are_counted() -> None:
    run = make({"x": 1, "y": 1}, {"x": 2, "y": None}, {"x": 0})
    assert count_partial_signals(run) == {"y": {"carrying": 1, "lacking": 2}}
