"""What the choice of a disagreement's grade moves: computed for what is due, and equal to whole evaluations, on both databases."""

import math
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, select
from sqlmodel import col

from annotator.adjudication.impact import impact_service
from annotator.adjudication.impact.impact_service import (
    JudgedRows,
    bring_up_to_date,
    count_steps,
    read_judged,
    recompute,
)
from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.adjudication.queue.queue_service import find_disagreements, list_queue
from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database, lock_dataset
from annotator.storage.lookup import key_of
from annotator.storage.pairs.disagreements import derive_disagreements, list_due, note_all_due
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.adjudication import QueryScoreRow, ScoreTotalRow
from annotator.storage.tables.central import QueryRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW
from tests.integration.scored_world import Grades, ScoredWorld

LATER = NOW + timedelta(hours=1)
STANDING: Grades = {"Q1": {"a": 0, "b": 2, "c": 1}, "Q2": {"a": 1, "d": 2}, "Q3": {"e": 1}}
"""The grades of `world` as they stand: open pairs at the lower median."""
CHOICES: dict[str, list[int | None]] = {"Q1 a": [0, 3], "Q1 c": [1, 2], "Q2 a": [1, 3], "Q2 d": [2, None]}


def make_world(database: Database, folder: Path) -> ScoredWorld:
    """Four disagreements on two queries, and three systems, one of which has nothing for Q2."""
    world = ScoredWorld(database, folder)
    world.both("Q1", "a", 0, 3)
    world.both("Q1", "b", 2, 2)
    world.both("Q1", "c", 2, 1)
    world.judge(world.person("新人"), "Q1", "c", 3, purpose="conditional")
    world.both("Q2", "a", 1, 3)
    world.both("Q2", "d", None, 2)
    world.judge(world.hanako, "Q3", "e", 1)
    world.rank("BM25", {"Q1": ["a", "x", "b"], "Q2": ["d", "a"], "Q3": ["f", "e"]})
    world.rank("벡터", {"Q1": ["b", "c", "a"], "Q2": ["a", "b", "d"], "Q3": ["f", "a", "e"]}, first=0)
    world.rank("混合", {"Q1": ["c", "b"], "Q3": ["a", "e"]})
    return world


@pytest.fixture
def world(copy_world: CopyWorld) -> ScoredWorld:
    return copy_world(make_world)


def decide(world: ScoredWorld, query_id: str, doc_id: str, grade: int) -> None:
    pair = pair_key("d", query_id, doc_id)
    seen = show_disagreement(world.database, world.lead, "d", pair, now=NOW).seen
    adjudicate(world.database, world.lead, "d", pair, grade=grade, rationale="第17条", seen=seen, now=LATER)


def test_what_a_choice_moves_is_the_difference_of_whole_evaluations(world: ScoredWorld) -> None:
    assert bring_up_to_date(world.database, "d") == 0
    stored = world.stored()
    assert stored.keys() == CHOICES.keys()
    for name, choice in CHOICES.items():
        query_id, doc_id = name.split()
        assert stored[name] == pytest.approx(world.try_grades(STANDING, query_id, doc_id, choice)), name
    assert {name: impacts[3] for name, impacts in stored.items()} == {
        "Q1 a": 1,
        "Q1 c": 0,
        "Q2 a": 0,
        "Q2 d": 0,
    }


def test_each_query_is_scored_as_the_grades_stand_and_summed_up(world: ScoredWorld) -> None:
    bring_up_to_date(world.database, "d")
    scores, totals = world.scores()
    expected = world.evaluate(STANDING)
    for query_id, systems in scores.items():
        assert systems.keys() == {name for name, run in world.runs.items() if query_id in run}
        for system, system_scores in systems.items():
            assert system_scores == pytest.approx(expected[system][query_id]), (query_id, system)
    assert totals == {
        system: pytest.approx([sum(query[metric] for query in queries.values()) for metric in range(3)])
        for system, queries in expected.items()
    }


def test_a_query_without_anything_relevant_has_no_score_rather_than_0(world: ScoredWorld) -> None:
    world.judge(world.hanako, "Q3", "e", 0)
    bring_up_to_date(world.database, "d")
    assert world.scores()[0]["Q3"]["BM25"] == [None, None, None]


def test_one_decision_leaves_what_everything_computed_anew_comes_to(world: ScoredWorld) -> None:
    bring_up_to_date(world.database, "d")
    decide(world, "Q1", "a", 3)
    world.judge(world.minjun, "Q1", "b", 0)
    bring_up_to_date(world.database, "d")
    stored, (scores, totals) = world.stored(), world.scores()
    for name, choice in {**CHOICES, "Q1 b": [0, 2]}.items():
        query_id, doc_id = name.split()
        if query_id == "Q1":
            grades = {**STANDING, "Q1": {"a": 3, "b": 0, "c": 1}}
            assert stored[name] == pytest.approx(world.try_grades(grades, query_id, doc_id, choice)), name
    with world.database.write() as session:
        note_all_due(session, world.dataset_pk)
    bring_up_to_date(world.database, "d")
    assert {name: impacts[:3] for name, impacts in stored.items()} == {
        name: pytest.approx(impacts[:3]) for name, impacts in world.stored().items()
    }
    assert world.scores()[0] == scores
    assert world.scores()[1] == {system: pytest.approx(sums) for system, sums in totals.items()}


def test_a_decision_computes_its_own_query_and_no_other(world: ScoredWorld) -> None:
    bring_up_to_date(world.database, "d")
    world.judge(world.hanako, "Q1", "f", 3)
    world.judge(world.hanako, "Q2", "f", 3)
    assert world.due() == {"Q1", "Q2"}
    with world.database.write() as session:
        lock_dataset(session, world.dataset_pk)
        query_pk = min(list_due(session, world.dataset_pk))
        recompute(session, world.dataset_pk, [query_pk])
    assert world.due() == {"Q2"}
    grades = {**STANDING, "Q1": {**STANDING["Q1"], "f": 3}}
    assert world.stored()["Q1 a"] == pytest.approx(world.try_grades(grades, "Q1", "a", [0, 3]))


def test_as_long_as_the_sums_are_not_known_a_decision_leaves_its_query_due(world: ScoredWorld) -> None:
    with world.database.write() as session:
        queries = list_due(session, world.dataset_pk)
        recompute(session, world.dataset_pk, queries)
    assert world.due() == {"Q1", "Q2", "Q3"}


def test_a_decision_on_many_queries_at_once_leaves_them_due(
    world: ScoredWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_up_to_date(world.database, "d")
    monkeypatch.setattr(impact_service, "WITH_A_DECISION", 1)
    with world.database.write() as session:
        derive_disagreements(session, world.dataset_pk)
        recompute(session, world.dataset_pk, list_due(session, world.dataset_pk))
    assert world.due() == {"Q1", "Q2", "Q3"}


def test_nothing_is_due_after_it_and_a_run_makes_everything_due(world: ScoredWorld) -> None:
    assert world.due() == {"Q1", "Q2", "Q3"}
    assert count_steps(world.database, "d") == 6, "each query twice: the sums come first"
    steps: list[tuple[int, int]] = []
    assert (
        bring_up_to_date(world.database, "d", report_progress=lambda done, total: steps.append((done, total)))
        == 0
    )
    assert steps == [(3, 6), (6, 6)]
    assert (world.due(), count_steps(world.database, "d")) == (set(), 0)
    before = world.stored()["Q2 a"]
    world.rank("新しい", {"Q2": ["a"]})
    assert world.due() == {"Q1", "Q2", "Q3"}
    bring_up_to_date(world.database, "d")
    assert world.stored()["Q2 a"][0] > before[0]
    assert world.stored()["Q2 a"] == pytest.approx(world.try_grades(STANDING, "Q2", "a", [1, 3]))


def test_two_may_do_it_at_once(world: ScoredWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(impact_service, "AT_ONCE", 1)
    failed: list[BaseException] = []

    def compute() -> None:
        try:
            bring_up_to_date(world.database, "d")
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=compute) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(4):
        world.judge(world.hanako, "Q3", "abcf"[number], number)
    for thread in threads:
        thread.join()
    assert failed == []
    bring_up_to_date(world.database, "d")
    grades = {**STANDING, "Q3": {"e": 1, "a": 0, "b": 1, "c": 2, "f": 3}}
    for name, choice in CHOICES.items():
        query_id, doc_id = name.split()
        assert world.stored()[name][:3] == pytest.approx(
            world.try_grades(grades, query_id, doc_id, choice)[:3]
        )
    assert world.scores()[1] == {
        system: pytest.approx([sum(query[metric] for query in queries.values()) for metric in range(3)])
        for system, queries in world.evaluate(grades).items()
    }


def test_a_run_that_comes_while_it_is_computed_is_not_left_out(
    world: ScoredWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute, come = impact_service._compute, iter([True])

    def compute_late(*given: object) -> bool:
        if next(come, False):
            world.rank("途中", {"Q1": ["e", "a"], "Q2": ["a", "d"]})
        return compute(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(impact_service, "_compute", compute_late)
    monkeypatch.setattr(impact_service, "AT_ONCE", 1)
    assert bring_up_to_date(world.database, "d") == 0
    stored = world.stored()
    assert stored["Q1 a"] == pytest.approx(world.try_grades(STANDING, "Q1", "a", [0, 3]))
    with world.database.write() as session:
        note_all_due(session, world.dataset_pk)
    assert bring_up_to_date(world.database, "d") == 0
    assert stored == {name: pytest.approx(impacts) for name, impacts in world.stored().items()}


def test_what_is_known_is_the_same_in_whatever_order_it_was_read(world: ScoredWorld) -> None:
    with world.database.read() as session:
        queries = session.scalars(select(col(QueryRow.pk))).all()
        judged = read_judged(session, [key_of(pk) for pk in queries])
    turned = JudgedRows(*(rows[::-1] for rows in judged))
    assert len(judged.answered) > 1
    assert turned.digest() == judged.digest()
    assert judged._replace(answered=judged.answered[1:]).digest() != judged.digest()
    assert judged._replace(other=judged.answered, answered=judged.other).digest() != judged.digest()


def test_a_judgment_that_comes_between_the_sums_and_the_weights_counts(
    world: ScoredWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    sum_up = impact_service._sum_up

    def judge_then_sum_up(database: Database, dataset_pk: int) -> bool:
        world.judge(world.hanako, "Q1", "f", 3)
        return sum_up(database, dataset_pk)

    monkeypatch.setattr(impact_service, "_sum_up", judge_then_sum_up)
    assert bring_up_to_date(world.database, "d") == 0
    grades = {**STANDING, "Q1": {**STANDING["Q1"], "f": 3}}
    assert world.stored()["Q1 a"] == pytest.approx(world.try_grades(grades, "Q1", "a", [0, 3]))


def test_without_runs_it_is_by_what_else_is_relevant_for_the_query(
    database: Database, tmp_path: Path
) -> None:
    world = ScoredWorld(database, tmp_path)
    world.both("Q1", "a", 0, 3)
    world.both("Q2", "a", 0, 3)
    world.both("Q2", "b", 3, 3)
    world.both("Q3", "c", None, 1)
    assert count_steps(database, "d") == 3
    assert bring_up_to_date(database, "d") == 0
    assert world.stored() == {
        "Q1 a": (1.0, None, None, None),
        "Q2 a": (pytest.approx(7 / (7 + 7 / math.log2(3))), None, None, None),
        "Q3 c": (1.0, None, None, None),
    }
    world.judge(world.hanako, "Q2", "b", 0)
    world.judge(world.minjun, "Q2", "b", 0)
    bring_up_to_date(database, "d")
    assert world.stored()["Q2 a"][0] == 1.0


def test_a_pair_that_quality_control_contradicts_is_a_choice_between_what_was_settled_and_the_error(
    world: ScoredWorld,
) -> None:
    world.check_quality(world.person("専門家"), "Q1", "b", 0, settled=2)
    bring_up_to_date(world.database, "d")
    grades = {**STANDING, "Q1": {**STANDING["Q1"], "b": 0}}
    assert world.stored()["Q1 b"] == pytest.approx(world.try_grades(grades, "Q1", "b", [0, 2]))


def test_the_queue_is_brought_up_to_date_before_it_is_sorted_by_impact(world: ScoredWorld) -> None:
    page = list_queue(world.database, OPERATOR, "d", QueueFilter(), sort="impact", now=LATER)
    assert page.due == 0
    items = [(f"{item.query_id} {item.doc_id}", item.impact, item.flips) for item in page.items]
    stored = world.stored()
    assert items == sorted(
        ((name, moved[0], moved[3]) for name, moved in stored.items()), key=lambda item: -item[1]
    )
    assert items[0][1] > items[-1][1] > 0


def test_a_queue_of_which_much_is_due_says_so_and_a_list_computes_it(
    world: ScoredWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.adjudication.queue.queue_service.FEW", 5)
    assert list_queue(world.database, world.lead, "d", QueueFilter(), now=LATER).due == 3
    steps: list[tuple[int, int]] = []
    disagreements = find_disagreements(
        world.database,
        OPERATOR,
        "d",
        sort="impact",
        now=LATER,
        report_progress=lambda *given: steps.append(given),
    )
    assert steps[-1] == (6, 6)
    assert {f"{item.query_id} {item.doc_id}": item.impact for item in disagreements} == {
        name: moved[0] for name, moved in world.stored().items()
    }


def test_scores_that_were_lost_are_made_again(world: ScoredWorld) -> None:
    bring_up_to_date(world.database, "d")
    before = world.stored(), world.scores()
    with world.database.write() as session:
        session.execute(delete(ScoreTotalRow))
        session.execute(delete(QueryScoreRow))
        derive_disagreements(session, world.dataset_pk)
    bring_up_to_date(world.database, "d")
    assert (world.stored(), world.scores()) == before
