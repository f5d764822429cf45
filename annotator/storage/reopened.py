"""Which pairs quality control has reopened: a third expert's grade contradicts the settled one, and nobody decided since.

The one home of this rule, read once for a dataset: `quality_pair` holds a sample, so it is small. An answer that the
expert takes back is no error any more; a decision made at its time or later ends it, whatever the lead decided. Whether
the grade that holds now is the expert's after all is for `domain/settling.py` to say.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import exists, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.adjudication_tables import CurrentAdjudicationRow
from annotator.storage.quality_tables import QualityDrawRow, QualityPairRow


class OpenError(NamedTuple):
    """The expert's grade, and when it was received."""

    grade: int
    answered_at: datetime


def list_open_errors(
    session: Session, dataset_pk: int, pair_pks: Collection[int] | None = None
) -> dict[int, tuple[OpenError, ...]]:
    """The errors that no lead has decided on since, by pair_pk, the first one first. `pair_pks`: of these few only."""
    decided_since = exists().where(
        col(CurrentAdjudicationRow.pair_pk) == col(QualityPairRow.pair_pk),
        col(CurrentAdjudicationRow.decided_at) >= col(QualityPairRow.answered_at),
    )
    statement = (
        select(col(QualityPairRow.pair_pk), col(QualityPairRow.grade), col(QualityPairRow.answered_at))
        .join(QualityDrawRow, col(QualityDrawRow.pk) == col(QualityPairRow.draw_pk))
        .where(
            col(QualityDrawRow.dataset_pk) == dataset_pk,
            col(QualityPairRow.grade) != col(QualityPairRow.settled_grade),
            ~decided_since,
        )
        .order_by(col(QualityPairRow.answered_at), col(QualityPairRow.draw_pk))
    )
    if pair_pks is not None:
        statement = statement.where(col(QualityPairRow.pair_pk).in_(sorted(pair_pks)))
    found: dict[int, tuple[OpenError, ...]] = {}
    rows: Any = session.execute(statement)
    for pair_pk, grade, answered_at in rows:
        found[pair_pk] = (*found.get(pair_pk, ()), OpenError(grade, answered_at))
    return found
