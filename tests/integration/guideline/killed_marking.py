"""Publish a version of a guideline in this process, which kills itself after some parts: what test_marking_in_parts.py starts."""

import os
import signal
from datetime import datetime
from pathlib import Path

from annotator.guideline.service import publish_version, read_version
from annotator.people.roles_service import find_actor
from annotator.storage.database import Database
from annotator.storage.judgments import outdated
from annotator.storage.long_writes import LongWrite
from tests.integration.guideline_world import with_fields


def publish_until_killed(url: str, now: str, parts: int, errors: str) -> None:
    """Publish a version with another meaning, pair by pair, and die after so many parts. What goes wrong before is written to `errors`."""
    with Path(errors).open("ab") as log:
        os.dup2(log.fileno(), 2)
    database, left = Database(url), [parts]
    outdated.PART = 1
    with database.read() as session:
        lead = find_actor(session, "léa")

    def die_in_time(_: LongWrite) -> None:
        left[0] -= 1
        if left[0] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    LongWrite.let_others_write = die_in_time  # type: ignore[method-assign]
    present = read_version(database, lead, "d")
    draft = with_fields(present.rubric, definition="甲")
    publish_version(
        database, lead, "d", draft, base_version=present.version, change="semantic", why="x",
        now=datetime.fromisoformat(now),
    )  # fmt: skip
