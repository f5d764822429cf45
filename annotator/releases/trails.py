"""Reads what a published qrel rests on: judgments, decision, imported grade, each by its key.

For releases made before the keys were recorded: what had been received until then.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, case, null, select
from sqlalchemy.orm import Mapped, Session
from sqlmodel import col

from annotator.storage.adjudication_tables import AdjudicationRow
from annotator.storage.bulk import split
from annotator.storage.import_records import IMPORT
from annotator.storage.lookup import key_of
from annotator.storage.tables import (
    DocumentRow,
    ImportedQrelRow,
    JudgmentRow,
    PairRow,
    PersonRow,
    PseudonymRow,
    QueryRow,
    RubricRow,
)


def find_pair(session: Session, dataset_pk: int, query_id: str, doc_id: str) -> int | None:
    """The pair_pk of a query and a document, by the ids that they have now."""
    return session.scalar(
        select(col(PairRow.pk))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .where(
            col(PairRow.dataset_pk) == dataset_pk,
            col(QueryRow.query_id) == query_id,
            col(DocumentRow.doc_id) == doc_id,
        )
    )


def list_traced_judgments(session: Session, dataset_pk: int, judgment_pks: Sequence[int]) -> list[Any]:
    """These judgments by pseudonym number: number (None without one), outcome, grade, note, judged_at, guideline
    version (both None where they are not known of an imported one), purpose, simulated."""
    number = col(PseudonymRow.number)
    statement = (
        select(
            number, col(JudgmentRow.outcome), col(JudgmentRow.grade), col(JudgmentRow.note),
            case((and_(IMPORT.is_not(None), col(JudgmentRow.judged_at) == col(JudgmentRow.received_at)), null()),
                 else_=col(JudgmentRow.judged_at)),
            case((IMPORT.is_(None), col(RubricRow.version)), else_=null()), col(JudgmentRow.purpose),
            col(PersonRow.simulated),
        )
        .join(PairRow, col(PairRow.pk) == col(JudgmentRow.pair_pk))
        .join(RubricRow, col(RubricRow.pk) == col(JudgmentRow.rubric_pk))
        .join(PersonRow, col(PersonRow.pk) == col(JudgmentRow.annotator_pk))
        .outerjoin(PseudonymRow, _is_pseudonym_of(dataset_pk, col(JudgmentRow.annotator_pk)))
        .where(col(JudgmentRow.pk).in_(judgment_pks), col(PairRow.dataset_pk) == dataset_pk)
        .order_by(number, col(JudgmentRow.judged_at), col(JudgmentRow.pk))
    )  # fmt: skip
    return list(session.execute(statement))


def list_judgments_until(session: Session, pair_pk: int, until: datetime) -> list[int]:
    """The judgment_pks that were current on a pair when nothing later than `until` had been received."""
    rows = session.execute(
        select(col(JudgmentRow.annotator_pk), col(JudgmentRow.pk), col(JudgmentRow.outcome))
        .where(
            col(JudgmentRow.pair_pk) == pair_pk,
            col(JudgmentRow.received_at) < until,
            col(JudgmentRow.late).is_(False),
        )
        .order_by(col(JudgmentRow.pk))
    )
    current = {annotator_pk: (key_of(pk), outcome) for annotator_pk, pk, outcome in rows}
    return sorted(pk for pk, outcome in current.values() if outcome != "later")


def find_traced_decision(session: Session, dataset_pk: int, adjudication_pk: int) -> Any | None:
    """grade, rationale, reason, the lead's pseudonym number, decided_at, guideline version."""
    return session.execute(
        select(
            col(AdjudicationRow.grade), col(AdjudicationRow.rationale), col(AdjudicationRow.reason),
            col(PseudonymRow.number), col(AdjudicationRow.decided_at), col(RubricRow.version),
        )
        .join(RubricRow, col(RubricRow.pk) == col(AdjudicationRow.rubric_pk))
        .outerjoin(PseudonymRow, _is_pseudonym_of(dataset_pk, col(AdjudicationRow.lead_pk)))
        .where(col(AdjudicationRow.pk) == adjudication_pk)
    ).first()  # fmt: skip


def list_decision_words(
    session: Session, adjudication_pks: Collection[int]
) -> dict[int, tuple[str | None, str]]:
    """Return the cause (None: not said) and the rationale of these decisions, by adjudication_pk."""
    row, found = AdjudicationRow, dict[int, tuple[str | None, str]]()
    for chunk in split(sorted(adjudication_pks), 500):
        statement = select(col(row.pk), col(row.cause), col(row.reason), col(row.rationale))
        for pk, cause, reason, rationale in session.execute(statement.where(col(row.pk).in_(chunk))):
            found[key_of(pk)] = cause or reason or None, rationale
    return found


def find_decision_until(session: Session, pair_pk: int, until: datetime) -> int | None:
    """The adjudication_pk that held on a pair before `until`."""
    last = session.execute(
        select(col(AdjudicationRow.pk), col(AdjudicationRow.outcome))
        .where(col(AdjudicationRow.pair_pk) == pair_pk, col(AdjudicationRow.decided_at) < until)
        .order_by(col(AdjudicationRow.revision).desc())
        .limit(1)
    ).first()
    return last.pk if last and last.outcome != "withdrawn" else None


def find_imported_qrel(session: Session, imported_qrel_pk: int) -> ImportedQrelRow | None:
    """The imported grade of that key."""
    return session.get(ImportedQrelRow, imported_qrel_pk)


def _is_pseudonym_of(dataset_pk: int, person_pk: Mapped[int]) -> ColumnElement[bool]:
    return and_(col(PseudonymRow.dataset_pk) == dataset_pk, col(PseudonymRow.person_pk) == person_pk)
