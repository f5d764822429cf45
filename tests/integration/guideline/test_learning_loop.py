"""What annotators learn of decisions on their own pairs, and their one objection."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.adjudication.decisions_sql import add_decisions
from annotator.adjudication.discussion.discussion_service import (
    count_news,
    list_own_decisions,
    object_to_decision,
)
from annotator.adjudication.discussion.objections_sql import list_objections
from annotator.adjudication.queue.queue_service import find_disagreements
from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.dataset.export_service import list_tables
from annotator.domain.errors import ConflictError, NotAllowed, StateError, ValidationError
from annotator.domain.people import Actor
from annotator.domain.settling import QueueReason
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import has_seen
from annotator.storage.lookup import find_dataset, find_rubric
from annotator.storage.tables.adjudication import (
    AdjudicationRow,
    AuditEventRow,
    GuidelineDecisionRow,
    SeenDecisionRow,
)
from annotator.storage.tables.central import PairRow
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.random_events import play

LATER = NOW + timedelta(days=1)


class Decided:
    """Two pairs of Q1, judged 0 against 3 and 2 against 3, and the leads who decide them."""

    def __init__(self, database: Database) -> None:
        self.database, self.world = database, JudgedWorld(database)
        self.hanako, self.minjun = self.world.person("花子"), self.world.person("민준")
        self.lead, self.other = self.world.person("lead", "lead"), self.world.person("kim", "lead")
        self.world.query("Q1", "ハンドラ")
        self.far = self.world.pair("Q1", "遠い", title="題")
        self.near = self.world.pair("Q1", "近い")
        for doc_id, first, two in (("遠い", 0, 3), ("近い", 2, 3)):
            self.world.judge(self.hanako, "Q1", doc_id, first)
            self.world.judge(self.minjun, "Q1", doc_id, two)

    def decide(
        self, pair: str, grade: Any, rationale: str = "第17条", *, by: Actor | None = None, **given: Any
    ) -> None:
        lead = by or self.lead
        seen = show_disagreement(self.database, lead, "d", pair, now=LATER).seen
        given.setdefault("now", LATER)
        adjudicate(self.database, lead, "d", pair, grade=grade, rationale=rationale, seen=seen, **given)

    def count_unread(self, actor: Actor) -> int:
        return count_news(self.database, actor, "d", now=LATER).decisions

    def own(self, actor: Actor, **given: Any) -> Any:
        return list_own_decisions(self.database, actor, "d", now=LATER, **given)

    def object(
        self, actor: Actor, text: str = "本文を見てください", *, pair: str = "", seen: int = 1
    ) -> None:
        object_to_decision(self.database, actor, "d", pair or self.far, text=text, seen=seen, now=LATER)


def test_annotators_see_what_was_decided_on_their_pairs_and_why(database: Database) -> None:
    world = Decided(database)
    assert world.own(world.hanako).total == 0
    world.decide(world.far, 2, cause="guideline_gap")
    world.decide(world.near, 2)
    assert count_news(database, world.hanako, "d", now=LATER).decisions == 2
    own = world.own(world.hanako)
    assert (own.total, own.differing) == (2, 1)
    far = next(decision for decision in own.decisions if decision.pair == world.far)
    assert (far.grade, far.own_grade, far.rationale, far.cause, far.new) == (
        2,
        0,
        "第17条",
        "guideline_gap",
        True,
    )
    assert [decision.differs for decision in own.decisions if decision.pair == world.near] == [False]
    assert [decision.pair for decision in world.own(world.hanako, differing=True).decisions] == [world.far]
    assert count_news(database, world.hanako, "d", now=LATER).decisions == 0
    assert not any(decision.unread for decision in world.own(world.hanako).decisions)
    assert world.own(world.world.person("other")).total == 0


def test_a_decision_is_read_when_it_was_shown_and_news_again_when_a_lead_decides_anew(
    database: Database,
) -> None:
    world = Decided(database)
    world.decide(world.far, 2)
    world.decide(world.near, 2)
    visit = LATER + timedelta(hours=1)
    look = partial(list_own_decisions, database, world.hanako, "d", visit=visit, now=visit)
    assert [decision.new for decision in look().decisions] == [True, True]
    assert [(decision.new, decision.unread) for decision in look().decisions] == [(True, False)] * 2, (
        "what was new when she came stays marked while she is there"
    )
    assert world.count_unread(world.hanako) == 0 and world.count_unread(world.minjun) == 2
    world.decide(world.far, 1, "見直しました", now=visit + timedelta(hours=1))
    assert world.count_unread(world.hanako) == 1
    later = visit + timedelta(hours=2)
    look = partial(list_own_decisions, database, world.hanako, "d", visit=later, now=later)
    first, second = look(limit=1), look(limit=1, offset=1)
    assert [(decision.pair, decision.new) for decision in first.decisions] == [(world.far, True)]
    assert [(decision.pair, decision.new) for decision in second.decisions] == [(world.near, False)]
    assert (first.total, second.total, look(offset=2).decisions) == (2, 2, ())
    assert world.count_unread(world.hanako) == 0 and world.count_unread(world.minjun) == 2


def test_an_older_decision_that_is_new_comes_before_the_latest_that_was_read(database: Database) -> None:
    world = Decided(database)
    world.decide(world.far, 2)
    world.decide(world.near, 2, now=LATER + timedelta(minutes=1))
    visit, later = LATER + timedelta(hours=1), LATER + timedelta(hours=2)
    look = partial(list_own_decisions, database, world.hanako, "d", limit=1)
    assert [decision.pair for decision in look(visit=visit, now=visit).decisions] == [world.near]
    assert [decision.pair for decision in look(visit=later, now=later).decisions] == [world.far]
    assert [decision.pair for decision in look(visit=later, now=later, offset=1).decisions] == [world.near]


def test_that_a_decision_was_read_is_in_no_audit_log_and_in_no_export(database: Database) -> None:
    world = Decided(database)
    world.decide(world.far, 2)
    with database.read() as session:
        before = session.scalars(select(col(AuditEventRow.pk))).all()
    world.own(world.hanako)
    with database.read() as session:
        assert session.scalars(select(col(AuditEventRow.pk))).all() == before
        assert session.scalars(select(SeenDecisionRow)).one().person_pk == world.hanako.person_id
    assert {"seen_decision", "seen_answer"}.isdisjoint(table.name for table in list_tables())


def test_an_annotator_sees_no_decision_before_their_own_work_on_its_query_is_done(database: Database) -> None:
    world = Decided(database)
    world.world.pair("Q1", "未判定")
    world.decide(world.far, 2)
    assert world.own(world.hanako).total == 0 and world.count_unread(world.hanako) == 0
    with pytest.raises(StateError, match="Judge your remaining pairs of query Q1 first"):
        world.object(world.hanako)
    world.world.judge(world.hanako, "Q1", "未判定", 1)
    assert world.own(world.hanako).total == 1
    assert world.own(world.minjun).total == 0


def test_the_version_of_the_guideline_that_says_so_is_told(database: Database) -> None:
    world = Decided(database)
    world.decide(world.far, 2)
    assert world.own(world.hanako).decisions[0].guideline_since is None
    with database.write() as session:
        rubric = find_rubric(session, find_dataset(session, "d").pk or 0)
        decided = session.scalars(select(col(AdjudicationRow.pk))).one()
        session.add(GuidelineDecisionRow(rubric_pk=rubric.pk or 0, adjudication_pk=decided or 0))
    assert world.own(world.hanako).decisions[0].guideline_since == 1


def test_an_objection_opens_the_pair_again_and_a_later_decision_answers_it(database: Database) -> None:
    world = Decided(database)
    world.decide(world.far, 2)
    world.object(world.hanako)
    world.object(world.hanako)
    (reopened,) = [
        disagreement
        for disagreement in find_disagreements(database, world.lead, "d", now=LATER)
        if disagreement.pair == world.far
    ]
    assert reopened.status == "open" and reopened.waiting == QueueReason.OBJECTION
    with database.read() as session:
        pk = session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == world.far)) or 0
        assert has_seen(session, pk, world.hanako.person_id or 0), "who objects knows what was decided"
    (own_decision,) = world.own(world.hanako).decisions
    assert own_decision.objection is not None and not own_decision.objection.answered
    with database.read() as session:
        assert [
            (objection.annotator, objection.text) for objection in list_objections(session, [pk])[pk]
        ] == [("花子", "本文を見てください")]
    world.decide(world.far, 2, "見ました。それでも2です", by=world.other)
    (answered,) = world.own(world.hanako).decisions
    assert answered.objection is not None and answered.objection.answered
    assert (answered.rationale, answered.revision) == ("見ました。それでも2です", 2)
    assert world.own(world.minjun).decisions[0].objection is None
    with pytest.raises(StateError, match="already"):
        world.object(world.hanako, "もう一度", seen=2)


def test_an_objection_to_something_else_than_holds_is_refused_with_what_changed(database: Database) -> None:
    world = Decided(database)
    world.decide(world.far, 2)
    world.decide(world.far, 1, by=world.other)
    with pytest.raises(ConflictError, match="changed the decision to 1"):
        world.object(world.hanako)
    world.decide(world.far, "unrateable", by=world.other)
    with pytest.raises(ConflictError, match="“cannot rate”"):
        world.object(world.hanako)
    with pytest.raises(ConflictError, match="withdrawn"):
        world.object(world.hanako, pair=world.near)


def test_blank_or_endless_words_and_somebody_who_did_not_judge_are_refused(database: Database) -> None:
    world = Decided(database)
    world.decide(world.far, 2)
    for words in ("", " \n", "x" * 10_001):
        with pytest.raises(ValidationError):
            world.object(world.hanako, words)
    for stranger in (world.lead, world.world.person("other")):
        with pytest.raises(NotAllowed, match="You have not judged this pair"):
            world.object(stranger)


def test_a_decision_that_was_taken_back_stays_with_whoever_objected_to_it_only(database: Database) -> None:
    world = Decided(database)
    world.decide(world.far, 2)
    world.object(world.hanako)
    with database.write() as session:
        made = session.scalars(select(AdjudicationRow)).one()
        given = made.model_dump(exclude={"pk"})
        add_decisions(
            session,
            find_dataset(session, "d").pk or 0,
            [{**given, "revision": 2, "outcome": "withdrawn", "grade": None}],
        )
    (own_decision,) = world.own(world.hanako).decisions
    assert (own_decision.outcome, own_decision.differs) == ("withdrawn", False)
    assert own_decision.objection is not None and own_decision.objection.answered
    assert world.own(world.minjun).total == 0


@pytest.mark.parametrize("seed", [0, 8, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3))])
def test_nobody_is_shown_a_grade_of_a_query_with_open_work_of_their_own(
    database: Database, seed: int
) -> None:
    """Random people do random things in a random order; whatever is shown is checked against what was open."""
    made = play(database, seed)
    assert min(made.looked, made.shown) > 0, "or this tests nothing"
    assert made.shown_too_early == []
