"""How order and scores depend on annotators, disputed grades, and which systems were pooled."""

from typing import Any

import pytest

from annotator.evaluation.dataset_analysis.robustness import (
    PairGrades,
    describe_robustness,
    measure_robustness,
)
from annotator.evaluation.evaluate import Evaluation, EvaluationOptions, evaluate_runs
from annotator.evaluation.profiles import TREC
from annotator.evaluation.records import Truth
from annotator.evaluation.scores.scoring import ScoringOptions
from tests.unit.evaluation.small_runs import make_run

TRUTH = Truth("t", {"q1": {"a": 3, "b": 1, "c": 0}, "q2": {"a": 2, "b": 1, "c": 0}})


def evaluate(measures: tuple[str, ...] = ("P(rel=2)@1",), truth: Truth = TRUTH) -> Evaluation:
    first = make_run("first", {"q1": ["a", "x"], "q2": ["a", "b"]})
    second = make_run("second", {"q1": ["b", "a"], "q2": ["b", "a"]})
    return evaluate_runs(
        truth,
        [first, second],
        TREC,
        scoring=ScoringOptions(measures=measures),
        options=EvaluationOptions(),
    )


def grades(settled: int, query_id: str, doc_id: str, **given: int) -> PairGrades:
    return PairGrades(query_id, doc_id, settled, given)


def test_an_annotator_who_grades_otherwise_swaps_the_systems() -> None:
    """By hana, b is highly relevant and a is not, so `second` is first on P(rel=2)@1."""
    pairs = [
        grades(3, "q1", "a", ken=3, hana=1),
        grades(1, "q1", "b", ken=1, hana=3),
        grades(2, "q2", "a", ken=2, hana=1),
        grades(1, "q2", "b", ken=1, hana=2),
    ]
    robustness = measure_robustness(evaluate(), pairs)
    assert robustness is not None
    hana, ken = robustness.by_annotator
    assert (hana.variant, hana.changed_pairs, hana.order.swapped) == ("hana", 4, (("first", "second"),))
    assert (ken.variant, ken.changed_pairs, ken.order.tau) == ("ken", 0, 1.0)
    assert "With hana's own grades, second is above first on P(rel=2)@1." in robustness.sentences


def test_pairs_that_an_annotator_did_not_judge_keep_their_settled_grade() -> None:
    robustness = measure_robustness(evaluate(), [grades(3, "q1", "a", ken=0)])
    assert robustness is not None
    assert robustness.by_annotator[0].changed_pairs == 1
    assert robustness.by_annotator[0].order.swapped == ()


def test_disputed_pairs_are_read_by_their_highest_and_their_lowest_grade() -> None:
    pairs = [
        grades(3, "q1", "a", ken=3, hana=0),
        grades(2, "q2", "a", ken=2, hana=0),
        grades(1, "q1", "b", ken=2, hana=1),
        grades(1, "q2", "b", ken=1, hana=1),
    ]
    robustness = measure_robustness(evaluate(), pairs)
    assert robustness is not None
    lenient, strict = robustness.disputed
    assert (lenient.variant, lenient.changed_pairs, strict.variant, strict.changed_pairs) == (
        "lenient",
        1,
        "strict",
        2,
    )
    assert strict.order.tau is None  # both systems score 0


def test_without_disputed_pairs_there_is_nothing_lenient_or_strict() -> None:
    robustness = measure_robustness(evaluate(), [grades(3, "q1", "a", ken=3)])
    assert robustness is not None
    assert robustness.disputed == ()


def test_a_system_that_alone_found_a_document_loses_when_it_is_left_out() -> None:
    truth = Truth("t", {"q1": {"a": 1, "b": 1, "u": 1}})
    runs = [make_run("first", {"q1": ["a", "b"]}), make_run("second", {"q1": ["a", "u"]})]
    evaluation = evaluate_runs(truth, runs, TREC, scoring=ScoringOptions(measures=("P@2",)))
    robustness = measure_robustness(evaluation)
    assert robustness is not None
    first, second = robustness.left_out
    assert (first.unique_relevant, first.score, first.score_without) == (1, 1.0, 0.5)
    assert (second.unique_relevant, second.score, second.loss) == (1, 1.0, 0.5)
    assert robustness.by_annotator == ()


def test_a_system_that_alone_found_every_relevant_document_scores_0_without_its_pool() -> None:
    truth = Truth("small", {"q1": {"a": 3}})
    runs = [make_run("A", {"q1": ["a"]}), make_run("B", {"q1": ["z"], "q2": ["y"]})]
    evaluation = evaluate_runs(
        truth, runs, TREC, scoring=ScoringOptions(measures=("P@1",)), options=EvaluationOptions()
    )
    robustness = measure_robustness(evaluation)
    assert robustness is not None
    assert [(loss.system, loss.score, loss.score_without) for loss in robustness.left_out] == [
        ("A", 1.0, 0.0),
        ("B", 0.0, 0.0),
    ]


def test_without_ndcg_or_precision_nothing_is_measured() -> None:
    assert measure_robustness(evaluate(("AP",))) is None
    assert describe_robustness(None) == {"order": {"by_annotator": [], "disputed": []}, "left_out": []}


def test_the_description_holds_every_figure() -> None:
    described: Any = describe_robustness(
        measure_robustness(evaluate(), [grades(3, "q1", "a", ken=0, hana=3)])
    )
    assert [entry["variant"] for entry in described["order"]["by_annotator"]] == ["hana", "ken"]
    assert [entry["variant"] for entry in described["order"]["disputed"]] == ["lenient", "strict"]
    first = described["left_out"][0]
    assert first["loss"] == pytest.approx(first["score"] - first["score_without"])
