"""What was settled after a draw, or settled otherwise: of that its sample says nothing.

Reads only what came since, and how those pairs stood when it was drawn; never the pool as a whole.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.settling import Settlement, read_decision, settle
from annotator.storage.adjudication_tables import AdjudicationRow
from annotator.storage.bulk import split
from annotator.storage.labeling_tables import CheckRow
from annotator.storage.pair_states import list_pair_states
from annotator.storage.tables import (
    CurrentJudgmentRow,
    ImportedQrelRow,
    JudgmentRow,
    PairRow,
)

CHUNK = 500


def count_settled_since(session: Session, dataset_pk: int, since: datetime, sampled: Collection[int]) -> int:
    """How many pairs have a settled grade now that they had not then; those in the sample (pair_pk) are left out."""
    touched = sorted(_list_touched(session, dataset_pk, since) - set(sampled))
    before = {}
    for chunk in split(touched, CHUNK):
        before.update(_settle_then(session, chunk, since))
    return sum(
        state.settlement.grade is not None and state.settlement.grade != before[state.pair_pk].grade
        for state in list_pair_states(session, dataset_pk, touched)
    )


def _list_touched(session: Session, dataset_pk: int, since: datetime) -> set[int]:
    """The pairs that somebody has judged or decided since, or a grade was brought in for; checks are left out."""
    last = session.scalar(
        select(col(JudgmentRow.pk))
        .where(col(JudgmentRow.received_at) <= since)
        .order_by(col(JudgmentRow.pk).desc())
        .limit(1)
    )
    judged = select(col(CurrentJudgmentRow.pair_pk)).where(
        col(CurrentJudgmentRow.dataset_pk) == dataset_pk, col(CurrentJudgmentRow.judgment_pk) > (last or 0)
    )
    found = set(session.scalars(judged))
    for row, at in (
        (AdjudicationRow, AdjudicationRow.decided_at),
        (ImportedQrelRow, ImportedQrelRow.imported_at),
    ):
        statement = select(col(row.pair_pk)).join(PairRow, col(PairRow.pk) == col(row.pair_pk))
        found.update(session.scalars(statement.where(col(PairRow.dataset_pk) == dataset_pk, col(at) > since)))
    return found - set(session.scalars(select(col(CheckRow.pair_pk))))


def _settle_then(session: Session, pair_pks: Sequence[int], then: datetime) -> dict[int, Settlement]:
    """How these pairs were settled when nothing later had been received, by pair_pk."""
    answers: dict[int, dict[int, JudgmentRow]] = {}
    judged = select(JudgmentRow).where(
        col(JudgmentRow.pair_pk).in_(pair_pks),
        col(JudgmentRow.purpose).in_(["independent", "conditional"]),
        col(JudgmentRow.received_at) <= then,
        col(JudgmentRow.late).is_(False),
    )
    for row in session.scalars(judged.order_by(col(JudgmentRow.pk))):
        answers.setdefault(row.pair_pk, {})[row.annotator_pk] = row
    decided = select(
        col(AdjudicationRow.pair_pk), col(AdjudicationRow.outcome), col(AdjudicationRow.grade)
    ).where(col(AdjudicationRow.pair_pk).in_(pair_pks), col(AdjudicationRow.decided_at) <= then)
    decisions = {
        row.pair_pk: read_decision(row.outcome, row.grade)
        for row in session.execute(decided.order_by(col(AdjudicationRow.revision)))
    }
    imported = select(col(ImportedQrelRow.pair_pk), col(ImportedQrelRow.grade)).where(
        col(ImportedQrelRow.pair_pk).in_(pair_pks),
        col(ImportedQrelRow.imported_at) <= then,
        col(ImportedQrelRow.keep),
    )
    imports = {row.pair_pk: row.grade for row in session.execute(imported.order_by(col(ImportedQrelRow.pk)))}
    found = {}
    for pk in pair_pks:
        counted = [
            row
            for row in answers.get(pk, {}).values()
            if row.purpose == "independent" and row.outcome != "later"
        ]
        grades = [row.grade for row in counted if row.grade is not None]
        found[pk] = settle(grades, len(counted) - len(grades), decisions.get(pk), imports.get(pk))
    return found
