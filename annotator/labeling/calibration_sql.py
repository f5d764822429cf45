"""Store which pairs are checks, and read how they were answered.

Reads from the checks and the repeats, never all judgments.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Select, case, delete, insert, or_, select
from sqlalchemy.orm import Mapped, Session
from sqlmodel import col

from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import key_of
from annotator.storage.sql import fetch, fetch_tuples, prepare_sql, split_into_chunks
from annotator.storage.tables.central import DocumentRow, PairRow, PersonRow, QueryRow
from annotator.storage.tables.labeling import CheckRow, DisclosureRow

AT_ONCE = 400
MOST_NAMES = 100
# CROSS JOIN keeps the order on SQLite: from the few checks and repeats to their judgments.
_ANSWERS = prepare_sql("""
SELECT c.kind, j.annotator_pk, j.pair_pk, q.query_id, d.doc_id, c.grade AS "right", j.grade AS given
FROM check_pair c CROSS JOIN pair p CROSS JOIN judgment j CROSS JOIN query q CROSS JOIN document d
WHERE p.pk = c.pair_pk AND p.dataset_pk = :dataset_pk AND p.retired_at IS NULL
  AND j.pair_pk = c.pair_pk AND j.purpose = c.kind AND j.outcome <> 'later' AND NOT j.late
  AND (CAST(:annotator_pk AS INTEGER) IS NULL OR j.annotator_pk = :annotator_pk)
  AND q.pk = p.query_pk AND d.pk = p.document_pk
  AND (c.kind <> 'gold' OR NOT EXISTS (SELECT 1 FROM judgment b
    WHERE b.pair_pk = j.pair_pk AND b.annotator_pk = j.annotator_pk AND b.purpose = 'gold' AND b.outcome <> 'later' AND NOT b.late AND b.pk < j.pk
      AND (b.document_sha256 <> j.document_sha256 OR EXISTS (SELECT 1 FROM rubric o CROSS JOIN rubric n CROSS JOIN rubric s
        WHERE o.pk = b.rubric_pk AND n.pk = j.rubric_pk AND s.dataset_pk = o.dataset_pk AND s.change = 'semantic'
          AND s.version > o.version AND s.version <= n.version))))
ORDER BY j.pk
""")
_REPEATS = prepare_sql(f"""
SELECT r.annotator_pk, r.pair_pk, j.purpose, j.grade
FROM repeated_pair r CROSS JOIN pair p CROSS JOIN judgment j
WHERE p.pk = r.pair_pk AND p.dataset_pk = :dataset_pk AND r.answered_at IS NOT NULL
  AND j.pair_pk = r.pair_pk AND j.annotator_pk = r.annotator_pk
  AND j.purpose IN ('{COUNTED_PURPOSE}', 'repeat') AND j.outcome <> 'later' AND NOT j.late
  AND (CAST(:annotator_pk AS INTEGER) IS NULL OR r.annotator_pk = :annotator_pk)
ORDER BY j.pk
""")
_WHO_ANSWERED = prepare_sql(
    """
SELECT DISTINCT j.pair_pk, j.annotator_pk AS person_pk FROM judgment j
WHERE j.pair_pk IN :pairs AND j.purpose IN ('training', 'gold') AND j.outcome <> 'later'
UNION SELECT c.pair_pk, c.marked_by_pk FROM check_pair c WHERE c.pair_pk IN :pairs AND c.marked_by_pk IS NOT NULL""",
    lists=["pairs"],
)
_HAVE_JUDGED = prepare_sql(
    """
SELECT pair_pk, annotator_pk AS person_pk FROM current_judgment WHERE pair_pk IN :pairs AND outcome <> 'later'
UNION SELECT pair_pk, person_pk FROM disclosure WHERE pair_pk IN :pairs""",
    lists=["pairs"],
)
_UNSEEN_GOLD = prepare_sql("""
SELECT c.pair_pk FROM check_pair c CROSS JOIN pair p
WHERE p.pk = c.pair_pk AND p.dataset_pk = :dataset_pk AND c.kind = 'gold'
  AND (c.marked_by_pk IS NULL OR c.marked_by_pk <> :person_pk)
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = c.pair_pk AND d.person_pk = :person_pk)""")
_SAMPLE = prepare_sql(
    """
SELECT pk AS pair_pk FROM pair WHERE query_pk IN :queries AND judged >= :judged AND retired_at IS NULL ORDER BY query_pk, key LIMIT 400""",
    lists=["queries"],
)

_CHECKS = prepare_sql(
    "SELECT c.pair_pk, c.kind, p.retired_at IS NOT NULL FROM check_pair c CROSS JOIN pair p "
    "WHERE p.pk = c.pair_pk AND p.dataset_pk = :dataset_pk"
)


class CheckAnswer(NamedTuple):
    """An answer on a check. `given` is None if it cannot be rated."""

    kind: str
    annotator_pk: int
    pair_pk: int
    query_id: str
    doc_id: str
    right: int
    given: int | None


class PairCheck(NamedTuple):
    """The check on a pair: its kind, grade and explanation."""

    kind: str
    grade: int
    explanation: str


def list_check_answers(
    session: Session, dataset_pk: int, annotator_pk: int | None = None
) -> list[CheckAnswer]:
    """Return every answer on the present checks, of all people or one person, in the order they were given.

    If a gold pair was asked again after a change of the guideline or the text, the new answer is excluded:
    the first one counts.
    """
    named = {"dataset_pk": dataset_pk, "annotator_pk": annotator_pk}
    return fetch(session, _ANSWERS, CheckAnswer, named)


def list_repeat_answers(
    session: Session, dataset_pk: int, annotator_pk: int | None = None
) -> dict[int, list[tuple[int | None, int | None]]]:
    """Return {annotator_pk: [(grade when the pair came again, grade on the repeat)]}."""
    by_annotator: dict[int, list[tuple[int | None, int | None]]] = {}
    for (annotator, _pair_pk), answers in sorted(list_repeats(session, dataset_pk, annotator_pk).items()):
        by_annotator.setdefault(annotator, []).append(answers)
    return by_annotator


def list_repeats(
    session: Session, dataset_pk: int, annotator_pk: int | None = None
) -> dict[tuple[int, int], tuple[int | None, int | None]]:
    """Return the same by (annotator_pk, pair_pk), in no particular order."""
    named = {"dataset_pk": dataset_pk, "annotator_pk": annotator_pk}
    before: dict[tuple[int, int], int | None] = {}
    both: dict[tuple[int, int], tuple[int | None, int | None]] = {}
    for annotator, pair_pk, purpose, grade in fetch_tuples(session, _REPEATS, named):
        repeat = (annotator, pair_pk)
        if purpose == COUNTED_PURPOSE:
            before[repeat] = grade
        elif repeat in both:  # the repeat itself, changed
            both[repeat] = (both[repeat][0], grade)
        elif repeat in before:
            both[repeat] = (before[repeat], grade)
    return both


def count_checks_by_kind(session: Session, dataset_pk: int) -> dict[str, int]:
    """Count the checks by kind."""
    rows = fetch_tuples(session, _CHECKS, {"dataset_pk": dataset_pk})
    return Counter(kind for _, kind, is_retired in rows if not is_retired)


def list_check_pks(session: Session, dataset_pk: int) -> set[int]:
    """Return the pairs of the dataset that are marked for training or as gold, by pair_pk."""
    return {pair_pk for pair_pk, _, _ in fetch_tuples(session, _CHECKS, {"dataset_pk": dataset_pk})}


def list_unseen_gold(session: Session, dataset_pk: int, person_pk: int | None) -> frozenset[int]:
    """Return the gold pairs (pair_pk) whose right grade the person neither set nor saw.

    The person may still be handed them. Empty for the operator (None).
    """
    if person_pk is None:
        return frozenset()
    values = {"dataset_pk": dataset_pk, "person_pk": person_pk}
    return frozenset(pair_pk for (pair_pk,) in fetch_tuples(session, _UNSEEN_GOLD, values))


def list_checks_of(session: Session, pair_pks: Collection[int]) -> dict[int, PairCheck]:
    """Return the check that each of these pairs is, by pair_pk; ordinary pairs are absent."""
    checks: dict[int, PairCheck] = {}
    for chunk in split_into_chunks(list(pair_pks), AT_ONCE):
        for row in session.scalars(select(CheckRow).where(col(CheckRow.pair_pk).in_(chunk))):
            checks[row.pair_pk] = PairCheck(row.kind, row.grade, row.explanation)
    return checks


def store_checks(
    session: Session,
    dataset_pk: int,
    checks: Mapping[int, PairCheck],
    *,
    person_pk: int | None,
    now: datetime,
) -> None:
    """Make these pairs (by pair_pk) checks, or change their checks.

    They are no longer handed out as ordinary work.
    """
    for chunk in split_into_chunks(list(checks), AT_ONCE):
        session.execute(delete(CheckRow).where(col(CheckRow.pair_pk).in_(chunk)))
    rows = [
        {"pair_pk": pk, **check._asdict(), "marked_by_pk": person_pk, "marked_at": now}
        for pk, check in checks.items()
    ]
    if rows:
        session.execute(insert(CheckRow), rows)
        derive_work(session, dataset_pk, list(checks))


def delete_checks(session: Session, dataset_pk: int, pair_pks: Collection[int], *, now: datetime) -> None:
    """Make these pairs ordinary again.

    People who answered one as a check, or set its grade, can no longer judge it.
    """
    for chunk in split_into_chunks(list(pair_pks), AT_ONCE):
        knowing = set(fetch_tuples(session, _WHO_ANSWERED, {"pairs": chunk}))
        judged = set(fetch_tuples(session, _HAVE_JUDGED, {"pairs": chunk}))
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
    """Return the pair_pk of each (query_id, doc_id) that is in the pool."""
    wanted, pair_pks = set(names), {}
    for chunk in split_into_chunks(sorted({query_id for query_id, _doc_id in wanted}), AT_ONCE):
        statement = _named_pairs(dataset_pk).where(col(QueryRow.query_id).in_(chunk))
        for pk, query_id, doc_id in session.execute(statement):
            if (query_id, doc_id) in wanted:
                pair_pks[query_id, doc_id] = key_of(pk)
    return pair_pks


def search_pairs(session: Session, dataset_pk: int, words: str, *, limit: int) -> list[int]:
    """Return the pairs with these words as the id, or in the text or title, of the query or document.

    Exact ids come first.
    """
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
    rows = session.execute(statement.order_by(exact_first, col(PairRow.pk)).limit(limit))
    return [key_of(pk) for pk, _query_id, _doc_id in rows]


def list_judged_pairs(session: Session, query_pks: Sequence[int], *, judged: int) -> list[int]:
    """Return some pairs of these queries that have at least `judged` judgments."""
    if not query_pks:
        return []
    values = {"queries": query_pks, "judged": judged}
    return [pair_pk for (pair_pk,) in fetch_tuples(session, _SAMPLE, values)]


def list_checked_people(session: Session, pks: Collection[int]) -> list[PersonRow]:
    """Return these people, by username."""
    statement = select(PersonRow).where(col(PersonRow.pk).in_(list(pks)))
    return sorted(session.scalars(statement), key=lambda person: person.username)


def _named_pairs(dataset_pk: int) -> Select[int | None, str, str]:
    return (
        select(col(PairRow.pk), col(QueryRow.query_id), col(DocumentRow.doc_id))
        .join(QueryRow, col(QueryRow.pk) == PairRow.query_pk)
        .join(DocumentRow, col(DocumentRow.pk) == PairRow.document_pk)
        .where(col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None))
    )
