"""How the server's connections are set up."""

import errno
import importlib.metadata
import resource
import socket
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.components.v2 import component_manager
from streamlit.components.v2.component_manager import BidiComponentManager
from structlog.testing import capture_logs

from annotator.web.server.serve import LoopErrors, bind, raise_open_files
from annotator.web.server.streamlit_options import ignore_components_of_packages

FULL = {
    "message": "socket.accept() out of system resource",  # as asyncio says it
    "exception": OSError(errno.EMFILE, "Too many open files"),
}


def test_an_accepted_connection_sends_the_body_without_waiting_for_the_head() -> None:
    with bind("127.0.0.1", 0, 1) as listening:
        listening.listen()
        listening.setblocking(True)
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_server_may_open_more_files_than_a_system_begins_with_and_never_fewer() -> None:
    before, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (600, hard))
        for wanted, then in ((700, 700), (650, 700), (hard + 1, hard)):
            raise_open_files(wanted)
            assert resource.getrlimit(resource.RLIMIT_NOFILE) == (then, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, hard))


END_WITH_A_FULL_LOG = """
import os, sys, threading
from annotator.log import set_up_logs
from annotator.web.server import serve
set_up_logs("json", "INFO")
serve.LAST_LINE_SECONDS = 0.1
threading.Thread(target=lambda: sys.stderr.write("x" * 200_000), daemon=True).start()
threading.Thread(target=lambda: sys.stdout.write("x" * 200_000), daemon=True).start()
threading.Timer(0.2, serve.end_process).start()
threading.Event().wait()
"""


def test_the_server_ends_although_nobody_reads_its_log_any_more() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", END_WITH_A_FULL_LOG], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert process.wait(timeout=120) == 0
        finally:
            process.kill()


def test_that_no_connection_can_be_accepted_is_one_line_of_log_a_minute_and_other_errors_are_as_ever() -> (
    None
):
    handled: list[dict[str, Any]] = []
    clock = iter((0.0, 0.0, 59.0, 61.0, 61.0))
    loop = SimpleNamespace(time=lambda: next(clock), default_exception_handler=handled.append)
    note = LoopErrors()
    with capture_logs() as lines:
        for _ in range(3):
            note(loop, FULL)  # type: ignore[arg-type]
        other = {"message": "x", "exception": FULL["exception"]}
        note(loop, other)  # type: ignore[arg-type]
    assert [line["event"] for line in lines] == ["new connections wait"] * 2
    assert handled == [other]


def test_no_component_of_another_package_is_registered_and_their_metadata_is_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def list_packages() -> list[object]:
        raise AssertionError("reads the metadata of every installed package")

    ignore_components_of_packages()
    monkeypatch.setattr(importlib.metadata, "distributions", list_packages)
    failures = list[object]()
    with monkeypatch.context() as patch:
        patch.setattr(component_manager._LOGGER, "warning", lambda *words: failures.append(words))
        BidiComponentManager().discover_and_register_components(start_file_watching=False)
    assert failures == []
