"""What the queue is made of and how long it lasts, on both databases: counted over what is open, and for leads only."""

from datetime import timedelta

import pytest
from sqlalchemy import update
from sqlmodel import col

from annotator.adjudication.queue.queue_service import compute_queue_pace, find_disagreements, summarize_queue
from annotator.domain.errors import NotAllowed
from annotator.domain.settling import QueueReason
from annotator.storage.database import Database
from annotator.storage.lookup import find_pair_pk
from annotator.storage.tables.adjudication import DisagreementAssignmentRow, DisagreementRow, SettleBatchRow
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW + timedelta(days=1)


def make(database: Database) -> tuple[JudgedWorld, dict[str, str]]:
    """Five disagreements, of which 決 is decided; the first pair is none."""
    world = JudgedWorld(database)
    world.query("Q1", "検索 🔎", category="設定")
    world.query("Q2", "검색")
    ann, bea, lead = world.person("花子"), world.person("민준"), world.person("lead", "lead")
    keys = {}
    for query_id, doc, first, second in (
        ("Q1", "同", 2, 2), ("Q1", "가", 0, 3), ("Q1", "b", 2, 3), ("Q2", "ج", 1, None), ("Q2", "d", 0, 3),
        ("Q2", "決", 0, 1),
    ):  # fmt: skip
        keys[doc] = world.pair(query_id, doc, rank=1)
        world.judge(ann, query_id, doc, first)
        world.judge(bea, query_id, doc, second)
    world.add_decision(lead, "Q2", "決", 1)
    return world, keys


def test_what_is_open_is_counted_by_each_filter(database: Database) -> None:
    world, keys = make(database)
    lead = world.person("other", "lead")
    with database.write() as session:
        pair_pk = find_pair_pk(session, world.dataset_pk, keys["b"])
        session.add(DisagreementAssignmentRow(pair_pk=pair_pk, lead_pk=lead.person_id, assigned_at=NOW))
        session.execute(
            update(DisagreementRow).where(col(DisagreementRow.pair_pk) == pair_pk).values(flips=2)
        )
    summary = summarize_queue(database, lead, "d")
    assert {reason: n for reason, n in summary.by_reason.items() if n} == {
        QueueReason.DIFFER: 3,
        QueueReason.UNRATEABLE: 1,
    }
    assert summary.by_grades == {(0, 3): 2, (2, 3): 1}
    assert summary.by_category == {"設定": 2, None: 2}
    assert (summary.taste, summary.flips, summary.assigned) == (1, 1, {"other": 1})


def test_disagreements_of_another_dataset_are_none_of_these(database: Database) -> None:
    world, _keys = make(database)
    lead = world.person("other lead", "lead")
    summarize = lambda: (  # noqa: E731
        summarize_queue(database, lead, "d"),
        compute_queue_pace(database, lead, "d", now=LATER),
        [item.pair for item in find_disagreements(database, lead, "d", now=LATER)],
    )
    summarize()  # the impacts are up to date from now on
    before = summarize()
    there = JudgedWorld(database, name="there")
    there.judged = 100  # events of their own
    there.query("Q9", "一", category="設定")
    first, second = there.person("하나"), there.person("둘")
    for doc_id in ("x", "y"):
        there.pair("Q9", doc_id, rank=1)
        there.judge(first, "Q9", doc_id, 0)
        there.judge(second, "Q9", doc_id, 3)
    there.add_decision(lead, "Q9", "y", 1)
    assert summarize() == before


def test_an_empty_queue_counts_nothing(database: Database) -> None:
    world = JudgedWorld(database)
    summary = summarize_queue(database, world.person("lead", "lead"), "d")
    assert (summary.by_grades, summary.by_category, summary.taste, summary.flips) == ({}, {}, 0, 0)


def test_the_pace_counts_what_was_decided_by_hand_in_the_last_seven_days(database: Database) -> None:
    world, _keys = make(database)
    lead = world.person("other", "lead")
    pace = compute_queue_pace(database, lead, "d", now=LATER)
    assert (pace.open, pace.decided, pace.arrived, pace.working_days) == (4, 1, 5, 1)
    assert pace.working_days_left == 4
    week = compute_queue_pace(database, lead, "d", now=NOW + timedelta(days=8))
    assert (week.decided, week.arrived, week.per_day) == (0, 0, None)


def test_what_a_policy_settled_says_nothing_about_the_pace(database: Database) -> None:
    world, _keys = make(database)
    lead = world.person("other", "lead")
    world.judge(world.person("셋"), "Q2", "d", 3)
    with database.write() as session:
        batch = SettleBatchRow(
            dataset_pk=world.dataset_pk, lead_pk=lead.person_id, policy="median", rationale="第17条", pairs=1, made_at=NOW
        )  # fmt: skip
        session.add(batch)
        session.flush()
        batch_pk = batch.pk
    world.add_decision(lead, "Q2", "d", 3, batch_pk=batch_pk)
    assert compute_queue_pace(database, lead, "d", now=LATER).decided == 1


def test_only_leads_are_told(database: Database) -> None:
    world, _keys = make(database)
    nobody = world.person("annotator")
    with pytest.raises(NotAllowed):
        summarize_queue(database, nobody, "d")
    with pytest.raises(NotAllowed):
        compute_queue_pace(database, nobody, "d", now=LATER)


def test_the_seconds_of_a_decision_are_read_as_they_were_stored(database: Database) -> None:
    world, _keys = make(database)
    lead = world.person("other", "lead")
    for doc, seconds in (("가", 4.0), ("b", 6.0), ("ج", 8.0), ("d", 9.0), ("同", 12.0)):
        world.add_decision(lead, "Q1" if doc in "同가b" else "Q2", doc, 2, seconds=seconds)
    pace = compute_queue_pace(database, lead, "d", now=LATER)
    assert (pace.timed, pace.seconds, pace.open, pace.work) == (5, 8.0, 0, 0)
