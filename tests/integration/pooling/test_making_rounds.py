"""A pool grows in rounds: each keeps what was asked and what came of it, and no judged pair is touched; on both databases."""

import json
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.domain.errors import NotAllowed, StateError, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.pooling.rounds.pool_records import PoolReport, PoolRequest, RankStratum
from annotator.pooling.rounds.rounds_service import STORING, list_pool_rounds, make_round
from annotator.pooling.rounds.rounds_sql import list_probabilities
from annotator.pooling.service import list_pairs, pool_results
from annotator.storage.database import Database
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    JudgmentRow,
    PairRow,
    ProvenanceRow,
    RunEntryRow,
)
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW
from tests.integration.pooling.test_pooling import Pool, _run

LATER = NOW + timedelta(days=1)


def make_world(database: Database) -> Pool:
    made = Pool(database)
    made.run("s1", {"Q2": ["a", "b", "제2조"], "Q1": ["제2조"]})
    return made


@pytest.fixture
def world(copy_world: CopyWorld) -> Pool:
    return copy_world(make_world)


def pool(world: Pool, *, now: Any = NOW, dry_run: bool = False, **request: Any) -> PoolReport:
    return make_round(world.database, OPERATOR, "d", PoolRequest(**request), now=now, dry_run=dry_run)


def rounds(world: Pool) -> dict[tuple[str, str], int | None]:
    return {(pair.query_id, pair.doc_id): pair.round for pair in list_pairs(world.database, OPERATOR, "d")}


def rows(world: Pool) -> dict[str, list[tuple[object, ...]]]:
    """Everything stored of the pairs that are judged."""
    with world.database.read() as session:
        judged = set(session.scalars(select(col(JudgmentRow.pair_pk))))
        tables = (PairRow.pk, ProvenanceRow.pair_pk, JudgmentRow.pair_pk, CurrentJudgmentRow.pair_pk)
        return {
            column.class_.__tablename__: sorted(
                (
                    tuple(row)
                    for row in session.execute(select(column.class_.__table__).where(col(column).in_(judged)))
                ),
                key=repr,
            )
            for column in tables
        }


def test_a_round_keeps_what_was_asked_and_what_came_of_it(world: Pool) -> None:
    lead = world.person("花子", "lead")
    request = PoolRequest(depth=1, retrievers=("bm25",))
    report = make_round(world.database, lead, "d", request, now=NOW)
    assert (report.round, report.new, report.strategy) == (1, 2, "depth")
    assert (report.per_query.median, report.per_query.min, report.per_query.max) == (1, 0, 1)
    (made,) = list_pool_rounds(world.database, lead, "d")
    assert (made.number, made.made_at, made.made_by, made.strategy, made.pairs) == (
        1,
        NOW,
        "花子",
        "depth",
        2,
    )
    assert made.options == {"depth": 1, "systems": None, "retrievers": ["bm25"]}
    assert made.figures["systems"] == {"s1": 1, "annotator:bm25": 1}
    assert set(rounds(world).values()) == {1}


def test_the_same_request_again_makes_no_round(world: Pool) -> None:
    for request in ({"depth": 2}, {"strategy": "fused", "depth": 3}, {"strategy": "stratified"}):
        pool(world, **request)
        before = rounds(world), list_pool_rounds(world.database, OPERATOR, "d")
        again = pool(world, now=LATER, **request)
        assert (again.round, again.new) == (None, 0)
        assert (rounds(world), list_pool_rounds(world.database, OPERATOR, "d")) == before


def test_new_runs_deeper_lists_and_new_queries_add_pairs_and_touch_no_judged_one(world: Pool) -> None:
    ann, bob = world.person("ann"), world.person("bob")
    pool(world, depth=1)
    world.judge(ann, "Q2", "a", 3)
    world.judge(bob, "Q2", "a", 0)
    world.judge(ann, "Q1", "제2조", None)
    before = rows(world)
    assert pool(world, depth=2, now=LATER).new == 1
    world.query("Q4", "トランザクション")
    assert pool(world, depth=1, systems=(), retrievers=("bm25",), now=LATER).new == 1
    assert rows(world) != before, "a system that finds a judged pair later is named for it"
    after = rows(world)
    assert {**after, "provenance": None} == {**before, "provenance": None}
    assert all(row in after["provenance"] for row in before["provenance"])
    world.run("s2", {"Q4": ["a", "b"], "Q3": ["HttpRequest"]})
    assert pool(world, depth=2, systems=("s2",), now=LATER).new == 2
    assert {**rows(world), "provenance": None} == {**before, "provenance": None}
    assert rounds(world) == {
        ("Q2", "a"): 1,
        ("Q1", "제2조"): 1,
        ("Q2", "b"): 2,
        ("Q4", "a"): 3,
        ("Q4", "b"): 4,
        ("Q3", "HttpRequest"): 4,
    }


def test_a_dry_run_says_what_the_round_will_be_and_stores_nothing(world: Pool) -> None:
    dry = pool(world, depth=3, dry_run=True)
    assert (rounds(world), list_pool_rounds(world.database, OPERATOR, "d")) == ({}, [])
    wet = pool(world, depth=3)
    assert (dry.round, wet.round) == (None, 1)
    for name in ("new", "already_there", "per_query", "expected_relevant", "effort", "systems", "short"):
        assert getattr(dry, name) == getattr(wet, name), name


def test_what_a_sample_drew_keeps_its_probability(world: Pool) -> None:
    strata = (RankStratum(1, 1, 1.0), RankStratum(2, 3, 0.5))
    report = pool(world, strategy="stratified", strata=strata, seed=5)
    assert (report.new, [item.drawn for item in report.strata]) == (3, [2, 1])
    with world.database.read() as session:
        listed = list_probabilities(session, world.dataset_pk)
    drawn = {(pair.query_id, pair.stratum): pair.inclusion for pair in listed}
    assert drawn == {("Q2", "1-1"): 1.0, ("Q2", "2-3"): 0.5, ("Q1", "1-1"): 1.0}
    (made,) = list_pool_rounds(world.database, OPERATOR, "d")
    assert made.options["strata"] == ["1-1:1", "2-3:0.5"] and made.options["seed"] == 5


def probabilities(world: Pool) -> dict[tuple[str, str], float]:
    with world.database.read() as session:
        listed = list_probabilities(session, world.dataset_pk)
    return {(pair.query_id, pair.doc_id): pair.inclusion for pair in listed}


def test_two_samples_have_the_probability_to_be_drawn_by_either(world: Pool) -> None:
    strata = (RankStratum(2, 3, 0.5),)
    pool(world, strategy="stratified", strata=strata, seed=5)
    assert list(probabilities(world).values()) == [0.5]
    later: dict[str, Any] = {"strategy": "stratified", "strata": (RankStratum(1, 3, 0.3),), "seed": 6}
    world.run("s2", {"Q2": ["b", "a"]})  # 1st and 2nd now: only the first sample's list has it at 2 or 3
    report = pool(world, now=LATER, **later)
    chances = {"a": 1 / 3, "b": 1 - 0.5 * (2 / 3), "제2조": 1 - 0.5 * (2 / 3)}
    both = probabilities(world)
    assert report.round == 2 and both
    assert both == pytest.approx({(q, doc): chances[doc] if q == "Q2" else 1.0 for q, doc in both})
    before = rounds(world), both, list_pool_rounds(world.database, OPERATOR, "d")
    assert pool(world, now=LATER, **later).round is None, "the same draw again"
    assert (rounds(world), probabilities(world), list_pool_rounds(world.database, OPERATOR, "d")) == before
    with pytest.raises(StateError, match="already drew a sample with the seed 5"):
        pool(world, strategy="stratified", strata=(RankStratum(1, 3, 1.0),), seed=5)
    pool(world, depth=3)
    assert set(probabilities(world).values()) == {1.0}, "what depth takes for certain is no sample any more"


def test_a_second_sample_is_refused_where_the_first_ones_lists_have_changed(world: Pool) -> None:
    pool(world, strategy="stratified", strata=(RankStratum(1, 3, 0.3),), seed=5)
    with world.database.write() as session:
        session.delete(session.scalars(select(RunEntryRow).where(col(RunEntryRow.rank) == 3)).one())
    before = rounds(world), probabilities(world)
    with pytest.raises(StateError, match="the runs have changed since round 1 drew its sample"):
        pool(world, strategy="stratified", strata=(RankStratum(1, 3, 1.0),), seed=6)
    assert (rounds(world), probabilities(world)) == before


def test_a_sample_is_not_stored_if_another_one_was_drawn_meanwhile(world: Pool) -> None:
    first: dict[str, Any] = {"strategy": "stratified", "strata": (RankStratum(1, 3, 0.3),), "seed": 5}

    def let_another_sample_in(step: str, share: float) -> None:
        if (step, share) == (STORING, 0.0):
            pool(world, **{**first, "seed": 6})

    with pytest.raises(StateError, match="another sample was drawn in the meantime: nothing was added"):
        make_round(
            world.database, OPERATOR, "d", PoolRequest(**first), now=NOW, progress=let_another_sample_in
        )
    (made,) = list_pool_rounds(world.database, OPERATOR, "d")
    assert made.options["seed"] == 6


def test_what_new_pairs_cost_is_said_by_the_overlap_and_the_measured_pace(world: Pool) -> None:
    report = pool(world, depth=1)
    assert (report.effort.judgments, report.effort.hours) == (4, None)
    assert report.expected_relevant.value is None
    assert report.expected_relevant.why == "none of the candidates is judged yet"
    people = [world.person(f"p{number}") for number in range(5)]
    for person in people:
        world.judge(person, "Q2", "a", 3)
        world.judge(person, "Q1", "제2조", 0)
    effort = pool(world, depth=3, dry_run=True).effort
    assert (effort.judgments, effort.seconds, effort.hours) == (4, 2.5, 4 * 2.5 / 3600)


def test_results_that_are_sent_one_by_one_are_a_round_and_pairs_by_other_ways_are_in_none(
    world: Pool,
) -> None:
    world.pair("Q3", "b")
    pool_results(world.database, OPERATOR, "d", [("Q2", "b")], now=NOW)
    assert rounds(world) == {("Q3", "b"): None, ("Q2", "b"): 1}
    assert pool_results(world.database, OPERATOR, "d", [("Q2", "b")], now=LATER).new == 0
    (made,) = list_pool_rounds(world.database, OPERATOR, "d")
    assert (made.strategy, made.options, made.figures) == ("results", {"systems": ["s1"]}, {"new": 1})


def test_only_leads_make_and_see_rounds(world: Pool) -> None:
    for actor in (world.person("annotator"), Actor(999, "stranger")):
        with pytest.raises(NotAllowed):
            make_round(world.database, actor, "d", PoolRequest(depth=1), now=NOW)
        with pytest.raises(NotAllowed):
            list_pool_rounds(world.database, actor, "d")


def test_the_commands_make_and_list_rounds(world: Pool) -> None:
    assert "No round yet" in _run(world, "pool-rounds", "d").stdout
    shown = _run(
        world, "pool", "d", "--strategy", "stratified", "--strata", "1-1:1,2-3:0.5", "--dry-run"
    ).stdout
    assert "Would make 3 new pairs; 0 were there already." in shown
    assert "New pairs per query: median 1, from 0 to 2." in shown
    assert "Expected relevant: not known yet (none of the candidates is judged yet)." in shown
    assert (
        "Effort: 6 judgments; hours not known yet (the pace is not measured yet: 0 judgments have a time"
        in shown
    )
    assert (
        "Made 2 new pairs; 0 were there already. Round 1." in _run(world, "pool", "d", "--depth", "1").stdout
    )
    _run(world, "pool", "d", "--strategy", "fused", "--depth", "2")
    listed = json.loads(_run(world, "pool-rounds", "d", "--json").stdout)
    assert [(made["number"], made["strategy"], made["pairs"]) for made in listed] == [
        (1, "depth", 2),
        (2, "fused", 1),
    ]
    assert "s1 to 100" in _run(world, "pool-rounds", "d").stdout
    with pytest.raises(ValidationError, match="strata: they go with the strategy stratified only"):
        _run(world, "pool", "d", "--depth", "1", "--strata", "1-2:1")
