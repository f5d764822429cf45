"""Writes which pairs are checks, and reads how they were answered. For the leads' side of checks (`labeling/`).

Reads by the marked pairs and by the repeats, never over the judgments as a whole.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Select, bindparam, case, delete, func, insert, or_, select, text
from sqlalchemy.orm import Mapped, Session
from sqlmodel import col

from annotator.storage.labeling_tables import CheckRow, DisclosureRow
from annotator.storage.lookup import key_of
from annotator.storage.missing_judgments import derive_work
from annotator.storage.tables import DocumentRow, PairRow, PersonRow, QueryRow

AT_ONCE = 400
MOST_NAMES = 100
Item = TypeVar("Item")
# CROSS JOIN keeps the order on SQLite: from the few marks and repeats to their judgments.
_ANSWERS = text("""
SELECT c.kind, j.annotator_pk, j.pair_pk, q.query_id, d.doc_id, c.grade, j.grade
FROM check_pair c CROSS JOIN pair p CROSS JOIN judgment j CROSS JOIN query q CROSS JOIN document d
WHERE p.pk = c.pair_pk AND p.dataset_pk = :dataset_pk AND p.retired_at IS NULL
  AND j.pair_pk = c.pair_pk AND j.purpose = c.kind AND j.outcome <> 'later'
  AND (CAST(:annotator_pk AS INTEGER) IS NULL OR j.annotator_pk = :annotator_pk)
  AND q.pk = p.query_pk AND d.pk = p.document_pk
ORDER BY j.judged_at, j.pk
""")
_REPEATS = text("""
SELECT r.annotator_pk, r.pair_pk, j.purpose, j.grade
FROM repeated_pair r CROSS JOIN pair p CROSS JOIN judgment j
WHERE p.pk = r.pair_pk AND p.dataset_pk = :dataset_pk AND r.answered_at IS NOT NULL
  AND j.pair_pk = r.pair_pk AND j.annotator_pk = r.annotator_pk
  AND j.purpose IN ('independent', 'repeat') AND j.outcome <> 'later'
  AND (CAST(:annotator_pk AS INTEGER) IS NULL OR r.annotator_pk = :annotator_pk)
ORDER BY j.pk
""")
_WHO_ANSWERED = text("""
SELECT DISTINCT j.pair_pk, j.annotator_pk FROM judgment j
WHERE j.pair_pk IN :pairs AND j.purpose IN ('training', 'gold') AND j.outcome <> 'later'
UNION SELECT c.pair_pk, c.marked_by_pk FROM check_pair c WHERE c.pair_pk IN :pairs AND c.marked_by_pk IS NOT NULL
""").bindparams(bindparam("pairs", expanding=True))
_HAVE_JUDGED = text("""
SELECT pair_pk, annotator_pk FROM current_judgment WHERE pair_pk IN :pairs AND outcome <> 'later'
UNION SELECT pair_pk, person_pk FROM disclosure WHERE pair_pk IN :pairs
""").bindparams(bindparam("pairs", expanding=True))
_SAMPLE = text("""
SELECT pk FROM pair WHERE query_pk IN :queries AND judged >= :judged AND retired_at IS NULL ORDER BY query_pk, key LIMIT 400
""").bindparams(bindparam("queries", expanding=True))


class CheckAnswer(NamedTuple):
    """An answer on a marked pair, oldest first where several are listed; `given` None: cannot be rated."""

    kind: str
    annotator_pk: int
    pair_pk: int
    query_id: str
    doc_id: str
    right: int
    given: int | None


class PairCheck(NamedTuple):
    """How a pair is marked."""

    kind: str
    grade: int
    explanation: str


def list_check_answers(
    session: Session, dataset_pk: int, annotator_pk: int | None = None
) -> list[CheckAnswer]:
    """Every answer on the pairs that are marked now, of everybody or of one person, in the order they were given."""
    named = {"dataset_pk": dataset_pk, "annotator_pk": annotator_pk}
    return [CheckAnswer(*row) for row in session.execute(_ANSWERS, named)]


def list_repeat_answers(
    session: Session, dataset_pk: int, annotator_pk: int | None = None
) -> dict[int, list[tuple[int | None, int | None]]]:
    """By annotator_pk: (the answer that held when the pair came again, the answer on the repeat) for each repeat."""
    found: dict[int, list[tuple[int | None, int | None]]] = {}
    for (annotator, _pair_pk), answers in sorted(list_repeats(session, dataset_pk, annotator_pk).items()):
        found.setdefault(annotator, []).append(answers)
    return found


def list_repeats(
    session: Session, dataset_pk: int, annotator_pk: int | None = None
) -> dict[tuple[int, int], tuple[int | None, int | None]]:
    """The same by (annotator_pk, pair_pk), in no particular order."""
    named = {"dataset_pk": dataset_pk, "annotator_pk": annotator_pk}
    before: dict[tuple[int, int], int | None] = {}
    both: dict[tuple[int, int], tuple[int | None, int | None]] = {}
    for annotator, pair_pk, purpose, grade in session.execute(_REPEATS, named):
        place = (annotator, pair_pk)
        if purpose == "independent":
            before[place] = grade
        elif place in both:  # the repeat itself, changed
            both[place] = (both[place][0], grade)
        elif place in before:
            both[place] = (before[place], grade)
    return both


def count_marked(session: Session, dataset_pk: int) -> dict[str, int]:
    """How many pairs are marked, by kind."""
    statement = (
        select(col(CheckRow.kind), func.count())
        .join(PairRow, col(PairRow.pk) == col(CheckRow.pair_pk))
        .where(col(PairRow.dataset_pk) + 0 == dataset_pk, col(PairRow.retired_at).is_(None))
        .group_by(col(CheckRow.kind))
    )
    return {str(kind): number for kind, number in session.execute(statement)}


def list_marked(session: Session, dataset_pk: int) -> set[int]:
    """Return the pairs of the dataset that are marked for training or as gold, by pair_pk."""
    statement = select(col(CheckRow.pair_pk)).join(PairRow, col(PairRow.pk) == col(CheckRow.pair_pk))
    return set(session.scalars(statement.where(col(PairRow.dataset_pk) == dataset_pk)))


def list_marks(session: Session, pair_pks: Collection[int]) -> dict[int, PairCheck]:
    """How these pairs are marked, for those that are."""
    found: dict[int, PairCheck] = {}
    for chunk in _chunks(pair_pks):
        for row in session.scalars(select(CheckRow).where(col(CheckRow.pair_pk).in_(chunk))):
            found[row.pair_pk] = PairCheck(row.kind, row.grade, row.explanation)
    return found


def write_marks(
    session: Session,
    dataset_pk: int,
    marks: Mapping[int, PairCheck],
    *,
    person_pk: int | None,
    now: datetime,
) -> None:
    """Mark these pairs (by pair_pk), those marked already anew; nobody is handed them as ordinary work from now on."""
    for chunk in _chunks(marks):
        session.execute(delete(CheckRow).where(col(CheckRow.pair_pk).in_(chunk)))
    rows = [
        {"pair_pk": pk, **mark._asdict(), "marked_by_pk": person_pk, "marked_at": now}
        for pk, mark in marks.items()
    ]
    if rows:
        session.execute(insert(CheckRow), rows)
        derive_work(session, dataset_pk, list(marks))


def drop_marks(session: Session, dataset_pk: int, pair_pks: Collection[int], *, now: datetime) -> None:
    """These pairs are ordinary again. Whoever answered one as a check, or set its right grade, cannot judge it any more."""
    for chunk in _chunks(pair_pks):
        knowing = {tuple(row) for row in session.execute(_WHO_ANSWERED, {"pairs": chunk})}
        judged = {tuple(row) for row in session.execute(_HAVE_JUDGED, {"pairs": chunk})}
        rows = [
            {"pair_pk": pair_pk, "person_pk": person_pk, "disclosed_at": now}
            for pair_pk, person_pk in sorted(knowing - judged)
        ]
        if rows:
            session.execute(insert(DisclosureRow), rows)
        session.execute(delete(CheckRow).where(col(CheckRow.pair_pk).in_(chunk)))
    derive_work(session, dataset_pk, list(pair_pks))


def find_by_names(
    session: Session, dataset_pk: int, names: Collection[tuple[str, str]]
) -> dict[tuple[str, str], int]:
    """pair_pk by (query_id, doc_id); what is not in the pool is left out."""
    wanted, found = set(names), {}
    for chunk in _chunks({query_id for query_id, _doc_id in wanted}):
        statement = _named_pairs(dataset_pk).where(col(QueryRow.query_id).in_(chunk))
        for pk, query_id, doc_id in session.execute(statement):
            if (query_id, doc_id) in wanted:
                found[query_id, doc_id] = key_of(pk)
    return found


def search_pairs(session: Session, dataset_pk: int, words: str, *, limit: int) -> list[int]:
    """The pairs whose query or document is named so, or holds these words in its text or title; exact names first."""
    like = "%" + words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"

    def holds(*columns: Mapped[str]) -> ColumnElement[bool]:
        return or_(*(column.ilike(like, escape="\\") for column in columns))

    query_id, doc_id = col(QueryRow.query_id), col(DocumentRow.doc_id)
    exact_first = case((query_id == words, 0), (doc_id == words, 0), else_=1)
    queries = select(col(QueryRow.pk)).where(
        col(QueryRow.dataset_pk) == dataset_pk, holds(query_id, col(QueryRow.text))
    )
    documents = select(col(DocumentRow.pk)).where(
        col(DocumentRow.dataset_pk) == dataset_pk, holds(doc_id, col(DocumentRow.title))
    )
    statement = _named_pairs(dataset_pk).where(
        or_(
            col(PairRow.query_pk).in_(list(session.scalars(queries.limit(MOST_NAMES)))),
            col(PairRow.document_pk).in_(list(session.scalars(documents.limit(MOST_NAMES)))),
        )
    )
    found = session.execute(statement.order_by(exact_first, col(PairRow.pk)).limit(limit))
    return [key_of(pk) for pk, _query_id, _doc_id in found]


def list_judged_pairs(session: Session, query_pks: Sequence[int], *, judged: int) -> list[int]:
    """Some pairs of these queries that at least so many have judged."""
    if not query_pks:
        return []
    found = session.execute(_SAMPLE, {"queries": list(query_pks), "judged": judged})
    return [pk for (pk,) in found]


def list_checked_people(session: Session, pks: Collection[int]) -> list[PersonRow]:
    """These people, by username."""
    statement = select(PersonRow).where(col(PersonRow.pk).in_(list(pks)))
    return sorted(session.scalars(statement), key=lambda person: person.username)


def _named_pairs(dataset_pk: int) -> Select[int | None, str, str]:
    return (
        select(col(PairRow.pk), col(QueryRow.query_id), col(DocumentRow.doc_id))
        .join(QueryRow, col(QueryRow.pk) == PairRow.query_pk)
        .join(DocumentRow, col(DocumentRow.pk) == PairRow.document_pk)
        .where(col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None))
    )


def _chunks(items: Collection[Item]) -> Iterator[list[Item]]:
    ordered = list(items)
    for start in range(0, len(ordered), AT_ONCE):
        yield ordered[start : start + AT_ONCE]
