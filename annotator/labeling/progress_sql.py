"""Read who has judged what, and keep the progress that each annotator was shown, so that it never goes back.

The rule is in `labeling/records.py`.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import AnnotatorProgress, QueryProgress
from annotator.labeling.records import OwnProgress, OwnWork, advance
from annotator.storage.judgments.open_pairs import OpenPairsRequest
from annotator.storage.lookup import key_of
from annotator.storage.sql import execute_sql, fetch, prepare_sql, run_sql
from annotator.storage.tables.adjudication import CurrentAdjudicationRow
from annotator.storage.tables.central import (
    MembershipRow,
    PairRow,
    PersonRow,
    QueryRow,
)
from annotator.storage.tables.labeling import CheckRow

_BY_OUTCOME = prepare_sql("""
SELECT m.annotator_pk, m.outcome, m.judgments, (
  SELECT max(j.judged_at) FROM current_judgment c JOIN judgment j ON j.pk = c.judgment_pk
  WHERE c.dataset_pk = :dataset_pk AND c.annotator_pk = m.annotator_pk AND c.outcome = m.outcome AND c.made_at = m.last_second
) AS last_judged_at
FROM (
  SELECT annotator_pk, outcome, count(*) AS judgments, max(made_at) AS last_second FROM current_judgment
  WHERE dataset_pk = :dataset_pk GROUP BY annotator_pk, outcome) m""")
_JUDGED_SINCE = prepare_sql("""
SELECT p.username, count(*) AS judgments FROM person p CROSS JOIN current_judgment c
WHERE c.annotator_pk = p.pk AND c.dataset_pk = :dataset_pk AND c.outcome IN ('graded', 'unrateable') AND c.made_at >= :since
  AND c.imported = 0 AND NOT p.simulated
GROUP BY p.username""")  # CROSS JOIN: from the people, each by the index


class _OutcomeCount(NamedTuple):
    """A row of `_BY_OUTCOME`: one annotator's current judgments with one outcome, and when the last of them was made."""

    annotator_pk: int
    outcome: str
    judgments: int
    last_judged_at: datetime | None


class _JudgedCount(NamedTuple):
    """A row of `_JUDGED_SINCE`: one annotator."""

    username: str
    judgments: int


def list_annotator_progress(session: Session, dataset_pk: int) -> list[AnnotatorProgress]:
    """Return how far each person is who is an annotator of this dataset or has judged something, by username."""
    counts: dict[int, dict[str, _OutcomeCount]] = {}
    for row in fetch(session, _BY_OUTCOME, _OutcomeCount, {"dataset_pk": dataset_pk}):
        counts.setdefault(row.annotator_pk, {})[row.outcome] = row
    members = select(col(MembershipRow.person_pk)).where(
        col(MembershipRow.role) == "annotator", col(MembershipRow.dataset_pk) == dataset_pk
    )
    people = session.scalars(
        select(PersonRow)
        .where(col(PersonRow.pk).in_(members) | col(PersonRow.pk).in_(counts))
        .order_by(col(PersonRow.username))
    )
    return [_describe(person, counts.get(key_of(person.pk), {})) for person in people]


def _describe(person: PersonRow, counts: Mapping[str, _OutcomeCount]) -> AnnotatorProgress:
    number = Counter({outcome: count.judgments for outcome, count in counts.items()})
    times = [count.last_judged_at for count in counts.values() if count.last_judged_at is not None]
    return AnnotatorProgress(
        person.username,
        person.name,
        person.simulated,
        judged=number["graded"] + number["unrateable"],
        unrateable=number["unrateable"],
        later=number["later"],
        last_judged_at=max(times, default=None),
    )


def count_judged_since(session: Session, dataset_pk: int, since: datetime) -> dict[str, int]:
    """Count the current judgments made here since then by username, without imported ones and those of simulated people."""
    values = {"dataset_pk": dataset_pk, "since": int(since.timestamp())}
    return {row.username: row.judgments for row in fetch(session, _JUDGED_SINCE, _JudgedCount, values)}


def lacks_judgments(session: Session, dataset_pk: int) -> bool:
    """Return whether a pair of the dataset still lacks a judgment."""
    statement = select(col(PairRow.pk)).where(col(PairRow.dataset_pk) == dataset_pk, col(PairRow.lacking) > 0)
    return session.scalars(statement.limit(1)).first() is not None


def count_pairs(session: Session, dataset_pk: int) -> int:
    """Return how many pairs are in the pool; those that a remap retired have left it."""
    statement = select(func.count()).select_from(PairRow)
    in_pool = col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None)
    return session.scalar(statement.where(*in_pool)) or 0


def list_query_progress(session: Session, dataset_pk: int) -> list[QueryProgress]:
    """Return how far each query is, in their order. A pair is complete when it lacks no judgment.

    Pairs that have left the pool are not counted, nor those that are only checks, which nobody judges as work
    (`overview/records.py`: `is_check_only`).
    """
    decided = select(col(CurrentAdjudicationRow.pair_pk))
    judged = (
        (col(PairRow.judged) > 0)
        | col(PairRow.kept)
        | col(PairRow.pk).not_in(select(col(CheckRow.pair_pk)))
        | col(PairRow.pk).in_(decided)
    )
    statement = (
        select(
            col(QueryRow.query_id),
            col(QueryRow.text),
            col(QueryRow.category),
            func.count(col(PairRow.pk)),
            func.sum(case((col(PairRow.lacking) == 0, 1), else_=0)),
            func.sum(case(((col(PairRow.judged) > 0) & (col(PairRow.lacking) > 0), 1), else_=0)),
        )
        .outerjoin(
            PairRow, (col(PairRow.query_pk) == col(QueryRow.pk)) & col(PairRow.retired_at).is_(None) & judged
        )
        .where(col(QueryRow.dataset_pk) == dataset_pk)
        .group_by(
            col(QueryRow.pk),
            col(QueryRow.position),
            col(QueryRow.query_id),
            col(QueryRow.text),
            col(QueryRow.category),
        )
        .order_by(col(QueryRow.position))
    )
    return [QueryProgress(*row) for row in session.execute(statement)]


_SHOWN = prepare_sql(
    "SELECT answered, done, total, reserve_until FROM told_progress WHERE dataset_pk = :dataset_pk AND annotator_pk = :annotator_pk"
)
_KEEP = prepare_sql(
    "INSERT INTO told_progress (dataset_pk, annotator_pk, answered, done, total, reserve_until) "
    "VALUES (:dataset_pk, :annotator_pk, :answered, :done, :total, :reserve_until) "
    "ON CONFLICT (dataset_pk, annotator_pk) DO UPDATE SET answered = excluded.answered, done = excluded.done, "
    "total = excluded.total, reserve_until = excluded.reserve_until"
)


def advance_progress(
    session: Session, request: OpenPairsRequest, before: OwnProgress | None, work: OwnWork
) -> OwnProgress:
    """Return the progress to show the annotator, and keep it. `before`: what was shown last, None if nothing yet."""
    progress = advance(before, work)
    if progress != before:
        kept = {
            "answered": progress.answered,
            "done": progress.done,
            "total": progress.total,
            "reserve_until": progress.reserve_until,
        }
        run_sql(session, _KEEP, {**_name_owner(request), **kept})
    return progress


def read_progress(session: Session, request: OpenPairsRequest) -> OwnProgress | None:
    """Return the progress that the annotator was shown last; None if none was shown yet."""
    row = execute_sql(session, _SHOWN, _name_owner(request)).first()
    return OwnProgress(*row) if row else None


def _name_owner(request: OpenPairsRequest) -> dict[str, int]:
    return {"dataset_pk": request.dataset_pk, "annotator_pk": request.annotator_pk}
