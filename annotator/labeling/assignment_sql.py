"""Read and write assignments, and read the remaining work. For `labeling/assignment_service.py`."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, case, exists, func, literal, or_, select
from sqlalchemy.orm import Mapped, Session
from sqlmodel import col

from annotator.domain.judgments import COUNTED_PURPOSE, CURRENT_PURPOSES
from annotator.labeling.assignment import (
    NOBODY,
    LeasedPairs,
    OpenQuery,
    PairsAlike,
    QueryFilter,
    QueryPage,
    QueryToAssign,
)
from annotator.storage.logs.disclosures import is_listed
from annotator.storage.lookup import FREED, find_latest_end
from annotator.storage.sql import (
    PreparedSql,
    add_rows,
    execute_sql,
    fetch,
    fetch_tuples,
    prepare_sql,
    read_time,
    split_into_chunks,
)
from annotator.storage.tables.adjudication import CurrentAdjudicationRow
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    PairRow,
    PersonRow,
    QueryRow,
)
from annotator.storage.tables.labeling import (
    AssignmentRow,
    CheckRow,
    QueryWorkRow,
)

CHUNK = 500
_STUCK = prepare_sql(
    """
SELECT p.query_pk, count(*) AS pairs FROM pair p WHERE p.query_pk IN :queries AND p.lacking > 0 AND p.lacking > :able
  - (SELECT count(*) FROM current_judgment c WHERE c.pair_pk = p.pk AND c.annotator_pk IN :people AND c.outcome <> 'later')
  - (SELECT count(*) FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk IN :people AND NOT EXISTS (
      SELECT 1 FROM current_judgment c WHERE c.pair_pk = p.pk AND c.annotator_pk = d.person_pk AND c.outcome <> 'later'))
GROUP BY p.query_pk""",
    lists=["queries", "people"],
)


_QUERIES = prepare_sql("""
SELECT q.pk, q.query_id, q.text, q.category, q.language, coalesce(w.open_pairs, 0) AS open_pairs,
  coalesce(w.begun_pairs, 0) AS begun_pairs
FROM query q LEFT JOIN query_work w ON w.query_pk = q.pk WHERE q.dataset_pk = :dataset_pk ORDER BY q.position, q.pk""")
_GIVEN = prepare_sql(
    "SELECT query_pk, annotator_pk, answered FROM query_answers WHERE dataset_pk = :dataset_pk"
)
_ANSWERED = prepare_sql(
    "SELECT query_pk, annotator_pk, answered_open FROM query_answers WHERE dataset_pk = :dataset_pk AND answered_open > 0"
)
_DISCLOSED = prepare_sql("""
SELECT p.query_pk, d.person_pk, count(*) FROM disclosure d JOIN pair p ON p.pk = d.pair_pk
WHERE p.dataset_pk = :dataset_pk AND p.lacking > 0 AND NOT EXISTS (
  SELECT 1 FROM current_judgment c WHERE c.pair_pk = p.pk AND c.annotator_pk = d.person_pk AND c.outcome <> 'later')
GROUP BY p.query_pk, d.person_pk""")
_RUNNING = """FROM lease l JOIN pair p ON p.pk = l.pair_pk
WHERE p.dataset_pk = :dataset_pk AND l.expires_at > :now AND l.expires_at <= :latest GROUP BY"""
_IN_HAND = prepare_sql(f"SELECT p.query_pk, l.annotator_pk, count(*) {_RUNNING} p.query_pk, l.annotator_pk")
_LEASES = prepare_sql(
    f"SELECT l.annotator_pk, count(*), min(l.expires_at), max(l.expires_at) {_RUNNING} l.annotator_pk"
)
_ASSIGNED = prepare_sql(
    "SELECT a.query_pk, a.person_pk FROM assignment a JOIN query q ON q.pk = a.query_pk WHERE q.dataset_pk = :dataset_pk"
)
_HELD = prepare_sql(
    "SELECT query_pk, person_pk FROM assignment WHERE query_pk IN :queries", lists=["queries"]
)
_TAKE_BACK = prepare_sql(
    "DELETE FROM assignment WHERE query_pk IN :queries AND person_pk IN :people", lists=["queries", "people"]
)
_END_LEASES = prepare_sql(
    """
UPDATE lease SET expires_at = :freed WHERE expires_at > :now AND EXISTS (
  SELECT 1 FROM pair p WHERE p.pk = lease.pair_pk AND p.query_pk IN :queries AND NOT EXISTS (
    SELECT 1 FROM assignment a WHERE a.query_pk = p.query_pk AND a.person_pk = lease.annotator_pk))""",
    lists=["queries"],
)
_LEFT_BY = prepare_sql("""
SELECT w.dataset_pk, count(*), sum(w.open_pairs) FROM query_work w JOIN assignment a ON a.query_pk = w.query_pk
WHERE a.person_pk = :person_pk AND w.open_pairs > 0 GROUP BY w.dataset_pk ORDER BY w.dataset_pk""")


def list_queries_with_work(session: Session, dataset_pk: int) -> list[OpenQuery]:
    """Return every query, in order."""
    return fetch(session, _QUERIES, OpenQuery, {"dataset_pk": dataset_pk})


def list_query_page(
    session: Session, dataset_pk: int, wanted: QueryFilter, *, limit: int, offset: int
) -> QueryPage:
    """Return a page of the matching queries, the number of matches, and the values to filter by."""
    conditions = _list_conditions(dataset_pk, wanted)
    open_pairs = func.coalesce(col(QueryWorkRow.open_pairs), 0)
    counted = (
        select(func.count(), func.coalesce(func.sum(open_pairs), 0))
        .select_from(QueryRow)
        .outerjoin(QueryWorkRow, col(QueryWorkRow.query_pk) == col(QueryRow.pk))
        .where(*conditions)
    )
    total, pairs = session.execute(counted).one()
    statement = (
        select(
            col(QueryRow.pk),
            col(QueryRow.query_id),
            col(QueryRow.text),
            col(QueryRow.category),
            col(QueryRow.language),
            open_pairs,
        )
        .outerjoin(QueryWorkRow, col(QueryWorkRow.query_pk) == col(QueryRow.pk))
        .where(*conditions)
        .order_by(col(QueryRow.position), col(QueryRow.pk))
        .limit(limit)
        .offset(offset)
    )
    rows = session.execute(statement).all()
    names = _list_assignees(session, [row[0] for row in rows if row[0] is not None])
    queries = (
        QueryToAssign(query_id, words, category, language, open_count, names.get(pk or 0, ()))
        for pk, query_id, words, category, language, open_count in rows
    )
    return QueryPage(
        total,
        int(pairs),
        tuple(queries),
        _list_values(session, dataset_pk, col(QueryRow.category)),
        _list_values(session, dataset_pk, col(QueryRow.language)),
    )


def list_matching_ids(session: Session, dataset_pk: int, wanted: QueryFilter) -> list[str]:
    """Return the ids of the queries that pass the filter, in their order."""
    statement = select(col(QueryRow.query_id)).where(*_list_conditions(dataset_pk, wanted))
    return list(session.scalars(statement.order_by(col(QueryRow.position), col(QueryRow.pk))))


def _list_conditions(dataset_pk: int, wanted: QueryFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [col(QueryRow.dataset_pk) == dataset_pk]
    search = wanted.search.strip().replace("\0", "")
    if search:
        texts = (col(QueryRow.query_id), col(QueryRow.text))
        conditions.append(or_(*(column.icontains(search, autoescape=True) for column in texts)))
    if wanted.category is not None:
        conditions.append(col(QueryRow.category) == wanted.category)
    if wanted.language is not None:
        conditions.append(col(QueryRow.language) == wanted.language)
    of_query = col(AssignmentRow.query_pk) == col(QueryRow.pk)
    if wanted.assigned_to == NOBODY:
        conditions.append(~exists().where(of_query))
    elif wanted.assigned_to is not None:
        named = (
            col(PersonRow.pk) == col(AssignmentRow.person_pk),
            col(PersonRow.username) == wanted.assigned_to,
        )
        conditions.append(exists().where(of_query, *named))
    return conditions


def _list_assignees(session: Session, query_pks: Sequence[int]) -> dict[int, tuple[str, ...]]:
    statement = (
        select(col(AssignmentRow.query_pk), col(PersonRow.username))
        .join(PersonRow, col(PersonRow.pk) == col(AssignmentRow.person_pk))
        .where(col(AssignmentRow.query_pk).in_(query_pks))
        .order_by(col(PersonRow.username))
    )
    names: dict[int, tuple[str, ...]] = {}
    for query_pk, username in session.execute(statement):
        names[query_pk] = (*names.get(query_pk, ()), username)
    return names


def _list_values(session: Session, dataset_pk: int, column: Mapped[str | None]) -> tuple[str, ...]:
    statement = select(column).where(col(QueryRow.dataset_pk) == dataset_pk).distinct()
    return tuple(sorted(value for value in session.scalars(statement) if value))


def count_given(session: Session, dataset_pk: int) -> dict[tuple[int, int], int]:
    """Count, by (query_pk, person_pk), the pairs that each person has answered."""
    return _count(session, _GIVEN, dataset_pk=dataset_pk)


def count_in_hand(
    session: Session, dataset_pk: int, *, now: datetime, lease: timedelta
) -> dict[tuple[int, int], int]:
    """Count, by (query_pk, person_pk), the pairs that each person holds on running leases."""
    return _count(session, _IN_HAND, dataset_pk=dataset_pk, now=now, latest=find_latest_end(now, lease))


def list_assigned(session: Session, dataset_pk: int) -> dict[int, frozenset[int]]:
    """Return the people that each query is assigned to: person_pk by query_pk."""
    people_by_query: dict[int, set[int]] = {}
    for query_pk, person_pk in fetch_tuples(session, _ASSIGNED, {"dataset_pk": dataset_pk}):
        people_by_query.setdefault(query_pk, set()).add(person_pk)
    return {query_pk: frozenset(people) for query_pk, people in people_by_query.items()}


def count_answered(session: Session, dataset_pk: int) -> dict[tuple[int, int], int]:
    """Count, by (query_pk, person_pk), the person's answered pairs that still lack judgments."""
    return _count(session, _ANSWERED, dataset_pk=dataset_pk)


def count_disclosed(session: Session, dataset_pk: int) -> dict[tuple[int, int], int]:
    """Count, by (query_pk, person_pk), the open pairs with others' grades that the person has seen.

    Pairs that the person has answered are not counted.
    """
    return _count(session, _DISCLOSED, dataset_pk=dataset_pk)


def _count(session: Session, statement: PreparedSql, **values: Any) -> dict[tuple[int, int], int]:
    return {(query, person): pairs for query, person, pairs in fetch_tuples(session, statement, values)}


def list_running_leases(
    session: Session, dataset_pk: int, *, now: datetime, lease: timedelta
) -> dict[int, LeasedPairs]:
    """Return the running leases by person_pk."""
    values = {"dataset_pk": dataset_pk, "now": now, "latest": find_latest_end(now, lease)}
    return {
        person: LeasedPairs(pairs, read_time(first) - lease, read_time(last))
        for person, pairs, first, last in fetch_tuples(session, _LEASES, values)
    }


def count_stuck(session: Session, query_pks: Sequence[int], person_pks: Collection[int]) -> dict[int, int]:
    """Count, by query_pk, the pairs that lack more judgments than these people can still give."""
    people = sorted(person_pks)
    counts: dict[int, int] = {}
    for chunk in split_into_chunks(query_pks, CHUNK):
        values = {"queries": chunk, "people": people, "able": len(people)}
        counts.update(fetch_tuples(session, _STUCK, values))
    return counts


def add_assignments(
    session: Session, query_pks: Iterable[int], person_pks: Iterable[int], *, by: int | None, now: datetime
) -> int:
    """Assign each of these queries to each of these people; return how many assignments are new."""
    queries, people = sorted(set(query_pks)), sorted(set(person_pks))
    assigned: set[tuple[int, int]] = set()
    for chunk in split_into_chunks(queries, CHUNK):
        assigned.update(map(tuple, fetch_tuples(session, _HELD, {"queries": chunk})))
    new = [(query, person) for query in queries for person in people if (query, person) not in assigned]
    rows = [
        {"query_pk": query, "person_pk": person, "assigned_by_pk": by, "assigned_at": now}
        for query, person in new
    ]
    add_rows(session, AssignmentRow, rows)
    return len(new)


def delete_assignments(session: Session, query_pks: Iterable[int], person_pks: Collection[int]) -> int:
    """Take these queries back from these people; return how many assignments ended."""
    chunks = split_into_chunks(sorted(set(query_pks)), CHUNK)
    return sum(execute_sql(session, _TAKE_BACK, {"queries": chunk, "people": person_pks}) for chunk in chunks)


def end_leases_of_others(session: Session, query_pks: Iterable[int], *, now: datetime) -> int:
    """Free the leases on pairs of these queries of everybody they are not assigned to; return how many."""
    chunks = split_into_chunks(sorted(set(query_pks)), CHUNK)
    values = {"freed": FREED, "now": now}
    return sum(execute_sql(session, _END_LEASES, {**values, "queries": chunk}) for chunk in chunks)


def count_left_by(session: Session, person_pk: int) -> list[tuple[int, int, int]]:
    """Return a person's work as (dataset_pk, assigned queries that lack judgments, their open pairs)."""
    rows = fetch_tuples(session, _LEFT_BY, {"person_pk": person_pk})
    return [(dataset, queries, int(pairs)) for dataset, queries, pairs in rows]


def count_alike(
    session: Session, dataset_pk: int, *, one_by_one: bool, blind: Collection[int] = ()
) -> list[PairsAlike]:
    """Count the pairs of the pool by category, judgments and spread of the counted grades.

    `one_by_one`: count each pair under its key; otherwise the key is empty. `blind`: pairs that the reader may
    still judge (`list_blind_pairs`); their spread is None.
    """
    is_counted = col(CurrentJudgmentRow.purpose) == COUNTED_PURPOSE
    if blind:
        is_counted &= ~is_listed(session, col(CurrentJudgmentRow.pair_pk), blind)
    grade = case((is_counted, col(CurrentJudgmentRow.grade)))
    answers = (
        select(
            col(CurrentJudgmentRow.pair_pk).label("pair_pk"),
            func.count().label("answers"),
            case((func.count(grade) >= 2, func.max(grade) - func.min(grade))).label("spread"),
        )
        .where(
            col(CurrentJudgmentRow.dataset_pk) == dataset_pk,
            col(CurrentJudgmentRow.outcome) != "later",
            col(CurrentJudgmentRow.purpose).in_(CURRENT_PURPOSES),
        )
        .group_by(col(CurrentJudgmentRow.pair_pk))
        .subquery()
    )
    name = col(PairRow.key) if one_by_one else literal("")
    is_closed = or_(
        exists().where(col(CurrentAdjudicationRow.pair_pk) == col(PairRow.pk)),
        exists().where(col(CheckRow.pair_pk) == col(PairRow.pk)),
        col(PairRow.kept) & (col(PairRow.judged) == 0),
    )
    closed = case((is_closed, 1), else_=0).label("closed")
    grouped = (col(QueryRow.category), answers.c.answers, answers.c.spread)
    statement = (
        select(name, *grouped, func.count(), closed)
        .select_from(PairRow)
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .outerjoin(answers, answers.c.pair_pk == col(PairRow.pk))
        .where(
            col(PairRow.dataset_pk) == dataset_pk,
            col(PairRow.retired_at).is_(None),
        )
        .group_by(*([col(PairRow.key)] if one_by_one else []), *grouped, closed)
    )
    return [
        PairsAlike(key, category, answers or 0, spread, pairs, bool(closed))
        for key, category, answers, spread, pairs, closed in session.execute(statement)
    ]
