"""Read one annotator's own judgments page by page, and the active time of the latest ones.

Answers on gold pairs and for quality control are listed like the others: the list must not reveal checks.
Training and repeats are left out. Never reads other people's judgments, except for the medians for leads.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, func, or_, select, text
from sqlalchemy.orm import Mapped, Session
from sqlmodel import col

from annotator.labeling.records import OwnJudgment, OwnJudgmentFilter
from annotator.storage.tables.adjudication import CurrentAdjudicationRow, QualityDrawRow, QualityPairRow
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    PairRow,
    PersonRow,
    QueryRow,
)
from annotator.storage.tables.labeling import CheckRow, DisclosureRow, RepeatRow

_GOLD = text("""
SELECT max(j.pk) FROM check_pair c CROSS JOIN pair p CROSS JOIN judgment j
WHERE p.pk = c.pair_pk AND p.dataset_pk = :dataset_pk AND c.kind = 'gold'
  AND j.pair_pk = c.pair_pk AND j.annotator_pk = :person_pk AND j.purpose = 'gold' AND NOT j.late
  AND NOT EXISTS (SELECT 1 FROM current_judgment o WHERE o.pair_pk = j.pair_pk AND o.annotator_pk = :person_pk)
GROUP BY j.pair_pk
""")  # CROSS JOIN: from the few marks, not from the pool


def list_own_judgments(
    session: Session,
    dataset_pk: int,
    person_pk: int,
    wanted: OwnJudgmentFilter,
    *,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    offset: int,
) -> tuple[int, list[OwnJudgment]]:
    """Return how many own judgments match the filter, and one page of them, the latest first.

    `since` and `until` (excluded) are the bounds of the filter's days.
    """
    gold = _list_gold(session, dataset_pk, person_pk)
    statement = _select_own(dataset_pk, person_pk, gold, wanted, since, until)
    total = session.scalar(select(func.count()).select_from(statement.subquery())) or 0
    rows = session.execute(statement.order_by(col(JudgmentRow.pk).desc()).limit(limit).offset(offset))
    return total, [_to_record(row) for row in rows]


def find_own_answer(
    session: Session, pair_pk: int, person_pk: int, purposes: Sequence[str]
) -> JudgmentRow | None:
    """Return the person's current answer on the pair for one of these purposes."""
    statement = (
        select(JudgmentRow)
        .where(
            col(JudgmentRow.pair_pk) == pair_pk,
            col(JudgmentRow.annotator_pk) == person_pk,
            col(JudgmentRow.purpose).in_(list(purposes)),
            col(JudgmentRow.late).is_(False),
        )
        .order_by(col(JudgmentRow.pk).desc())
        .limit(1)
    )
    return session.scalars(statement).first()


def find_lock(session: Session, pair_pk: int, person_pk: int) -> str | None:
    """Return why the person's answer can no longer be changed: "settled", "disclosed", or None."""
    settled, disclosed = _locks(person_pk)
    row = session.execute(select(settled, disclosed).where(col(PairRow.pk) == pair_pk)).one()
    return _name_lock(row[0], row[1])


def list_own_seconds(session: Session, dataset_pk: int, person_pk: int, *, most: int) -> list[float]:
    """Return the active seconds of the person's latest answers, checks included, latest first."""
    ordinary = _select_current(dataset_pk, person_pk).where(
        col(CurrentJudgmentRow.outcome) != "later", col(CurrentJudgmentRow.seconds).is_not(None)
    )
    judgment_pks = [
        *session.scalars(ordinary.order_by(col(CurrentJudgmentRow.judgment_pk).desc()).limit(most)),
        *_list_gold(session, dataset_pk, person_pk),
        *session.scalars(_select_checked(dataset_pk, person_pk)),
        *session.scalars(_select_repeats(dataset_pk, person_pk)),
    ]
    statement = select(col(JudgmentRow.seconds)).where(
        col(JudgmentRow.pk).in_(sorted(judgment_pks, reverse=True)),
        col(JudgmentRow.outcome) != "later",
        col(JudgmentRow.seconds).is_not(None),
    )
    rows = session.scalars(statement.order_by(col(JudgmentRow.pk).desc()).limit(most))
    return [seconds for seconds in rows if seconds is not None]


def list_timed(session: Session, dataset_pk: int, *, most: int) -> list[tuple[str, bool, str | None, float]]:
    """Return the latest judgments of everybody that have a time: username, simulated, category, seconds."""
    statement = (
        select(
            col(PersonRow.username),
            col(PersonRow.simulated),
            col(QueryRow.category),
            col(JudgmentRow.seconds),
        )
        .join(PersonRow, col(PersonRow.pk) == col(JudgmentRow.annotator_pk))
        .join(PairRow, col(PairRow.pk) == col(JudgmentRow.pair_pk))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .where(
            col(PairRow.dataset_pk) == dataset_pk,
            col(JudgmentRow.outcome) != "later",
            col(JudgmentRow.seconds).is_not(None),
        )
        .order_by(col(JudgmentRow.pk).desc())
        .limit(most)
    )
    return [
        (username, simulated, category, seconds or 0.0)
        for username, simulated, category, seconds in session.execute(statement)
    ]


def list_categories(session: Session, dataset_pk: int) -> list[str]:
    """Return the categories of the dataset's queries."""
    statement = select(col(QueryRow.category)).where(col(QueryRow.dataset_pk) == dataset_pk).distinct()
    return sorted(category for category in session.scalars(statement) if category)


def _select_own(
    dataset_pk: int,
    person_pk: int,
    gold: Sequence[int],
    wanted: OwnJudgmentFilter,
    since: datetime | None,
    until: datetime | None,
) -> Select[*tuple[Any, ...]]:
    statement = (
        select(
            col(PairRow.key),
            col(QueryRow.query_id),
            col(QueryRow.text),
            col(QueryRow.category),
            col(DocumentRow.doc_id),
            col(DocumentRow.title),
            col(JudgmentRow.outcome),
            col(JudgmentRow.grade),
            col(JudgmentRow.reason),
            col(JudgmentRow.note),
            col(JudgmentRow.judged_at),
            *_locks(person_pk),
        )
        .join(PairRow, col(PairRow.pk) == col(JudgmentRow.pair_pk))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .where(
            or_(
                col(JudgmentRow.pk).in_(_select_current(dataset_pk, person_pk)),
                col(JudgmentRow.pk).in_(gold),
                col(JudgmentRow.pk).in_(_select_checked(dataset_pk, person_pk)),
            )
        )
    )
    conditions: list[ColumnElement[bool]] = []
    if wanted.words.strip():
        conditions.append(_holds(wanted.words.strip()))
    if wanted.answer in ("unrateable", "later"):
        conditions.append(col(JudgmentRow.outcome) == wanted.answer)
    elif wanted.answer is not None:
        conditions.append(col(JudgmentRow.grade) == int(wanted.answer))
    if wanted.category is not None:
        conditions.append(col(QueryRow.category) == wanted.category)
    if since is not None:
        conditions.append(col(JudgmentRow.judged_at) >= since)
    if until is not None:
        conditions.append(col(JudgmentRow.judged_at) < until)
    return statement.where(*conditions)


def _select_current(dataset_pk: int, person_pk: int) -> Select[Any]:
    return select(col(CurrentJudgmentRow.judgment_pk)).where(
        col(CurrentJudgmentRow.dataset_pk) == dataset_pk, col(CurrentJudgmentRow.annotator_pk) == person_pk
    )


def _select_checked(dataset_pk: int, person_pk: int) -> Select[Any]:
    """Select the current answers on the pairs that quality control drew for the person."""
    return (
        select(col(QualityPairRow.judgment_pk))
        .join(QualityDrawRow, col(QualityDrawRow.pk) == col(QualityPairRow.draw_pk))
        .where(
            col(QualityDrawRow.dataset_pk) == dataset_pk,
            col(QualityDrawRow.annotator_pk) == person_pk,
            col(QualityPairRow.judgment_pk).is_not(None),
        )
    )


def _select_repeats(dataset_pk: int, person_pk: int) -> Select[Any]:
    """Select the latest answers on the person's repeats."""
    return (
        select(func.max(col(JudgmentRow.pk)))
        .select_from(RepeatRow)
        .join(PairRow, col(PairRow.pk) == col(RepeatRow.pair_pk))
        .join(
            JudgmentRow,
            and_(
                col(JudgmentRow.pair_pk) == col(RepeatRow.pair_pk),
                col(JudgmentRow.annotator_pk) == col(RepeatRow.annotator_pk),
            ),
        )
        .where(
            col(RepeatRow.annotator_pk) == person_pk,
            col(PairRow.dataset_pk) == dataset_pk,
            col(JudgmentRow.purpose) == "repeat",
            col(JudgmentRow.late).is_(False),
        )
        .group_by(col(JudgmentRow.pair_pk))
    )


def _list_gold(session: Session, dataset_pk: int, person_pk: int) -> list[int]:
    """Return the current answers (judgment_pk) on gold pairs without an ordinary one."""
    return list(session.scalars(_GOLD, {"dataset_pk": dataset_pk, "person_pk": person_pk}))


def _holds(words: str) -> ColumnElement[bool]:
    escaped = words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")

    def like(column: Mapped[str]) -> ColumnElement[bool]:
        return column.ilike(f"%{escaped}%", escape="\\")

    held = exists().where(
        col(DocumentTextRow.document_pk) == col(DocumentRow.pk),
        col(DocumentTextRow.sha256) == col(DocumentRow.text_sha256),
        like(col(DocumentTextRow.text)),
    )
    named = (col(QueryRow.query_id), col(QueryRow.text), col(DocumentRow.doc_id), col(DocumentRow.title))
    return or_(*(like(column) for column in named), held)


def _locks(person_pk: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    answered_since = (  # by a quality expert, after the decision
        exists()
        .where(
            col(QualityPairRow.pair_pk) == col(PairRow.pk),
            col(QualityDrawRow.pk) == col(QualityPairRow.draw_pk),
            col(QualityDrawRow.annotator_pk) == person_pk,
            or_(
                col(QualityPairRow.answered_at).is_(None),
                col(QualityPairRow.answered_at) > col(CurrentAdjudicationRow.decided_at),
            ),
        )
        .correlate(PairRow, CurrentAdjudicationRow)
    )
    settled = and_(  # a check is answered whatever a lead has decided; the state must not reveal it
        exists().where(col(CurrentAdjudicationRow.pair_pk) == col(PairRow.pk), ~answered_since),
        ~exists().where(col(CheckRow.pair_pk) == col(PairRow.pk)),
    )
    disclosed = exists().where(
        col(DisclosureRow.pair_pk) == col(PairRow.pk), col(DisclosureRow.person_pk) == person_pk
    )
    return settled, disclosed


def _name_lock(settled: bool, disclosed: bool) -> str | None:
    return "settled" if settled else "disclosed" if disclosed else None


def _to_record(row: Any) -> OwnJudgment:
    *values, settled, disclosed = row
    record: Any = OwnJudgment
    made: OwnJudgment = record(*values, _name_lock(settled, disclosed))
    return made
