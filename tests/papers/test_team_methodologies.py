"""The worked examples of the teams' own texts: MRR of the Nablarch design, AP and NDCG@5 of the law-search methodology."""

import pytest

from annotator.evaluation.profiles import find_profile
from annotator.evaluation.records import Truth
from annotator.evaluation.scores.formulas import sum_dcg
from annotator.evaluation.scores.scoring import ScoringOptions, score_runs
from annotator.evaluation.scores.summary import summarize_measure
from tests.unit.evaluation.small_runs import fill_rows, make_run


def test_mrr_of_first_ranks_1_3_2_and_none() -> None:
    truth = Truth("t", {query_id: {"good": 3} for query_id in ("q1", "q2", "q3", "q4")})
    ranked = {"q1": ["good"], "q2": ["a", "b", "good"], "q3": ["a", "good"], "q4": ["a", "b"]}
    table = score_runs(
        truth, [make_run("s", ranked)], find_profile("nablarch"), ScoringOptions(measures=("MRR",))
    )
    # (1 + 1/3 + 1/2 + 0) / 4 = 0.458333; the text prints 0.458.
    assert summarize_measure(table.systems[0], table.measures[0]).value == pytest.approx(0.458333, abs=5e-7)


def test_ap_of_relevant_documents_at_ranks_1_3_and_4() -> None:
    truth = Truth("t", {"q": {"a": 3, "b": 2, "c": 1}})
    table = score_runs(
        truth,
        [make_run("s", {"q": ["a", "x", "b", "c", "y"]})],
        find_profile("law"),
        ScoringOptions(measures=("MAP",)),
    )
    # (1/1 + 2/3 + 3/4) / 3 = 0.805556; the text prints 0.81.
    assert table.systems[0].values["MAP"][0] == pytest.approx(0.805556, abs=5e-7)


def test_linear_ndcg_at_5_of_grades_3_2_0_1_3() -> None:
    grades = [3, 2, 0, 1, 3]
    truth = Truth("t", {"q": {f"d{rank}": grade for rank, grade in enumerate(grades)}})
    ranked = {"q": [f"d{rank}" for rank in range(5)]}
    table = score_runs(
        truth, [make_run("s", ranked)], find_profile("law"), ScoringOptions(measures=("NDCG@5",))
    )
    # 3 + 2/1.585 + 0 + 1/2.322 + 3/2.585 = 5.853; ideal 3, 3, 2, 1, 0: 6.323. The text prints 5.85, 6.33 and 0.92 (0.9257).
    assert sum_dcg(fill_rows([grades]), "grade")[0] == pytest.approx(5.85, abs=5e-3)
    assert table.systems[0].values["NDCG@5"][0] == pytest.approx(0.92, abs=6e-3)
