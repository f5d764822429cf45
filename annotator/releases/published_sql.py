"""Read published releases: queries, qrels, and the judgments, decision or imported grade behind each qrel.

Never writes: the rows are immutable. Reads qrels for some queries at a time, so that two releases of a million can be
compared. For releases made before those keys were recorded, reads what had been received until then.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, case, func, null, or_, select
from sqlalchemy.orm import Mapped, Session, aliased
from sqlmodel import col

from annotator.domain.people import name_annotator, name_lead
from annotator.releases.diff import RemappedDocument
from annotator.releases.records import (
    PublishedQrel,
    QrelPage,
    QrelRow,
    TracedDecision,
    TracedImport,
    TracedJudgment,
)
from annotator.storage.logs.disclosures import is_listed
from annotator.storage.logs.import_records import IMPORT
from annotator.storage.lookup import key_of
from annotator.storage.sql import split_into_chunks
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import (
    DocumentRow,
    ImportedQrelRow,
    JudgmentRow,
    PairRow,
    PersonRow,
    RemapRow,
    RubricRow,
)
from annotator.storage.tables.releases import PseudonymRow, ReleaseQrelRow, ReleaseQueryRow, ReleaseRow

QUERIES_AT_ONCE = 200
UNNAMED_ANNOTATOR, UNNAMED_LEAD = "annotator_?", "lead_?"  # judged or decided, but in no release yet


def iterate_published_qrels(
    session: Session, release_pk: int, query_ids: Sequence[str]
) -> Iterator[PublishedQrel]:
    """Return the qrels of these queries, in no particular order."""
    columns = [getattr(ReleaseQrelRow, name) for name in PublishedQrel._fields]
    connection = session.connection()  # rows as they come: the session's own handling takes as long again
    for start in range(0, len(query_ids), QUERIES_AT_ONCE):
        chunk = query_ids[start : start + QUERIES_AT_ONCE]
        rows = connection.execute(
            select(*columns).where(
                col(ReleaseQrelRow.release_pk) == release_pk, col(ReleaseQrelRow.query_id).in_(chunk)
            )
        )
        yield from map(PublishedQrel._make, rows)


def list_qrels_on_page(
    session: Session,
    release_pk: int,
    *,
    search: str,
    grade: int | None,
    origin: str | None,
    changed_since: int | None,
    without: Collection[tuple[str, str]],
    limit: int,
    offset: int,
) -> QrelPage:
    """Return some qrels of a release in its order, and how many pass the filters.

    `without`: (query_id, doc_id) of qrels to leave out.
    `changed_since`: the release_pk of an earlier release; only qrels with another grade than there, or none there.
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
        conditions.append(_matches_search(search, release_pk))
    if grade is not None:
        conditions.append(col(ReleaseQrelRow.grade) == grade)
    if origin is not None:
        conditions.append(col(ReleaseQrelRow.origin) == origin)
    if without:
        left_out = _list_positions(session, release_pk, without)
        conditions.append(~is_listed(session, col(ReleaseQrelRow.position), left_out))
    shown, counted = (
        select(*columns, null().label("earlier_grade")),
        select(func.count()).select_from(ReleaseQrelRow),
    )
    if changed_since is not None:
        earlier = aliased(ReleaseQrelRow)
        same = and_(
            col(earlier.release_pk) == changed_since,
            col(earlier.query_id) == col(ReleaseQrelRow.query_id),
            col(earlier.doc_id) == col(ReleaseQrelRow.doc_id),
        )
        conditions.append(or_(col(earlier.grade).is_(None), col(earlier.grade) != col(ReleaseQrelRow.grade)))
        shown = select(*columns, col(earlier.grade).label("earlier_grade")).outerjoin(earlier, same)
        counted = counted.outerjoin(earlier, same)
    total = session.scalar(counted.where(*conditions)) or 0
    page = shown.where(*conditions).order_by(col(ReleaseQrelRow.position)).limit(limit).offset(offset)
    rows = session.execute(page).all()
    texts = list_query_texts(session, release_pk, (row.query_id for row in rows))
    titles = _list_titles(session, release_pk, {row.doc_id for row in rows})
    return QrelPage(
        total,
        tuple(
            QrelRow(
                row.query_id,
                texts.get(row.query_id),
                row.doc_id,
                row.grade,
                row.origin,
                row.earlier_grade,
                titles.get(row.doc_id, ""),
            )
            for row in rows
        ),
        len(without),
    )


def _list_positions(session: Session, release_pk: int, names: Collection[tuple[str, str]]) -> list[int]:
    """Return the positions of these qrels (query_id, doc_id) in the release."""
    positions: list[int] = []
    for chunk in split_into_chunks(sorted(names), QUERIES_AT_ONCE):
        is_named = or_(
            *(
                and_(col(ReleaseQrelRow.query_id) == query_id, col(ReleaseQrelRow.doc_id) == doc_id)
                for query_id, doc_id in chunk
            )
        )
        statement = select(col(ReleaseQrelRow.position)).where(col(ReleaseQrelRow.release_pk) == release_pk)
        positions += session.scalars(statement.where(is_named))
    return positions


def _list_titles(session: Session, release_pk: int, doc_ids: Collection[str]) -> dict[str, str]:
    """Return the present titles of these documents of the release's dataset, by doc_id."""
    statement = (
        select(col(DocumentRow.doc_id), col(DocumentRow.title))
        .join(ReleaseRow, col(ReleaseRow.dataset_pk) == col(DocumentRow.dataset_pk))
        .where(col(ReleaseRow.pk) == release_pk, col(DocumentRow.doc_id).in_(doc_ids))
    )
    return {doc_id: title for doc_id, title in session.execute(statement)}  # noqa: C416  (a Row is no tuple for mypy)


def _matches_search(search: str, release_pk: int) -> ColumnElement[bool]:
    """Return the condition that the search is part of a qrel's ids or of its query's text."""
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
    """Return the qrel of a pair in a release, None if the release holds none."""
    return session.scalars(
        select(ReleaseQrelRow).where(
            col(ReleaseQrelRow.release_pk) == release_pk,
            col(ReleaseQrelRow.query_id) == query_id,
            col(ReleaseQrelRow.doc_id) == doc_id,
        )
    ).first()


def list_query_texts(session: Session, release_pk: int, query_ids: Iterable[str]) -> dict[str, str]:
    """Return the published texts of these queries, by query_id; none in releases made before texts were recorded."""
    rows = session.execute(
        select(col(ReleaseQueryRow.query_id), col(ReleaseQueryRow.text)).where(
            col(ReleaseQueryRow.release_pk) == release_pk,
            col(ReleaseQueryRow.query_id).in_(sorted(set(query_ids))),
        )
    )
    return {row.query_id: row.text for row in rows}


def list_rubrics(session: Session, dataset_pk: int) -> list[RubricRow]:
    """Return every version of the dataset's rubric, oldest first."""
    statement = select(RubricRow).where(col(RubricRow.dataset_pk) == dataset_pk)
    return list(session.scalars(statement.order_by(col(RubricRow.version))))


def list_remaps(
    session: Session, dataset_pk: int, *, since: datetime, until: datetime | None
) -> list[RemappedDocument]:
    """Return the renamings by `remap` after `since`, up to `until` if given, in order."""
    row = RemapRow
    statement = (
        select(col(row.old_doc_id), col(row.new_doc_id), col(row.kind), col(row.remapped_at))
        .where(col(row.dataset_pk) == dataset_pk, col(row.remapped_at) > since)
        .order_by(col(row.pk))
    )
    if until is not None:
        statement = statement.where(col(row.remapped_at) <= until)
    return [RemappedDocument(*remap) for remap in session.execute(statement)]


def list_traced_judgments(
    session: Session, dataset_pk: int, judgment_pks: Sequence[int]
) -> tuple[TracedJudgment, ...]:
    """Return these judgments in the order of their annotators' pseudonyms."""
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
    return tuple(
        TracedJudgment(
            name_annotator(number) if number else UNNAMED_ANNOTATOR,
            outcome,
            grade,
            note,
            judged_at,
            version,
            purpose,
            simulated,
        )
        for number, outcome, grade, note, judged_at, version, purpose, simulated in session.execute(statement)
    )


def list_judgments_until(session: Session, pair_pk: int, until: datetime) -> list[int]:
    """Return the judgment_pks that were current on a pair before anything was received at or after `until`."""
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


def find_traced_decision(session: Session, dataset_pk: int, adjudication_pk: int) -> TracedDecision | None:
    """Return a decision under its lead's pseudonym."""
    row = session.execute(
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
    if row is None or row.grade is None:
        return None
    lead = name_lead(row.number) if row.number else UNNAMED_LEAD
    return TracedDecision(row.grade, row.rationale, row.reason, lead, row.decided_at, row.version)


def list_decision_words(
    session: Session, adjudication_pks: Collection[int]
) -> dict[int, tuple[str | None, str]]:
    """Return the cause (None: not said) and the rationale of these decisions, by adjudication_pk."""
    row, words = AdjudicationRow, dict[int, tuple[str | None, str]]()
    for chunk in split_into_chunks(sorted(adjudication_pks), 500):
        statement = select(col(row.pk), col(row.cause), col(row.reason), col(row.rationale))
        for pk, cause, reason, rationale in session.execute(statement.where(col(row.pk).in_(chunk))):
            words[key_of(pk)] = cause or reason or None, rationale
    return words


def find_decision_until(session: Session, pair_pk: int, until: datetime) -> int | None:
    """Return the adjudication_pk that held on a pair before `until`."""
    last = session.execute(
        select(col(AdjudicationRow.pk), col(AdjudicationRow.outcome))
        .where(col(AdjudicationRow.pair_pk) == pair_pk, col(AdjudicationRow.decided_at) < until)
        .order_by(col(AdjudicationRow.revision).desc())
        .limit(1)
    ).first()
    return last.pk if last and last.outcome != "withdrawn" else None


def find_traced_import(session: Session, imported_qrel_pk: int) -> TracedImport | None:
    """Return a grade of an earlier ground truth."""
    row = session.get(ImportedQrelRow, imported_qrel_pk)
    return None if row is None else TracedImport(row.grade, row.source, row.note, row.imported_at)


def _is_pseudonym_of(dataset_pk: int, person_pk: Mapped[int]) -> ColumnElement[bool]:
    return and_(col(PseudonymRow.dataset_pk) == dataset_pk, col(PseudonymRow.person_pk) == person_pk)
