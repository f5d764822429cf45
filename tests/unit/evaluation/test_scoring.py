"""Scores of runs by the profile `trec`: means, undefined values, readings, and what is refused."""

from dataclasses import replace
from math import log2

import numpy as np
import pytest

from annotator.domain.errors import ValidationError
from annotator.evaluation.profiles import TREC, find_profile
from annotator.evaluation.records import ScoreTable, Truth
from annotator.evaluation.scores.scoring import ScoringOptions, score_runs
from annotator.evaluation.scores.summary import (
    group_rows,
    measure_coverage,
    measure_spread,
    summarize_measure,
)
from tests.unit.evaluation.small_runs import make_run

TRUTH = Truth(
    "t",
    {"q1": {"a": 3, "b": 2, "c": 1, "d": 0}, "q2": {"a": 1, "b": 0}, "q3": {"x": 0}, "q4": {}},
    fields={"q1": {"category": "x"}, "q2": {"category": "y"}, "q3": {"category": "x"}},
)


def score(
    ranked: dict[str, list[str]], *measures: str, truth: Truth = TRUTH, **options: object
) -> ScoreTable:
    return score_runs(truth, [make_run("s", ranked)], TREC, ScoringOptions(measures=measures, **options))  # type: ignore[arg-type]


def values(table: ScoreTable, measure: str) -> list[float]:
    return table.systems[0].values[measure].tolist()


def test_the_mean_is_over_the_judged_queries_and_a_missing_one_counts_0() -> None:
    table = score({"q1": ["b", "a"]}, "P@2")
    assert (table.query_ids, values(table, "P@2")) == (("q1", "q2", "q3"), [1.0, 0.0, 0.0])
    assert dict(table.left_out) == {"q4": "no document of this query is judged"}
    assert table.systems[0].notes == ("queries without results: 2 of 3; they count as 0",)
    assert summarize_measure(table.systems[0], table.measures[0]).value == pytest.approx(1 / 3)


def test_a_query_that_failed_when_the_run_was_fetched_is_told_apart_from_an_empty_answer() -> None:
    run = replace(
        make_run("s", {"q1": ["a"]}), query_signals={"q2": {"failed": "HTTP 500"}, "q3": {"failed": False}}
    )
    table = score_runs(TRUTH, [run], TREC, ScoringOptions(measures=("P@2",)))
    assert table.systems[0].notes[-1] == (
        "1 query failed when the run was fetched, first 'q2': the system gave no answer (not an empty result)"
    )


def test_without_c_a_query_without_results_is_left_out_of_that_systems_mean() -> None:
    table = score({"q1": ["b", "a"]}, "P@2", "ERR@5", complete=False)
    found = summarize_measure(table.systems[0], table.measures[0])
    assert (found.value, found.queries, found.bounds, found.condensed) == (1.0, 1, (1.0, 1.0), 1.0)


def test_a_document_counts_from_the_chosen_grade() -> None:
    ranked = {"q1": ["c", "b", "a"], "q2": ["a"]}
    assert values(score(ranked, "P@3", relevant_from=2), "P@3") == [2 / 3, 0, 0]
    assert values(score(ranked, "RR", relevant_from=3), "RR") == [1 / 3, 0, 0]


def test_rr_with_a_cutoff_is_0_below_it() -> None:
    ranked = {"q1": ["d", "u", "a"], "q2": ["a"]}
    table = score(ranked, "RR", "RR@2", "RR@3")
    assert [values(table, name) for name in ("RR", "RR@2", "RR@3")] == [
        [1 / 3, 1, 0],
        [0, 1, 0],
        [1 / 3, 1, 0],
    ]


def test_f1_is_made_of_precision_and_recall() -> None:
    # P@2 = 1/2, R@2 = 1/3: 2 * (1/6) / (5/6) = 0.4
    assert values(score({"q1": ["a", "d"]}, "F1@2"), "F1@2") == [pytest.approx(0.4), 0, 0]


def test_err_stops_with_the_chance_of_the_grade() -> None:
    # Chances 3/8 (b, 2), 7/8 (a, 3): 3/8 + (5/8)(7/8)/2 = 0.6484375
    assert values(score({"q1": ["b", "a"]}, "ERR@10"), "ERR@10")[0] == 0.6484375


def test_rbp_weights_ranks_and_its_residual_is_what_the_unjudged_could_add() -> None:
    table = score({"q1": ["a", "u", "d"]}, "RBP(p=0.5)")
    system = table.systems[0]
    # 0.5 for rank 1; rank 2 is unjudged (0.25), and ranks from 4 on are open (0.125).
    assert values(table, "RBP(p=0.5)")[0] == 0.5
    assert (system.lowest["RBP(p=0.5)"][0], system.highest["RBP(p=0.5)"][0]) == (0.5, 0.875)


def test_judged_is_the_share_of_judged_documents_among_those_returned() -> None:
    table = score({"q1": ["a", "u"], "q2": ["u", "v", "w"]}, "P@2", "RR", "Judged@2")
    assert values(table, "Judged@2")[:2] == [0.5, 0.0]
    assert np.isnan(values(table, "Judged@2")[2])  # q3 has no result
    found = summarize_measure(table.systems[0], table.measures[0])
    assert (found.judged, found.condensed, found.bounds) == (
        0.25,
        pytest.approx(1 / 6),
        (pytest.approx(1 / 6), pytest.approx(4 / 6)),
    )


def test_the_condensed_list_has_no_unjudged_documents() -> None:
    table = score({"q1": ["u", "b", "v", "a"]}, "RR", "nDCG@2", "ERR@2")
    condensed = table.systems[0].condensed
    known = score({"q1": ["b", "a"]}, "RR", "nDCG@2", "ERR@2")
    for measure in table.measures:
        assert condensed[measure.name][0] == values(known, measure.name)[0] > values(table, measure.name)[0]


def test_readings_can_be_left_out() -> None:
    table = score({"q1": ["a"]}, "P@2", "ERR@2", readings=False)
    system = table.systems[0]
    assert (dict(system.condensed), dict(system.lowest), dict(system.highest)) == ({}, {}, {})
    assert system.judged["P@2"][0] == 1.0


def test_a_measure_without_bounds_has_none() -> None:
    table = score({"q1": ["u", "a"]}, "Bpref", "Judged@2")
    assert [summarize_measure(table.systems[0], measure).bounds for measure in table.measures] == [None, None]


def test_bounds_rest_on_the_unjudged_results_of_all_systems() -> None:
    """u and v are unjudged. A has a, of two relevant documents; with u and v relevant it has one of four."""
    truth = Truth("t", {"q": {"a": 3, "b": 1}})
    runs = [make_run("A", {"q": ["a"]}), make_run("B", {"q": ["u", "v", "a"]})]
    options = ScoringOptions(measures=("R@10", "AP", "P@10", "nDCG"))
    table = score_runs(truth, runs, TREC, options)
    first, second = (
        [summarize_measure(system, m).bounds for m in table.measures] for system in table.systems
    )
    ideal = 3 + 3 / log2(3) + 3 / 2 + 1 / log2(5)
    now = 3 / (3 + 1 / log2(3))
    assert first == [(0.25, 0.5), (0.25, 0.5), (0.1, 0.1), (pytest.approx(3 / ideal), pytest.approx(now))]
    # B: with both, 3 of 4; with neither, 1 of 2 on rank 3. AP: (1/1 + 2/2 + 3/3) / 4, (1/3) / 2.
    assert second[:2] == [(0.5, 0.75), (pytest.approx(1 / 6), 0.75)]


def test_bounds_are_rounded_as_the_scores_of_the_profile_are() -> None:
    truth = Truth("t", {"q": {"a": 3}})
    table = score_runs(truth, [make_run("A", {"q": ["a", "u", "x"]})], find_profile("survey"))
    assert table.systems[0].values["Precision@5"].tolist() == [0.2]
    measured = score_runs(
        truth,
        [make_run("A", {"q": ["a", "u"]})],
        find_profile("survey"),
        ScoringOptions(measures=("Precision@3",)),
    ).systems[0]
    assert (measured.lowest["Precision@3"][0], measured.highest["Precision@3"][0]) == (0.33, 0.67)


def test_queries_are_grouped_by_a_field() -> None:
    table = score({"q1": ["a"], "q2": ["a"]}, "RR")
    rows = group_rows(table, "category")
    assert {value: chosen.tolist() for value, chosen in rows.items()} == {"x": [0, 2], "y": [1]}
    assert summarize_measure(table.systems[0], table.measures[0], rows["x"]).value == 0.5
    assert measure_coverage(table.systems[0], rows["x"]) == 0.5


def test_the_spread_of_one_query_has_no_standard_deviation() -> None:
    table = score({"q1": ["a"], "q2": ["b", "a"]}, "RR")
    spread = measure_spread(table.systems[0], table.measures[0])
    assert spread is not None
    assert (spread.mean, spread.sd, spread.quartiles) == (0.5, 0.5, (0.25, 0.5, 0.75))
    one = measure_spread(table.systems[0], table.measures[0], np.array([0]))
    assert one is not None
    assert one.sd is None


def test_an_undefined_mean_says_why() -> None:
    table = score({"q1": ["a"]}, "Judged@1")
    found = summarize_measure(table.systems[0], table.measures[0], np.array([1, 2]))
    assert (found.value, found.why) == (None, "there are no results")


def test_a_query_that_the_truth_does_not_know_is_named_and_does_not_count() -> None:
    table = score({"q1": ["a"], "q2": ["a"], "q3": ["x"], "Q9": ["a"]}, "RR")
    assert table.systems[0].notes == (
        "1 query of the run is not in the truth, first 'Q9'; its results are ignored",
    )


def test_a_run_without_a_common_query_is_refused() -> None:
    with pytest.raises(
        ValidationError, match="s: expected results for a query of t, found only others \\(1\\), such as 'Q1'"
    ):
        score({"Q1": ["a"]}, "RR")


def test_a_system_that_comes_twice_is_refused() -> None:
    runs = [make_run("s", {"q1": ["a"]}), make_run("s", {"q1": ["b"]})]
    with pytest.raises(ValidationError, match="expected every system once, found 's' again"):
        score_runs(TRUTH, runs, TREC)


def test_a_truth_without_judged_documents_is_refused() -> None:
    with pytest.raises(ValidationError, match="found none with a judged document"):
        score({"q1": ["a"]}, "RR", truth=Truth("t", {"q1": {}}))


def test_a_truth_without_grades_is_refused() -> None:
    with pytest.raises(ValidationError, match="no grades, which the profile trec needs"):
        score({"q1": ["a"]}, "RR", truth=Truth("t", {"q1": {"a": 1}}, has_grades=False))
