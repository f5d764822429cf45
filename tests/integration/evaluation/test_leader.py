"""Which system leads on the settled grades of today, and what is said where nobody can tell, on both databases."""

from pathlib import Path

import pytest

from annotator.dataset.service import change_settings
from annotator.domain.errors import NotAllowed
from annotator.domain.people import OPERATOR
from annotator.evaluation.run_findings import NO_GRADES, NO_RUNS
from annotator.evaluation.scores.scoring import ScoringOptions
from annotator.evaluation.service import EvaluationRequest, evaluate_dataset, find_leader
from annotator.pooling.rounds.pool_records import PoolRequest
from annotator.pooling.rounds.rounds_service import make_round
from annotator.storage.database import Database
from tests.integration.evaluated_world import EvaluatedWorld
from tests.integration.judged_world import NOW
from tests.integration.scored_world import ScoredWorld

GOOD, BAD = ["a", "b", "c"], ["d", "e", "f"]


class ManyQueries(ScoredWorld):
    """Twelve queries of which the first document is relevant; `good` and `twin` rank it first, `bad` last."""

    def __init__(self, database: Database, folder: Path) -> None:
        super().__init__(database, folder)
        names = [f"Q{number}" for number in range(1, 13)]
        for name in names[3:]:
            self.query(name, name)
            for doc_id in "abc":
                self.pair(name, doc_id)
        for number, name in enumerate(names):
            for doc_id, grade in zip("abc", (3, number % 2, 0), strict=True):
                self.both(name, doc_id, grade, grade)
        self.rank("bad", {name: ["c", "b", "a"] for name in names})
        self.rank("good", {name: ["a", "b", "c"] for name in names})
        self.rank("twin", {name: ["a", "c", "b"] if name == "Q2" else ["a", "b", "c"] for name in names})


def test_the_leader_is_told_apart_only_from_systems_of_which_a_test_tells(
    database: Database, tmp_path: Path
) -> None:
    ManyQueries(database, tmp_path)
    leader = find_leader(database, OPERATOR, "d")
    assert (leader.system, leader.measure, leader.systems, leader.queries) == ("good", "nDCG@10", 3, 12)
    assert leader.close == ("twin",)
    assert leader.ci95 is not None and leader.score is not None
    assert leader.ci95[0] <= leader.score <= leader.ci95[1]


def test_after_adaptive_rounds_the_expected_order_says_who_comes_first(
    database: Database, tmp_path: Path
) -> None:
    world = ManyQueries(database, tmp_path)
    world.rank("more", {"Q4": ["b", "d"]})
    request = PoolRequest(strategy="adaptive", budget=1)
    assert make_round(database, OPERATOR, "d", request, now=NOW).new == 1
    assert find_leader(database, OPERATOR, "d").system == "good", "no pair of the round is judged yet"
    world.both("Q4", "d", 0, 0)
    leader = find_leader(database, OPERATOR, "d")
    assert leader.system is None
    assert str(leader.why).startswith("good comes first in the expected order by nDCG@10.")


def test_its_score_and_interval_are_those_of_the_evaluation(database: Database, tmp_path: Path) -> None:
    EvaluatedWorld(database, tmp_path)
    leader = find_leader(database, OPERATOR, "d")
    request = EvaluationRequest(scoring=ScoringOptions(measures=("nDCG@10",)))
    systems = evaluate_dataset(database, OPERATOR, "d", request).evaluation.systems
    (summary,) = [system.measures["nDCG@10"] for system in systems if system.system == leader.system]
    assert (leader.score, leader.ci95, leader.queries) == (
        summary.score.value,
        summary.ci95,
        summary.score.queries,
    )
    assert leader.score == max(system.measures["nDCG@10"].score.value or 0.0 for system in systems)
    assert leader.close == tuple(system.system for system in systems if system.system != leader.system)


def test_the_measure_is_that_of_the_datasets_evaluator(database: Database, tmp_path: Path) -> None:
    EvaluatedWorld(database, tmp_path)
    for profile, measure in (("nablarch", "NDCG@5"), ("law", "NDCG@10"), ("document", "Found")):
        change_settings(database, OPERATOR, "d", {"profile": profile}, now=NOW)
        assert find_leader(database, OPERATOR, "d").measure == measure


def test_without_a_run_or_a_grade_it_says_so(database: Database, tmp_path: Path) -> None:
    world = ScoredWorld(database, tmp_path)
    assert find_leader(database, OPERATOR, "d").why == NO_RUNS
    world.rank("bm25", {"Q1": ["a", "b"]})
    leader = find_leader(database, OPERATOR, "d")
    assert (leader.system, leader.why) == (None, NO_GRADES)
    world.both("Q1", "a", 3, 0)
    assert find_leader(database, OPERATOR, "d").why == NO_GRADES, "a disagreement settles nothing"
    world.both("Q1", "b", 2, 2)
    leader = find_leader(database, OPERATOR, "d")
    assert (leader.system, leader.systems, leader.close) == ("bm25", 1, ())
    assert leader.ci95 is None, "one query"


def test_only_leads_learn_it(database: Database, tmp_path: Path) -> None:
    world = EvaluatedWorld(database, tmp_path)
    assert find_leader(database, world.lead, "d").system
    for actor in (world.hanako, world.minjun):
        with pytest.raises(NotAllowed):
            find_leader(database, actor, "d")
