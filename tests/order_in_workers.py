"""Which tests the workers of pytest-xdist run at the same time.

Tests in a browser, and benchmarks, wait for half of their time; every other test computes. To keep two cores at work all
the time, the waiting tests are spread evenly among the others, and end before them. Each is handed out by itself: it has a
server of its own and shares nothing with the other tests of its file. All other files stay whole.
"""

from collections.abc import Sequence
from itertools import groupby

import pytest
from xdist.scheduler import LoadFileScheduling

WAITING = ("tests/browser/", "tests/benchmarks/")
ENDED_BY = 0.85  # the share of the other files before which the last waiting test is handed out


class WaitingTestsApart(LoadFileScheduling):
    """Hand out whole files, and each waiting test by itself, in the order of collection."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if nodeid.startswith(WAITING) else nodeid.split("::", 1)[0]


def spread_waiting_tests(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the tests with the waiting ones spread among the files of the others.

    The last folder comes first: it has the longest test.
    """
    waiting = [item for item in items if item.nodeid.startswith(WAITING)][::-1]
    others = [item for item in items if not item.nodeid.startswith(WAITING)]
    files = [list(file) for _, file in groupby(others, lambda item: item.nodeid.split("::", 1)[0])]
    ordered, done = list[pytest.Item](), 0
    for number, file in enumerate(files, start=1):
        due = min(len(waiting), round(len(waiting) * number / (ENDED_BY * len(files))))
        ordered += waiting[done:due] + file
        done = due
    return ordered + waiting[done:]
