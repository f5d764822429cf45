"""The state of every pair of a dataset, read a few hundred queries at a time whatever its size.

Stands between judging and everything that follows: the list of pairs, the queue of disagreements, the
gates and the releases all ask here, so that they cannot differ. The rule itself is `domain/settling.py`;
what is current is `storage/current.py`; which grade of an earlier ground truth is kept, `storage/imported.py`; what
quality control reopened, `storage/reopened.py`.
Pairs that a remap retired have left the pool and are in none of it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.settling import Settlement, settle
from annotator.storage.bulk import split
from annotator.storage.current import list_current_adjudications
from annotator.storage.find import key_of
from annotator.storage.imported import list_kept_imports
from annotator.storage.plain import fetch_plain
from annotator.storage.reopened import OpenError, list_open_errors
from annotator.storage.tables import AdjudicationRow, CurrentJudgmentRow, DocumentRow, PairRow, QueryRow

FEW = 500
QUERIES_AT_ONCE = 200
settle_again = lru_cache(4096)(settle)  # a million pairs have a few hundred different answers
_UNJUDGED: tuple[Mapping[int, int], int] = ({}, 0)


class PairState(NamedTuple):
    """A pair with its current independent judgments and the settlement they and a decision lead to.

    `grades`: grade by annotator_pk, in the order of annotator_pk. `unrateable`: how many said that it
    cannot be rated. `adjudicated`: the lead's current settled grade. `imported`: the grade of an earlier
    ground truth that is kept. Quality-control judgments and answers put off ("later") are in none of them.
    `lacking`: how many judgments it still lacks, by `storage/work.py`. `errors`: what quality control found wrong with
    it and nobody has decided on.
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
    imported: int | None = None
    lacking: int = 0
    errors: tuple[OpenError, ...] = ()

    @property
    def contested_grade(self) -> int | None:
        """The grade that the judgments and decisions lead to, also where quality control has reopened the pair."""
        return settle_again(
            tuple(self.grades.values()), self.unrateable, self.adjudicated, self.imported
        ).grade


def iterate_pair_states(session: Session, dataset_pk: int) -> Iterator[PairState]:
    """The state of every pair, by query position, then doc_id in code point order; a chunk of queries in memory.

    The order is the same on every database, whatever its collation.
    """
    errors = list_open_errors(session, dataset_pk)
    for query_pks in split(list_query_pks(session, dataset_pk), QUERIES_AT_ONCE):
        yield from _read_states(session, dataset_pk, query_pks, col(PairRow.query_pk).in_(query_pks), errors)


def list_pair_states(
    session: Session, dataset_pk: int, pair_pks: Sequence[int] | None = None
) -> list[PairState]:
    """The state of every pair (or of these ones), in the order of `iterate_pair_states`."""
    if pair_pks is None:
        return list(iterate_pair_states(session, dataset_pk))
    some = set(pair_pks)
    if len(some) > FEW:
        return [state for state in iterate_pair_states(session, dataset_pk) if state.pair_pk in some]
    if not some:
        return []
    errors = list_open_errors(session, dataset_pk, some)
    return _read_states(session, dataset_pk, None, col(PairRow.pk).in_(sorted(some)), errors)


def list_contested_pairs(session: Session, dataset_pk: int) -> list[int]:
    """The pair_pks that a lead may have to do with: independent grades that differ, a decision, or an error that
    quality control found.

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
    decided, errors = (
        list_current_adjudications(session, dataset_pk),
        list_open_errors(session, dataset_pk),
    )
    return sorted({*session.scalars(differing), *decided, *errors})


def list_query_pks(session: Session, dataset_pk: int) -> list[int]:
    """The keys of the dataset's queries, in the queries' order."""
    statement = select(col(QueryRow.pk)).where(col(QueryRow.dataset_pk) == dataset_pk)
    return [
        key_of(pk) for pk in session.scalars(statement.order_by(col(QueryRow.position), col(QueryRow.pk)))
    ]


def _read_states(
    session: Session,
    dataset_pk: int,
    query_pks: Sequence[int] | None,
    chosen: ColumnElement[bool],
    errors: Mapping[int, tuple[OpenError, ...]],
) -> list[PairState]:
    """The pairs for which `chosen` holds, in order. `query_pks`: the queries they belong to, where known. `errors`: at
    least theirs, by pair_pk."""
    rows = _list_pairs(session, dataset_pk, chosen)
    judgments = _list_judgments(session, chosen)
    decisions = _list_decisions(session, chosen)
    queries = sorted({row[1] for row in rows}) if query_pks is None else query_pks
    imports = list_kept_imports(session, dataset_pk, queries)
    states = []
    for _, query_pk, doc_id, pk, key, document_pk, query_id, category, lacking in rows:
        grades, unrateable = judgments.get(pk, _UNJUDGED)
        adjudicated = decisions.get(pk)
        imported = imports[pk].grade if pk in imports else None
        found = errors.get(pk, ())
        contrary = tuple([error.grade for error in found]) if found else ()
        settlement = settle_again(tuple(grades.values()), unrateable, adjudicated, imported, contrary)
        states.append(
            PairState(
                pk, key, query_pk, query_id, document_pk, doc_id, category,
                grades, unrateable, adjudicated, settlement, imported, lacking, found,
            )
        )  # fmt: skip
    return states


def _list_pairs(session: Session, dataset_pk: int, chosen: ColumnElement[bool]) -> list[Any]:
    """Rows of position, query_pk, doc_id, pair_pk, key, document_pk, query_id, category, lacking: in order, by the first
    three."""
    statement = (
        select(
            col(QueryRow.position), col(PairRow.query_pk), col(DocumentRow.doc_id), col(PairRow.pk),
            col(PairRow.key), col(PairRow.document_pk), col(QueryRow.query_id), col(QueryRow.category),
            col(PairRow.lacking),
        )
        .join(QueryRow, col(QueryRow.pk) == PairRow.query_pk)
        .join(DocumentRow, col(DocumentRow.pk) == PairRow.document_pk)
        .where(chosen, col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None))
    )  # fmt: skip
    return sorted(fetch_plain(session, statement))


def _list_judgments(session: Session, chosen: ColumnElement[bool]) -> dict[int, tuple[dict[int, int], int]]:
    """By pair_pk: the grades by annotator_pk, and how many said unrateable."""
    statement = (
        select(
            col(CurrentJudgmentRow.pair_pk),
            col(CurrentJudgmentRow.annotator_pk),
            col(CurrentJudgmentRow.grade),
        )
        .join(PairRow, col(PairRow.pk) == col(CurrentJudgmentRow.pair_pk))
        .where(
            chosen,
            col(CurrentJudgmentRow.purpose) == "independent",
            col(CurrentJudgmentRow.outcome) != "later",
        )
    )
    return _gather(sorted(fetch_plain(session, statement)))


def _gather(rows: Iterable[Any]) -> dict[int, tuple[dict[int, int], int]]:
    """From rows of pair_pk, annotator_pk, grade, in that order."""
    found: dict[int, tuple[dict[int, int], int]] = {}
    for pair_pk, annotator_pk, grade in rows:
        grades, unrateable = found.get(pair_pk) or found.setdefault(pair_pk, ({}, 0))
        if grade is None:
            found[pair_pk] = (grades, unrateable + 1)
        else:
            grades[annotator_pk] = grade
    return found


def _list_decisions(session: Session, chosen: ColumnElement[bool]) -> dict[int, int]:
    """The settled grade of the decision that holds, by pair_pk."""
    statement = (
        select(col(AdjudicationRow.pair_pk), col(AdjudicationRow.grade))
        .join(PairRow, col(PairRow.pk) == AdjudicationRow.pair_pk)
        .where(chosen)
        .order_by(col(AdjudicationRow.pair_pk), col(AdjudicationRow.revision))
    )
    return dict(fetch_plain(session, statement))
