"""Compare everything that is derived from judgments with what is computed from scratch, and leave it as it was.

Current judgments, what each pair has and lacks, the counts of each query and person, the disagreements, and leases beyond what a
pair lacks. Used by `many_clients.py` and by the tests of submissions at the same time.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import text

from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_dataset, key_of

DERIVED = {
    "pair": "SELECT pk, wanted, judged, lacking FROM pair ORDER BY pk",
    "current_judgment": "SELECT pair_pk, annotator_pk, judgment_pk, dataset_pk, outcome, grade, purpose, rubric_pk, seconds, "
    "made_at, imported, stale FROM current_judgment ORDER BY pair_pk, annotator_pk",
    "query_work": "SELECT query_pk, dataset_pk, open_pairs, begun_pairs FROM query_work WHERE open_pairs > 0 ORDER BY query_pk",
    "query_answers": "SELECT query_pk, annotator_pk, dataset_pk, answered, answered_open FROM query_answers "
    "ORDER BY query_pk, annotator_pk",
    "dispute": "SELECT pair_pk, dataset_pk, query_pk, open, reasons, waiting, distance, low, high, since, taste FROM dispute "
    "ORDER BY pair_pk",
}
IMPOSSIBLE = {
    "query_work": "SELECT query_pk FROM query_work WHERE open_pairs < 0 OR begun_pairs < 0 OR begun_pairs > open_pairs",
    "query_answers": "SELECT query_pk, annotator_pk FROM query_answers WHERE answered < 0 OR answered_open < 0 "
    "OR answered_open > answered",
}
# leases of pairs that their holders have not answered; one that ran out holds nothing
OVERBOOKED = """
SELECT p.pk FROM pair p WHERE p.lacking < (SELECT count(*) FROM lease l WHERE l.pair_pk = p.pk AND l.expires_at > :now
  AND NOT EXISTS (SELECT 1 FROM current_judgment c
    WHERE c.pair_pk = p.pk AND c.annotator_pk = l.annotator_pk AND c.outcome <> 'later'))"""


class _Undo(Exception):
    """Nothing that was computed is kept."""


def find_wrong_rows(database: Database, dataset: str, *, overbooked_at: datetime | None = None) -> list[str]:
    """Return the derived rows that are not what they should be. `overbooked_at`: count also leases beyond the need, as of then."""
    wrong: list[str] = []
    try:
        with database.write() as session:

            def fetch(statement: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
                return [tuple(row) for row in session.execute(text(statement), values or {})]

            for table, statement in IMPOSSIBLE.items():
                wrong += [f"{table}: {row}" for row in fetch(statement)]
            if overbooked_at is not None:
                found = fetch(OVERBOOKED, {"now": overbooked_at.strftime("%Y-%m-%d %H:%M:%S.%f+00")})
                wrong += [f"lease: {row}" for row in found]
            stored = {table: fetch(statement) for table, statement in DERIVED.items()}
            for table in ("query_work", "query_answers", "current_judgment", "dispute"):
                session.execute(text(f"DELETE FROM {table}"))
            session.execute(text("UPDATE pair SET judged = 0, lacking = 0, wanted = 0"))
            dataset_pk = key_of(find_dataset(session, dataset).pk)
            derive_work(session, dataset_pk)
            derive_current(session, dataset_pk)
            for table, statement in DERIVED.items():
                wrong += [f"{table}: {row}" for row in _list_unlike(stored[table], fetch(statement))]
            raise _Undo
    except _Undo:
        return wrong


def _list_unlike(stored: Iterable[tuple[Any, ...]], right: Iterable[tuple[Any, ...]]) -> list[str]:
    first, second = set(stored), set(right)
    return [f"stored {row}" for row in sorted(first - second, key=repr)] + [
        f"missing {row}" for row in sorted(second - first, key=repr)
    ]
