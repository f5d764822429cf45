"""From SQLite to PostgreSQL and back, every table is the same row by row; all or nothing."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session
from sqlmodel import select
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.dataset.service import create_dataset
from annotator.domain.errors import StateError
from annotator.domain.people import OPERATOR
from annotator.installation.copy_service import copy_installation
from annotator.installation.tables_sql import analyze, list_table_names, list_tables
from annotator.labeling.service import submit_judgments
from annotator.people.roles_service import find_actor
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables.central import DatasetRow, JudgmentRow, PersonRow, RunEntryRow
from tests import kept_databases
from tests.databases import CopyDatabase, _run
from tests.integration.installation.hashes import hash_tables
from tests.integration.judged_world import NOW


def ignore(*_: object) -> None:
    """Progress that nobody reads."""


@pytest.fixture
def other(request: pytest.FixtureRequest, copy_database: CopyDatabase, tmp_path: Path) -> Iterator[Database]:
    """An empty database of the other kind."""
    if copy_database.__name__ != "copy_file":
        opened = Database(f"sqlite:///{tmp_path / 'other.db'}")
        yield opened
        opened.dispose()
        return
    make = request.getfixturevalue("postgres_url")
    name = "copy_target"
    _run(make, f"CREATE DATABASE {name}")
    opened = Database(make_url(make).set(database=name))
    yield opened
    opened.dispose()
    _run(make, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def back(tmp_path: Path) -> Iterator[Database]:
    """An empty SQLite file, for the way back."""
    opened = Database(f"sqlite:///{tmp_path / 'back.db'}")
    yield opened
    opened.dispose()


def test_every_table_is_the_same_on_the_other_database_and_after_the_way_back(
    rich: Database, other: Database, back: Database
) -> None:
    report = copy_installation(rich, other, ignore)
    assert {table.name for table in report.tables} == {table.name for table in list_tables()}
    assert {table.name for table in report.tables if not table.rows} == set(kept_databases.EMPTY)
    assert report.changed == ()
    copy_installation(other, back, ignore)
    hashes = hash_tables(rich)
    assert hash_tables(other) == hashes == hash_tables(back)
    assert hashes == {table.name: table.sha256 for table in report.tables}


def test_values_arrive_as_they_are(rich: Database, other: Database) -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)
    with rich.write() as session:
        session.add(
            PersonRow(
                pk=50, username="👩‍👩‍👧 é e\u0301 مستند \\N \t\n", must_change_password=True, created_at=at
            )
        )
        session.flush()
        judgment = session.scalars(select(JudgmentRow)).first()
        values = judgment.model_dump()
        values |= {
            "pk": 2**31 - 1,
            "event_id": "big",
            "browser": "b",
            "browser_number": 2**62 + 1,
            "seconds": 0.1 + 0.2,
            "received_at": at,
        }
        session.add(JudgmentRow.model_validate(values))
    copy_installation(rich, other, ignore)
    with other.read() as session:
        person = session.get(PersonRow, 50)
        stored = session.get(JudgmentRow, 2**31 - 1)
        entry = session.scalars(select(RunEntryRow)).one()
        assert person is not None and stored is not None
        assert (person.username, person.must_change_password) == ("👩‍👩‍👧 é e\u0301 مستند \\N \t\n", True)
        assert person.created_at == stored.received_at == at
        assert (stored.browser_number, stored.seconds) == (2**62 + 1, 0.1 + 0.2)
        assert (entry.score, entry.signals) == (0.1 + 0.2, {"\u0000": "é\u0301"})


def test_the_copy_goes_on_where_the_source_ended(rich: Database, other: Database) -> None:
    copy_installation(rich, other, ignore)
    create_dataset(other, OPERATOR, "next", now=NOW)
    with other.read() as session:
        hanako, name = (
            find_actor(session, "花子"),
            session.scalars(select(DatasetRow.name).order_by(DatasetRow.pk)).first(),
        )
    page = submit_judgments(other, hanako, str(name), events=[], have=[], want=3, now=NOW)
    event = {"id": "00000000-0000-4000-8000-0000000000ff", "pair": page.pairs[0].pair, "outcome": "later", "grade": None,
             "pressed_at": NOW.isoformat()}  # fmt: skip
    done = submit_judgments(other, hanako, str(name), events=[event], have=[], want=0, now=NOW)
    assert done.acknowledged == (event["id"],)
    with pytest.raises(Exception, match="append-only"), other.write() as session:
        session.execute(text("DELETE FROM judgment"))


def test_a_target_that_holds_anything_is_refused_and_left_alone(rich: Database, other: Database) -> None:
    upgrade_schema(other)
    create_dataset(other, OPERATOR, "mine", now=NOW)
    before = hash_tables(other)
    with pytest.raises(StateError, match=r"audit_entry|dataset|rubric"):
        copy_installation(rich, other, ignore)
    assert hash_tables(other) == before


def test_empty_tables_are_no_content(rich: Database, other: Database) -> None:
    upgrade_schema(other)
    other.dispose()
    copy_installation(rich, other, ignore)
    assert hash_tables(other) == hash_tables(rich)


def test_a_text_with_nul_is_refused_with_its_row_and_nothing_is_copied(
    tmp_path: Path, postgres_url: str
) -> None:
    source = Database(f"sqlite:///{tmp_path / 'nul.db'}")
    kept_databases.fill(source, tmp_path / "exports")
    with source.write() as session:
        session.execute(text("UPDATE person SET name = 'a' || char(0) || 'b' WHERE pk = 2"))
    _run(postgres_url, "CREATE DATABASE nul_target")
    target = Database(make_url(postgres_url).set(database="nul_target"))
    with pytest.raises(StateError, match=r"person\.name of the row with pk 2 holds a NUL character"):
        copy_installation(source, target, ignore)
    with target.read() as session:
        assert list_table_names(session) == []
    target.dispose()
    source.dispose()
    _run(postgres_url, "DROP DATABASE nul_target WITH (FORCE)")


def test_a_value_of_another_type_is_refused_and_no_file_is_left(tmp_path: Path) -> None:
    """SQLite keeps a text in a column of numbers."""
    source = Database(f"sqlite:///{tmp_path / 'odd.db'}")
    kept_databases.fill(source, tmp_path / "exports")
    with source.write() as session:
        session.execute(text("UPDATE query SET position = 'first' WHERE pk = 1"))
    with pytest.raises(StateError, match=r"whole numbers in query\.position, found 'first'"):
        copy_installation(source, Database(f"sqlite:///{tmp_path / 'target.db'}"), ignore)
    assert sorted(path.name for path in tmp_path.glob("*target*")) == []
    assert list(tmp_path.glob(".*")) == []
    source.dispose()


def test_the_command_says_what_it_copied_and_what_came_meanwhile(
    rich: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = rich.url.render_as_string(hide_password=False)
    done = CliRunner().invoke(app, ["copy", "--to", f"sqlite:///{tmp_path / 'a.db'}", "--database", url])
    assert done.exit_code == 0 and "The content of every table is the same" in done.stdout

    def write_meanwhile(session: Session) -> None:
        analyze(session)
        create_dataset(rich, OPERATOR, "meanwhile", now=NOW)

    monkeypatch.setattr("annotator.installation.copy_service.analyze", write_meanwhile)
    done = CliRunner().invoke(app, ["copy", "--to", f"sqlite:///{tmp_path / 'b.db'}", "--database", url])
    assert done.exit_code == 3 and "dataset" in done.stderr and "Stop the server" in done.stderr
    with closing(sqlite3.connect(tmp_path / "b.db")) as copied:
        assert copied.execute("SELECT count(*) FROM dataset").fetchone() == (1,)
