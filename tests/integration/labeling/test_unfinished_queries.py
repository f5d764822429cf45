"""What of a query is still an annotator's own to answer: every way in which a pair can be theirs, and none in which it is not."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlmodel import col

from annotator.adjudication.discussion.discussion_sql import list_busy_queries
from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.storage.lookup import OpenPairsRequest, find_dataset, find_person, key_of
from annotator.storage.tables.adjudication import QualityDrawRow, QualityPairRow
from annotator.storage.tables.central import CurrentJudgmentRow, DocumentRow, PairRow, QueryRow
from annotator.storage.tables.labeling import AssignmentRow, LeaseRow, RepeatRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW + timedelta(hours=5)


def make_world(database: Database) -> JudgedWorld:
    """Two queries with one pair each, which hanako and two others have judged: nobody has anything left."""
    made = JudgedWorld(database, lease_minutes="60")
    people = [made.person(name) for name in ("hanako", "minjun", "kim")]
    for query_id in ("Q1", "Q2"):
        made.query(query_id, "検索")
        made.pair(query_id, f"judged {query_id}")
        for who in people[:2]:
            made.judge(who, query_id, f"judged {query_id}", 1)
    return made


@pytest.fixture
def world(copy_world: CopyWorld) -> JudgedWorld:
    return copy_world(make_world)


def find(world: JudgedWorld, username: str) -> Actor:
    with world.database.read() as session:
        return Actor(key_of(find_person(session, username).pk), username)


def busy(world: JudgedWorld, who: Actor, *, minutes: float = 0) -> list[str]:
    """The query_ids of which they have something left."""
    with world.database.read() as session:
        row = find_dataset(session, "d")
        queries = {
            key_of(pk): query_id
            for pk, query_id in session.execute(select(col(QueryRow.pk), col(QueryRow.query_id)))
        }
        request = OpenPairsRequest(
            key_of(row.pk), who.person_id or 0, row.overlap, LATER + timedelta(minutes=minutes)
        )
        return sorted(queries[pk] for pk in list_busy_queries(session, request, row, queries))


def pair_pk(world: JudgedWorld, doc_id: str) -> int:
    with world.database.read() as session:
        statement = select(col(PairRow.pk)).join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        return key_of(session.scalars(statement.where(col(DocumentRow.doc_id) == doc_id)).one())


def add(world: JudgedWorld, *rows: Any) -> None:
    with world.database.write() as session:
        for row in rows:
            session.add(row)


def test_nothing_is_left_where_everything_is_judged(world: JudgedWorld) -> None:
    assert busy(world, find(world, "hanako")) == []


def test_a_pair_that_may_still_come_is_theirs_whoever_holds_it_now(world: JudgedWorld) -> None:
    hanako, minjun, kim = (find(world, name) for name in ("hanako", "minjun", "kim"))
    world.pair("Q2", "new")
    assert busy(world, hanako) == ["Q2"]
    held = [{"annotator_pk": who.person_id, "tab": ""} for who in (minjun, kim)]
    add(world, *(
        LeaseRow(pair_pk=pair_pk(world, "new"), expires_at=LATER + timedelta(minutes=5), **lease) for lease in held
    ))  # fmt: skip
    assert busy(world, hanako) == ["Q2"], "their leases may run out"
    world.judge(minjun, "Q2", "new", 1)
    world.judge(kim, "Q2", "new", 2)
    assert busy(world, hanako) == []


def test_what_they_put_off_is_theirs_while_it_is_open(world: JudgedWorld) -> None:
    hanako, minjun, kim = (find(world, name) for name in ("hanako", "minjun", "kim"))
    world.pair("Q1", "new")
    world.judge(hanako, "Q1", "new", None, outcome="later")
    assert busy(world, hanako) == ["Q1"]
    world.judge(minjun, "Q1", "new", 1)
    world.judge(kim, "Q1", "new", 1)
    assert busy(world, hanako) == []


def test_a_query_that_was_given_to_somebody_else_is_not_theirs(world: JudgedWorld) -> None:
    hanako, kim = find(world, "hanako"), find(world, "kim")
    world.pair("Q1", "new")
    with world.database.read() as session:
        query_pk = session.scalars(
            select(col(PairRow.query_pk)).where(col(PairRow.pk) == pair_pk(world, "new"))
        ).one()
    add(world, AssignmentRow(query_pk=query_pk, person_pk=kim.person_id or 0, assigned_at=LATER))
    assert busy(world, hanako) == []
    assert busy(world, kim) == ["Q1"]


def test_what_they_hold_is_theirs_until_the_lease_runs_out(world: JudgedWorld) -> None:
    hanako, minjun, kim = (find(world, name) for name in ("hanako", "minjun", "kim"))
    world.pair("Q1", "new")
    pk = pair_pk(world, "new")
    add(
        world,
        LeaseRow(pair_pk=pk, annotator_pk=hanako.person_id or 0, expires_at=LATER + timedelta(minutes=5)),
    )
    world.judge(minjun, "Q1", "new", 1)
    world.judge(kim, "Q1", "new", 1)
    assert busy(world, hanako) == ["Q1"], "it can still be pressed"
    assert busy(world, hanako, minutes=6) == []


def test_an_outdated_answer_is_theirs_to_confirm(world: JudgedWorld) -> None:
    hanako = find(world, "hanako")
    with world.database.write() as session:
        session.execute(
            update(CurrentJudgmentRow)
            .where(
                col(CurrentJudgmentRow.pair_pk) == pair_pk(world, "judged Q2"),
                col(CurrentJudgmentRow.annotator_pk) == hanako.person_id,
            )
            .values(stale=1)
        )
    assert busy(world, hanako) == ["Q2"] and busy(world, find(world, "minjun")) == []


def test_what_quality_control_drew_for_them_is_theirs(world: JudgedWorld) -> None:
    kim = find(world, "kim")
    drawn = {
        "dataset_pk": world.dataset_pk, "number": 1, "round": 1, "annotator_pk": kim.person_id, "rate": 0.1, "seed": 3,
        "population": 4, "outside": 0, "drawn_at": NOW,
    }  # fmt: skip
    with world.database.write() as session:
        draw = QualityDrawRow.model_validate(drawn)
        session.add(draw)
        session.flush()
        pair = {
            "draw_pk": draw.pk,
            "pair_pk": pair_pk(world, "judged Q1"),
            "settled_grade": 1,
            "settled_by": "unanimous",
        }
        session.add(QualityPairRow.model_validate(pair))
    assert busy(world, kim) == ["Q1"] and busy(world, find(world, "hanako")) == []


def test_what_was_asked_of_them_again_is_theirs_for_as_long_as_a_lease_lasts(world: JudgedWorld) -> None:
    hanako = find(world, "hanako")
    again = {
        "key": "k" * 24,
        "annotator_pk": hanako.person_id,
        "handed_at": LATER,
        "pair_pk": pair_pk(world, "judged Q1"),
    }
    add(world, RepeatRow.model_validate(again))
    assert busy(world, hanako, minutes=59) == ["Q1"]
    assert busy(world, hanako, minutes=61) == [], "a browser that never comes back keeps nobody waiting"
