"""Counts how every two annotators graded the pairs they share: what the figure that gates compare is made of.

Counted by the database, so that every page can ask.
"""

from collections.abc import Iterator

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from annotator.storage.tables import CurrentJudgmentRow, PairRow

Couple = tuple[int, int, int, int, int]


def count_couples(session: Session, dataset_pk: int) -> Iterator[Couple]:
    """Two annotators (annotator_pk, the lower first), a grade of each, and on how many pairs they gave these."""
    one, other = aliased(CurrentJudgmentRow), aliased(CurrentJudgmentRow)
    columns = (col(one.annotator_pk), col(other.annotator_pk), col(one.grade), col(other.grade))
    statement = (
        select(*columns, func.count())
        .join(other, col(other.pair_pk) == col(one.pair_pk))
        .join(PairRow, col(PairRow.pk) == col(one.pair_pk))
        .where(*_counting(one, dataset_pk), *_counting(other, dataset_pk))
        .where(col(one.annotator_pk) < col(other.annotator_pk), col(PairRow.retired_at).is_(None))
        .group_by(*columns)
    )
    for first, second, row, column, count in session.execute(statement):
        yield first, second, int(row or 0), int(column or 0), count


def _counting(row: type[CurrentJudgmentRow], dataset_pk: int) -> tuple[ColumnElement[bool], ...]:
    """What counts: the current independent judgments of the dataset that carry a grade. Pairs that have left the
    pool do not count: whoever asks leaves them out."""
    return (
        col(row.dataset_pk) == dataset_pk,
        col(row.purpose) == "independent",
        col(row.outcome) == "graded",
    )
