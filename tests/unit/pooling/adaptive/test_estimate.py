"""The estimated order of the systems: right where everything is judged, honest where not."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from annotator.evaluation.dataset_analysis.system_order import compute_tau
from annotator.pooling.adaptive.choice import choose_pairs, estimate_order
from annotator.pooling.adaptive.measures import read_measure, score_expected
from annotator.pooling.adaptive.records import UNJUDGED, AdaptiveSettings, CandidateTable, build_candidates
from annotator.pooling.adaptive.relevance_model import describe_ranks, fit_grades, forecast_grades

SYSTEMS, QUERIES, DOCUMENTS, DEPTH = 12, 30, 150, 20


@pytest.fixture(scope="module")
def judged() -> CandidateTable:
    """Everything judged; the systems' qualities differ."""
    random = np.random.default_rng(7)
    truth = np.where(
        random.random((QUERIES, DOCUMENTS)) < 0.06, random.integers(1, 4, (QUERIES, DOCUMENTS)), 0
    )
    shared = random.normal(size=(QUERIES, DOCUMENTS))
    entries = []
    for system in range(SYSTEMS):
        noise = 0.7 * shared + random.normal(size=(QUERIES, DOCUMENTS))
        order = np.argsort(-(truth * (0.5 + 0.06 * system) + noise), axis=1)[:, :DEPTH]
        entries += [
            (system, query, document, rank)
            for query in range(QUERIES)
            for rank, document in enumerate(order[query].tolist(), 1)
        ]
    table = build_candidates(*np.array(entries).T, system_count=SYSTEMS, query_count=QUERIES)
    return replace(table, grades=truth[table.queries, table.documents].astype(np.int8))


@pytest.fixture(scope="module")
def half_judged(judged: CandidateTable) -> CandidateTable:
    """300 pairs judged, in three rounds."""
    table = replace(judged, grades=np.full(len(judged.grades), UNJUDGED, dtype=np.int8))
    for seed in range(3):
        rows = choose_pairs(table, AdaptiveSettings(100, seed=seed))
        grades = table.grades.copy()
        grades[rows] = judged.grades[rows]
        table = replace(table, grades=grades)
    return table


@pytest.mark.parametrize("measure", ["nDCG@10", "P@5", "AP"])
def test_the_scores_equal_those_of_trec_eval_if_everything_is_judged(
    judged: CandidateTable, measure: str
) -> None:
    import ir_measures

    estimate = estimate_order(judged, AdaptiveSettings(0, measure))
    qrels = {str(query): {} for query in range(QUERIES)}
    for query, document, grade in zip(judged.queries, judged.documents, judged.grades, strict=True):
        qrels[str(query)][str(document)] = int(grade)
    name = ir_measures.parse_measure(measure)
    for system in range(SYSTEMS):
        run = {str(query): {} for query in range(QUERIES)}
        for row in np.flatnonzero(judged.ranks[:, system]):
            query, document = str(judged.queries[row]), str(judged.documents[row])
            run[query][document] = float(1000 - judged.ranks[row, system])
        expected = ir_measures.calc_aggregate([name], qrels, run)[name]
        assert estimate.scores[system] == pytest.approx(expected, abs=1e-6)
    assert estimate.open_orders == ()


@pytest.mark.parametrize("measure", ["nDCG@10", "nDCG@3", "P@5", "AP"])
def test_the_gradient_is_the_derivative_of_the_scores(judged: CandidateTable, measure: str) -> None:
    """Raise the chance of each level by the same share, as a better forecast would."""
    random = np.random.default_rng(1)
    chances = np.sort(random.random((len(judged.grades), 3)) * 0.6, axis=1)[:, ::-1]
    wanted = read_measure(measure)
    start = score_expected(judged, wanted, chances)
    steps = np.array(wanted.steps)
    for row in random.integers(0, len(judged.grades), 20):
        raised = chances.copy()
        raised[row] *= 1 + 1e-4
        gain = (raised[row] - chances[row]) @ steps
        slope = (score_expected(judged, wanted, raised).scores - start.scores) / gain
        # nDCG takes a Poisson number of further documents and averages over levels: nearly the same
        assert slope == pytest.approx(start.gradient[row], abs=3e-2 * float(np.abs(start.gradient).max()))


def test_a_relevant_document_far_down_in_every_list_lowers_ndcg(judged: CandidateTable) -> None:
    chances = np.sort(np.random.default_rng(2).random((len(judged.grades), 3)) * 0.3, axis=1)[:, ::-1]
    gradient = score_expected(judged, read_measure("nDCG@10"), chances).gradient
    is_deep = ~((judged.ranks > 0) & (judged.ranks <= 10)).any(axis=1)
    assert is_deep.any()
    assert (gradient[is_deep] < 0).all()


def test_the_order_after_a_fifth_of_the_judgments_is_nearly_the_full_one(
    judged: CandidateTable, half_judged: CandidateTable
) -> None:
    assert (half_judged.grades != UNJUDGED).mean() < 0.25
    full = estimate_order(judged, AdaptiveSettings(0)).scores
    estimate = estimate_order(half_judged, AdaptiveSettings(0))
    assert (compute_tau(full, estimate.scores) or 0) >= 0.9


def test_few_pairs_of_systems_swap_in_the_end_unless_they_are_listed_as_open(
    judged: CandidateTable, half_judged: CandidateTable
) -> None:
    full = estimate_order(judged, AdaptiveSettings(0)).scores
    estimate = estimate_order(half_judged, AdaptiveSettings(0))
    listed = {frozenset((order.higher, order.lower)) for order in estimate.open_orders}
    others = [pair for pair in combinations(range(SYSTEMS), 2) if frozenset(pair) not in listed]
    wrong = [(a, b) for a, b in others if (estimate.scores[a] - estimate.scores[b]) * (full[a] - full[b]) < 0]
    assert listed and len(wrong) <= 0.05 * len(others)


def test_open_orders_are_sorted_and_name_the_leader_first(half_judged: CandidateTable) -> None:
    grades = half_judged.grades.copy()
    grades[half_judged.queries >= QUERIES // 3] = UNJUDGED
    estimate = estimate_order(replace(half_judged, grades=grades), AdaptiveSettings(0))
    assert estimate.open_orders
    chances = [order.swap_probability for order in estimate.open_orders]
    assert chances == sorted(chances, reverse=True)
    for order in estimate.open_orders:
        assert estimate.scores[order.higher] - estimate.scores[order.lower] == order.difference >= 0
        assert 0.05 < order.swap_probability <= 0.5
    assert len(set(chances)) > 1


def test_an_unjudged_document_does_not_count_as_not_relevant(half_judged: CandidateTable) -> None:
    """Counted as 0, the scores would not hold the expected grades of the others."""
    estimate = estimate_order(half_judged, AdaptiveSettings(0, "P@5"))
    as_zero = score_expected(
        half_judged,
        read_measure("P@5"),
        (half_judged.grades[:, None] >= np.array([1, 2, 3])).astype(float),
    )
    assert (estimate.scores > as_zero.scores).all()


def test_forecasts_are_right_on_average(judged: CandidateTable, half_judged: CandidateTable) -> None:
    model = fit_grades(half_judged, describe_ranks(half_judged))
    rows = np.flatnonzero(half_judged.grades == UNJUDGED)
    chances = forecast_grades(model, rows).chances
    assert (np.diff(chances, axis=1) <= 0).all()
    likely = chances[:, 0] > np.median(chances[:, 0])
    relevant = judged.grades[rows] > 0
    assert relevant[likely].mean() > relevant[~likely].mean()
    assert chances[:, 0].mean() == pytest.approx(relevant.mean(), abs=0.06)


def test_a_shallow_pool_does_not_make_the_fit_diverge() -> None:
    """Only the top of long lists is judged, so the features of all judged documents are far from their mean."""
    random = np.random.default_rng(3)
    entries = []
    for system in range(20):
        for query in range(20):
            own = 1000 * (system + 1) + random.permutation(400)[:100]
            documents = np.concatenate([random.permutation(8)[:4], own])
            entries += [
                (system, query, document, rank) for rank, document in enumerate(documents.tolist(), 1)
            ]
    table = build_candidates(*np.array(entries).T, system_count=20, query_count=20)
    top = (table.ranks > 0) & (table.ranks <= 5)
    grades = np.where(table.documents < 3, random.integers(1, 4, len(table.documents)), 0)
    table = replace(table, grades=np.where(top.any(axis=1), grades, UNJUDGED).astype(np.int8))
    model = fit_grades(table, describe_ranks(table))
    assert np.abs(model.beta).max() < 20


def test_two_equal_systems_are_never_open() -> None:
    entries = [(system, query, rank, rank) for system in (0, 1) for query in range(3) for rank in (1, 2, 3)]
    table = build_candidates(*np.array(entries).T, system_count=2, query_count=3)
    estimate = estimate_order(table, AdaptiveSettings(0))
    assert estimate.open_orders == ()
    assert estimate.scores[0] == pytest.approx(estimate.scores[1])
