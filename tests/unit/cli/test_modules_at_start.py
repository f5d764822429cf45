"""What a command imports before it answers: a budget in modules, which is the same on every machine.

A module that is missing here costs every command milliseconds. If a change needs another one, import it in the function
that uses it; raise a budget only with a reason.
"""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.navigation import PAGES

PROGRAM = """
import sys
before = set(sys.modules)
from annotator.cli.main import run
sys.argv = ["annotator", *sys.argv[1:]]
try:
    run()
except SystemExit as ended:
    assert not ended.code
own = [name for name, module in sys.modules.items() if module and name not in before and name.partition(".")[0] not in sys.stdlib_module_names]
print("MODULES", *own)
"""
HELP = {"annotator", "annotated_doc", "shellingham", "typer", "typing_extensions"}
TABLES = {
    "annotated_types",
    "pydantic",
    "pydantic_core",
    "sqlalchemy",
    "sqlmodel",
    "typing_inspection",
    "cython_runtime",  # what SQLAlchemy's compiled modules bring
}
NEEDED_BY_NO_READER = (
    "alembic",
    "psycopg",
    "sqlalchemy.dialects.postgresql",
    "pydantic_settings",
    "numpy",
    "structlog",
    "yaml",
    "rich",
    "argon2",
    "annotator.formats",
    "annotator.web",
)


def list_modules(*words: str) -> list[str]:
    """Return what a command has imported when it ends, without the standard library."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    last = done.stdout.splitlines()[-1].split()
    assert last[0] == "MODULES", done.stdout
    return [name for name in last[1:] if not name.startswith(("_cython_", "_sysconfigdata", "__"))]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with an empty dataset."""
    path = f"sqlite:///{tmp_path_factory.mktemp('start') / 'annotator.db'}"
    database = Database(path)
    upgrade_schema(database)
    create_dataset(database, OPERATOR, "d", now=datetime(2026, 1, 1, tzinfo=UTC))
    database.dispose()
    return path


def test_help_imports_the_commands_and_typer() -> None:
    modules = list_modules("--help")
    assert {name.partition(".")[0] for name in modules} <= HELP
    assert len(modules) <= 65


def test_a_command_imports_no_other_commands(url: str) -> None:
    modules = list_modules("dataset", "list", "--database", url)
    commands = {path.stem for path in Path("annotator/cli").glob("*.py")} - {"__init__", "main", "terminal"}
    assert [name for name in modules if name.removeprefix("annotator.cli.") in commands] == [
        "annotator.cli.dataset"
    ]


@pytest.mark.parametrize(
    ("command", "budget"),
    [
        (("dataset", "list"), 264),
        (("progress", "d"), 293),
        *(
            pytest.param(command, budget, marks=pytest.mark.long)
            for command, budget in (
                (("people", "list"), 271),
                (("judgments", "d"), 293),
                (("pairs", "d"), 275),
                (("disagreements", "d"), 287),
            )
        ),
    ],
)
def test_a_command_that_reads_imports_the_tables_and_nothing_heavy(
    url: str, command: tuple[str, ...], budget: int
) -> None:
    modules = list_modules(*command, "--database", url)
    assert {name.partition(".")[0] for name in modules} <= HELP | TABLES
    assert [name for name in modules if name.startswith(NEEDED_BY_NO_READER)] == []
    assert len(modules) <= budget


SERVING = """
import os, socket, sys, threading, time, urllib.request
before = set(sys.modules)
from annotator.cli.main import run
import annotator.web.server.start_page as start_page
start_page.AFTER_LISTENING = 3600
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]

def look():
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
                answer.read()
            break
        except OSError:
            time.sleep(0.02)
    own = [name for name, module in sys.modules.items() if module and name not in before and name.partition(".")[0] not in sys.stdlib_module_names]
    print("MODULES", *own, flush=True)
    os._exit(0)

threading.Thread(target=look).start()
sys.argv = ["annotator", "serve", "--port", str(port), "--database", sys.argv[1]]
run()
"""
NEEDED_BY_NO_FIRST_ANSWER = (
    "numpy",
    "pandas",
    "pyarrow",
    "altair",
    "scipy",
    "sklearn",
    "bm25s",
    "alembic",
    "psycopg",
    "docutils",
    "prometheus_client",
    "yaml",
    "rich",
    "pygments",
    "argon2",
    "annotator.web.main_page",
    "annotator.web.sidebar",
)


def test_the_server_imports_no_page_and_nothing_heavy_until_its_first_answer(url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SERVING, url], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    modules = done.stdout.split("MODULES", 1)[1].split()
    assert [name for name in modules if name.startswith(NEEDED_BY_NO_FIRST_ANSWER)] == []
    pages = {page.module for page in PAGES}
    assert [name for name in modules if name in pages] == []
    assert len(modules) <= 1_128
