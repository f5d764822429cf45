"""The order in which the workers of pytest-xdist take the tests, and the ports of their servers."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.browser.conftest import find_free_port
from tests.order_in_workers import WAITING, WaitingTestsApart, spread_waiting_tests


def list_ids(browser: int, files: int) -> list[str]:
    """Of so many tests in a browser and files of others, each of three tests, in the order of collection."""
    waiting = [f"tests/browser/web/test_{number % 5}.py::test_{number}" for number in range(browser)]
    return waiting + [f"tests/unit/test_{n:03}.py::test_{test}" for n in range(files) for test in "abc"]


def spread(ids: list[str]) -> list[str]:
    items: Any = [SimpleNamespace(nodeid=nodeid) for nodeid in ids]
    return [item.nodeid for item in spread_waiting_tests(items)]


@pytest.mark.parametrize(("browser", "files"), [(30, 100), (100, 30), (1, 1), (0, 4), (4, 0), (0, 0)])
def test_every_test_is_run_once_and_the_others_as_they_were_collected(browser: int, files: int) -> None:
    ids = list_ids(browser, files)
    ordered = spread(ids)
    assert sorted(ordered) == sorted(ids)
    assert [nodeid for nodeid in ordered if not nodeid.startswith(WAITING)] == ids[browser:]


def test_waiting_tests_are_between_whole_files_from_the_first_to_nearly_the_last() -> None:
    ordered = spread(list_ids(17, 100))
    places = [place for place, nodeid in enumerate(ordered) if nodeid.startswith(WAITING)]
    files_before = [sum(not nodeid.startswith(WAITING) for nodeid in ordered[:place]) / 3 for place in places]
    assert files_before == [2, 7, 12, 17, 22, 27, 32, 37, 42, 47, 52, 57, 62, 67, 72, 77, 82]


def test_a_waiting_test_is_handed_out_by_itself_and_any_other_with_its_file() -> None:
    scheduler = WaitingTestsApart.__new__(WaitingTestsApart)
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
