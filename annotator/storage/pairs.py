"""The state of every pair of a dataset, read in three queries whatever its size.

Stands between judging and everything that follows: the list of pairs, the queue of disagreements, the
gates and the releases all ask here, so that they cannot differ. The rule itself is `domain/settling.py`;
what is current is `storage/current.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Executable, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.settling import Settlement, settle
from annotator.storage.current import list_current_adjudications
from annotator.storage.find import key_of
from annotator.storage.tables import CurrentJudgmentRow, DocumentRow, PairRow, QueryRow

FEW = 500


@dataclass(frozen=True, slots=True)
class PairState:
    """A pair with its current independent judgments and the settlement they and a decision lead to.

    `grades`: grade by annotator_pk, in the order of annotator_pk. `unrateable`: how many said that it
    cannot be rated. `adjudicated`: the lead's current settled grade. Quality-control judgments and
    answers put off ("later") are in none of them.
    """

    pair_pk: int
    key: str
    query_pk: int
    query_id: str
    document_pk: int
    doc_id: str
    category: str | None
    grades: Mapping[int, int]
    unrateable: int
    adjudicated: int | None
    settlement: Settlement


def list_pair_states(
    session: Session, dataset_pk: int, pair_pks: Sequence[int] | None = None
) -> list[PairState]:
    """The state of every pair (or of these ones), by query position, then doc_id in code point order.

    The order is the same on every database, whatever its collation.
    """
    some = set(pair_pks) if pair_pks is not None else None
    in_sql = sorted(some) if some is not None and len(some) <= FEW else None
    judgments = _list_judgments(session, dataset_pk, in_sql)
    decisions = list_current_adjudications(session, dataset_pk, in_sql)
    found: list[tuple[tuple[int, int, str], PairState]] = []
    for stored_pk, key, query_pk, document_pk, position, query_id, category, doc_id in session.execute(
        _select_pairs(dataset_pk, in_sql)
    ):
        pk = key_of(stored_pk)
        if some is not None and pk not in some:
            continue
        grades, unrateable = judgments.get(pk, ({}, 0))
        adjudicated = decisions[pk].grade if pk in decisions else None
        settlement = settle(list(grades.values()), unrateable, adjudicated)
        state = PairState(
            pk, key, query_pk, query_id, document_pk, doc_id, category,
            grades, unrateable, adjudicated, settlement,
        )  # fmt: skip
        found.append(((position, query_pk, doc_id), state))
    found.sort(key=lambda item: item[0])
    return [state for _, state in found]


def list_contested_pairs(session: Session, dataset_pk: int) -> list[int]:
    """The pair_pks that a lead may have to do with: independent grades that differ, or a decision.

    It narrows down what is read; whether a pair is a disagreement is settled by `list_pair_states`.
    """
    grade = col(CurrentJudgmentRow.grade)
    differing = (
        select(col(CurrentJudgmentRow.pair_pk))
        .where(
            col(CurrentJudgmentRow.dataset_pk) == dataset_pk,
            col(CurrentJudgmentRow.purpose) == "independent",
            col(CurrentJudgmentRow.outcome) == "graded",
        )
        .group_by(col(CurrentJudgmentRow.pair_pk))
        .having(func.min(grade) < func.max(grade))
    )
    return sorted({*session.scalars(differing), *list_current_adjudications(session, dataset_pk)})


def _select_pairs(dataset_pk: int, pair_pks: Sequence[int] | None) -> Executable:
    columns = (
        col(PairRow.pk), col(PairRow.key), col(PairRow.query_pk), col(PairRow.document_pk),
        col(QueryRow.position), col(QueryRow.query_id), col(QueryRow.category), col(DocumentRow.doc_id),
    )  # fmt: skip
    pairs = (
        select(*columns)
        .join(QueryRow, col(QueryRow.pk) == PairRow.query_pk)
        .join(DocumentRow, col(DocumentRow.pk) == PairRow.document_pk)
        .where(col(PairRow.dataset_pk) == dataset_pk)
    )
    return pairs if pair_pks is None else pairs.where(col(PairRow.pk).in_(pair_pks))


def _list_judgments(
    session: Session, dataset_pk: int, pair_pks: Sequence[int] | None
) -> dict[int, tuple[dict[int, int], int]]:
    """By pair_pk: the grades by annotator_pk, and how many said unrateable."""
    statement = (
        select(
            col(CurrentJudgmentRow.pair_pk),
            col(CurrentJudgmentRow.annotator_pk),
            col(CurrentJudgmentRow.grade),
        )
        .where(
            col(CurrentJudgmentRow.dataset_pk) == dataset_pk,
            col(CurrentJudgmentRow.purpose) == "independent",
            col(CurrentJudgmentRow.outcome) != "later",
        )
        .order_by(col(CurrentJudgmentRow.pair_pk), col(CurrentJudgmentRow.annotator_pk))
    )
    if pair_pks is not None:
        statement = statement.where(col(CurrentJudgmentRow.pair_pk).in_(pair_pks))
    found: dict[int, tuple[dict[int, int], int]] = {}
    for pair_pk, annotator_pk, grade in session.execute(statement):
        grades, unrateable = found.get(pair_pk, ({}, 0))
        if grade is None:
            found[pair_pk] = (grades, unrateable + 1)
        else:
            grades[annotator_pk] = grade
            found[pair_pk] = (grades, unrateable)
    return found
