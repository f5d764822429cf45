"""A server that is there at once: forked from a process that has imported the program already.

A new interpreter needs two to three seconds to import it, and every browser test starts a server of its own. The forked
process is one of its own all the same: it can be killed, and shares nothing with the next but what the import made.
What pages import when they are first opened, two seconds more, is there too. That a new interpreter serves as well is what tests/test_packaging.py and the benchmarks start.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import ModuleType
from typing import IO

from annotator.web.main_page import NEEDED
from annotator.web.navigation import PAGES

WARM = multiprocessing.get_context("forkserver")
WARM.set_forkserver_preload(
    [
        "annotator.cli.main",
        "annotator.cli.serving",
        "annotator.settings",
        "annotator.people.service",
        "annotator.releases.service",
        "annotator.storage.schema",
        "annotator.web.app",
        "annotator.web.importing.worker",
        "annotator.web.server.connections",
        "annotator.web.server.serve",
        "annotator.web.main_page",
        "anyio._backends._asyncio",
        "anyio._core._fileio",
        "babel.messages.pofile",
        "sqlalchemy.dialects.sqlite.pysqlite",
        "starlette.applications",
        "starlette.middleware.sessions",
        "starlette.staticfiles",
        "streamlit.material_icon_names",
        "streamlit.watcher.polling_path_watcher",
        "streamlit.web.bootstrap",
        "streamlit.web.server.starlette.starlette_agent_routes",
        "streamlit.web.skills",
        "typer._adapters",
        "uvicorn.lifespan.on",
        "uvicorn.loops.asyncio",
        "uvicorn.main",
        "uvicorn.protocols.http.h11_impl",
        "uvicorn.protocols.websockets.websockets_sansio_impl",
        *(page.module for page in PAGES),
        *NEEDED,
        "tests.browser.warm_frozen",
    ]
)


def start_server(
    folder: Path,
    environment: dict[str, str],
    port: int,
    first: Callable[[], None] | None = None,
    *options: str,
) -> ForkServerProcess:
    """`annotator serve --port PORT` in `folder`, with just these variables; what it prints goes to server.log there.
    `first` is called in the new process before anything else: a function of a module."""
    return start_process(_serve, folder, environment, port, first, options)


def start_process(act: Callable[..., None], *arguments: object) -> ForkServerProcess:
    """A process that does this at once: `act` is a function of a module."""
    process = WARM.Process(target=act, args=arguments)
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType(
        "__main__"
    )  # or the new process would run that of the tests (or AppTest's) first
    try:
        process.start()
    finally:
        sys.modules["__main__"] = main
    return process


def _serve(
    folder: Path,
    environment: dict[str, str],
    port: int,
    first: Callable[[], None] | None,
    options: Sequence[str],
) -> None:
    os.chdir(folder)
    if first is not None:
        first()
    os.environ.clear()
    os.environ.update(environment)
    with (folder / "server.log").open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    sys.argv = ["annotator", "serve", "--port", str(port), *options]
    from annotator.cli.main import run

    run()


class WarmPopen:
    """Stands for `subprocess.Popen([python, "-c", …, "serve", …], cwd=…, stdout=…, stderr=…)` of a benchmark."""

    def __init__(self, command: list[str], *, cwd: Path, stdout: IO[bytes], stderr: IO[bytes]) -> None:
        assert stdout is stderr
        self.process = start_process(_run_command, cwd, command[3:], stdout.name)
        self.pid = self.process.pid

    @property
    def returncode(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise subprocess.TimeoutExpired("annotator serve", timeout or 0)
        return self.process.exitcode

    def terminate(self) -> None:
        self.process.terminate()

    def kill(self) -> None:
        self.process.kill()

    def send_signal(self, number: int) -> None:
        if self.pid is not None and self.process.exitcode is None:
            os.kill(self.pid, number)


def _run_command(folder: Path, words: list[str], log: str) -> None:
    os.chdir(folder)
    with Path(log).open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.argv = ["annotator", *words]
    from annotator.cli.main import run

    run()


class WarmTask:
    """Stands for `subprocess.Popen` of the process of a task on files, as `FileJobs` starts it, with these variables."""

    def __init__(self, env: dict[str, str]) -> None:
        theirs, own_end = WARM.Pipe(duplex=False)
        own_start, answers = WARM.Pipe(duplex=False)
        self.process = start_process(_work_on_files, theirs, answers, env)
        theirs.close()
        answers.close()
        self.stdin = os.fdopen(os.dup(own_end.fileno()), "wb")
        self.stdout = os.fdopen(os.dup(own_start.fileno()), "rb")
        own_end.close()
        own_start.close()

    @property
    def returncode(self) -> int | None:
        return self.process.exitcode

    def kill(self) -> None:
        self.process.kill()

    def __enter__(self) -> "WarmTask":
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        with suppress(OSError):
            self.stdin.close()
        self.process.join()


def _work_on_files(source: Connection, answers: Connection, environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # what the warm process has found out
    from annotator.web.importing.worker import work

    work(os.fdopen(os.dup(source.fileno()), "rb"), os.fdopen(os.dup(answers.fileno()), "wb"))
