"""Disagreements follow what is said and decided, on both databases."""

from datetime import timedelta

from sqlalchemy import select
from sqlmodel import col

from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.domain.settling import QueueReason
from annotator.storage.database import Database
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.tables.adjudication import CurrentAdjudicationRow, DisagreementRow
from annotator.storage.tables.central import PairRow
from tests.integration.judged_world import NOW, JudgedWorld

Found = dict[str, tuple[bool, QueueReason, int | None, int | None, int]]


def find(database: Database) -> Found:
    """Open, reasons, low, high and distance by pair."""
    with database.read() as session:
        rows = session.execute(
            select(PairRow, DisagreementRow).join(
                DisagreementRow, col(DisagreementRow.pair_pk) == col(PairRow.pk)
            )
        )
        return {
            pair.key: (row.open, QueueReason(row.reasons), row.low, row.high, row.distance)
            for pair, row in rows
        }


def make(database: Database) -> tuple[JudgedWorld, dict[str, str]]:
    world = JudgedWorld(database)
    world.query("Q1", "検索 🔎")
    keys = {doc: world.pair("Q1", doc, rank=1) for doc in ("가", "b", "ج", "d", "e")}
    ann, bea = world.person("花子"), world.person("민준")
    for doc, first, second in (("가", 0, 3), ("b", 2, 2), ("ج", 1, None), ("d", 1, 2)):
        world.judge(ann, "Q1", doc, first)
        world.judge(bea, "Q1", doc, second)
    return world, keys


def test_a_pair_is_a_disagreement_from_the_judgment_on_that_differs(database: Database) -> None:
    _world, keys = make(database)
    assert find(database) == {
        keys["가"]: (True, QueueReason.DIFFER, 0, 3, 3),
        keys["ج"]: (True, QueueReason.UNRATEABLE, None, None, 1),
        keys["d"]: (True, QueueReason.DIFFER, 1, 2, 1),
    }


def test_a_decision_closes_the_disagreement_and_holds(database: Database) -> None:
    world, keys = make(database)
    lead = world.person("lead", "lead")
    disagreement = show_disagreement(database, lead, "d", keys["가"], now=NOW)
    adjudicate(
        database,
        lead,
        "d",
        keys["가"],
        grade=2,
        rationale="第17条",
        seen=disagreement.seen,
        now=NOW + timedelta(days=1),
    )
    assert find(database)[keys["가"]] == (False, QueueReason.DIFFER, 0, 3, 3)
    with database.read() as session:
        (held,) = session.scalars(select(CurrentAdjudicationRow))
    assert (held.grade, held.outcome, held.lead_pk) == (2, "graded", lead.person_id)


def test_deriving_all_of_a_dataset_comes_to_the_same(database: Database) -> None:
    world, _keys = make(database)
    before = find(database)
    with database.write() as session:
        derive_disagreements(session, world.dataset_pk)
    assert find(database) == before
