"""Each profile of `annotator evaluate` against the formulas of that team's program, written again in a few lines.

Worlds are random: graded truths, unjudged documents in the runs, queries without relevant documents and without results.
"""

import random
from collections.abc import Callable
from statistics import mean, stdev

import pytest

from annotator.evaluation.profiles import find_profile
from annotator.evaluation.records import ScoreTable, Truth
from annotator.evaluation.scores.scoring import ScoringOptions, score_runs
from annotator.evaluation.scores.summary import measure_latency, measure_spread, summarize_measure
from tests.evaluators.small_truth import RUN, TRUTH, dcg
from tests.unit.evaluation.small_runs import make_run

Listed = dict[str, dict[str, int]]
Found = dict[str, list[str]]
DOCUMENTS = [f"d{number}" for number in range(25)]


def make_world(seed: int) -> tuple[Truth, Found]:
    chance = random.Random(seed)
    grades = {
        f"q{number}": {
            doc_id: chance.choice([0, 0, 1, 2, 3])
            for doc_id in chance.sample(DOCUMENTS, chance.randint(0, 12))
        }
        for number in range(20)
    }
    retrieved = {
        query_id: chance.sample(DOCUMENTS, chance.randint(1, 12))
        for query_id in grades
        if chance.random() < 0.9
    }
    return Truth("world", grades), retrieved


WORLDS = [make_world(seed) for seed in range(5)]
worlds = pytest.mark.parametrize(("truth", "retrieved"), WORLDS)


def score(truth: Truth, retrieved: Found, profile: str, *measures: str, **options: object) -> ScoreTable:
    return score_runs(
        truth,
        [make_run("s", retrieved)],
        find_profile(profile),
        ScoringOptions(measures=measures, **options),  # type: ignore[arg-type]
    )


def compare(table: ScoreTable, name: str, formula: Callable[[str], float], query_ids: list[str]) -> None:
    """The values of every query, their order, and the mean."""
    assert list(table.query_ids) == query_ids
    expected = [formula(query_id) for query_id in query_ids]
    assert table.systems[0].values[name].tolist() == pytest.approx(expected, abs=1e-15)
    measure = next(measure for measure in table.measures if measure.name == name)
    assert summarize_measure(table.systems[0], measure).value == pytest.approx(mean(expected), abs=1e-14)


def list_expected(truth: Truth) -> Listed:
    """What the teams' files hold: documents with a grade from 1."""
    return {
        query_id: {doc_id: grade for doc_id, grade in documents.items() if grade}
        for query_id, documents in truth.grades.items()
    }


def reciprocal_rank(relevant: set[str], retrieved: list[str]) -> float:
    return next((1 / rank for rank, doc_id in enumerate(retrieved, 1) if doc_id in relevant), 0.0)


def precision(relevant: set[str], retrieved: list[str], k: int) -> float:
    return sum(doc_id in relevant for doc_id in retrieved[:k]) / k


def recall(relevant: set[str], retrieved: list[str], k: int) -> float:
    return sum(doc_id in relevant for doc_id in retrieved[:k]) / len(relevant) if relevant else 0.0


def f1(relevant: set[str], retrieved: list[str], k: int) -> float:
    p, r = precision(relevant, retrieved, k), recall(relevant, retrieved, k)
    return 2 * p * r / (p + r) if p + r else 0.0


def average_precision(relevant: set[str], retrieved: list[str]) -> float:
    ranks = [rank for rank, doc_id in enumerate(retrieved, 1) if doc_id in relevant]
    return sum(count / rank for count, rank in enumerate(ranks, 1)) / len(relevant)


def ndcg(gains: dict[str, float], retrieved: list[str], k: int) -> float:
    ideal = dcg(sorted(gains.values(), reverse=True)[:k])
    return dcg([gains.get(doc_id, 0.0) for doc_id in retrieved[:k]]) / ideal if ideal else 0.0


@worlds
def test_nablarch(truth: Truth, retrieved: Found) -> None:
    expected = list_expected(truth)
    table = score(truth, retrieved, "nablarch", "MRR", "Recall@5", "NDCG@5", "NDCG@10", "Precision@5")
    every = list(truth.grades)  # also a query without any expected document: it adds 0 and counts
    high = {
        query_id: {doc_id for doc_id, grade in documents.items() if grade >= 2}
        for query_id, documents in expected.items()
    }
    compare(table, "MRR", lambda q: reciprocal_rank(set(expected[q]), retrieved.get(q, [])), every)
    compare(table, "Recall@5", lambda q: recall(high[q], retrieved.get(q, []), 5), every)
    compare(table, "Precision@5", lambda q: precision(high[q], retrieved.get(q, []), 5), every)
    for k in (5, 10):
        compare(
            table,
            f"NDCG@{k}",
            lambda q, k=k: ndcg(
                {d: 2.0**grade - 1 for d, grade in expected[q].items()}, retrieved.get(q, []), k
            ),  # type: ignore[misc]
            every,
        )
    assert any(not documents for documents in high.values())


@worlds
def test_law(truth: Truth, retrieved: Found) -> None:
    listed = list_expected(truth)
    table = score(truth, retrieved, "law")
    relevant = {query_id: set(documents) for query_id, documents in listed.items() if documents}
    queries = list(relevant)
    compare(table, "P@5", lambda q: precision(relevant[q], retrieved.get(q, []), 5), queries)
    compare(table, "Recall@10", lambda q: recall(relevant[q], retrieved.get(q, []), 10), queries)
    compare(table, "F1@10", lambda q: f1(relevant[q], retrieved.get(q, []), 10), queries)
    compare(table, "MAP", lambda q: average_precision(relevant[q], retrieved.get(q, [])), queries)
    compare(table, "MRR", lambda q: reciprocal_rank(relevant[q], retrieved.get(q, [])), queries)
    compare(
        table,
        "NDCG@10",
        lambda q: ndcg({d: float(g) for d, g in listed[q].items()}, retrieved.get(q, []), 10),
        queries,
    )
    assert [measure.name for measure in table.measures] == [
        "P@5",
        "Recall@10",
        "F1@10",
        "MAP",
        "NDCG@10",
        "MRR",
    ]


def test_in_a_law_file_that_lists_grade_0_such_a_document_is_relevant() -> None:
    # In the law format every listed document counts; with the same grades in a TREC file grade 0 does not.
    grades = {"q": {"a": 3, "b": 0, "c": 0}}
    retrieved = {"q": ["b", "x", "c", "y", "z"]}
    file = score(
        Truth("law.json", grades, tells_grade_0=False),
        retrieved,
        "law",
        "P@5",
        "Recall@10",
        "MAP",
        "MRR",
        "NDCG@10",
    )
    assert [values[0] for values in file.systems[0].values.values()] == [2 / 5, 2 / 3, (1 + 2 / 3) / 3, 1, 0]
    other = score(Truth("qrels.txt", grades), retrieved, "law", "P@5", "MRR")
    assert [values[0] for values in other.systems[0].values.values()] == [0, 0]


@worlds
def test_survey(truth: Truth, retrieved: Found) -> None:
    lists = {
        query_id: sorted(documents, key=lambda doc_id: -documents[doc_id])  # used at once
        for query_id, documents in list_expected(truth).items()
        if documents
    }
    table = score(truth, retrieved, "survey", "Precision@3", "Recall@3", "NDCG@5")
    queries = list(lists)
    compare(
        table, "Precision@3", lambda q: round(precision(set(lists[q]), retrieved.get(q, []), 3), 2), queries
    )
    compare(table, "Recall@3", lambda q: round(recall(set(lists[q]), retrieved.get(q, []), 3), 2), queries)
    gains = {
        query_id: {doc_id: 2.0 ** (len(listed) - index) - 1 for index, doc_id in enumerate(listed)}
        for query_id, listed in lists.items()
    }
    compare(table, "NDCG@5", lambda q: ndcg(gains[q], retrieved.get(q, []), 5), queries)
    values = table.systems[0].values["Recall@3"].tolist()
    spread = measure_spread(table.systems[0], table.measures[1])
    assert spread is not None
    assert (spread.mean, spread.sd) == (pytest.approx(mean(values)), pytest.approx(stdev(values)))


def test_survey_rounds_halves_as_python_does() -> None:
    # 1/8 = 0.125 is a half exactly and goes to the even digit; numpy and Python agree there. 0.145 is below its half.
    truth = Truth("t", {"q": {f"d{number}": 1 for number in range(200)}})
    table = score(truth, {"q": [f"d{number}" for number in range(29)]}, "survey", "Recall@50", "Precision@8")
    assert table.systems[0].values["Recall@50"].tolist() == [round(29 / 200, 2)] == [0.14]


def test_survey_rounds_what_it_compares_with_its_figures_as_well() -> None:
    truth = Truth("t", {"q": {"d0": 1, "d1": 1, "d2": 1}})
    table = score(truth, {"q": ["d0", "unjudged", "d1"]}, "survey", "Recall@3", "Precision@3")
    scores = table.systems[0]
    for name in ("Recall@3", "Precision@3"):
        for reading in (scores.values, scores.condensed, scores.lowest, scores.highest):
            assert reading[name].tolist() == [round(value, 2) for value in reading[name].tolist()]
        assert scores.lowest[name][0] <= scores.values[name][0] <= scores.highest[name][0]
    assert scores.condensed["Recall@3"].tolist() == [0.67]


@worlds
def test_code(truth: Truth, retrieved: Found) -> None:
    expected = list_expected(truth)
    table = score(truth, retrieved, "code")
    relevant = {query_id: set(documents) for query_id, documents in expected.items() if documents}
    queries = list(relevant)
    compare(table, "MRR", lambda q: reciprocal_rank(relevant[q], retrieved.get(q, [])), queries)
    compare(table, "MAP", lambda q: average_precision(relevant[q], retrieved.get(q, [])), queries)
    for k in (1, 3, 5):

        def hits(query_id: str, k: int = k) -> float:
            return float(bool(relevant[query_id] & set(retrieved.get(query_id, [])[:k])))

        compare(table, f"Hits@{k}", hits, queries)
    compare(table, "P@5", lambda q: precision(relevant[q], retrieved.get(q, []), 5), queries)
    compare(
        table,
        "P_returned@5",
        lambda q: (
            precision(relevant[q], retrieved[q], 5) * 5 / min(5, len(retrieved[q])) if q in retrieved else 0.0
        ),
        queries,
    )
    compare(table, "Recall@5", lambda q: recall(relevant[q], retrieved.get(q, []), 5), queries)
    compare(table, "F1@5", lambda q: f1(relevant[q], retrieved.get(q, []), 5), queries)
    compare(
        table,
        "NDCG@5",
        lambda q: ndcg({d: float(g) for d, g in expected[q].items()}, retrieved.get(q, []), 5),
        queries,
    )


@worlds
def test_document_search(truth: Truth, retrieved: Found) -> None:
    relevant = {query_id: set(documents) for query_id, documents in list_expected(truth).items() if documents}
    table = score(truth, retrieved, "document")
    ranks = {
        q: 1 / value if (value := reciprocal_rank(relevant[q], retrieved.get(q, []))) else None
        for q in relevant
    }
    queries = list(relevant)
    compare(table, "Found", lambda q: float(ranks[q] is not None), queries)
    compare(table, "InTop@3", lambda q: float((ranks[q] or 99) <= 3), queries)
    compare(table, "InTop@10", lambda q: float((ranks[q] or 99) <= 10), queries)
    known_ranks = [round(rank) for rank in ranks.values() if rank is not None]
    first = summarize_measure(table.systems[0], table.measures[0])
    assert (first.value, first.queries) == (pytest.approx(mean(known_ranks)), len(known_ranks))


def test_the_files_worked_by_hand_give_the_same_figures() -> None:
    """Q1 and Q2 of small_truth.py, whose figures stand in the tests of each format."""
    grades: dict[str, dict[str, int]] = {query.query_id: {} for query in TRUTH.queries}
    for qrel in TRUTH.qrels:
        grades[qrel.query_id][qrel.doc_id] = qrel.grade
    truth = Truth("small", grades)
    law = score(truth, RUN, "law", "P@5", "MAP", "NDCG@5")
    assert law.systems[0].values["P@5"].tolist() == [0.6, 0.2]
    assert law.systems[0].values["MAP"].tolist() == pytest.approx([0.588889, 0.5], abs=1e-6)
    assert law.systems[0].values["NDCG@5"].tolist() == pytest.approx([0.661236, 0.630930], abs=1e-6)
    nablarch = score(truth, RUN, "nablarch", "MRR", "Recall@2", "NDCG@3")
    assert nablarch.systems[0].values["Recall@2"].tolist() == [0.5, 0.0]
    assert nablarch.systems[0].values["NDCG@3"].tolist() == pytest.approx([0.574141, 0.630930], abs=1e-6)
    code = score(truth, RUN, "code", "Hits@1", "Hits@2", "NDCG@2")
    assert code.systems[0].values["Hits@1"].tolist() == [0, 0]
    assert code.systems[0].values["NDCG@2"].tolist() == pytest.approx([0.296082, 0.630930], abs=1e-6)


@worlds
def test_an_ideal_from_the_results_is_offered_and_not_comparable(truth: Truth, retrieved: Found) -> None:
    expected = list_expected(truth)
    table = score(truth, retrieved, "law", "NDCG@5", ideal="retrieved")

    def mistaken(query_id: str) -> float:
        top = [float(expected[query_id].get(doc_id, 0)) for doc_id in retrieved.get(query_id, [])[:5]]
        ideal = dcg(sorted(top, reverse=True))
        return dcg(top) / ideal if ideal else 0.0

    compare(table, "NDCG@5", mistaken, [query_id for query_id, documents in expected.items() if documents])
    assert table.comparable is False
    assert "not comparable" not in table.measures[0].formula
    assert table.measures[0].formula.endswith("the best order of these results themselves")


def test_latency_percentiles_are_measured_latencies() -> None:
    run = make_run("s", {"q1": ["a"]})
    latencies = {f"q{number}": float(number * 10) for number in range(1, 21)}
    timed = type(run)(run.system, run.query_ids, run.starts, run.doc_ids, run.codes, latency_ms=latencies)
    truth = Truth("t", {f"q{number}": {"a": 1} for number in range(1, 21)})
    table = score_runs(truth, [timed], find_profile("nablarch"), ScoringOptions(measures=("MRR",)))
    delays = measure_latency(table.systems[0])
    assert delays is not None
    # Nearest rank of 20 values: the 10th, the 19th and the 20th.
    assert (delays.p50, delays.p95, delays.p99, delays.queries) == (100, 190, 200, 20)


def test_tffu_is_the_time_of_the_first_relevant_result_to_arrive() -> None:
    import numpy as np

    run = make_run("s", {"q1": ["x", "b", "a"], "q2": ["x"], "q3": ["a"]})
    times = np.array([10.0, 250.0, 120.0, 5.0, np.nan])
    timed = type(run)(run.system, run.query_ids, run.starts, run.doc_ids, run.codes, times_ms=times)
    truth = Truth("t", {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}, "q3": {"a": 1}})
    table = score_runs(truth, [timed], find_profile("code"), ScoringOptions(measures=("TFFU",)))
    assert table.systems[0].values["TFFU"].tolist() == pytest.approx([120.0, np.nan, np.nan], nan_ok=True)
    assert summarize_measure(table.systems[0], table.measures[0]).value == 120.0
    untimed = score_runs(truth, [run], find_profile("code"), ScoringOptions(measures=("TFFU",)))
    measure = summarize_measure(untimed.systems[0], untimed.measures[0])
    assert (measure.value, measure.why) == (None, "no relevant result has a time (time_ms)")
