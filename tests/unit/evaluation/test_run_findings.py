"""What a ground truth can tell about runs, as a datasheet says it."""

import pytest

from annotator.evaluation.evaluate import evaluate_runs
from annotator.evaluation.profiles import find_profile
from annotator.evaluation.records import RunFindings, Truth
from annotator.evaluation.run_findings import sum_up_runs
from tests.unit.evaluation.small_runs import make_run

QUERIES = tuple(f"q{number}" for number in range(6))
TRUTH = Truth("t", {**{query_id: {"a": 3, "b": 1} for query_id in QUERIES}, "empty": {}})
GOOD = make_run("good", {query_id: ["a", "b"] for query_id in QUERIES})
MIXED = make_run("mixed", {query_id: ["a", "b"] if query_id > "q2" else ["b", "a"] for query_id in QUERIES})


def test_the_figures_are_those_of_an_evaluation_with_the_best_system_first() -> None:
    findings = sum_up_runs(TRUTH, iter([MIXED, GOOD]))
    evaluation = evaluate_runs(TRUTH, [MIXED, GOOD], find_profile("trec"))
    scores = {system.system: system.measures["nDCG@10"] for system in evaluation.systems}
    assert [(system.system, system.mean, system.ci95) for system in findings.systems] == [
        (name, scores[name].score.value, scores[name].ci95) for name in ("good", "mixed")
    ]
    assert (findings.measure, findings.queries) == ("nDCG@10", 6)
    assert findings.same_winner == evaluation.dataset.order["nDCG@10"].same_winner


def test_it_says_what_cannot_rank_the_systems_and_what_can_be_shown_of_the_two_best() -> None:
    sentences = sum_up_runs(TRUTH, [MIXED, GOOD]).sentences
    assert "R@10 cannot rank these systems: 6 of 6 queries give 1.0 to all of them." in sentences
    assert any(sentence.startswith("6 queries can show a difference of ") for sentence in sentences)


def test_a_run_without_a_judged_query_is_named_and_not_scored() -> None:
    other = make_run("other", {"empty": ["a"], "unknown": ["b"]})
    findings = sum_up_runs(TRUTH, [other, GOOD])
    assert findings.unrelated == ("other",)
    assert [system.system for system in findings.systems] == ["good"]
    assert sum_up_runs(TRUTH, [other]) == RunFindings(unrelated=("other",))


@pytest.mark.parametrize("grade", [0, 3])
def test_one_run_or_one_grade_is_no_error(grade: int) -> None:
    truth = Truth("t", {query_id: {"a": grade, "b": grade} for query_id in QUERIES})
    assert sum_up_runs(truth, [GOOD]).same_winner is None
    assert len(sum_up_runs(truth, [GOOD, MIXED]).systems) == 2
