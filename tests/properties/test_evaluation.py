"""Scores of runs: equal to other programs' on any input, and bounds that hold for all grades of the unjudged."""

from itertools import product
from math import isnan, log2, nan

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.profiles import TREC
from annotator.evaluation.records import Truth
from annotator.evaluation.scores.formulas import bound_scores, compute_ndcg
from annotator.evaluation.scores.measures import parse_measure_name
from annotator.evaluation.scores.ranking import UNJUDGED, GradeGrid, list_blocks
from annotator.evaluation.scores.scoring import ScoringOptions, score_runs
from tests.unit.evaluation.small_runs import fill_rows, make_scored_run

DOCUMENTS = [f"d{number}" for number in range(8)]
GRADES = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), max_size=7)
RESULTS = st.dictionaries(
    st.sampled_from(DOCUMENTS), st.sampled_from([0.5, 1.0, 1.0 + 1e-9, 2.0, -3.25]), max_size=8
)
SHARED = (
    "nDCG",
    "nDCG@1",
    "nDCG@3",
    "P@1",
    "P@5",
    "R@2",
    "R@20",
    "AP",
    "AP@3",
    "RR",
    "Success@2",
    "Bpref",
    "P(rel=2)@3",
    "R(rel=3)@3",
    "AP(rel=2)",
    "RR(rel=2)",
    "Bpref(rel=2)",
)


@given(
    st.lists(st.tuples(GRADES, RESULTS), min_size=1, max_size=3).filter(
        lambda queries: any(grades and results for grades, results in queries)
    )
)
def test_scores_are_those_of_ir_measures_and_ties_are_broken_as_trec_eval_does(
    queries: list[tuple[dict[str, int], dict[str, float]]],
) -> None:
    qrels = {f"q{at}": grades for at, (grades, _) in enumerate(queries) if grades}
    found = {f"q{at}": results for at, (grades, results) in enumerate(queries) if results and grades}
    if not found:
        return
    run = make_scored_run("s", {query_id: list(results.items()) for query_id, results in found.items()})
    table = score_runs(Truth("t", qrels), [run], TREC, ScoringOptions(measures=SHARED))
    expected = ir_measures.iter_calc([ir_measures.parse_measure(name) for name in SHARED], qrels, found)
    for metric in expected:
        value = table.systems[0].values[str(metric.measure)][table.query_ids.index(metric.query_id)]
        level = metric.measure.params.get("rel", 1)
        if any(max(qrels[query_id].values()) >= level for query_id in table.query_ids):
            assert value == metric.value, metric
        else:  # trec_eval says 0; here a question without any answer has no score
            assert isnan(value), metric
    # trec_eval -J: the condensed list.
    judged = pytrec_eval.RelevanceEvaluator(
        qrels, {"map", "ndcg_cut_3", "P_5"}, judged_docs_only_flag=1
    ).evaluate(found)
    for query_id, values in judged.items():
        row = table.query_ids.index(query_id)
        condensed = table.systems[0].condensed
        undefined = not any(max(qrels[query_id].values()) >= 1 for query_id in table.query_ids)
        assert [condensed[name][row] for name in ("AP", "nDCG@3", "P@5")] == pytest.approx(
            [nan if undefined else values[name] for name in ("map", "ndcg_cut_3", "P_5")],
            rel=0,
            abs=0,
            nan_ok=True,
        )


@given(GRADES.filter(bool), RESULTS.filter(bool))
def test_exponential_gain_is_trec_evals_ndcg_of_the_gains(
    grades: dict[str, int], results: dict[str, float]
) -> None:
    run = make_scored_run("s", {"q": list(results.items())})
    table = score_runs(
        Truth("t", {"q": grades}),
        [run],
        TREC,
        ScoringOptions(measures=("nDCG(dcg='exp-log2')@4", "nDCG@4")),
    )
    gains = {doc_id: 2**grade - 1 for doc_id, grade in grades.items()}
    expected = pytrec_eval.RelevanceEvaluator({"q": gains}, {"ndcg_cut_4"}).evaluate({"q": results})
    value = table.systems[0].values["nDCG(dcg='exp-log2')@4"][0]
    if any(grades.values()):
        assert value == pytest.approx(expected["q"]["ndcg_cut_4"], abs=1e-14)
    else:
        assert isnan(value)


def score_slowly(name: str, top: list[int], truth: list[int]) -> float:
    """A measure of grades in their order, -1 being unjudged, as its definition says it."""
    measure = parse_measure_name(name)
    top = top[: measure.cutoff]
    hits = [grade >= 1 for grade in top]
    relevant = sum(grade >= 1 for grade in truth)
    if measure.kind == "nDCG":

        def dcg(grades: list[int]) -> float:
            gains = [
                2.0 ** max(grade, 0) - 1 if measure.gain == "exponential" else max(grade, 0)
                for grade in grades
            ]
            return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))

        ideal = dcg(sorted(truth, reverse=True)[: measure.cutoff])
        return dcg(top) / ideal if ideal else 0.0
    if measure.kind == "ERR":
        value, reached = 0.0, 1.0
        for rank, grade in enumerate(top, 1):
            stop = (2 ** max(grade, 0) - 1) / 8
            value, reached = value + reached * stop / rank, reached * (1 - stop)
        return value
    if measure.kind == "RBP":
        return sum(0.2 * 0.8**rank for rank, hit in enumerate(hits) if hit)
    if measure.kind == "AP":
        sums = sum(sum(hits[:rank]) / rank for rank, hit in enumerate(hits, 1) if hit)
        return sums / relevant if relevant else 0.0
    if measure.kind == "RR":
        return next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0)
    if measure.kind == "Success":
        return float(any(hits))
    precision = sum(hits) / (measure.cutoff or 1)
    recall = sum(hits) / relevant if relevant else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"P": precision, "R": recall, "F1": f1}[measure.kind]


@pytest.mark.parametrize(
    "name",
    [
        "nDCG@2",
        "nDCG@5",
        "nDCG",
        "nDCG(dcg='exp-log2')@3",
        "nDCG(dcg='exp-log2')",
        "P@3",
        "R@3",
        "F1@3",
        "AP",
        "AP@3",
        "Success@2",
        "RR",
        "RR@2",
        "ERR@4",
        "RBP@4",
    ],
)
@given(
    st.lists(st.sampled_from([-1, -1, 0, 1, 2, 3]), min_size=1, max_size=7).filter(
        lambda top: top.count(-1) <= 4
    ),
    st.lists(st.integers(0, 3), max_size=4),
    st.integers(0, 2),
)
def test_bounds_are_the_lowest_and_highest_value_over_all_grades_of_the_unjudged(
    name: str, top: list[int], others: list[int], elsewhere: int
) -> None:
    """`elsewhere`: unjudged results of other systems, each of which may have grade 0 or 3."""
    measure = parse_measure_name(name)
    unjudged = [rank for rank, grade in enumerate(top[: measure.cutoff]) if grade == UNJUDGED]
    below = top[len(top[: measure.cutoff]) :].count(UNJUDGED) + elsewhere
    known = [grade for grade in top if grade != UNJUDGED] + others
    values = []
    for given_grades in product(range(4), repeat=len(unjudged)):
        graded = list(top)
        for rank, grade in zip(unjudged, given_grades, strict=True):
            graded[rank] = grade
        values += [
            score_slowly(name, graded, [*known, *given_grades, *[3] * relevant])
            for relevant in range(below + 1)
        ]
    grid = GradeGrid(fill_rows([top]), fill_rows([sorted(known, reverse=True)]))
    bounds = bound_scores(grid, measure, 1, np.array([top.count(UNJUDGED) + elsewhere]))
    assert bounds is not None
    missing = sum(0.2 * 0.8**rank for rank in range(len(top), 4)) if measure.kind == "RBP" else 0.0
    assert bounds[0][0] == pytest.approx(min(values), abs=1e-12)
    assert bounds[1][0] == pytest.approx(max(values) + missing, abs=1e-12)


@given(st.lists(st.lists(st.sampled_from([-1, 0, 1, 2, 3]), max_size=6), min_size=1, max_size=5))
def test_queries_side_by_side_score_as_each_alone(rows: list[list[int]]) -> None:
    ideals = [sorted((grade for grade in row if grade >= 0), reverse=True) for row in rows]
    together = GradeGrid(fill_rows(rows), fill_rows(ideals))
    unjudged = np.array([row.count(UNJUDGED) + 1 for row in rows])
    for name in ("nDCG@3", "R@3", "ERR@5", "AP"):
        measure = parse_measure_name(name)
        bounds = bound_scores(together, measure, 1, unjudged)
        assert bounds is not None
        for row, (top, ideal) in enumerate(zip(rows, ideals, strict=True)):
            grid = GradeGrid(fill_rows([top]), fill_rows([ideal]))
            alone = bound_scores(grid, measure, 1, unjudged[row : row + 1])
            assert alone is not None
            assert [bound[row] for bound in bounds] == [bound[0] for bound in alone]
    assert len(compute_ndcg(together, cutoff=3, gain="grade")) == len(rows)


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 100))
def test_blocks_hold_every_query_once_and_stay_small(widths: list[int], max_cells: int) -> None:
    blocks = list(list_blocks(widths, max_cells=max_cells))
    assert [at for first, last in blocks for at in range(first, last)] == list(range(len(widths)))
    for first, last in blocks:
        assert last - first == 1 or max(widths[first:last]) * (last - first) <= max_cells


def test_one_query_with_a_long_list_does_not_widen_the_others() -> None:
    blocks = list(list_blocks([10] * 100 + [1_000_000] + [10] * 100))
    cells = sum(
        (last - first) * max(([10] * 100 + [1_000_000] + [10] * 100)[first:last]) for first, last in blocks
    )
    assert cells <= 2 * 1_000_000 + 2_000
