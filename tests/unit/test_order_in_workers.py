"""The order in which the workers of pytest-xdist take the tests, and the ports of their servers."""

import re
from collections import OrderedDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.browser.conftest import find_free_port
from tests.order_in_workers import WITH_SERVERS, BrowserTestsTogether

OWN_FILE = "tests/unit/test_order_in_workers.py"


class Worker:
    def __init__(self, number: int) -> None:
        self.gateway = SimpleNamespace(id=f"gw{number}")

    def send_runtest_some(self, _indices: list[int]) -> None:
        """Run nothing."""


def hand_out(scopes: list[str], *, workers: int) -> list[list[str]]:
    """Return the scopes of each worker, in their order, if the workers take turns."""
    scheduler: Any = BrowserTestsTogether.__new__(BrowserTestsTogether)
    nodes = [Worker(number) for number in range(workers)]
    scheduler.numnodes, scheduler.workqueue = workers, OrderedDict((scope, {}) for scope in scopes)
    scheduler.assigned_work, scheduler.registered_collections = (
        {node: {} for node in nodes},
        dict.fromkeys(nodes, ()),
    )
    for number in range(len(scopes)):
        scheduler._assign_work_unit(nodes[number % workers])
    return [list(scheduler.assigned_work[node]) for node in nodes]


BROWSER = [f"tests/browser/test_x.py::test_{number}" for number in range(4)]
OTHERS = [f"tests/unit/test_{number}.py" for number in range(4)]


def test_half_of_the_workers_begin_with_the_tests_in_a_browser_and_the_others_with_the_rest() -> None:
    assert hand_out(BROWSER + OTHERS, workers=4) == [BROWSER[0::2], BROWSER[1::2], OTHERS[0::2], OTHERS[1::2]]
    assert hand_out(BROWSER + OTHERS, workers=1) == [BROWSER + OTHERS]


def test_a_worker_whose_tests_are_done_takes_those_of_the_others() -> None:
    assert hand_out(BROWSER, workers=2) == [BROWSER[0::2], BROWSER[1::2]]
    assert hand_out(OTHERS, workers=4) == [[scope] for scope in OTHERS]


def test_every_file_that_starts_a_server_is_among_those_that_do(project: Path) -> None:
    paths = (path.relative_to(project).as_posix() for path in project.glob("tests/**/test_*.py"))
    starting = [
        path
        for path in paths
        if re.search(
            r"start_server|start_process|WarmTask|, Server\b", Path(project, path).read_text(encoding="utf-8")
        )
    ]
    assert len(starting) > 15
    assert [path for path in starting if not path.startswith(WITH_SERVERS) and path != OWN_FILE] == []


def test_a_waiting_test_is_handed_out_by_itself_and_any_other_with_its_file() -> None:
    scheduler = BrowserTestsTogether.__new__(BrowserTestsTogether)
    assert (
        scheduler._split_scope("tests/browser/web/test_x.py::test_a[1]")
        == "tests/browser/web/test_x.py::test_a[1]"
    )
    assert (
        scheduler._split_scope("tests/benchmarks/test_x.py::test_a") == "tests/benchmarks/test_x.py::test_a"
    )
    assert scheduler._split_scope("tests/security/test_x.py::TestX::test_a") == "tests/security/test_x.py"


def test_no_outgoing_connection_and_no_other_worker_takes_a_free_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of_the_system = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    seen = set[int]()
    for worker in ("gw0", "gw1", "gw11"):
        monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
        ports = {find_free_port() for _ in range(50)}
        assert len(ports) == 50
        assert not ports & seen
        assert max(ports) < of_the_system
        seen |= ports
