"""Which worker of pytest-xdist runs which tests.

Tests in a browser wait for half of their time; every other test computes. So half of the workers begin with the tests that
start servers and browsers, and the others with the rest: the cores have work all the time, and only half of the workers
start Chromium and the process that servers are forked from (tests/browser/warm_server.py). Each test in tests/browser is handed out by itself: it has a server of its own and
shares nothing with the other tests of its file. All other files stay whole.
"""

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

ALONE = ("tests/browser/", "tests/benchmarks/")
WITH_SERVERS = (
    *ALONE,
    "tests/integration/guideline/test_marking_in_parts.py",
    "tests/integration/installation/test_backup.py",
    "tests/integration/releases/test_publish_in_parts.py",
    "tests/integration/releases/test_publish_killed.py",
    "tests/integration/storage/test_unusable_database.py",
    "tests/integration/web/",
    "tests/security/accounts/",
    "tests/security/entrance/",
    "tests/security/single_sign_on/",
    "tests/unit/web/importing/test_import_page.py",
)


class BrowserTestsTogether(LoadFileScheduling):
    """Hand out whole files, and each test of ALONE by itself, in the order of collection."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if nodeid.startswith(ALONE) else nodeid.split("::", 1)[0]

    def _assign_work_unit(self, node: WorkerController) -> None:
        begins_with_servers = 2 * int(node.gateway.id.removeprefix("gw")) < self.numnodes
        for scope in self.workqueue:
            if scope.startswith(WITH_SERVERS) is begins_with_servers:
                self.workqueue.move_to_end(scope, last=False)
                break
        super()._assign_work_unit(node)
