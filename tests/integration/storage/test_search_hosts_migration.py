"""A database that kept the allowed hosts in the audit log allows the same hosts after the migration, and keeps the log."""

import json

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text

from annotator.dataset.service import change_settings, show_search_hosts
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.schema import MIGRATIONS, upgrade_schema
from tests.integration.judged_world import NOW
from tests.integration.storage.test_schema import AT, read_all

DATASETS = {1: "changed", 2: "withdrawn", 3: "never", 4: "日本"}
EVENTS: tuple[tuple[int, str, dict[str, object] | None], ...] = (
    (1, "changed settings", {"search_hosts": ["old.example:9200"]}),
    (2, "changed settings", {"search_hosts": ["b.example"]}),
    (1, "changed settings", {"search_hosts": ["es.example:9200", "localhost:8983"]}),
    (1, "changed settings", {"second_adjudicator": True}),
    (2, "changed settings", {"search_hosts": None}),
    (1, "published guideline", {"search_hosts": ["wrong.example"]}),
    (1, "assigned", None),
    (4, "changed settings", {"search_hosts": ["検索.example:443"]}),
)


@pytest.fixture
def old(empty_database: Database) -> Database:
    """A database of schema 0016 whose datasets allow hosts by entries of the audit log."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with empty_database.write() as session:
        config.attributes["connection"] = session.connection()
        command.upgrade(config, "0016")
        for pk, name in DATASETS.items():
            session.connection().execute(
                text(
                    "INSERT INTO dataset (pk, name, title, overlap, kappa_target, lease_minutes, seed, list_grade_0, created_at) "
                    f"VALUES (:pk, :name, '', 2, 0.7, 60, 0, false, '{AT}')"
                ),
                {"pk": pk, "name": name},
            )
        for dataset_pk, action, after in EVENTS:
            session.connection().execute(
                text(
                    "INSERT INTO audit_event (dataset_pk, action, after, at) "
                    f"VALUES (:dataset_pk, :action, :after, '{AT}')"
                ),
                {
                    "dataset_pk": dataset_pk,
                    "action": action,
                    "after": None if after is None else json.dumps(after),
                },
            )
    return empty_database


def test_each_dataset_allows_what_its_latest_entry_allowed(old: Database) -> None:
    before = read_all(old)
    upgrade_schema(old)
    allowed = {name: show_search_hosts(old, OPERATOR, name) for name in DATASETS.values()}
    assert allowed == {
        "changed": ("es.example:9200", "localhost:8983"),
        "withdrawn": (),
        "never": (),
        "日本": ("検索.example:443",),
    }
    after = read_all(old)
    assert after["audit_event"] == before["audit_event"]
    assert [row[: len(before["dataset"][0])] for row in after["dataset"]] == before["dataset"]


def test_a_later_change_is_kept_and_in_the_audit_log(old: Database) -> None:
    upgrade_schema(old)
    change_settings(old, OPERATOR, "withdrawn", {"search_hosts": "c.example"}, now=NOW)
    assert show_search_hosts(old, OPERATOR, "withdrawn") == ("c.example",)
    with old.read() as session:
        statement = text(
            "SELECT before, after FROM audit_event WHERE dataset_pk = 2 ORDER BY pk DESC LIMIT 1"
        )
        values = session.connection().execute(statement).one()
    before, after = (json.loads(value) if isinstance(value, str) else value for value in values)
    assert (before, after) == ({"search_hosts": None}, {"search_hosts": ["c.example"]})
