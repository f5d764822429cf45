"""Rounds of the pool: what is stored of each, and what stays when documents get other ids; on both databases."""

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.domain.people import OPERATOR
from annotator.importing.remapping.remapping_service import remap_documents
from annotator.pooling.analysis.pool_analysis_service import iterate_left_out
from annotator.pooling.rounds.round_records import LeftOut, NewRound, PairDraw
from annotator.pooling.rounds.rounds_sql import (
    add_round,
    list_pair_rounds,
    list_probabilities,
    list_rounds,
)
from annotator.storage.database import Database
from annotator.storage.lookup import key_of
from annotator.storage.tables.central import DocumentRow, PairRow, QueryRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW + timedelta(days=1)


class Rounds(JudgedWorld):
    """A dataset with two queries, one pair, and documents that are in no pair."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.query("Q1", "농지")
        self.query("Q2", "検索")
        self.pair("Q1", "a")
        with database.write() as session:
            for doc_id in ("b", "c", "d"):
                session.add(DocumentRow(dataset_pk=self.dataset_pk, doc_id=doc_id))

    def leave_out(self, *left_out: tuple[str, str, str, str | None]) -> int:
        """A round that left these out: (query_id, doc_id, rule, kept doc_id)."""
        with self.database.write() as session:
            queries = dict(session.execute(select(col(QueryRow.query_id), col(QueryRow.pk))).all())
            documents = dict(session.execute(select(col(DocumentRow.doc_id), col(DocumentRow.pk))).all())
            items = tuple(
                LeftOut(queries[query], documents[doc], rule, None if kept is None else documents[kept])
                for query, doc, rule, kept in left_out
            )
            new = NewRound("depth", {"depth": 3}, {"new": 0}, items)
            return add_round(session, self.dataset_pk, new, {}, made_by=None, now=NOW)

    def left_out(self) -> list[tuple[int, str, str, str, str | None]]:
        """(round, query_id, doc_id, rule, kept doc_id)."""
        return sorted(
            (item.number, item.query_id, item.doc_id, item.rule, item.kept_doc_id)
            for item in iterate_left_out(self.database, OPERATOR, "d")
        )


@pytest.fixture
def world(copy_world: CopyWorld) -> Rounds:
    return copy_world(Rounds)


def test_rounds_are_numbered_in_each_dataset_and_keep_what_was_asked(world: Rounds) -> None:
    lead = world.person("花子", "lead")
    with world.database.write() as session:
        pair_pk = key_of(session.scalar(select(col(PairRow.pk))))
        new = NewRound("stratified", {"depth": 10, "systems": ["벡터"]}, {"new": 1})
        draws = {pair_pk: PairDraw("4-10", 0.25)}
        assert add_round(session, world.dataset_pk, new, draws, made_by=lead.person_id, now=NOW) == 1
        assert add_round(session, world.dataset_pk, NewRound("depth"), {}, made_by=None, now=LATER) == 2
    other = JudgedWorld(world.database, name="other")
    with world.database.write() as session:
        assert add_round(session, other.dataset_pk, NewRound("depth"), {}, made_by=None, now=LATER) == 1
    with world.database.read() as session:
        first, second = list_rounds(session, world.dataset_pk)
        assert (first.number, first.made_at, first.made_by, first.strategy) == (1, NOW, "花子", "stratified")
        assert (first.pairs, first.options, first.figures) == (1, new.options, new.figures)
        assert (second.number, second.made_by, second.pairs) == (2, None, 0)
        assert list_pair_rounds(session, world.dataset_pk) == {pair_pk: 1}
        (pair,) = list_probabilities(session, world.dataset_pk)
        assert (pair.round, pair.stratum, pair.inclusion) == (1, "4-10", 0.25)


def remap(world: Rounds, folder: Path, *links: str) -> None:
    path = folder / "new ids.csv"
    lines = ["old_doc_id,new_doc_id", *(link.replace(">", ",") for link in links)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    remap_documents(world.database, OPERATOR, "d", path, now=LATER)


def test_what_was_left_out_follows_renamed_documents(world: Rounds, tmp_path: Path) -> None:
    world.leave_out(("Q1", "b", "near-duplicate", "a"), ("Q2", "d", "min-length:9", None))
    remap(world, tmp_path, "b>c", "a>🔎", "d>민법")
    assert world.left_out() == [
        (1, "Q1", "c", "near-duplicate", "🔎"),
        (1, "Q2", "민법", "min-length:9", None),
    ]


def test_two_documents_that_become_one_are_left_out_once(world: Rounds, tmp_path: Path) -> None:
    world.leave_out(("Q1", "b", "near-duplicate", "a"), ("Q1", "c", "one-per:page", "a"))
    world.leave_out(("Q1", "b", "near-duplicate", "c"), ("Q2", "d", "near-duplicate", "b"))
    remap(world, tmp_path, "b>c")
    assert world.left_out() == [
        (1, "Q1", "c", "one-per:page", "a"),
        (2, "Q2", "d", "near-duplicate", "c"),
    ]


def test_a_document_that_is_gone_is_no_longer_said_to_be_left_out(world: Rounds, tmp_path: Path) -> None:
    world.leave_out(("Q1", "b", "min-length:9", None), ("Q1", "c", "near-duplicate", "b"))
    remap(world, tmp_path, "b>b#1", "b>b#2")
    assert world.left_out() == [(1, "Q1", "c", "near-duplicate", None)]
