"""Work that is done in processes beside this one gives what it gives here, also if a process dies or none may be started."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from annotator.releases.verify import read_back
from annotator.releases.verify.read_back import SideProcesses, count_processors

NAMES = ["a", "b", "c"]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a command: no other thread, two processors."""
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(read_back, "count_processors", lambda: 3)


def collect(compute: Callable[[str], tuple[str, int]]) -> dict[str, tuple[str, int]]:
    side = SideProcesses(compute)
    try:
        side.start(NAMES)
        return {name: side.wait_for(name) for name in reversed(NAMES)}
    finally:
        side.stop()


@pytest.mark.usefixtures("alone")
def test_each_name_is_computed_in_another_process() -> None:
    results = collect(lambda name: (name * 2, os.getpid()))
    assert [results[name][0] for name in NAMES] == ["aa", "bb", "cc"]
    processes = {process for _, process in results.values()}
    assert os.getpid() not in processes
    assert len(processes) == 2


def test_a_large_result_does_not_hold_up_the_next_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(read_back, "count_processors", lambda: 2)

    def compute(name: str) -> str:
        (tmp_path / name).touch()
        return name * 1_000_000

    side = SideProcesses(compute)
    try:
        side.start(["a", "b"])
        limit = time.monotonic() + 60
        while not (tmp_path / "b").exists():
            assert time.monotonic() < limit, "the process waits until somebody asks for its first result"
            time.sleep(0.01)
        assert [side.wait_for(name) for name in ("a", "b")] == ["a" * 1_000_000, "b" * 1_000_000]
    finally:
        side.stop()


@pytest.mark.usefixtures("alone")
def test_what_a_process_that_died_has_not_sent_is_computed_here() -> None:
    here = os.getpid()

    def compute(name: str) -> tuple[str, int]:
        if os.getpid() != here and name == "b":
            os.kill(os.getpid(), signal.SIGKILL)
        return name, 0

    assert collect(compute) == {name: (name, 0) for name in NAMES}


def test_without_a_second_processor_or_beside_other_threads_all_is_computed_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    monkeypatch.setattr(read_back, "count_processors", lambda: 3)
    assert {process for _, process in collect(lambda name: (name, os.getpid())).values()} == {os.getpid()}
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(read_back, "count_processors", lambda: 1)
    assert {process for _, process in collect(lambda name: (name, os.getpid())).values()} == {os.getpid()}
    assert count_processors() >= 1


def test_what_is_wrong_in_the_work_is_raised_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(read_back, "count_processors", lambda: 2)

    def fail(name: str) -> tuple[str, int]:
        raise KeyError(name)

    with pytest.raises(KeyError, match="c"):
        collect(fail)
