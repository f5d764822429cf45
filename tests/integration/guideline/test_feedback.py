"""What decided disagreements teach, on both databases: read, counted, and answered by a guideline version."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, func, select

from annotator.domain.errors import NotAllowed, NotFound, StateError
from annotator.guideline import feedback_sql
from annotator.guideline.feedback_service import list_decisions_behind, list_worklist
from annotator.guideline.feedback_sql import read_lengths
from annotator.guideline.service import list_versions, publish_version, read_version
from annotator.labeling.questions_service import list_for_guideline
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.adjudication import AuditEventRow, GuidelineDecisionRow
from tests.integration.feedback_world import CATEGORIES, FeedbackWorld
from tests.integration.judged_world import NOW


def count(database: Database, table: type) -> int:
    with database.read() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def count_waiting(database: Database) -> int:
    """Count the decisions and questions that wait for the guideline."""
    with database.read() as session:
        return feedback_sql.count_waiting(session, key_of(find_dataset(session, "d").pk))


def test_decisions_are_summed_up_with_what_was_said_and_decided(database: Database) -> None:
    world = FeedbackWorld(database)
    keys = [world.add_disagreement("Q1", 2, 1, 1, "guideline_gap", in_guideline=not n) for n in range(3)]
    world.add_disagreement("Q1", 0, 3, 0, "slip")
    world.add_disagreement("Q1", 1, 2)  # open: nothing is known of it yet
    unrateable = world.add_disagreement("Q2", 2, None, 2, "borderline")
    worklist = list_worklist(database, world.lea, "d", now=NOW)
    group, single = worklist.items
    assert group.sentence == (
        "3 of 4 decided disagreements in 障害 対応 are 1 against 2 because the guideline has no rule. "
        "Add a rule that separates the two, with examples."
    )
    assert {decision.pair for decision in group.decisions} == set(keys)
    decision = group.decisions[0]
    assert (decision.grades, decision.decided, decision.rationale, decision.category) == (
        (1, 2),
        1,
        "第17条 & <i>",
        CATEGORIES[0],
    )
    assert (group.asking, group.open, group.answered_in, worklist.decided, worklist.waiting) == (
        1,
        3,
        (),
        5,
        4,
    )
    assert [(decision.pair, decision.grades, decision.apart) for decision in single.decisions] == [
        (unrateable, (2, "unrateable"), "unrateable")
    ]
    assert count_waiting(database) == worklist.waiting


def test_a_published_version_answers_what_led_to_it_and_says_so_in_the_trail(database: Database) -> None:
    world = FeedbackWorld(database)
    keys = [world.add_disagreement("Q1", 2, 1, 1, "guideline_gap") for _ in range(3)]
    number = world.ask(keys[0])
    assert count_waiting(database) == 4
    world.publish([(key, 1) for key in keys[:2]])
    (item, questions) = list_worklist(database, world.lea, "d", now=NOW).items
    assert (item.open, item.answered_in, questions.open) == (1, (), 1)
    world.publish([(keys[2], 1)], questions=(number,))
    (item,) = list_worklist(database, world.lea, "d", now=NOW).items
    assert (item.open, item.answered_in) == (0, (2, 3))
    assert count_waiting(database) == 0
    assert list_for_guideline(database, world.lea, "d") == []
    behind = list_decisions_behind(database, world.lea, "d", now=NOW)
    assert {version: {decision.pair for decision in decisions} for version, decisions in behind.items()} == {
        2: set(keys[:2]),
        3: {keys[2]},
    }
    with database.read() as session:
        rows = [
            (event.action, event.pair_pk is None, event.person_pk, event.before, event.after)
            for event in session.scalars(select(AuditEventRow).order_by(AuditEventRow.pk))  # type: ignore[arg-type]
        ]
    lead = world.lea.person_id
    assert rows == [
        (
            "published guideline",
            True,
            lead,
            {"version": 1},
            {"version": 2, "change": "minor", "why": "争いから", "decisions": 2},
        ),
        ("published guideline", False, lead, None, {"version": 2, "led": True}),
        ("published guideline", False, lead, None, {"version": 2, "led": True}),
        (
            "published guideline",
            True,
            lead,
            {"version": 2},
            {"version": 3, "change": "minor", "why": "争いから", "decisions": 1},
        ),
        ("published guideline", False, lead, None, {"version": 3, "led": True}),
    ]


def test_a_later_decision_opens_a_worklist_item_again_only_when_it_asks_for_it(database: Database) -> None:
    world = FeedbackWorld(database)
    key = world.add_disagreement("Q1", 2, 1, 1, "guideline_gap")
    world.publish([(key, 1)])
    world.decide(key, 2, "guideline_gap")
    assert count_waiting(database) == 0
    world.decide(key, 2, "guideline_gap", in_guideline=True)
    assert count_waiting(database) == 1
    world.decide(key, None, outcome="withdrawn")
    assert count_waiting(database) == 0
    assert list_worklist(database, world.lea, "d", now=NOW).items == ()
    assert [
        decision.revision for decision in list_decisions_behind(database, world.lea, "d", now=NOW)[2]
    ] == [1]


def test_nothing_is_published_with_a_decision_that_there_is_not(database: Database) -> None:
    world = FeedbackWorld(database)
    key = world.add_disagreement("Q1", 2, 1, 1, "guideline_gap")
    withdrawn = world.decide(key, None, outcome="withdrawn")
    for wrong in ((key, 7), ("0" * 24, 1), withdrawn):
        with pytest.raises(NotFound, match="no decision"):
            world.publish([(key, 1), wrong])
    with pytest.raises(NotFound, match="no such question"):
        world.publish([(key, 1)], questions=(99,))
    assert len(list_versions(database, world.lea, "d")) == 1
    assert (count(database, GuidelineDecisionRow), count(database, AuditEventRow)) == (0, 0)


def test_a_decision_that_asks_for_it_waits_whatever_its_cause(database: Database) -> None:
    world = FeedbackWorld(database)
    world.add_disagreement("Q1", 2, 1, 1, "slip", in_guideline=True)
    world.add_disagreement("Q1", 2, 1, 1, in_guideline=True)
    (item,) = list_worklist(database, world.lea, "d", now=NOW).items
    assert item.sentence == "2 decisions are marked for the guideline."
    assert count_waiting(database) == item.waiting == 2


def test_decisions_alone_make_no_version(database: Database) -> None:
    world = FeedbackWorld(database)
    key = world.add_disagreement("Q1", 2, 1, 1, "guideline_gap")
    present = read_version(database, world.lea, "d")
    with pytest.raises(StateError, match="There is nothing to publish"):
        publish_version(
            database, world.lea, "d", present.rubric, base_version=1, change="minor", decisions=[(key, 1)],
            now=NOW + timedelta(days=1),
        )  # fmt: skip
    assert count(database, GuidelineDecisionRow) == 0


def test_misread_documents_are_told_to_be_long_where_they_are(database: Database) -> None:
    world = FeedbackWorld(database)
    for _ in range(5):
        world.add_disagreement("Q1", 0, 2, 2, "misread_document", text="長" * 20_001)
    for _ in range(9):
        world.add_disagreement("Q2", 0, 1, 1, "slip", text="短い")
    (item,) = list_worklist(database, world.lea, "d", now=NOW).items
    assert item.sentence == (
        "5 of 5 decided disagreements in 障害 対応 come from misread documents. Describe what to look for in them, and where. "
        "Documents longer than 20,000 characters: 5 of these 5, and 0 of 9 others."
    )
    assert count_waiting(database) == 0


def test_only_leads_see_what_disputes_teach(database: Database) -> None:
    world = FeedbackWorld(database)
    for ask in (list_worklist, list_decisions_behind):
        with pytest.raises(NotAllowed):
            ask(database, world.hanako, "d", now=NOW)


def test_how_long_documents_are_is_looked_up_by_their_pairs(database: Database) -> None:
    """Not by reading every pair of the dataset once for each few hundred decisions."""
    if not database.is_sqlite:
        return
    statements: list[tuple[str, Any]] = []
    event.listen(
        database.engine,
        "before_cursor_execute",
        lambda *arguments: statements.append((arguments[2], arguments[3])),
    )
    with database.read() as session:
        read_lengths(session, 1, [str(number) for number in range(500)])
        ((statement, values),) = [executed for executed in statements if "length(" in executed[0]]
        plan = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()
    assert "(key=?)" in str(plan[0])
