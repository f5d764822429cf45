"""A file of decisions whose process is killed: all of it is there, or nothing, and it goes in when it is brought again."""

import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlmodel import col

from annotator.adjudication.bulk.bulk_service import adjudicate_file
from annotator.storage.database import Database
from annotator.storage.tables.adjudication import (
    AdjudicationRow,
    AuditEventRow,
    CurrentAdjudicationRow,
    DisagreementRow,
)
from tests.integration.decision_world import DOCUMENTS, DecisionWorld
from tests.integration.release_world import EPOCH

LINES = "query_id,doc_id,grade,rationale\n" + "".join(f"Q1,{doc_id},2,理由\n" for doc_id in DOCUMENTS)
SCRIPT = """
import os, signal, sys
from contextlib import contextmanager
from datetime import datetime
from sqlalchemy import text
from annotator.people.roles_service import find_actor
from annotator.adjudication.bulk.bulk_service import adjudicate_file
from annotator.storage.database import Database

url, now, lines, moment = sys.argv[1:]
database, write = Database(url), Database.write
with database.read() as session:
    lead = find_actor(session, 'lea')

@contextmanager
def patched(self):
    with write(self) as session:
        yield session
        session.flush()
        decided = session.execute(text('SELECT count(*) FROM adjudication')).scalar()
        if decided and moment == 'before the commit':
            os.kill(os.getpid(), signal.SIGKILL)
    if decided:
        os.kill(os.getpid(), signal.SIGKILL)

Database.write = patched
adjudicate_file(database, lead, 'd', lines.encode(), 'd.csv', now=datetime.fromisoformat(now))
"""


def count(database: Database) -> list[int]:
    """Decisions, those that hold, pairs that wait, and what the audit log tells."""
    waiting = select(func.count()).select_from(DisagreementRow).where(col(DisagreementRow.open))
    with database.read() as session:
        rows = (AdjudicationRow, CurrentAdjudicationRow, AuditEventRow)
        counts = [session.scalar(select(func.count()).select_from(row)) or 0 for row in rows]
        return [*counts[:2], session.scalar(waiting) or 0, counts[2]]


@pytest.mark.parametrize("moment", ["before the commit", "after it"])
def test_killed_at_any_moment_a_file_of_decisions_is_there_whole_or_not_at_all(
    database: Database, database_url: str, moment: str
) -> None:
    desk = DecisionWorld(database)
    before, after = count(database), [4, 4, 0, 4]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, database_url, EPOCH.isoformat(), LINES, moment],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -9, done.stderr
    assert count(database) == (after if moment == "after it" else before)
    again = adjudicate_file(database, desk.lea, "d", LINES.encode(), "d.csv", now=EPOCH)
    assert (again.decided, again.unchanged) == ((0, 4) if moment == "after it" else (4, 0))
    assert count(database) == after
