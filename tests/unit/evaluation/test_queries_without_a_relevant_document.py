"""Queries without a relevant document give 0 to every system. No system is blamed for them."""

from datetime import UTC, datetime

import pytest

from annotator.domain.errors import ValidationError
from annotator.evaluation.evaluate import Evaluation, EvaluationOptions, evaluate_runs
from annotator.evaluation.profiles import Target, find_profile
from annotator.evaluation.records import Grades, Truth
from annotator.evaluation.reports.recommendations import recommend
from annotator.evaluation.reports.report_values import render_markdown
from annotator.evaluation.scores.scoring import ScoringOptions
from annotator.evaluation.targets import check_targets
from annotator.web.kit.messages import tr
from tests.unit.evaluation.small_runs import make_run

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
HALF: Grades = {f"q{number}": {"a": 3 if number < 5 else 0, "b": 0} for number in range(10)}


def evaluate(
    grades: Grades, *ranked: str, profile: str = "trec", relevant_from: int | None = None
) -> Evaluation:
    run = make_run("s", {query_id: list(ranked) for query_id in grades})
    fields = {query_id: {"half": str(number // 5)} for number, query_id in enumerate(grades)}
    scoring = ScoringOptions(measures=("RR", "R@10", "nDCG@10", "P@1"), relevant_from=relevant_from)
    options = EvaluationOptions(resamples=20, group_by=("half",))
    truth = Truth("t", grades, fields=fields)
    if profile != "trec":
        scoring = ScoringOptions()
    return evaluate_runs(truth, [run], find_profile(profile), scoring=scoring, options=options)


def test_a_sentence_counts_them_and_says_the_highest_possible_mean() -> None:
    evaluation = evaluate(HALF, "a", "b")
    assert evaluation.systems[0].measures["RR"].score.value == 0.5
    assert evaluation.sentences[0] == (
        "5 of 10 queries have no document of grade 1 or more. "
        "There RR is 0 for every system; its highest possible mean is 0.500."
    )


def test_a_perfect_system_gets_no_advice_and_meets_its_target() -> None:
    evaluation = evaluate(HALF, "a", "b")
    assert recommend(evaluation)[0] == []
    (check,) = check_targets(evaluation.table, [Target("RR", minimum=0.7)])
    assert (check.measured, check.met) == (1.0, True)
    assert check.note == "only queries with a relevant document: 5 of 10"


def test_a_poor_system_still_gets_advice_for_the_other_queries() -> None:
    evaluation = evaluate(HALF, "b", "a")
    assert any("s (0.500)" in applied.applies_to for applied in recommend(evaluation)[0])
    (check,) = check_targets(evaluation.table, [Target("RR", minimum=0.7)])
    assert (check.measured, check.met) == (0.5, False)


def test_the_lowest_relevant_grade_decides() -> None:
    grades: Grades = {"q0": {"a": 2}, "q1": {"a": 1}}
    evaluation = evaluate(grades, "a", relevant_from=2)
    assert evaluation.table.answerable["RR"].tolist() == [True, False]
    assert evaluation.table.answerable["nDCG@10"].tolist() == [True, True]


def test_a_truth_without_any_relevant_document_gives_no_score_but_the_reason() -> None:
    evaluation = evaluate({"q0": {"a": 0}, "q1": {"b": 0}}, "a", "b")
    for name in ("RR", "R@10", "nDCG@10", "P@1"):
        summary = evaluation.systems[0].measures[name]
        assert (summary.score.value, summary.ci95) == (None, None)
        assert summary.score.why == "no query has a relevant document"


@pytest.mark.parametrize("profile", ["law", "survey", "code", "document"])
def test_a_profile_of_relevant_documents_says_that_there_are_none(profile: str) -> None:
    with pytest.raises(ValidationError, match="found none with a relevant document"):
        evaluate({"q0": {"a": 0}, "q1": {"b": 0}}, "a", profile=profile)


def test_systems_without_any_score_are_not_called_alike() -> None:
    grades: Grades = {"q0": {"a": 0}, "q1": {"b": 0}}
    runs = [
        make_run(name, {query_id: list(ranked) for query_id in grades})
        for name, ranked in (("s", "ab"), ("t", "ba"))
    ]
    scoring = ScoringOptions(measures=("RR", "nDCG@10"))
    evaluation = evaluate_runs(
        Truth("t", grades),
        runs,
        find_profile("trec"),
        scoring=scoring,
        options=EvaluationOptions(resamples=20),
    )
    assert evaluation.comparisons == ()
    assert not any("same scores" in sentence for sentence in evaluation.sentences)


def test_a_score_that_no_grade_can_change_is_not_called_uncertain() -> None:
    grades: Grades = {f"q{number}": {"a": 3} for number in range(3)}
    evaluation = evaluate(grades, "a", "x", "y", profile="document")
    assert evaluation.systems[0].measures["Found"].score.judged == pytest.approx(1 / 3)
    assert not any("could be anything" in sentence for sentence in evaluation.sentences)


def test_queries_that_a_profile_leaves_out_are_counted_with_the_reason() -> None:
    evaluation = evaluate({"q0": {"a": 3}, "q1": {"a": 0}, "q2": {}}, "a", profile="law")
    assert any(
        sentence.startswith("2 queries are in no mean, such as q1") for sentence in evaluation.sentences
    ), evaluation.sentences


def test_a_report_marks_no_target_as_missed_because_of_them() -> None:
    evaluation = evaluate(HALF, "a", "b", profile="nablarch")
    report = render_markdown(evaluation, tr=tr, made_at=NOW, program="annotator 1.0")
    assert "✗" not in report.replace("✗: the target is missed.", "")
    assert "✗: the target is missed. Targets count only queries with a relevant document." in report
    report = render_markdown(
        evaluate(HALF, "b", "a", profile="nablarch"), tr=tr, made_at=NOW, program="annotator 1.0"
    )
    assert "0.250 ✗" in report


def test_a_group_without_any_relevant_document_has_no_score_but_the_reason() -> None:
    (with_some, without) = evaluate(HALF, "a", "b").groups
    assert (with_some.systems[0].measures["RR"].score.value, with_some.value) == (1.0, "0")
    score = without.systems[0].measures["RR"].score
    assert (score.value, score.why) == (None, "no query of this group has a relevant document")
    assert set(map(tuple, without.best.values())) == {()}


def test_each_threshold_has_its_own_sentence() -> None:
    grades: Grades = {"q0": {"a": 3}, "q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}}
    sentences = evaluate(grades, "a", profile="nablarch").sentences
    assert sentences[:2] == (
        "1 of 4 queries has no document of grade 1 or more. There MRR is 0 for every system; its highest possible mean is 0.750.",
        "3 of 4 queries have no document of grade 2 or more. There Recall@5 is 0 for every system; its highest possible mean is 0.250.",
    )
