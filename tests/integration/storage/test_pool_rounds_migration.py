"""A database of the schema before pool rounds keeps its pairs, which belong to no round, and can be pooled from then on."""

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from annotator.pooling.rounds.round_records import NewRound, PairDraw
from annotator.pooling.rounds.rounds_sql import add_round, list_pair_rounds, list_probabilities, list_rounds
from annotator.storage.database import Database
from annotator.storage.schema import MIGRATIONS, upgrade_schema
from tests.integration.judged_world import NOW
from tests.integration.storage.test_schema import FIRST_ROWS, read_all


@pytest.fixture
def old(empty_database: Database) -> Database:
    """A database of schema 0015 with a judged pair."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with empty_database.write() as session:
        config.attributes["connection"] = session.connection()
        command.upgrade(config, "0015")
        for table, values in FIRST_ROWS:
            placeholders = ", ".join(f":{name}" for name in values)
            statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({placeholders})"
            session.connection().execute(text(statement), values)
    return empty_database


def test_pairs_from_before_belong_to_no_round(old: Database) -> None:
    before = read_all(old)
    upgrade_schema(old)
    after = read_all(old)
    changed = (
        "alembic_version",
        "dataset",
        "judgment",
        "rubric",
    )  # which later migrations give further columns
    assert {name: after[name] for name in before if name not in changed} == {
        name: rows for name, rows in before.items() if name not in changed
    }
    with old.read() as session:
        assert (list_rounds(session, 1), list_pair_rounds(session, 1)) == ([], {})
        (pair,) = list_probabilities(session, 1)
        assert (pair.query_id, pair.doc_id, pair.round, pair.inclusion) == ("Q1", "법률_제17조", None, 1.0)


@pytest.mark.parametrize("inclusion", [0.0, 1.5, -0.1])
def test_the_database_refuses_what_is_no_probability(old: Database, inclusion: float) -> None:
    upgrade_schema(old)
    with pytest.raises(IntegrityError, match="inclusion"), old.write() as session:
        draws = {1: PairDraw("1-10", inclusion)}
        add_round(session, 1, NewRound("stratified"), draws, made_by=1, now=NOW)
    with old.read() as session:
        assert list_rounds(session, 1) == []


def test_a_pair_comes_in_one_round_only(old: Database) -> None:
    upgrade_schema(old)
    with old.write() as session:
        assert add_round(session, 1, NewRound("depth"), {1: PairDraw()}, made_by=None, now=NOW) == 1
    with pytest.raises(IntegrityError), old.write() as session:
        add_round(session, 1, NewRound("depth"), {1: PairDraw()}, made_by=None, now=NOW)
