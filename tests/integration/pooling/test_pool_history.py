"""What a release says of its pool, and the probabilities with which pairs were drawn; on both databases."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.domain.errors import NotAllowed, ValidationError
from annotator.domain.people import OPERATOR
from annotator.pooling.rounds.pool_records import PoolRequest, RankStratum
from annotator.pooling.rounds.round_records import LeftOut, NewRound
from annotator.pooling.rounds.rounds_service import list_pair_probabilities, make_round
from annotator.pooling.rounds.rounds_sql import add_round, read_history
from annotator.storage.database import Database
from annotator.storage.tables.central import DocumentRow, QueryRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW
from tests.integration.pooling.test_pooling import Pool, _run


def make_world(database: Database) -> Pool:
    made = Pool(database)
    made.run("s1", {"Q2": ["a", "b", "제2조"], "Q1": ["제2조"]})
    made.run("s2", {"Q3": ["HttpRequest"]})
    return made


@pytest.fixture
def world(copy_world: CopyWorld) -> Pool:
    return copy_world(make_world)


def pool(world: Pool, **request: Any) -> None:
    make_round(world.database, OPERATOR, "d", PoolRequest(**request), now=NOW)


def test_a_release_knows_the_rounds_what_was_not_pooled_and_what_was_left_out(world: Pool) -> None:
    world.pair("Q3", "b")
    strata = (RankStratum(1, 1, 1.0), RankStratum(2, 3, 0.5))
    pool(world, strategy="stratified", strata=strata, systems=("s1",))
    pool(world, depth=1, systems=(), retrievers=("bm25",))
    with world.database.write() as session:
        query = session.scalar(select(col(QueryRow.pk)).where(col(QueryRow.query_id) == "Q3"))
        documents = dict(session.execute(select(col(DocumentRow.doc_id), col(DocumentRow.pk))).all())
        for rule, doc_ids in (("min-length:9", ("a", "b", "제2조")), ("one-per:page", ("a",))):
            items = tuple(LeftOut(query or 0, documents[doc_id], rule) for doc_id in doc_ids)
            add_round(session, world.dataset_pk, NewRound("depth", left_out=items), {}, made_by=None, now=NOW)
    with world.database.read() as session:
        history = read_history(session, world.dataset_pk)
    assert [(made.number, made.strategy) for made in history.rounds][:2] == [(1, "stratified"), (2, "depth")]
    assert (history.without_round, history.drawn, history.not_pooled) == (1, 1, ("s2",))
    assert history.left_out == {"min-length:9": 1, "one-per:page": 1}, "b is a pair; a counts once"


def test_settled_pairs_are_written_with_their_probabilities(world: Pool, tmp_path: Path) -> None:
    ann = world.person("ann")
    strata = (RankStratum(1, 1, 1.0), RankStratum(2, 3, 0.5))
    pool(world, strategy="stratified", strata=strata, systems=("s1",))
    (drawn,) = {doc_id for query_id, doc_id in world.places() if query_id == "Q2"} - {"a"}
    world.judge(ann, "Q2", drawn, 2)
    world.judge(ann, "Q1", "제2조", None)
    lines = f"Q2 0 {drawn} 2 0.5\nQ1 0 제2조 -1 1\n"
    assert _run(world, "pool-probabilities", "d").stdout == lines
    target = tmp_path / "qrels.probs"
    assert (
        "2 settled pairs written to" in _run(world, "pool-probabilities", "d", "--output", str(target)).stdout
    )
    assert target.read_text(encoding="utf-8") == lines
    listed = json.loads(_run(world, "pool-probabilities", "d", "--json").stdout)
    assert listed[0] == {
        "query_id": "Q2",
        "doc_id": drawn,
        "grade": 2,
        "round": 1,
        "stratum": "2-3",
        "inclusion": 0.5,
    }
    assert listed[1]["grade"] is None
    with pytest.raises(NotAllowed):
        list_pair_probabilities(world.database, ann, "d")


def test_an_id_that_such_a_line_cannot_carry_is_refused(world: Pool, tmp_path: Path) -> None:
    world.pair("Q1", "with space")
    world.judge(world.person("ann"), "Q1", "with space", 1)
    target = tmp_path / "qrels.probs"
    with pytest.raises(ValidationError, match="cannot hold the doc_id 'with space'"):
        _run(world, "pool-probabilities", "d", "--output", str(target))
    assert not target.exists()
