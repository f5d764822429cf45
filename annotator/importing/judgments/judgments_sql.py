"""Read and write the data of imported judgments: people, settled pairs, judgments. Judgments are only added."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.importing.judgments.judgment_plan import NAMED_SINCE, ImportedAnnotator, StoredLine
from annotator.storage.judgments.answers import mark_late
from annotator.storage.judgments.current_judgments import derive_current
from annotator.storage.lookup import key_of
from annotator.storage.sql import add_rows, split_into_chunks
from annotator.storage.tables.adjudication import CurrentAdjudicationRow
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DocumentRow,
    JudgmentRow,
    MembershipRow,
    PairRow,
    PersonRow,
    QueryRow,
)
from annotator.storage.tables.sign_in import ProviderIdentityRow

CHUNK_OF_KEYS = 1_000


def has_old_names(session: Session) -> bool:
    """Check whether any judgment has a line name from before NAMED_SINCE."""
    statement = select(col(JudgmentRow.pk)).where(col(JudgmentRow.line_id) < NAMED_SINCE)
    return session.scalar(statement.limit(1)) is not None


def list_stored_lines(session: Session, dataset_pk: int, line_ids: Sequence[str]) -> list[StoredLine]:
    """Return the dataset's judgments from lines with these names."""
    stored: list[StoredLine] = []
    for chunk in split_into_chunks(line_ids, CHUNK_OF_KEYS):
        statement = (
            select(
                col(JudgmentRow.line_id),
                col(PersonRow.username),
                col(QueryRow.query_id),
                col(JudgmentRow.outcome),
                col(JudgmentRow.grade),
                col(JudgmentRow.note),
            )
            .join(PersonRow, col(PersonRow.pk) == col(JudgmentRow.annotator_pk))
            .join(PairRow, col(PairRow.pk) == col(JudgmentRow.pair_pk))
            .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
            # + 0: else SQLite reads all judgments of the dataset for each chunk
            .where(col(PairRow.dataset_pk) + 0 == dataset_pk, col(JudgmentRow.line_id).in_(chunk))
        )
        stored += map(StoredLine._make, session.execute(statement))
    return stored


def find_annotators(session: Session, usernames: Sequence[str]) -> dict[str, ImportedAnnotator]:
    """Return {username: person} of the existing people."""
    annotators: dict[str, ImportedAnnotator] = {}
    for chunk in split_into_chunks(usernames, CHUNK_OF_KEYS):
        statement = select(col(PersonRow.username), col(PersonRow.pk), col(PersonRow.simulated))
        rows = session.execute(statement.where(col(PersonRow.username).in_(chunk)))
        annotators.update(
            {name: ImportedAnnotator(key_of(pk), is_simulated) for name, pk, is_simulated in rows}
        )
    return annotators


def list_people_with_sign_in(session: Session) -> list[str]:
    """Return the usernames of the people who have a password or sign in by a provider, disabled ones included."""
    with_identity = select(col(ProviderIdentityRow.person_pk))
    can_sign_in = col(PersonRow.password_hash).is_not(None) | col(PersonRow.pk).in_(with_identity)
    return list(session.scalars(select(col(PersonRow.username)).where(can_sign_in)))


def add_annotators(
    session: Session, dataset_pk: int, usernames: Sequence[str], *, now: datetime, simulated: bool
) -> None:
    """Create people without a sign-in, as annotators of this dataset."""
    people = [
        {"username": username, "name": username, "simulated": simulated, "created_at": now}
        for username in usernames
    ]
    add_rows(session, PersonRow, people)
    added = find_annotators(session, usernames).values()
    roles = [{"person_pk": person.pk, "dataset_pk": dataset_pk, "role": "annotator"} for person in added]
    add_rows(session, MembershipRow, roles)


def list_adjudicated_pairs(session: Session, dataset_pk: int) -> set[tuple[str, str]]:
    """Return (query_id, doc_id) of the pairs that a lead has settled."""
    statement = (
        select(col(QueryRow.query_id), col(DocumentRow.doc_id))
        .select_from(CurrentAdjudicationRow)
        .join(PairRow, col(PairRow.pk) == col(CurrentAdjudicationRow.pair_pk))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk)
    )
    return {(query_id, doc_id) for query_id, doc_id in session.execute(statement.distinct())}


def list_current_answers(
    session: Session, pair_pks: Sequence[int]
) -> dict[tuple[int, int], tuple[str, int | None]]:
    """Return {(pair_pk, annotator_pk): (outcome, grade)} of the current judgments on these pairs."""
    answers: dict[tuple[int, int], tuple[str, int | None]] = {}
    columns = (
        col(CurrentJudgmentRow.pair_pk),
        col(CurrentJudgmentRow.annotator_pk),
        col(CurrentJudgmentRow.outcome),
        col(CurrentJudgmentRow.grade),
    )
    for chunk in split_into_chunks(pair_pks, CHUNK_OF_KEYS):
        rows = session.execute(select(*columns).where(col(CurrentJudgmentRow.pair_pk).in_(chunk)))
        answers.update(
            ((pair_pk, annotator_pk), (outcome, grade)) for pair_pk, annotator_pk, outcome, grade in rows
        )
    return answers


def add_judgments(
    session: Session, dataset_pk: int, rows: Sequence[Mapping[str, Any]], *, import_record_pk: int
) -> None:
    """Append judgments in this order. `rows`: all columns of `judgment` except its key and its import."""
    rows = [{**row, "import_record_pk": import_record_pk} for row in rows]
    add_rows(session, JudgmentRow, mark_late(session, rows))
    derive_current(session, dataset_pk, sorted({row["pair_pk"] for row in rows}))
