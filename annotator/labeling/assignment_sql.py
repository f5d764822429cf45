"""Reads and writes who was given which query, and what there is to do. For `labeling/assignment_service.py`; rows stay here."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import case, delete, exists, func, literal, select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.clock import find_latest_end
from annotator.storage.adjudication_tables import CurrentAdjudicationRow
from annotator.storage.labeling_tables import (
    AssignmentRow,
    CheckRow,
    DisclosureRow,
    LeaseRow,
    QueryAnswersRow,
    QueryWorkRow,
)
from annotator.storage.sql import add_rows, split_into_chunks
from annotator.storage.tables import (
    CurrentJudgmentRow,
    PairRow,
    QueryRow,
)

CHUNK = 500
_STUCK = """
SELECT p.query_pk, count(*) FROM pair p WHERE p.query_pk IN ({queries}) AND p.lacking > 0 AND p.lacking > {able}
  - (SELECT count(*) FROM current_judgment c WHERE c.pair_pk = p.pk AND c.annotator_pk IN ({people}) AND c.outcome <> 'later')
  - (SELECT count(*) FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk IN ({people}) AND NOT EXISTS (
      SELECT 1 FROM current_judgment c WHERE c.pair_pk = p.pk AND c.annotator_pk = d.person_pk AND c.outcome <> 'later'))
GROUP BY p.query_pk
"""


def list_queries_with_work(
    session: Session, dataset_pk: int
) -> list[tuple[int, str, str, str | None, str | None, int, int]]:
    """(query_pk, query_id, text, category, language, open pairs, begun pairs) of every query, in their order."""
    statement = (
        select(
            col(QueryRow.pk),
            col(QueryRow.query_id),
            col(QueryRow.text),
            col(QueryRow.category),
            col(QueryRow.language),
            func.coalesce(col(QueryWorkRow.open_pairs), 0),
            func.coalesce(col(QueryWorkRow.begun_pairs), 0),
        )
        .outerjoin(QueryWorkRow, col(QueryWorkRow.query_pk) == col(QueryRow.pk))
        .where(col(QueryRow.dataset_pk) == dataset_pk)
        .order_by(col(QueryRow.position), col(QueryRow.pk))
    )
    return [
        (pk or 0, query_id, words, category, language, open_pairs, begun)
        for pk, query_id, words, category, language, open_pairs, begun in session.execute(statement)
    ]


def list_assigned(session: Session, dataset_pk: int) -> dict[int, set[int]]:
    """The people that each query was given to: person_pk by query_pk."""
    statement = select(col(AssignmentRow.query_pk), col(AssignmentRow.person_pk)).join(
        QueryRow, col(QueryRow.pk) == col(AssignmentRow.query_pk)
    )
    found: dict[int, set[int]] = {}
    for query_pk, person_pk in session.execute(statement.where(col(QueryRow.dataset_pk) == dataset_pk)):
        found.setdefault(query_pk, set()).add(person_pk)
    return found


def count_answered(session: Session, dataset_pk: int) -> dict[tuple[int, int], int]:
    """How many pairs that lack judgments each person has answered: by (query_pk, person_pk)."""
    statement = select(
        col(QueryAnswersRow.query_pk), col(QueryAnswersRow.annotator_pk), col(QueryAnswersRow.answered_open)
    ).where(col(QueryAnswersRow.dataset_pk) == dataset_pk, col(QueryAnswersRow.answered_open) > 0)
    return {(query, person): pairs for query, person, pairs in session.execute(statement)}


def count_disclosed(session: Session, dataset_pk: int) -> dict[tuple[int, int], int]:
    """How many pairs that lack judgments each person may not judge for having seen others' grades, those they have
    answered left out: by (query_pk, person_pk)."""
    answered = exists().where(
        col(CurrentJudgmentRow.pair_pk) == col(PairRow.pk),
        col(CurrentJudgmentRow.annotator_pk) == col(DisclosureRow.person_pk),
        col(CurrentJudgmentRow.outcome) != "later",
    )
    statement = (
        select(col(PairRow.query_pk), col(DisclosureRow.person_pk), func.count())
        .join(PairRow, col(PairRow.pk) == col(DisclosureRow.pair_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk, col(PairRow.lacking) > 0, ~answered)
        .group_by(col(PairRow.query_pk), col(DisclosureRow.person_pk))
    )
    return {(query, person): pairs for query, person, pairs in session.execute(statement)}


def list_running_leases(
    session: Session, dataset_pk: int, *, now: datetime, lease: timedelta
) -> dict[int, tuple[int, datetime]]:
    """How many pairs each person holds, and when the first of those leases ends: by person_pk."""
    statement = (
        select(col(LeaseRow.annotator_pk), func.count(), func.min(col(LeaseRow.expires_at)))
        .join(PairRow, col(PairRow.pk) == col(LeaseRow.pair_pk))
        .where(
            col(PairRow.dataset_pk) == dataset_pk,
            col(LeaseRow.expires_at) > now,
            col(LeaseRow.expires_at) <= find_latest_end(now, lease),
        )
        .group_by(col(LeaseRow.annotator_pk))
    )
    return {person: (pairs, ends) for person, pairs, ends in session.execute(statement)}


def count_stuck(session: Session, query_pks: Sequence[int], person_pks: Collection[int]) -> dict[int, int]:
    """How many pairs of these queries lack more judgments than there are people among these who may still give
    them: by query_pk."""
    people = ", ".join(str(int(pk)) for pk in sorted(person_pks)) or "-1"
    found: dict[int, int] = {}
    for chunk in split_into_chunks(query_pks, CHUNK):
        queries = ", ".join(str(int(pk)) for pk in chunk)
        statement = text(_STUCK.format(queries=queries, people=people, able=len(person_pks)))
        found.update((query, pairs) for query, pairs in session.execute(statement))
    return found


def add_assignments(
    session: Session, query_pks: Iterable[int], person_pks: Iterable[int], *, by: int | None, now: datetime
) -> int:
    """Give each of these queries to each of these people; how many of that was not so yet."""
    queries, people = sorted(set(query_pks)), sorted(set(person_pks))
    known: set[tuple[int, int]] = set()
    for chunk in split_into_chunks(queries, CHUNK):
        held = select(col(AssignmentRow.query_pk), col(AssignmentRow.person_pk))
        found = session.execute(held.where(col(AssignmentRow.query_pk).in_(chunk)))
        known.update((query, person) for query, person in found)
    new = [(query, person) for query in queries for person in people if (query, person) not in known]
    add_rows(
        session,
        AssignmentRow,
        [
            {"query_pk": query, "person_pk": person, "assigned_by_pk": by, "assigned_at": now}
            for query, person in new
        ],
    )
    return len(new)


def delete_assignments(session: Session, query_pks: Iterable[int], person_pks: Collection[int]) -> int:
    """Take these queries back from these people; how many (query, person) that were."""
    ended = 0
    for chunk in split_into_chunks(sorted(set(query_pks)), CHUNK):
        given = (col(AssignmentRow.query_pk).in_(chunk), col(AssignmentRow.person_pk).in_(person_pks))
        ended += session.scalar(select(func.count()).select_from(AssignmentRow).where(*given)) or 0
        session.execute(delete(AssignmentRow).where(*given).execution_options(synchronize_session=False))
    return ended


def end_leases_of(session: Session, dataset_pk: int, person_pk: int) -> int:
    """End every lease of this person on the dataset; how many."""
    pairs = select(col(PairRow.pk)).where(col(PairRow.dataset_pk) == dataset_pk)
    held = (col(LeaseRow.annotator_pk) == person_pk, col(LeaseRow.pair_pk).in_(pairs))
    return _end_leases(session, *held)


def end_leases_of_others(session: Session, query_pks: Iterable[int]) -> int:
    """End the leases on pairs of these queries of everybody to whom the query has not been given; how many."""
    ended = 0
    given = exists().where(
        col(AssignmentRow.query_pk) == col(PairRow.query_pk),
        col(AssignmentRow.person_pk) == col(LeaseRow.annotator_pk),
    )
    for chunk in split_into_chunks(sorted(set(query_pks)), CHUNK):
        others = exists().where(
            col(PairRow.pk) == col(LeaseRow.pair_pk), col(PairRow.query_pk).in_(chunk), ~given
        )
        ended += _end_leases(session, others)
    return ended


def _end_leases(session: Session, *conditions: object) -> int:
    count = select(func.count()).select_from(LeaseRow).where(*conditions)  # type: ignore[arg-type]
    ended = session.scalar(count) or 0
    gone = delete(LeaseRow).where(*conditions)  # type: ignore[arg-type]
    session.execute(gone.execution_options(synchronize_session=False))
    return ended


def count_left_by(session: Session, person_pk: int) -> list[tuple[int, int, int]]:
    """What a person would leave: (dataset_pk, queries given to them that lack judgments, pairs that those lack)."""
    statement = (
        select(col(QueryWorkRow.dataset_pk), func.count(), func.sum(col(QueryWorkRow.open_pairs)))
        .join(AssignmentRow, col(AssignmentRow.query_pk) == col(QueryWorkRow.query_pk))
        .where(col(AssignmentRow.person_pk) == person_pk, col(QueryWorkRow.open_pairs) > 0)
        .group_by(col(QueryWorkRow.dataset_pk))
        .order_by(col(QueryWorkRow.dataset_pk))
    )
    return [(dataset, queries, int(pairs)) for dataset, queries, pairs in session.execute(statement)]


def count_alike(
    session: Session, dataset_pk: int, *, one_by_one: bool
) -> list[tuple[str, str | None, int, int | None, int]]:
    """The pairs that anybody may be handed, counted by (key, category, answers, spread of the independent grades):
    the last is how many. `one_by_one`: each pair under its key, else the key is empty."""
    grade = case((col(CurrentJudgmentRow.purpose) == "independent", col(CurrentJudgmentRow.grade)))
    answers = (
        select(
            col(CurrentJudgmentRow.pair_pk).label("pair_pk"),
            func.count().label("answers"),
            case((func.count(grade) >= 2, func.max(grade) - func.min(grade))).label("spread"),
        )
        .where(
            col(CurrentJudgmentRow.dataset_pk) == dataset_pk,
            col(CurrentJudgmentRow.outcome) != "later",
            col(CurrentJudgmentRow.purpose).in_(["independent", "conditional"]),
        )
        .group_by(col(CurrentJudgmentRow.pair_pk))
        .subquery()
    )
    name = col(PairRow.key) if one_by_one else literal("")
    grouped = (col(QueryRow.category), answers.c.answers, answers.c.spread)
    statement = (
        select(name, *grouped, func.count())
        .select_from(PairRow)
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .outerjoin(answers, answers.c.pair_pk == col(PairRow.pk))
        .where(
            col(PairRow.dataset_pk) == dataset_pk,
            col(PairRow.retired_at).is_(None),
            (col(PairRow.judged) > 0) | ~col(PairRow.kept),
            ~exists().where(col(CurrentAdjudicationRow.pair_pk) == col(PairRow.pk)),
            ~exists().where(col(CheckRow.pair_pk) == col(PairRow.pk)),
        )
        .group_by(*([col(PairRow.key)] if one_by_one else []), *grouped)
    )
    return [
        (key, category, answers or 0, spread, pairs)
        for key, category, answers, spread, pairs in session.execute(statement)
    ]
