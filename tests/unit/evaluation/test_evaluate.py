"""A whole evaluation: intervals, groups, comparisons, what the dataset can tell, and what is refused."""

from collections.abc import Iterator

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from annotator.domain.errors import ValidationError
from annotator.evaluation.evaluate import Evaluation, EvaluationOptions, cut_run, evaluate_runs
from annotator.evaluation.profiles import TREC
from annotator.evaluation.records import RankedRun, Truth
from annotator.evaluation.scores.scoring import ScoringOptions
from annotator.pooling.one_thread import OneThread
from tests.unit.evaluation.small_runs import make_run

QUERIES = [f"q{number:02d}" for number in range(30)]
TRUTH = Truth(
    "t",
    {query_id: {"a": 3, "b": 2, "c": 1, "d": 0, "e": 0} for query_id in QUERIES},
    fields={query_id: {"category": "x" if query_id < "q15" else "y"} for query_id in QUERIES},
)


def make_system(name: str, seed: int, *, good: float) -> RankedRun:
    """With the chance `good` a query's documents come in the best order, else in a random one."""
    random = np.random.default_rng(seed)
    ranked = {
        query_id: list("abcde") if random.random() < good else list(random.permutation(list("abcde")))
        for query_id in QUERIES
    }
    return make_run(name, ranked)


def evaluate(
    *runs: RankedRun, measures: tuple[str, ...] = ("nDCG@10", "P@2"), **options: object
) -> Evaluation:
    return evaluate_runs(
        TRUTH,
        runs,
        TREC,
        scoring=ScoringOptions(measures=measures),
        options=EvaluationOptions(**options),  # type: ignore[arg-type]
    )


GOOD, MIDDLE, BAD = (
    make_system("good", 1, good=1.0),
    make_system("middle", 2, good=0.4),
    make_system("bad", 3, good=0.0),
)


def test_an_evaluation_computes_on_one_thread_and_leaves_the_others_as_they_were() -> None:
    def count_threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    during: list[set[int]] = []

    def read_runs() -> Iterator[RankedRun]:
        during.append(count_threads())
        yield make_system("one", 1, good=0.9)

    with threadpool_limits(limits=2, user_api="blas"):
        evaluate_runs(TRUTH, read_runs(), TREC)
        assert during == [{1}]
        assert count_threads() == {2}


def test_of_two_evaluations_at_once_the_last_to_end_gives_the_threads_back() -> None:
    def count_threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    one_thread = OneThread()
    with threadpool_limits(limits=2, user_api="blas"):
        first, second = one_thread.limit(), one_thread.limit()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert count_threads() == {1}
        second.__exit__(None, None, None)
        assert count_threads() == {2}


def test_every_mean_has_an_interval_by_query() -> None:
    evaluation = evaluate(MIDDLE)
    summary = evaluation.systems[0].measures["nDCG@10"]
    assert summary.score.value is not None and summary.ci95 is not None and summary.spread is not None
    low, high = summary.ci95
    assert low < summary.score.value < high
    error = summary.spread.sd / np.sqrt(30) if summary.spread.sd else 0
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.15)


def test_every_two_systems_are_compared_on_every_measure() -> None:
    evaluation = evaluate(GOOD, MIDDLE, BAD)
    assert [(c.measure, c.a, c.b) for c in evaluation.comparisons] == [
        (measure, a, b)
        for measure in ("nDCG@10", "P@2")
        for a, b in (("good", "middle"), ("good", "bad"), ("middle", "bad"))
    ]
    assert evaluation.comparisons[1].significant
    assert any(
        sentence.startswith("good is better than bad on nDCG@10 by ") for sentence in evaluation.sentences
    )


def test_one_system_is_compared_with_none() -> None:
    evaluation = evaluate(GOOD)
    assert evaluation.comparisons == ()
    assert evaluation.dataset.order == {}
    assert not any("chance" in sentence for sentence in evaluation.sentences)


def test_systems_that_chance_could_explain_are_said_to_be_so() -> None:
    evaluation = evaluate(make_system("x", 5, good=0.5), make_system("y", 6, good=0.5))
    assert "No significant difference between systems (Holm, p ≥ .05)." in evaluation.sentences


def test_identical_systems_are_said_to_be_the_same() -> None:
    evaluation = evaluate(MIDDLE, make_system("copy", 2, good=0.4))
    assert evaluation.comparisons[0].verdict == "middle and copy have the same nDCG@10 on every query."
    assert not any("Chance can explain" in sentence for sentence in evaluation.sentences)


def test_groups_of_queries_are_scored_apart_and_name_the_best_system() -> None:
    evaluation = evaluate(GOOD, BAD, group_by=("category",))
    first, second = evaluation.groups
    assert (first.field, first.value, first.queries, second.value, second.queries) == (
        "category",
        "x",
        15,
        "y",
        15,
    )
    whole = evaluation.systems[1].measures["nDCG@10"].score.value
    parts = [group.systems[1].measures["nDCG@10"].score.value for group in evaluation.groups]
    assert whole == pytest.approx(np.mean([part for part in parts if part is not None]))
    assert first.best["nDCG@10"] == ("good",)


def test_a_field_that_no_query_has_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValidationError, match=r"field 'language'\. Choose one of: category"):
        evaluate(GOOD, group_by=("language",))


def test_the_baseline_is_the_first_system_of_every_comparison() -> None:
    evaluation = evaluate(GOOD, MIDDLE, BAD, baseline="bad")
    assert {c.a for c in evaluation.comparisons} == {"bad"}


def test_an_unknown_baseline_is_refused_with_the_systems_there_are() -> None:
    with pytest.raises(ValidationError, match=r"There is no system 'best'\. Choose one of: good, bad"):
        evaluate(GOOD, BAD, baseline="best")


def test_no_run_is_refused() -> None:
    with pytest.raises(ValidationError, match="expected at least one run, found none"):
        evaluate()


def test_saturation_is_said_before_everything_else() -> None:
    evaluation = evaluate(GOOD, make_system("copy", 9, good=1.0), measures=("RR", "nDCG@10"))
    assert evaluation.sentences[:2] == (
        "good and copy have the same scores on every query: there is no difference to test.",
        "RR cannot rank these systems: 30 of 30 queries give 1.0 to all of them.",
    )


def test_gains_that_name_different_winners_are_said_to() -> None:
    """A has the grade 3 document first, then nothing; B has all documents of grade 2 and 1 before it."""
    truth = Truth("t", {"q1": {"a": 3, "b": 2, "c": 2, "x": 0}, "q2": {"a": 3, "b": 2, "c": 2, "x": 0}})
    a = make_run("A", {"q1": ["a", "x", "x2"], "q2": ["a", "x", "x2"]})
    b = make_run("B", {"q1": ["b", "c", "x"], "q2": ["b", "c", "x"]})
    measures = ("nDCG@3", "nDCG(dcg='exp-log2')@3")
    evaluation = evaluate_runs(truth, [a, b], TREC, scoring=ScoringOptions(measures=measures))
    assert "nDCG@3 names B as the best system, nDCG(dcg='exp-log2')@3 names A." in evaluation.sentences


def test_few_judged_documents_are_said_with_the_system_and_measure() -> None:
    unjudged = make_run("new", {query_id: ["n1", "n2", "n3", "a"] for query_id in QUERIES})
    evaluation = evaluate(GOOD, unjudged)
    assert (
        "Only 0 % of the documents that count for P@2 are judged for new. With all systems' "
        "results judged, its 0.00 could be anything from 0.00 to 1.00." in evaluation.sentences
    )
    assert evaluation.dataset.holes is not None
    assert evaluation.dataset.holes.by_system == {"good": 0, "new": 90}


def test_recall_that_other_systems_results_can_lower_is_said_to_be_perhaps_too_high() -> None:
    """Everything that `good` lists is judged. Each of three unjudged results of `new` may be relevant."""
    truth = Truth("t", {"q1": {"a": 3, "b": 1}, "q2": {"a": 1, "b": 0}})
    good = make_run("good", {"q1": ["a", "b"], "q2": ["a", "b"]})
    new = make_run("new", {"q1": ["a", "n1", "n2", "n3"], "q2": ["b", "a"]})
    evaluation = evaluate_runs(truth, [good], TREC, scoring=ScoringOptions(measures=("R@10", "AP")))
    assert [summary.score.bounds for summary in evaluation.systems[0].measures.values()] == [(1.0, 1.0)] * 2
    evaluation = evaluate_runs(truth, [good, new], TREC, scoring=ScoringOptions(measures=("R@10", "AP")))
    scores = [summary.score for summary in evaluation.systems[0].measures.values()]
    assert [score.bounds for score in scores] == [(pytest.approx(0.7), 1.0)] * 2  # 2 of 5 and 1 of 1
    assert all(score.may_fall and not score.may_rise for score in scores)
    evaluation = evaluate_runs(
        truth,
        [good, make_run("new", {"q1": ["a", "b", *"cdefghijklmnopqrst", "n1"], "q2": ["a"]})],
        TREC,
        scoring=ScoringOptions(measures=("P@2", "R@2")),
    )
    assert (
        "R@2 of good may be too high: with all systems' results judged, its 1.00 could fall to 0.55."
        in evaluation.sentences
    )


def test_the_measure_that_orders_systems_is_the_one_that_is_named_at_any_cutoff() -> None:
    """Only the 12th result of B is unjudged: nDCG@10 could not tell, nDCG@100 can."""
    truth = Truth("t", {"q": {"a": 1, **{f"x{number}": 0 for number in range(11)}}})
    listed = ["a", *(f"x{number}" for number in range(10))]
    runs = [make_run("A", {"q": [*listed, "x10"]}), make_run("B", {"q": [*listed, "h"]})]
    evaluation = evaluate_runs(truth, runs, TREC, scoring=ScoringOptions(measures=("nDCG@100",)))
    need = evaluation.dataset.holes
    assert need is not None
    assert (need.measure, need.cutoff, len(need.open_orders)) == ("nDCG@100", 100, 1)
    assert [hole.ranks for hole in need.holes] == [{"B": 12}]


@pytest.mark.parametrize(
    ("relevant_from", "count", "sentence"),
    [
        (1, 1, "1 of 2 queries has a single document of grade 1 or more."),
        (2, 2, "2 of 2 queries have a single document of grade 2 or more."),
    ],
)
def test_queries_with_one_relevant_document_are_counted_with_the_threshold(
    relevant_from: int, count: int, sentence: str
) -> None:
    truth = Truth("t", {"q1": {"a": 3}, "q2": {"a": 3, "b": 1}})
    scoring = ScoringOptions(measures=("R@10", "nDCG@10"), relevant_from=relevant_from)
    evaluation = evaluate_runs(truth, [make_run("s", {"q1": ["a"], "q2": ["b"]})], TREC, scoring=scoring)
    assert evaluation.dataset.single_relevant == count
    assert sentence in evaluation.sentences


def test_one_query_has_no_interval_and_allows_no_test() -> None:
    truth = Truth("t", {"q1": {"a": 3, "b": 0}})
    evaluation = evaluate_runs(truth, [make_run("s", {"q1": ["a"]}), make_run("r", {"q1": ["b"]})], TREC)
    assert evaluation.systems[0].measures["nDCG@10"].ci95 is None
    assert evaluation.comparisons[0].p_holm is None
    assert evaluation.comparisons[0].verdict.endswith("one query allows no test.")


def test_the_share_of_judged_documents_and_undefined_measures_are_not_compared() -> None:
    evaluation = evaluate(GOOD, BAD, measures=("Judged@10", "AP"))
    assert {comparison.measure for comparison in evaluation.comparisons} == {"AP"}


def test_queries_without_results_are_compared_only_where_both_systems_have_some() -> None:
    part = make_run("part", {query_id: ["a", "b"] for query_id in QUERIES[:10]})
    whole = evaluate_runs(TRUTH, [GOOD, part], TREC, scoring=ScoringOptions(measures=("P@2",)))
    answered = evaluate_runs(
        TRUTH, [GOOD, part], TREC, scoring=ScoringOptions(measures=("P@2",), complete=False)
    )
    assert whole.comparisons[0].queries == 30
    assert answered.comparisons[0].queries == 10


def test_the_same_seed_gives_the_same_figures() -> None:
    first, again = evaluate(MIDDLE, BAD, seed=3), evaluate(MIDDLE, BAD, seed=3)
    assert first.systems == again.systems
    assert first.comparisons == again.comparisons
    assert first.sentences == again.sentences


def test_a_cut_run_keeps_the_first_results_of_every_query() -> None:
    run = make_run("s", {"q1": ["a", "b", "c"], "q2": ["d"]})
    cut = cut_run(run, 2)
    assert [cut.list_documents(index) for index in range(2)] == [["a", "b"], ["d"]]
    assert set(cut.doc_ids) == {"a", "b", "d"}


def test_without_a_shown_difference_the_first_sentences_say_what_the_queries_could_show() -> None:
    close = make_system("close", 3, good=0.5)
    evaluation = evaluate(close, make_system("closer", 4, good=0.5), measures=("P@1", "nDCG@10"))
    shown = [sentence for sentence in evaluation.sentences if "queries can show a difference of" in sentence]
    assert len(shown) == 1
    assert "on nDCG@10" in shown[0]
    assert not any("queries can show" in sentence for sentence in evaluate(GOOD, BAD).sentences)


def test_a_difference_that_only_a_later_measure_shows_is_among_the_first_sentences() -> None:
    """RR gives both systems 1 on every query; nDCG tells them apart."""
    truth = Truth("t", {query_id: {"a": 1, "b": 3} for query_id in QUERIES})
    first = make_run("first", {query_id: ["a", "x", "y"] for query_id in QUERIES})
    second = make_run("second", {query_id: ["b", "a", "y"] for query_id in QUERIES})
    evaluation = evaluate_runs(
        truth, [first, second], TREC, scoring=ScoringOptions(measures=("RR", "nDCG@10"))
    )
    assert any(
        sentence.startswith("second is better than first on nDCG@10") for sentence in evaluation.sentences
    )


def test_systems_that_nothing_tells_apart_are_named_once_and_their_measures_together() -> None:
    measures = ("RR", "AP", "P@1", "R@10", "nDCG@10")
    evaluation = evaluate(GOOD, make_system("copy", 9, good=1.0), measures=measures)
    same = "good and copy have the same scores on every query: there is no difference to test."
    together = "5 of 5 measures, such as RR, cannot rank these systems: all of them score 0.99 or more, or within 0.005 of each other."
    assert evaluation.sentences[:2] == (same, together)
    assert not any(sentence.startswith("AP cannot rank") for sentence in evaluation.sentences)


def test_measures_that_rest_on_few_queries_are_named_together_if_there_are_many() -> None:
    truth = Truth("t", {query_id: {"a": 1, "b": 3} for query_id in QUERIES})
    usual = {query_id: ["b", "a"] for query_id in QUERIES}
    first = make_run("first", usual)
    second = make_run("second", {**usual, QUERIES[0]: ["x", "y", "a"], QUERIES[1]: ["y", "x"]})
    evaluation = evaluate_runs(
        truth, [first, second], TREC, scoring=ScoringOptions(measures=("RR", "AP", "P@1", "nDCG@10"))
    )
    assert any(
        sentence.startswith("4 of 4 measures, such as RR, depend on fewer than half of the queries")
        for sentence in evaluation.sentences
    )
