"""Reads what an annotator's own agreement is measured on: pairs that both they and others judged, and that need no more.

The grades of others leave this room only summed up: see `agreement/own.py`.
"""

from sqlalchemy import text
from sqlalchemy.orm import Session

_COUPLED = text("""
SELECT p.query_pk, c.pair_pk, c.annotator_pk, c.grade
FROM current_judgment a CROSS JOIN pair p CROSS JOIN current_judgment c
WHERE a.dataset_pk = :dataset_pk AND a.annotator_pk = :person_pk AND a.purpose = 'independent' AND a.outcome = 'graded'
  AND p.pk = a.pair_pk AND p.lacking = 0 AND p.retired_at IS NULL
  AND c.pair_pk = a.pair_pk AND c.dataset_pk = :dataset_pk AND c.purpose = 'independent' AND c.outcome = 'graded'
""")  # CROSS JOIN: from one's own judgments, not from the pool


def list_own_couples(session: Session, dataset_pk: int, person_pk: int) -> list[tuple[int, int, int, int]]:
    """query_pk, pair_pk, annotator_pk and grade: one's own judgments and those of others on the same pairs."""
    rows = session.execute(_COUPLED, {"dataset_pk": dataset_pk, "person_pk": person_pk})
    return [(query, pair, annotator, grade) for query, pair, annotator, grade in rows]
