"""What importing judgments reads and writes: people who have no sign-in, judgments in bulk, what is settled.

Every function belongs inside a transaction of `importing/service.py`. Judgments are only ever added.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.importing.import_sql import CHUNK_OF_KEYS
from annotator.storage.adjudication_tables import CurrentAdjudicationRow
from annotator.storage.bulk import add_rows, split
from annotator.storage.current_judgments import derive_current
from annotator.storage.receipt_order import mark_late
from annotator.storage.tables import (
    CurrentJudgmentRow,
    DocumentRow,
    JudgmentRow,
    MembershipRow,
    PairRow,
    PersonRow,
    QueryRow,
)


def find_event_ids(session: Session, event_ids: Sequence[str]) -> set[str]:
    """Which of these events are stored."""
    known: set[str] = set()
    for chunk in split(event_ids, CHUNK_OF_KEYS):
        statement = select(col(JudgmentRow.event_id)).where(col(JudgmentRow.event_id).in_(chunk))
        known.update(session.scalars(statement))
    return known


def find_people(session: Session, usernames: Sequence[str]) -> dict[str, tuple[int, bool]]:
    """The key of each of these people who exists, and whether they are simulated."""
    people: dict[str, tuple[int, bool]] = {}
    for chunk in split(usernames, CHUNK_OF_KEYS):
        statement = select(col(PersonRow.username), col(PersonRow.pk), col(PersonRow.simulated))
        found = session.execute(statement.where(col(PersonRow.username).in_(chunk)))
        people.update({name: (pk, simulated) for name, pk, simulated in found if pk is not None})
    return people


def find_namesakes(session: Session, usernames: Collection[str]) -> dict[str, str]:
    """Of these usernames that nobody has: the ones that somebody has in other case, with that person's name."""
    namesakes: dict[str, str] = {}
    for username in usernames:
        statement = select(col(PersonRow.username))
        found = session.scalar(statement.where(func.lower(col(PersonRow.username)) == username.lower()))
        if found is not None:
            namesakes[username] = found
    return namesakes


def add_annotators(
    session: Session, dataset_pk: int, usernames: Iterable[str], *, now: datetime, simulated: bool
) -> None:
    """Make people without a sign-in, annotators of this dataset."""
    for username in usernames:
        values = {"username": username, "name": username, "simulated": simulated, "created_at": now}
        person = PersonRow.model_validate(values)
        session.add(person)
        session.flush()
        role = {"person_pk": person.pk, "dataset_pk": dataset_pk, "role": "annotator"}
        session.add(MembershipRow.model_validate(role))
    session.flush()


def list_adjudicated(session: Session, dataset_pk: int) -> set[tuple[str, str]]:
    """(query_id, doc_id) of the pairs that a lead has settled."""
    statement = (
        select(col(QueryRow.query_id), col(DocumentRow.doc_id))
        .select_from(CurrentAdjudicationRow)
        .join(PairRow, col(PairRow.pk) == col(CurrentAdjudicationRow.pair_pk))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk)
    )
    return {(query_id, doc_id) for query_id, doc_id in session.execute(statement.distinct())}


def list_current_places(session: Session, pair_pks: Sequence[int]) -> set[tuple[int, int]]:
    """(pair_pk, annotator_pk) of every current judgment on these pairs."""
    places: set[tuple[int, int]] = set()
    for chunk in split(pair_pks, CHUNK_OF_KEYS):
        statement = select(col(CurrentJudgmentRow.pair_pk), col(CurrentJudgmentRow.annotator_pk))
        found = session.execute(statement.where(col(CurrentJudgmentRow.pair_pk).in_(chunk)))
        places.update((pair, annotator) for pair, annotator in found)
    return places


def count_revisions(session: Session, rows: Sequence[Mapping[str, Any]]) -> int:
    """Return how many of these judgments, which are not stored yet, revise an earlier one: stored, or before it here."""
    places = {(row["pair_pk"], row["annotator_pk"]) for row in rows}
    pairs = sorted({pair_pk for pair_pk, _ in places})
    return len(rows) - len(places - list_current_places(session, pairs))


def add_judgments(
    session: Session, dataset_pk: int, rows: Sequence[Mapping[str, Any]], *, import_record_pk: int
) -> None:
    """Append judgments, in this order; each row holds the columns of `judgment` but its key and its import."""
    rows = [{**row, "import_record_pk": import_record_pk} for row in rows]
    add_rows(session, JudgmentRow, mark_late(session, rows))
    derive_current(session, dataset_pk, sorted({row["pair_pk"] for row in rows}))
