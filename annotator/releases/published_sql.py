"""Read published releases: queries, qrels, and the judgments, decision or imported grade behind each qrel.

Never writes: the rows are immutable. Reads qrels for some queries at a time, so that two releases of a million can be
compared. For releases made before those keys were recorded, reads what had been received until then.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, null, or_, select
from sqlalchemy.orm import Mapped, Session, aliased
from sqlmodel import col

from annotator.domain.errors import NotFound
from annotator.domain.messages import say
from annotator.storage.adjudication_tables import AdjudicationRow
from annotator.storage.import_records import IMPORT
from annotator.storage.lookup import key_of
from annotator.storage.sql import split_into_chunks
from annotator.storage.tables import (
    DocumentRow,
    ImportedQrelRow,
    JudgmentRow,
    PairRow,
    PersonRow,
    PseudonymRow,
    QueryRow,
    ReleaseQrelRow,
    ReleaseQueryRow,
    ReleaseRow,
    RemapRow,
    RubricRow,
)

QUERIES_AT_ONCE = 200


def find_release(session: Session, dataset_pk: int, version: str) -> ReleaseRow:
    """The release of that version. NotFound names the ones there are."""
    rows = session.execute(
        select(col(ReleaseRow.pk), col(ReleaseRow.version))
        .where(col(ReleaseRow.dataset_pk) == dataset_pk)
        .order_by(col(ReleaseRow.pk))
    ).all()
    for pk, found in rows:
        if found == version:
            return session.get_one(ReleaseRow, pk)
    there = ", ".join(found for _, found in rows)
    listed = say("there are: {listed}", listed=there) if there else say("nothing is published yet")
    raise NotFound(say("no release {version!r}; {there}", version=version, there=listed))


def list_published_queries(session: Session, release_pk: int) -> dict[str, str | None]:
    """Text by query_id, in the release's order; the texts are None where they were not recorded yet."""
    rows = session.execute(
        select(col(ReleaseQueryRow.query_id), col(ReleaseQueryRow.text))
        .where(col(ReleaseQueryRow.release_pk) == release_pk)
        .order_by(col(ReleaseQueryRow.position))
    )
    found: dict[str, str | None] = {row.query_id: row.text for row in rows}
    if found:
        return found
    first = func.min(col(ReleaseQrelRow.position))
    ids = session.scalars(
        select(col(ReleaseQrelRow.query_id))
        .where(col(ReleaseQrelRow.release_pk) == release_pk)
        .group_by(col(ReleaseQrelRow.query_id))
        .order_by(first)
    )
    return dict.fromkeys(ids)


def iterate_published_qrels(session: Session, release_pk: int, query_ids: Sequence[str]) -> Iterator[Any]:
    """The qrels of these queries (in no order worth relying on): query_id, doc_id, grade, origin, judgments,
    adjudication_pk, imported_qrel_pk."""
    columns = (
        col(ReleaseQrelRow.query_id),
        col(ReleaseQrelRow.doc_id),
        col(ReleaseQrelRow.grade),
        col(ReleaseQrelRow.origin),
        col(ReleaseQrelRow.judgments),
        col(ReleaseQrelRow.adjudication_pk),
        col(ReleaseQrelRow.imported_qrel_pk),
    )
    connection = session.connection()  # rows as they come: the session's own handling takes as long again
    for start in range(0, len(query_ids), QUERIES_AT_ONCE):
        chunk = query_ids[start : start + QUERIES_AT_ONCE]
        yield from connection.execute(
            select(*columns).where(
                col(ReleaseQrelRow.release_pk) == release_pk, col(ReleaseQrelRow.query_id).in_(chunk)
            )
        )


def list_qrels_on_page(
    session: Session,
    release_pk: int,
    *,
    search: str,
    grade: int | None,
    origin: str | None,
    changed_since: int | None,
    limit: int,
    offset: int,
) -> tuple[int, list[tuple[Any, ...]]]:
    """How many qrels pass the filters, and some of them in the release's order: query_id, doc_id, grade, origin, the
    grade in the release `changed_since` (a release_pk; None: nothing to compare with).

    `search`: part of a query_id, a query's text or a doc_id, whatever its case (in ASCII).
    """
    columns = [
        col(ReleaseQrelRow.query_id),
        col(ReleaseQrelRow.doc_id),
        col(ReleaseQrelRow.grade),
        col(ReleaseQrelRow.origin),
    ]
    conditions = [col(ReleaseQrelRow.release_pk) == release_pk]
    if search:
        conditions.append(_holds(search, release_pk))
    if grade is not None:
        conditions.append(col(ReleaseQrelRow.grade) == grade)
    if origin is not None:
        conditions.append(col(ReleaseQrelRow.origin) == origin)
    shown, counted = select(*columns, null()), select(func.count()).select_from(ReleaseQrelRow)
    if changed_since is not None:
        then = aliased(ReleaseQrelRow)
        same = and_(
            col(then.release_pk) == changed_since,
            col(then.query_id) == col(ReleaseQrelRow.query_id),
            col(then.doc_id) == col(ReleaseQrelRow.doc_id),
        )
        conditions.append(or_(col(then.grade).is_(None), col(then.grade) != col(ReleaseQrelRow.grade)))
        shown = select(*columns, col(then.grade)).outerjoin(then, same)
        counted = counted.outerjoin(then, same)
    total = session.scalar(counted.where(*conditions)) or 0
    page = shown.where(*conditions).order_by(col(ReleaseQrelRow.position)).limit(limit).offset(offset)
    return total, [tuple(row) for row in session.execute(page)]


def _holds(search: str, release_pk: int) -> ColumnElement[bool]:
    """Whether the search is part of a qrel's ids or of its query's text."""
    queries = select(col(ReleaseQueryRow.query_id)).where(
        col(ReleaseQueryRow.release_pk) == release_pk,
        col(ReleaseQueryRow.text).icontains(search, autoescape=True),
    )
    return or_(
        col(ReleaseQrelRow.query_id).icontains(search, autoescape=True),
        col(ReleaseQrelRow.doc_id).icontains(search, autoescape=True),
        col(ReleaseQrelRow.query_id).in_(queries),
    )


def find_qrel(session: Session, release_pk: int, query_id: str, doc_id: str) -> ReleaseQrelRow | None:
    """The qrel of that pair in a release; None: the release holds none."""
    return session.scalars(
        select(ReleaseQrelRow).where(
            col(ReleaseQrelRow.release_pk) == release_pk,
            col(ReleaseQrelRow.query_id) == query_id,
            col(ReleaseQrelRow.doc_id) == doc_id,
        )
    ).first()


def list_query_texts(session: Session, release_pk: int, query_ids: Iterable[str]) -> dict[str, str]:
    """The texts of these queries as published, by query_id; absent where they were not recorded yet."""
    rows = session.execute(
        select(col(ReleaseQueryRow.query_id), col(ReleaseQueryRow.text)).where(
            col(ReleaseQueryRow.release_pk) == release_pk,
            col(ReleaseQueryRow.query_id).in_(sorted(set(query_ids))),
        )
    )
    return {row.query_id: row.text for row in rows}


def list_rubrics(session: Session, dataset_pk: int) -> list[RubricRow]:
    """Every version of the dataset's rubric, oldest first."""
    statement = select(RubricRow).where(col(RubricRow.dataset_pk) == dataset_pk)
    return list(session.scalars(statement.order_by(col(RubricRow.version))))


def list_remaps(
    session: Session, dataset_pk: int, *, since: datetime, until: datetime | None
) -> list[tuple[str, str, str, datetime]]:
    """(old_doc_id, new_doc_id, kind, remapped_at) of the remaps after `since` up to `until`, in their order."""
    columns = (
        col(RemapRow.old_doc_id),
        col(RemapRow.new_doc_id),
        col(RemapRow.kind),
        col(RemapRow.remapped_at),
    )
    statement = select(*columns).where(
        col(RemapRow.dataset_pk) == dataset_pk, col(RemapRow.remapped_at) > since
    )
    if until is not None:
        statement = statement.where(col(RemapRow.remapped_at) <= until)
    return [
        (old, new, kind, at) for old, new, kind, at in session.execute(statement.order_by(col(RemapRow.pk)))
    ]


def find_pair(session: Session, dataset_pk: int, query_id: str, doc_id: str) -> int | None:
    """The pair_pk of a query and a document, by the ids that they have now."""
    return session.scalar(
        select(col(PairRow.pk))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .where(
            col(PairRow.dataset_pk) == dataset_pk,
            col(QueryRow.query_id) == query_id,
            col(DocumentRow.doc_id) == doc_id,
        )
    )


def list_traced_judgments(session: Session, dataset_pk: int, judgment_pks: Sequence[int]) -> list[Any]:
    """These judgments by pseudonym number: number (None without one), outcome, grade, note, judged_at, guideline
    version (both None where they are not known of an imported one), purpose, simulated."""
    number = col(PseudonymRow.number)
    statement = (
        select(
            number,
            col(JudgmentRow.outcome),
            col(JudgmentRow.grade),
            col(JudgmentRow.note),
            case(
                (
                    and_(IMPORT.is_not(None), col(JudgmentRow.judged_at) == col(JudgmentRow.received_at)),
                    null(),
                ),
                else_=col(JudgmentRow.judged_at),
            ),
            case((IMPORT.is_(None), col(RubricRow.version)), else_=null()),
            col(JudgmentRow.purpose),
            col(PersonRow.simulated),
        )
        .join(PairRow, col(PairRow.pk) == col(JudgmentRow.pair_pk))
        .join(RubricRow, col(RubricRow.pk) == col(JudgmentRow.rubric_pk))
        .join(PersonRow, col(PersonRow.pk) == col(JudgmentRow.annotator_pk))
        .outerjoin(PseudonymRow, _is_pseudonym_of(dataset_pk, col(JudgmentRow.annotator_pk)))
        .where(col(JudgmentRow.pk).in_(judgment_pks), col(PairRow.dataset_pk) == dataset_pk)
        .order_by(number, col(JudgmentRow.judged_at), col(JudgmentRow.pk))
    )
    return list(session.execute(statement))


def list_judgments_until(session: Session, pair_pk: int, until: datetime) -> list[int]:
    """The judgment_pks that were current on a pair when nothing later than `until` had been received."""
    rows = session.execute(
        select(col(JudgmentRow.annotator_pk), col(JudgmentRow.pk), col(JudgmentRow.outcome))
        .where(
            col(JudgmentRow.pair_pk) == pair_pk,
            col(JudgmentRow.received_at) < until,
            col(JudgmentRow.late).is_(False),
        )
        .order_by(col(JudgmentRow.pk))
    )
    current = {annotator_pk: (key_of(pk), outcome) for annotator_pk, pk, outcome in rows}
    return sorted(pk for pk, outcome in current.values() if outcome != "later")


def find_traced_decision(session: Session, dataset_pk: int, adjudication_pk: int) -> Any | None:
    """grade, rationale, reason, the lead's pseudonym number, decided_at, guideline version."""
    return session.execute(
        select(
            col(AdjudicationRow.grade),
            col(AdjudicationRow.rationale),
            col(AdjudicationRow.reason),
            col(PseudonymRow.number),
            col(AdjudicationRow.decided_at),
            col(RubricRow.version),
        )
        .join(RubricRow, col(RubricRow.pk) == col(AdjudicationRow.rubric_pk))
        .outerjoin(PseudonymRow, _is_pseudonym_of(dataset_pk, col(AdjudicationRow.lead_pk)))
        .where(col(AdjudicationRow.pk) == adjudication_pk)
    ).first()


def list_decision_words(
    session: Session, adjudication_pks: Collection[int]
) -> dict[int, tuple[str | None, str]]:
    """Return the cause (None: not said) and the rationale of these decisions, by adjudication_pk."""
    row, found = AdjudicationRow, dict[int, tuple[str | None, str]]()
    for chunk in split_into_chunks(sorted(adjudication_pks), 500):
        statement = select(col(row.pk), col(row.cause), col(row.reason), col(row.rationale))
        for pk, cause, reason, rationale in session.execute(statement.where(col(row.pk).in_(chunk))):
            found[key_of(pk)] = cause or reason or None, rationale
    return found


def find_decision_until(session: Session, pair_pk: int, until: datetime) -> int | None:
    """The adjudication_pk that held on a pair before `until`."""
    last = session.execute(
        select(col(AdjudicationRow.pk), col(AdjudicationRow.outcome))
        .where(col(AdjudicationRow.pair_pk) == pair_pk, col(AdjudicationRow.decided_at) < until)
        .order_by(col(AdjudicationRow.revision).desc())
        .limit(1)
    ).first()
    return last.pk if last and last.outcome != "withdrawn" else None


def find_imported_qrel(session: Session, imported_qrel_pk: int) -> ImportedQrelRow | None:
    """The imported grade of that key."""
    return session.get(ImportedQrelRow, imported_qrel_pk)


def _is_pseudonym_of(dataset_pk: int, person_pk: Mapped[int]) -> ColumnElement[bool]:
    return and_(col(PseudonymRow.dataset_pk) == dataset_pk, col(PseudonymRow.person_pk) == person_pk)
