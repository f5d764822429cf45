"""The ranked lists of a query, what is sent to be judged, and two releases on the same runs; and what is recorded as seen."""

import pytest
from sqlalchemy import select, update
from sqlmodel import col

from annotator.domain.errors import InsufficientData, NotAllowed, NotFound, ValidationError
from annotator.domain.people import OPERATOR
from annotator.evaluation.rankings_service import (
    compare_on_releases,
    read_ranked_document,
    show_query_rankings,
)
from annotator.evaluation.service import EvaluationRequest, evaluate_dataset, list_choices, read_stamp
from annotator.pooling.service import list_pairs, pool_results
from annotator.storage.tables.central import DocumentRow, PairRow
from tests.databases import CopyWorld
from tests.integration.evaluated_world import EvaluatedWorld
from tests.integration.judged_world import NOW


@pytest.fixture
def world(copy_world: CopyWorld) -> EvaluatedWorld:
    return copy_world(EvaluatedWorld)


def test_ranked_lists_show_settled_grades_and_what_is_unjudged(world: EvaluatedWorld) -> None:
    rankings = show_query_rankings(world.database, world.lead, "d", "Q1", now=NOW)
    shown = {
        system: [(result.rank, result.doc_id, result.grade, result.state) for result in results]
        for system, results in rankings.systems.items()
    }
    assert shown == {
        "bm25": [(1, "a", 3, "graded"), (2, "b", 1, "graded"), (3, "x", None, "not pooled")],
        "dense": [(1, "b", 1, "graded"), (2, "a", 3, "graded"), (3, "z", None, "not pooled")],
    }
    assert rankings.not_pooled == ("x", "z")
    assert [(result.doc_id, result.grade) for result in rankings.missed] == [("d", 2)]


def test_the_grades_that_are_shown_are_recorded_as_seen(world: EvaluatedWorld) -> None:
    before = world.list_seen(world.lead)
    show_query_rankings(world.database, world.lead, "d", "Q2", now=NOW)
    assert world.list_seen(world.lead) - before == {("Q2", "a"), ("Q2", "c")}


@pytest.mark.parametrize("version", [None, "1.0.0"])
def test_the_ranks_of_a_pair_that_the_lead_may_still_judge_are_shown_only_on_request(
    world: EvaluatedWorld, version: str | None
) -> None:
    world.ask_for_more()
    other = world.person("other", "lead")
    for depth, systems in ((10, ()), (1, ("bm25",)), (1, ("dense",))):  # no filter tells a rank either
        rankings = show_query_rankings(
            world.database, other, "d", "Q2", version=version, depth=depth, systems=systems, now=NOW
        )
        assert (rankings.systems, rankings.missed, rankings.not_pooled) == ({}, (), ())
        assert (rankings.hidden, rankings.to_judge) == (2, 2)
    assert not world.list_seen(other)
    rankings = show_query_rankings(world.database, other, "d", "Q2", version=version, reveal=True, now=NOW)
    grades = [(result.doc_id, result.grade) for result in rankings.systems["dense"]]
    assert grades == [("a", 0), ("c", 2 if version is None else 1)]
    assert world.list_seen(other) == {("Q2", "a"), ("Q2", "c")}
    assert show_query_rankings(world.database, other, "d", "Q2", version=version, now=NOW) == rankings


def test_a_pair_in_no_run_that_the_lead_may_still_judge_hides_the_lists_too(world: EvaluatedWorld) -> None:
    other = world.person("other", "lead")
    with world.database.write() as session:
        in_no_run = select(col(DocumentRow.pk)).where(col(DocumentRow.doc_id) == "d")
        session.execute(update(PairRow).where(col(PairRow.document_pk).in_(in_no_run)).values(lacking=1))
    rankings = show_query_rankings(world.database, other, "d", "Q1", now=NOW)
    assert (rankings.systems, rankings.missed, rankings.to_judge) == ({}, (), 1), (
        "its absence would tell its grade"
    )
    assert not world.list_seen(other)
    rankings = show_query_rankings(world.database, other, "d", "Q1", reveal=True, now=NOW)
    assert [(result.doc_id, result.grade) for result in rankings.missed] == [("d", 2)]
    assert ("Q1", "d") in world.list_seen(other)


def test_the_ranks_of_unjudged_documents_that_the_lead_may_judge_are_hidden(
    world: EvaluatedWorld,
) -> None:
    pool_results(world.database, world.lead, "d", [("Q1", "x")], now=NOW)
    for reader, ranks in ((world.lead, {}), (OPERATOR, {"bm25": 3})):
        result = evaluate_dataset(world.database, reader, "d", EvaluationRequest())
        need = result.evaluation.dataset.holes
        assert need is not None
        holes = {(hole.query_id, hole.doc_id): hole.ranks for hole in need.holes}
        assert holes["Q1", "x"] == ranks, "it is in the pool"
        assert holes["Q1", "z"] == {"dense": 3}, "nobody is asked to judge it"


def test_a_query_with_a_grade_that_the_lead_has_still_to_judge_is_not_scored(world: EvaluatedWorld) -> None:
    world.ask_for_more()
    other = world.person("other", "lead")
    with pytest.raises(
        InsufficientData, match="every query with a grade has a pair that you may still judge"
    ):
        evaluate_dataset(world.database, other, "d", EvaluationRequest())


def test_unjudged_results_join_the_pool_with_the_runs_that_list_them(world: EvaluatedWorld) -> None:
    wanted = [("Q1", "x"), ("Q3", "x"), ("Q1", "a")]
    added = pool_results(world.database, world.lead, "d", wanted, now=NOW)
    assert (added.new, added.already_there) == (2, 1)
    pairs = {(pair.query_id, pair.doc_id): pair for pair in list_pairs(world.database, world.lead, "d")}
    assert [(by.system, by.rank) for by in pairs["Q1", "x"].provenance] == [("bm25", 3)]
    assert [(by.system, by.rank) for by in pairs["Q3", "x"].provenance] == [("dense", 3)]
    again = pool_results(world.database, world.lead, "d", wanted, now=NOW)
    assert (again.new, again.already_there) == (0, 3)
    assert show_query_rankings(world.database, world.lead, "d", "Q1", now=NOW).to_judge == 1
    rankings = show_query_rankings(world.database, world.lead, "d", "Q1", reveal=True, now=NOW)
    assert rankings.systems["bm25"][2].state == "waiting" and rankings.not_pooled == ("z",)


def test_a_result_that_no_run_lists_is_refused_and_nothing_is_added(world: EvaluatedWorld) -> None:
    before = len(list_pairs(world.database, world.lead, "d"))
    with pytest.raises(ValidationError, match="No run has 'x' in its results for the query 'Q2'"):
        pool_results(world.database, world.lead, "d", [("Q1", "x"), ("Q2", "x")], now=NOW)
    assert len(list_pairs(world.database, world.lead, "d")) == before


def test_two_releases_name_the_scores_that_moved_and_the_grades_behind_them(world: EvaluatedWorld) -> None:
    change = compare_on_releases(
        world.database, world.lead, "d", "1.0.0", "2.0.0", measures=("ERR@10", "P@5"), now=NOW
    )
    assert change.changed_grades == 1 and change.moved_queries == 1
    (query,) = change.queries
    assert query.query_id == "Q2" and set(query.changes) == {"bm25", "dense"}
    (grade,) = query.grades
    assert (grade.doc_id, grade.before, grade.after, grade.ranks) == ("c", 1, 2, {"bm25": 1, "dense": 2})
    moved = {(move.system, move.measure): move.change for move in change.moves}
    assert moved["bm25", "ERR@10"] == pytest.approx(query.changes["bm25"] / 3)
    assert moved["bm25", "P@5"] == 0
    assert ("Q2", "c") in world.list_seen(world.lead)


def test_only_leads_see_any_of_it(world: EvaluatedWorld) -> None:
    database, annotator = world.database, world.hanako
    for show in (
        lambda: show_query_rankings(database, annotator, "d", "Q1", now=NOW),
        lambda: read_ranked_document(database, annotator, "d", "a"),
        lambda: compare_on_releases(database, annotator, "d", "1.0.0", "2.0.0", now=NOW),
        lambda: pool_results(database, annotator, "d", [("Q1", "x")], now=NOW),
        lambda: list_choices(database, annotator, "d"),
        lambda: read_stamp(database, annotator, "d"),
    ):
        with pytest.raises(NotAllowed):
            show()


def test_what_does_not_exist_is_not_found(world: EvaluatedWorld) -> None:
    with pytest.raises(NotFound):
        show_query_rankings(world.database, world.lead, "d", "Q9", now=NOW)
    with pytest.raises(NotFound):
        show_query_rankings(world.database, world.lead, "d", "Q1", version="9.0.0", now=NOW)
    with pytest.raises(NotFound):
        read_ranked_document(world.database, world.lead, "d", "nothing")


def test_the_stamp_changes_with_a_judgment_and_with_a_run(world: EvaluatedWorld) -> None:
    stamps = [read_stamp(world.database, world.lead, "d")]
    assert read_stamp(world.database, world.lead, "d") == stamps[0]
    world.judge(world.hanako, "Q3", "a", 1)
    stamps.append(read_stamp(world.database, world.lead, "d"))
    world.rank("third", {"Q1": ["a"]})
    stamps.append(read_stamp(world.database, world.lead, "d"))
    assert len(set(stamps)) == 3
