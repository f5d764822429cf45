"""Recommendations: each rule holds where its condition does, and takes its limits from the targets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from annotator.evaluation.evaluate import Evaluation, EvaluationOptions, evaluate_runs
from annotator.evaluation.profiles import Target, find_profile
from annotator.evaluation.records import RankedRun, Truth
from annotator.evaluation.reports.recommendations import recommend
from annotator.evaluation.scores.scoring import ScoringOptions
from tests.unit.evaluation.small_runs import make_run

TRUTH = Truth(
    "t",
    {f"q{number}": {"a": 3, "b": 2, "n1": 0, "n2": 0, "n3": 0, "n4": 0, "n5": 0} for number in range(6)},
    fields={f"q{number}": {"category": "hard" if number < 3 else "easy"} for number in range(6)},
)
NOISE = ["n1", "n2", "n3", "n4", "n5"]


def evaluate(*ranked: Sequence[str], grouped: bool = False) -> Evaluation:
    """One system for each list, which is its result for every query."""
    runs = [
        make_run(f"s{number}", {query_id: list(docs) for query_id in TRUTH.grades})
        for number, docs in enumerate(ranked)
    ]
    return evaluate_all(runs, grouped=grouped)


def evaluate_all(runs: Sequence[RankedRun], *, grouped: bool = False) -> Evaluation:
    options = EvaluationOptions(group_by=("category",) if grouped else (), resamples=20)
    return evaluate_runs(TRUTH, runs, find_profile("nablarch"), options=options)


def list_applied(evaluation: Evaluation, targets: Sequence[Target] = ()) -> Mapping[str, tuple[str, ...]]:
    recommendations, rules = recommend(evaluation, targets)
    for recommendation in recommendations:
        assert rules[recommendation.number - 1] == recommendation.rule
    return {str(found.rule.condition): found.applies_to for found in recommendations}


def test_nothing_is_recommended_for_a_perfect_system() -> None:
    assert list_applied(evaluate(["a", "b"])) == {}


def test_few_judged_documents_come_first() -> None:
    applied = list_applied(evaluate(["a", "b", "new"]))
    assert next(iter(applied)) == "Judged documents below 90 %"
    assert applied["Judged documents below 90 %"] == ("s0 (67 %)",)


@pytest.mark.parametrize(
    ("measures", "ranked", "begin"),
    [
        (("P@3", "RR"), [["a", "b", "new"]], "These scores may be too low; none is too high."),
        (("P@3", "R@2"), [["a", "n1", "new"]], "these scores are uncertain: some may be too low"),
        (("R@1",), [["a", "new"]], "these may be too high; none is too low."),
        ((), [["a", "b", "new"]], "these scores are uncertain"),
    ],
)
def test_the_first_rule_says_too_low_only_where_that_is_sure(
    measures: tuple[str, ...], ranked: Sequence[Sequence[str]], begin: str
) -> None:
    runs = [
        make_run(f"s{n}", {query_id: list(docs) for query_id in TRUTH.grades})
        for n, docs in enumerate(ranked)
    ]
    evaluation = evaluate_runs(
        TRUTH,
        runs,
        find_profile("trec"),
        scoring=ScoringOptions(measures=(*measures, "Judged@3") if measures else ()),
        options=EvaluationOptions(resamples=2),
    )
    assert begin in recommend(evaluation)[1][0].advice


def test_two_identical_systems_are_not_called_undecided() -> None:
    applied = list_applied(evaluate(["a", "n1", "b"], ["a", "n1", "b"]))
    assert not any("two best systems" in condition for condition in applied)


def test_queries_without_results_are_counted() -> None:
    run = make_run("s", {"q0": ["a", "b"]})
    assert list_applied(evaluate_all([run]))["Queries without results"] == ("s (5 / 6)",)


@pytest.mark.parametrize(
    ("docs", "condition"),
    [
        (["n1", "a", "b"], "MRR below 0.70"),
        (["a"], "Recall@5 below 0.80, NDCG@5 at least 0.70"),
        (["n1", "n2", "n3", "n4", "b"], "Recall@5 below 0.80, NDCG@5 below 0.70"),
        (["n1", "n2", "n3", "a", "b"], "Recall@5 at least 0.80, NDCG@5 below 0.70"),
        (["a", *NOISE[:4], "b"], "Recall@10 at least 0.10 above Recall@5"),
    ],
)
def test_a_rule_about_scores_applies_where_its_condition_holds(docs: list[str], condition: str) -> None:
    applied = list_applied(evaluate(docs))
    assert condition in applied
    assert applied[condition][0].startswith("s0 (")


def test_a_target_is_the_limit() -> None:
    applied = list_applied(evaluate(["n1", "a", "b"]), [Target("MRR", minimum=0.4)])
    assert not any(condition.startswith("MRR below") for condition in applied)


def test_latencies_are_compared_with_their_targets_only() -> None:
    run = replace(
        make_run("s", {query_id: ["a", "b"] for query_id in TRUTH.grades}),
        latency_ms=dict.fromkeys(TRUTH.grades, 500.0),
    )
    assert list_applied(evaluate_all([run])) == {}
    targets = [Target("latency P50", maximum=200), Target("latency P95", maximum=300)]
    assert list_applied(evaluate_all([run]), targets) == {
        "P50 above 200 ms": ("s (500 ms)",),
        "P95 above 300 ms": ("s (500 ms)",),
    }


def test_a_group_far_below_all_queries_is_named() -> None:
    ranked = {
        query_id: ["n1", "n2", "a", "b"] if fields["category"] == "hard" else ["a", "b"]
        for query_id, fields in TRUTH.fields.items()
    }
    applied = list_applied(evaluate_all([make_run("s", ranked)], grouped=True))
    assert ("category = hard (0.333)",) in applied.values()


def test_saturated_measures_are_named_and_not_called_undecided() -> None:
    applied = list_applied(evaluate(["a", "b"], ["a", "b", "n1"]))
    assert applied["All systems score 0.99 or more, or within 0.005"][0] == "MRR (1.000–1.000)"
    assert "No difference is shown between the two best systems (p ≥ .05 after Holm)" not in applied


def test_two_best_systems_without_a_shown_difference_are_named() -> None:
    first = {query_id: ["a", "n1", "b"] for query_id in TRUTH.grades}
    second = first | {"q0": ["n1", "n2", "n3", "a"]}
    applied = list_applied(evaluate_all([make_run("x", first), make_run("y", second)]))
    condition = "No difference is shown between the two best systems (p ≥ .05 after Holm)"
    assert applied[condition][0] == "MRR: x, y (0.125)"
