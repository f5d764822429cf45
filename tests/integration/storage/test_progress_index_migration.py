"""A database of the schema before has the same progress after the migration, and says it from an index."""

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import inspect, text

from annotator.domain.people import OPERATOR
from annotator.labeling.service import compute_progress
from annotator.storage.database import Database
from annotator.storage.schema import MIGRATIONS, upgrade_schema
from tests.integration.storage.test_schema import AT, read_all

INDEXED = ["dataset_pk", "annotator_pk", "outcome", "made_at"]


@pytest.fixture
def old(empty_database: Database) -> Database:
    """A database of schema 0020 in which two people judged two pairs of a query."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with empty_database.write() as session:
        connection = session.connection()
        config.attributes["connection"] = connection
        command.upgrade(config, "0020")
        for statement in (
            (
                f"INSERT INTO dataset (pk, name, title, overlap, kappa_target, lease_minutes, seed, list_grade_0, created_at) "
                f"VALUES (1, 'd', '', 2, 0.7, 60, 0, false, '{AT}')"
            ),
            f"INSERT INTO rubric (pk, dataset_pk, version, title, guideline, grades, created_at) VALUES (1, 1, 1, '', '', '[]', '{AT}')",
            "INSERT INTO query (pk, dataset_pk, position, query_id, text, extra) VALUES (1, 1, 1, 'q', '検索', '{}')",
        ):
            connection.execute(text(statement))
        for pk in (1, 2):
            connection.execute(
                text(
                    "INSERT INTO person (pk, username, name, must_change_password, simulated, created_at) "
                    f"VALUES ({pk}, 'p{pk}', '', false, false, '{AT}')"
                )
            )
            connection.execute(
                text(
                    "INSERT INTO document (pk, dataset_pk, doc_id, title, media_type, extra) "
                    f"VALUES ({pk}, 1, 'd{pk}', '', 'text/plain', '{{}}')"
                )
            )
            connection.execute(
                text(
                    "INSERT INTO pair (pk, dataset_pk, query_pk, document_pk, key, judged, wanted, lacking, created_at) "
                    f"VALUES ({pk}, 1, 1, {pk}, 'k{pk}', 1, 2, 1, '{AT}')"
                )
            )
        judgments = (
            (1, 1, 1, "graded", 2, 10.5),
            (2, 1, 2, "graded", 0, 10.75),
            (3, 2, 1, "unrateable", None, 5),
            (4, 2, 2, "later", None, 40),
        )
        for pk, person, pair, outcome, grade, second in judgments:
            at = f"2026-03-04 05:06:{second:09.6f}"
            zone = "" if empty_database.is_sqlite else "+00:00"
            connection.execute(
                text(
                    "INSERT INTO judgment (pk, event_id, pair_pk, annotator_pk, rubric_pk, outcome, grade, purpose, judged_at, received_at) "
                    f"VALUES ({pk}, 'e{pk}', {pair}, {person}, 1, '{outcome}', :grade, 'independent', '{at}{zone}', '{at}{zone}')"
                ),
                {"grade": grade},
            )
            connection.execute(
                text(
                    "INSERT INTO current_judgment (pair_pk, annotator_pk, judgment_pk, dataset_pk, outcome, grade, purpose, made_at) "
                    f"VALUES ({pair}, {person}, {pk}, 1, '{outcome}', :grade, 'independent', {1772600760 + int(second)})"
                ),
                {"grade": grade},
            )
    return empty_database


def test_progress_is_the_same_and_every_row_stays(old: Database) -> None:
    before = read_all(old)
    upgrade_schema(old)
    after = read_all(old)
    for table in ("judgment", "current_judgment", "pair"):
        assert [row[: len(before[table][0])] for row in after[table]] == before[table]
    progress = {person.annotator: person for person in compute_progress(old, OPERATOR, "d").annotators}
    counts = {name: (person.judged, person.unrateable, person.later) for name, person in progress.items()}
    assert counts == {"p1": (2, 0, 0), "p2": (1, 1, 1)}
    last = {name: str(person.last_judged_at) for name, person in progress.items()}
    assert last == {"p1": "2026-03-04 05:06:10.750000+00:00", "p2": "2026-03-04 05:06:40+00:00"}


def test_the_index_holds_the_second_of_each_judgment_and_the_one_before_it_is_gone(old: Database) -> None:
    upgrade_schema(old)
    indexes = {
        str(index["name"]): index["column_names"]
        for index in inspect(old.engine).get_indexes("current_judgment")
    }
    assert indexes["ix_current_judgment_annotator_outcome"] == INDEXED
    assert "ix_current_judgment_dataset_annotator" not in indexes
