"""Drawing settled pairs for a third expert: what may be drawn, how much, and never twice."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlmodel import col

from annotator.adjudication.bulk.bulk_service import adjudicate_file
from annotator.domain.errors import NotAllowed, NotFound, StateError, ValidationError
from annotator.domain.people import OPERATOR
from annotator.people.service import change_person
from annotator.quality.service import draw_sample, list_experts, preview_sample
from annotator.storage.database import Database
from annotator.storage.lookup import key_of
from annotator.storage.tables.adjudication import QualityDrawRow
from annotator.storage.tables.central import MembershipRow, PairRow, PersonRow, QueryRow
from annotator.storage.tables.labeling import AssignmentRow, CheckRow, DisclosureRow, ProposalRow
from tests.integration.quality_world import QualityWorld


def test_a_tenth_of_the_settled_pairs_is_drawn_rounded_up_as_they_are_settled(database: Database) -> None:
    world = QualityWorld(database, queries=3, documents=7)
    made = world.draw()
    assert (made.number, made.round, made.annotator, made.drawn_by) == (1, 1, "cho", None)
    assert (made.population, made.outside, made.pairs, made.rate, made.seed) == (21, 0, 3, 0.1, 0)
    drawn = world.drawn()
    assert len(drawn) == 3
    for pk, row in drawn.items():
        assert (row.settled_grade, row.settled_by) == (world.grades[pk], "unanimous")
        assert (row.outcome, row.grade, row.judgment_pk, row.answered_at) == (None, None, None, None)


def test_every_status_with_a_grade_is_settled_and_nothing_else(database: Database) -> None:
    world = QualityWorld(database, queries=2, documents=3, settled=False)
    single, unanimous, decided, disagreement, unrateable, _unjudged = world.keys
    world.settle([single], by=(world.ann,))
    world.settle([unanimous])
    for pk, grades in ((decided, (0, 3)), (disagreement, (1, 2)), (unrateable, (None, None))):
        for actor, grade in zip((world.ann, world.bea), grades, strict=True):
            world.send(actor, world.event(world.keys[pk], grade))
    with database.read() as session:
        query = session.scalar(
            select(col(QueryRow.query_id))
            .join(PairRow, col(PairRow.query_pk) == col(QueryRow.pk))
            .where(col(PairRow.pk) == decided)
        )
    line = f"query_id,doc_id,grade,rationale\n{query},문서/0-2,3,根拠\n"
    adjudicate_file(database, world.lea, "d", line.encode(), "x.csv", now=world.now)
    assert world.draw(rate=1.0).pairs == 3
    settled = {pk: (row.settled_by, row.settled_grade) for pk, row in world.drawn().items()}
    assert settled == {
        single: ("single", world.grades[single]),
        unanimous: ("unanimous", world.grades[unanimous]),
        decided: ("adjudicated", 3),
    }


def test_what_the_expert_knows_is_outside(database: Database) -> None:
    world = QualityWorld(database, queries=2, documents=5)
    cho = key_of(world.cho.person_id)
    judged, tried, put_off, seen, proposed, marked, retired, *rest = world.keys
    world.settle([judged], by=(world.cho,))
    with database.write() as session:
        session.add(DisclosureRow(pair_pk=seen, person_pk=cho, disclosed_at=world.now))
        session.add(ProposalRow(pair_pk=proposed, annotator_pk=cho, proposed_at=world.now))
        session.add(
            CheckRow(pair_pk=marked, kind="gold", grade=1, explanation="", marked_by_pk=None, marked_at=world.now)
        )  # fmt: skip
        session.execute(update(PairRow).where(col(PairRow.pk) == retired).values(retired_at=world.now))
    world.judge_as(world.cho, tried, 2, purpose="training")
    world.judge_as(world.cho, put_off, None, outcome="later")
    made = world.draw(rate=1.0)
    assert set(world.drawn()) == {put_off, *rest}
    assert (made.population, made.outside) == (4, 4)


def test_the_lead_who_decided_a_pair_does_not_check_it(database: Database) -> None:
    world = QualityWorld(database, queries=1, documents=2, settled=False)
    for pk in world.keys:
        world.send(world.ann, world.event(world.keys[pk], 0))
        world.send(world.bea, world.event(world.keys[pk], 2))
    lines = "query_id,doc_id,grade,rationale\nQ0,문서/0-0,2,x\nQ0,문서/0-1,2,x\n"
    adjudicate_file(database, world.lea, "d", lines.encode(), "x.csv", now=world.now)
    with pytest.raises(StateError, match="lea cannot check any of the 2 settled pairs"):
        world.draw("lea")
    assert world.draw("cho").population == 2


def test_queries_of_another_field_are_outside_and_queries_given_to_others_are_not(database: Database) -> None:
    world = QualityWorld(database, queries=2, documents=4)
    with database.write() as session:
        first, second = session.scalars(select(QueryRow).order_by(col(QueryRow.position)))
        first.category, second.category = "민법", "howto"
        person = col(MembershipRow.person_pk) == world.cho.person_id
        session.execute(update(MembershipRow).where(person).values(categories=["민법"]))
        session.add(
            AssignmentRow(
                query_pk=key_of(first.pk), person_pk=key_of(world.ann.person_id), assigned_at=world.now
            )
        )
        own_pairs = set(session.scalars(select(col(PairRow.pk)).where(col(PairRow.query_pk) == first.pk)))
    made = world.draw(rate=1.0)
    assert (made.population, made.outside) == (4, 4)
    assert set(world.drawn()) == own_pairs


def test_what_is_drawn_counts_and_is_never_drawn_again(database: Database) -> None:
    world = QualityWorld(database)
    world.draw(rate=0.2)
    first = set(world.drawn())
    with pytest.raises(
        StateError, match=r"already contains 4 of 20 pairs.*0.21 or more or a size of 5 or more"
    ):
        world.draw(rate=0.2)
    with pytest.raises(StateError, match="No pairs to draw"):
        world.draw(rate=0.1, seed=9)
    more = world.draw(rate=0.5)
    assert (more.number, more.round, more.pairs, more.population) == (2, 1, 6, 20)
    assert set(world.drawn(1)) == first
    assert not first & set(world.drawn(2))
    assert world.draw(size=11).rate == pytest.approx(0.55)
    assert world.draw(rate=1.0).pairs == 9
    with pytest.raises(StateError, match="already contains all 20 pairs that cho can check"):
        world.draw(rate=1.0)


def test_a_second_expert_enlarges_the_same_sample(database: Database) -> None:
    world = QualityWorld(database)
    dan = world.person("dan")
    world.draw(rate=0.5)
    by_cho = set(world.drawn())
    world.settle([pk for pk in world.keys if pk not in by_cho][:4], by=(dan,))
    made = world.draw("dan", rate=0.75)
    assert (made.round, made.population, made.outside, made.pairs) == (1, 16, 4, 2)
    assert not set(world.drawn(2)) & by_cho


def test_a_new_round_begins_from_nothing_and_leaves_the_earlier_one(database: Database) -> None:
    world = QualityWorld(database)
    world.draw(rate=0.2)
    first = world.drawn()
    answered, *waiting = first
    world.check(answered, world.grades[answered])
    made = world.draw(rate=0.2, new_round=True)
    assert (made.number, made.round, made.population, made.outside) == (2, 2, 19, 1)
    assert answered not in world.drawn(2)
    assert set(world.drawn(1)) == set(first)
    handed = {pair.pair for pair in world.send(world.cho, want=20).pairs}
    assert handed == {world.keys[pk] for pk in world.drawn(2)}
    late = next(pk for pk in waiting if pk not in world.drawn(2))
    assert world.check(late, 1).acknowledged  # it was on the screen


def test_the_same_data_and_seed_draw_the_same_sample(database: Database) -> None:
    world = QualityWorld(database)
    options = {"annotator": "cho", "rate": 0.3}
    before = preview_sample(database, OPERATOR, "d", seed=5, **options)  # type: ignore[arg-type]
    assert before.pairs == 6
    assert world.drawn() == {}
    world.draw(rate=0.3, seed=5)
    assert " ".join(sorted(world.name(pk) for pk in world.drawn())) == "2-0 2-2 2-3 3-1 3-3 3-4"
    after = preview_sample(database, OPERATOR, "d", seed=5, **options)  # type: ignore[arg-type]
    assert (after.drawn, after.pairs) == (6, 0)
    assert sum(stratum.drawn for stratum in after.strata) == 6
    assert [(stratum.grade, stratum.population) for stratum in after.strata] == [
        (0, 5),
        (1, 5),
        (2, 5),
        (3, 5),
    ]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"rate": 0.0}, "The share must be above 0"), ({"rate": 1.5}, "The share must be above 0"),
        ({"rate": float("nan")}, "The share must be above 0"), ({"size": 0}, "The sample size must be 1 or more"),
        ({"seed": -1}, "The seed must be a number"), ({"seed": 2**31}, "The seed must be a number"),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_are_refused(database: Database, changes: dict[str, Any], why: str) -> None:
    world = QualityWorld(database, queries=1)
    with pytest.raises(ValidationError, match=why):
        world.draw("cho", **changes)


def test_who_cannot_check_is_refused_with_the_reason(database: Database) -> None:
    world = QualityWorld(database, queries=1)
    gone, nobody, stranger = (world.person(name) for name in ("gone", "nobody", "stranger"))
    with database.write() as session:
        session.get_one(PersonRow, gone.person_id).disabled_at = world.now
        session.get_one(PersonRow, nobody.person_id).simulated = True
        held = session.scalars(
            select(MembershipRow).where(col(MembershipRow.person_pk) == stranger.person_id)
        ).one()
        session.delete(held)
    for name, why in (
        ("gone", "gone is disabled"), ("nobody", "nobody is simulated"), ("stranger", "has no role"),
        ("ann", "ann cannot check any of the 5 settled pairs"),
    ):  # fmt: skip
        with pytest.raises(StateError, match=why):
            world.draw(name)
    with pytest.raises(NotFound, match="nemo"):
        world.draw("nemo")
    with pytest.raises(StateError, match="must be at most 5"):
        world.draw(size=6)
    with pytest.raises(NotAllowed):
        draw_sample(database, world.ann, "d", annotator="cho", now=world.now)
    assert world.drawn() == {}


def test_nothing_settled_is_refused(database: Database) -> None:
    world = QualityWorld(database, settled=False)
    with pytest.raises(StateError, match="No pair is settled yet"):
        world.draw()


def test_a_lead_who_checks_all_settled_pairs_learns_why_they_cannot_be_drawn(database: Database) -> None:
    world = QualityWorld(database)
    draw_sample(database, OPERATOR, "d", annotator="lea", rate=1.0, now=world.now)
    with pytest.raises(StateError, match="You cannot draw pairs that you may still judge yourself"):
        draw_sample(database, world.lea, "d", annotator="cho", new_round=True, now=world.now)


def test_of_two_leads_who_draw_at_once_one_draws(database: Database) -> None:
    world = QualityWorld(database)

    def draw(_number: int) -> str:
        try:
            draw_sample(database, world.lea, "d", annotator="cho", rate=0.5, now=world.now)
        except StateError as error:
            return str(error)
        return "drawn"

    with ThreadPoolExecutor(4) as pool:
        outcomes = sorted(pool.map(draw, range(4)), key=lambda message: message != "drawn")
    assert outcomes[0] == "drawn"
    assert all("No pairs to draw" in message for message in outcomes[1:])
    with database.read() as session:
        rows = session.scalars(select(QualityDrawRow)).all()
    assert [(row.number, row.drawn_by_pk) for row in rows] == [(1, world.lea.person_id)]
    assert len(world.drawn()) == 10


def test_experts_are_listed_with_what_they_can_check(database: Database) -> None:
    world = QualityWorld(database, queries=1)
    with database.write() as session:
        session.execute(update(PersonRow).values(password_hash="x"))
        session.get_one(PersonRow, world.bea.person_id).password_hash = None
    by_expert = {
        expert.username: (expert.judged, expert.available) for expert in list_experts(database, OPERATOR, "d")
    }
    assert by_expert == {"ann": (5, 0), "cho": (0, 5), "lea": (0, 5)}


def test_a_sole_lead_is_told_from_one_whose_errors_another_lead_can_decide(database: Database) -> None:
    world = QualityWorld(database, queries=1)
    with database.write() as session:
        session.execute(update(PersonRow).values(password_hash="x"))
    by_name = {expert.username: expert for expert in list_experts(database, OPERATOR, "d")}
    assert by_name["lea"].is_sole_lead
    assert [by_name[name].is_lead for name in ("ann", "bea", "cho", "lea")] == [False, False, False, True]
    assert not by_name["cho"].is_sole_lead
    change_person(database, OPERATOR, "cho", role="lead", dataset="d", now=world.now)
    by_name = {expert.username: expert for expert in list_experts(database, OPERATOR, "d")}
    assert not by_name["lea"].is_sole_lead
    assert by_name["lea"].other_leads == ("cho",)
    with database.write() as session:
        session.get_one(PersonRow, world.cho.person_id).password_hash = None
    by_name = {expert.username: expert for expert in list_experts(database, OPERATOR, "d")}
    assert by_name["lea"].is_sole_lead, "a lead who cannot sign in decides nothing"
