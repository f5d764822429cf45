"""Keep what holds for every test, and make the tables of new SQLite databases quickly.

No setting of the developer's environment reaches a test, and hypothesis draws the same examples on every run: more with
`--long` (tests/short_run.py), and with `HYPOTHESIS_PROFILE=search` two thousand new ones.
"""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import event
from sqlalchemy.orm import Session

from tests.databases import copy_database as copy_database
from tests.databases import copy_world as copy_world
from tests.databases import database as database
from tests.databases import database_url as database_url
from tests.databases import empty_database as empty_database
from tests.databases import made_worlds as made_worlds
from tests.databases import postgres_url as postgres_url
from tests.databases import sqlite_template as sqlite_template
from tests.order_in_workers import BrowserTestsTogether
from tests.short_run import EXAMPLES, leave_to_long_run

settings.register_profile(
    "repeatable",
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("long", parent=settings.get_profile("repeatable"), max_examples=100)
settings.register_profile(
    "search", parent=settings.get_profile("repeatable"), derandomize=False, max_examples=2_000
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run what `make test-long` adds")


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until everything is collected: an eighth of that time was searching
    config.addinivalue_line(
        "markers",
        "long(names): runs with --long only, or by its name; names what protects the same in every run",
    )
    usual = "long" if config.getoption("long") else "repeatable"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", usual))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> BrowserTestsTogether | None:
    """Let `--dist loadfile` hand out tests in a browser one by one, to half of the workers (tests/order_in_workers.py)."""
    return BrowserTestsTogether(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_to_long_run(items, config)


def pytest_collection_finish() -> None:
    """Keep what was imported out of every search for reference cycles, since it stays to the end, and search seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("ANNOTATOR_") and name != "ANNOTATOR_CHROMIUM":
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _no_secret_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every draw of a new dataset follow from its seed alone, so that a test is the same in every run."""
    monkeypatch.setattr("annotator.dataset.service.make_secret", str)


@pytest.fixture(scope="session", autouse=True)
def quick_hashes() -> Iterator[None]:
    """Hash passwords quickly (tests/quick_hasher.py)."""
    from tests.quick_hasher import make_quick_hasher

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("annotator.people.credentials._make_hasher", make_quick_hasher)
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_tables() -> Iterator[None]:
    """Create the tables of a new SQLite database by the statements that describe the first one, which was migrated.

    All migrations take 0.4 s, these statements a hundredth of it. tests/integration/storage/ migrates every database.
    """
    from annotator.storage import schema

    migrate, statements = schema._upgrade, list[str]()

    def create(session: Session) -> None:
        connection = session.connection()
        is_new = (
            connection.dialect.name == "sqlite"
            and not connection.exec_driver_sql("SELECT 1 FROM sqlite_master").first()
        )
        if not (is_new and statements):
            migrate(session)
        if not is_new:
            return
        if not statements:
            dump = connection.connection.driver_connection.iterdump()  # type: ignore[union-attr]
            statements.extend(line for line in dump if line not in ("BEGIN TRANSACTION;", "COMMIT;"))
            return
        for statement in statements:
            connection.exec_driver_sql(statement)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "_upgrade", create)
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_databases() -> Iterator[None]:
    """Let all databases of one kind share the statements that SQLAlchemy has compiled.

    It keeps them by engine and dialect, and nearly every test makes its own: a seventh of the time was compiling.
    And SQLite need not wait for the disk: no test cuts the power.
    """
    from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
    from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
    from sqlalchemy.engine import Engine
    from sqlalchemy.util import LRUCache

    from annotator.storage.database import Database

    create_own, compiled = Database._create_engine, dict[str, LRUCache]()  # type: ignore[type-arg]

    def create(database: Database) -> Engine:
        engine = create_own(database)
        if database.is_sqlite:
            event.listen(
                engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF")
            )
        engine._compiled_cache = compiled.setdefault(engine.dialect.name, LRUCache(4_000))
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "_create_engine", create)
        for dialect in (SQLiteDialect_pysqlite, PGDialect_psycopg):
            patch.setattr(dialect, "__eq__", lambda mine, other: type(mine) is type(other))
            patch.setattr(dialect, "__hash__", lambda mine: hash(type(mine)))
        yield


@pytest.fixture(scope="session", autouse=True)
def patient_health_check() -> Iterator[None]:
    """Let a loaded machine answer late: no test but those that set this themselves looks at a database that hangs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("annotator.web.server.health.WITHIN_SECONDS", 120.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_components_of_packages() -> None:
    """Let Streamlit's test runner start a page as `make_app` does: a quarter of its time was reading packages' metadata."""
    from annotator.web.server.streamlit_options import ignore_components_of_packages

    ignore_components_of_packages()


@pytest.fixture(scope="session")
def is_long_run(request: pytest.FixtureRequest) -> bool:
    """Whether `--long` asks for all cases of what `make test` tries with some."""
    return bool(request.config.getoption("long"))


@pytest.fixture(scope="session")
def project() -> Path:
    """The top folder of the checkout."""
    return Path(__file__).parents[1]
