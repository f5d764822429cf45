"""Read every query of a dataset with its judged pairs, and record the rows of a large release.

Columns instead of whole rows, and times as text, because a release reads every judgment of a dataset. Orders
do not depend on a database's collation. Pairs that a remap retired are left out.

Record the rows of a large release in parts, each in a short transaction, for SQLite, where one transaction
writes at a time. A million qrels take some ten seconds, and in one transaction nobody could label meanwhile.
So `release_recording` reserves the key of the release, the rows are stored under this key, and the row in
`release` comes last: every reader starts from that row, so nobody reads the others before. Rows of a killed
publish are removed, also in parts; the database allows that only until their release is published (migration
0024). On PostgreSQL writers do not wait for each other: one transaction records all.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Text, cast, delete, func, select, type_coerce
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import ConflictError
from annotator.domain.ground_truth import NOTHING, TAKEN_OVER, Document, Query
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.messages import say
from annotator.releases.records import GivenJudgment, KeptGrade, ReleasePair
from annotator.releases.releases_sql import add_rows_of_release
from annotator.releases.writing.write import WrittenRelease
from annotator.storage.database import Database
from annotator.storage.logs.import_records import IMPORT
from annotator.storage.long_writes import LongWrite
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pair_states import (
    QUERIES_AT_ONCE,
    ExpertGrade,
    ImportedQrel,
    list_imported_ranks,
    list_kept_imports,
    list_open_errors,
    list_query_pks,
    read_queries,
    settle_again,
)
from annotator.storage.pairs.pool import are_in_use, list_orders
from annotator.storage.sql import execute_sql, fetch_tuples, prepare_sql, read_iso_time, split_into_chunks
from annotator.storage.tables.adjudication import AdjudicationRow, CurrentAdjudicationRow
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DatasetRow,
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    PairRow,
    RubricRow,
)
from annotator.storage.tables.releases import ReleaseQrelRow, ReleaseQueryRow, ReleaseRecordingRow, ReleaseRow

JudgedQuery = tuple[Query, list[ReleasePair]]
ROWS_AT_ONCE = 2_000


def iterate_judged_queries(
    session: Session, dataset_pk: int, *, for_comparison: bool = False
) -> Iterator[JudgedQuery]:
    """Return every query in its order, with its pairs in no particular order and what led to their settlement.

    `for_comparison`: the judgments have no note, time, seconds and guideline version: what a qrel is and rests on does not
    depend on them, and the table of all judgments is not read.
    """
    versions, errors = _list_versions(session, dataset_pk), list_open_errors(session, dataset_pk)
    for query_pks in split_into_chunks(list_query_pks(session, dataset_pk), QUERIES_AT_ONCE):
        queries = read_queries(session, query_pks)
        chosen = col(PairRow.query_pk).in_(query_pks)
        judgments = (
            _list_current(session, chosen) if for_comparison else _list_judgments(session, chosen, versions)
        )
        pairs = _list_pairs(session, dataset_pk, query_pks, queries, judgments, errors)
        for query_pk in query_pks:
            yield queries[query_pk], pairs[query_pk]


def iterate_documents(session: Session, dataset_pk: int) -> Iterator[Document]:
    """Return every document with its present text, in the code point order of doc_id; none that has left the dataset."""
    postgresql = session.get_bind().dialect.name == "postgresql"
    statement = (
        select(
            col(DocumentRow.doc_id),
            col(DocumentRow.title),
            col(DocumentRow.url),
            col(DocumentRow.media_type),
            col(DocumentRow.extra),
            col(DocumentTextRow.text),
        )
        .outerjoin(
            DocumentTextRow,
            (col(DocumentTextRow.document_pk) == col(DocumentRow.pk))
            & (col(DocumentTextRow.sha256) == col(DocumentRow.text_sha256)),
        )
        .where(*are_in_use(dataset_pk))
        .order_by(col(DocumentRow.doc_id).collate("C" if postgresql else "BINARY"))
    )
    rows = session.execute(statement, execution_options={"yield_per": ROWS_AT_ONCE})
    for doc_id, title, url, media_type, extra, text in rows:
        yield Document(doc_id, title, text or "", url, media_type, extra)


def _list_pairs(
    session: Session,
    dataset_pk: int,
    query_pks: Sequence[int],
    queries: Mapping[int, Query],
    judgments: Mapping[int, list[GivenJudgment]],
    errors: Mapping[int, tuple[ExpertGrade, ...]],
) -> dict[int, list[ReleasePair]]:
    """Return the pairs of these queries, by query_pk. `judgments`: by pair_pk."""
    chosen = col(PairRow.query_pk).in_(query_pks)
    decisions = _list_decisions(session, chosen)
    imported_ranks = list_imported_ranks(session, dataset_pk, query_pks)
    by_lead = {
        pair_pk: rank
        for pair_pks in list_orders(session, query_pks).values()
        for rank, pair_pk in enumerate(pair_pks, 1)
    }
    imports = list_kept_imports(session, dataset_pk, query_pks)
    statement = (
        select(
            col(PairRow.pk),
            col(PairRow.query_pk),
            col(DocumentRow.doc_id),
            col(DocumentRow.title),
            cast(col(DocumentRow.extra), Text),
        )
        .join(DocumentRow, col(DocumentRow.pk) == PairRow.document_pk)
        .where(chosen, col(PairRow.retired_at).is_(None))
    )
    pairs: dict[int, list[ReleasePair]] = {query_pk: [] for query_pk in query_pks}
    for pk, query_pk, doc_id, title, extra in fetch_tuples(session, statement):
        given = judgments.get(pk, ())
        decision, lead_pk, rationale, decided = decisions.get(pk, _UNDECIDED)
        kept = imports.get(pk)
        counted = [item.grade for item in given if item.purpose == COUNTED_PURPOSE]
        grades = tuple([grade for grade in counted if grade is not None])
        imported = kept.grade if kept else None
        contrary = tuple([error.grade for error in errors[pk]]) if pk in errors else ()
        settlement = settle_again(grades, len(counted) - len(grades), decided, imported, contrary)
        pairs[query_pk].append(
            ReleasePair(
                queries[query_pk].query_id,
                doc_id,
                settlement.status,
                settlement.grade,
                tuple(given),
                lead_pk,
                rationale,
                by_lead.get(pk),
                imported_ranks.get(pk),
                title,
                NOTHING if extra == "{}" else json.loads(extra),
                decision,
                _to_kept(kept) if kept and settlement.status == "imported" else None,
            )
        )
    return pairs


_UNDECIDED: tuple[int | None, int | None, str | None, int | None] = (None, None, None, None)


def _to_kept(kept: ImportedQrel) -> KeptGrade:
    path, format_name = str(kept.source.get("path") or ""), str(kept.source.get("format") or "")
    if kept.source.get("kind") == TAKEN_OVER:
        format_name = TAKEN_OVER
    return KeptGrade(
        kept.pk,
        path,
        format_name,
        kept.description,
        kept.note,
        kept.annotator_grades,
        kept.extra,
        kept.import_record_pk,
    )


def _list_versions(session: Session, dataset_pk: int) -> dict[int, int]:
    """Return the guideline version of each rubric, by rubric_pk."""
    statement = select(col(RubricRow.pk), col(RubricRow.version))
    rows = session.execute(statement.where(col(RubricRow.dataset_pk) == dataset_pk))
    return {key_of(pk): version for pk, version in rows}


def _list_judgments(
    session: Session, chosen: ColumnElement[bool], versions: Mapping[int, int]
) -> dict[int, list[GivenJudgment]]:
    """Return the current judgments by pair_pk, without postponed ones ("later")."""
    statement = (
        select(
            col(CurrentJudgmentRow.pair_pk),
            col(JudgmentRow.pk),
            col(JudgmentRow.annotator_pk),
            col(JudgmentRow.outcome),
            col(JudgmentRow.grade),
            col(JudgmentRow.note),
            col(JudgmentRow.purpose),
            type_coerce(col(JudgmentRow.judged_at), Text),
            col(JudgmentRow.seconds),
            col(JudgmentRow.rubric_pk),
            IMPORT,
            type_coerce(col(JudgmentRow.received_at), Text),
        )
        .join(CurrentJudgmentRow, col(CurrentJudgmentRow.judgment_pk) == col(JudgmentRow.pk))
        .join(PairRow, col(PairRow.pk) == col(CurrentJudgmentRow.pair_pk))
        .where(chosen, col(CurrentJudgmentRow.outcome) != "later")
    )
    by_pair: defaultdict[int, list[GivenJudgment]] = defaultdict(list)
    make = tuple.__new__  # faster than GivenJudgment(…), for millions of rows
    rows = fetch_tuples(session, statement)
    at: str
    version: int | None
    for (
        pair_pk,
        pk,
        annotator,
        outcome,
        grade,
        note,
        purpose,
        judged_at,
        seconds,
        rubric_pk,
        file,
        received,
    ) in rows:
        if file is None:
            at, version = read_iso_time(judged_at), versions[rubric_pk]
        else:
            at, version = "" if judged_at == received else read_iso_time(judged_at), None
        given = make(
            GivenJudgment, (pk, annotator, outcome, grade, note, purpose, at, seconds, version, file)
        )
        by_pair[pair_pk].append(given)
    return by_pair


def _list_current(session: Session, chosen: ColumnElement[bool]) -> dict[int, list[GivenJudgment]]:
    """Return the same judgments by pair_pk as the narrow table of current judgments has them: who, which grade, for what."""
    statement = (
        select(
            col(CurrentJudgmentRow.pair_pk),
            col(CurrentJudgmentRow.judgment_pk),
            col(CurrentJudgmentRow.annotator_pk),
            col(CurrentJudgmentRow.outcome),
            col(CurrentJudgmentRow.grade),
            col(CurrentJudgmentRow.purpose),
        )
        .join(PairRow, col(PairRow.pk) == col(CurrentJudgmentRow.pair_pk))
        .where(chosen, col(CurrentJudgmentRow.outcome) != "later")
    )
    by_pair: defaultdict[int, list[GivenJudgment]] = defaultdict(list)
    make = tuple.__new__
    for pair_pk, pk, annotator, outcome, grade, purpose in fetch_tuples(session, statement):
        given = make(GivenJudgment, (pk, annotator, outcome, grade, None, purpose, "", None, None, None))
        by_pair[pair_pk].append(given)
    return by_pair


def _list_decisions(
    session: Session, chosen: ColumnElement[bool]
) -> dict[int, tuple[int | None, int | None, str | None, int | None]]:
    """Return the decision that holds, by pair_pk: its key, the lead, the rationale, the grade."""
    statement = (
        select(
            col(AdjudicationRow.pair_pk),
            col(AdjudicationRow.pk),
            col(AdjudicationRow.lead_pk),
            col(AdjudicationRow.rationale),
            col(AdjudicationRow.grade),
        )
        .select_from(PairRow)
        .join(CurrentAdjudicationRow, col(CurrentAdjudicationRow.pair_pk) == col(PairRow.pk))
        .join(AdjudicationRow, col(AdjudicationRow.pk) == CurrentAdjudicationRow.adjudication_pk)
        .where(chosen)
    )
    return {
        pair_pk: (pk, lead, rationale, grade)
        for pair_pk, pk, lead, rationale, grade in fetch_tuples(session, statement)
    }


PART = 2_000
"""Rows of one transaction, and the most that a release may have to be recorded at once: some 0.02 s."""
_REMOVALS = tuple(
    prepare_sql(
        f"DELETE FROM {table} WHERE release_pk = :release_pk AND position < :part + "
        f"(SELECT min(position) FROM {table} WHERE release_pk = :release_pk)"
    )
    for table in ("release_qrel", "release_query")
)


class UnfinishedRecording(NamedTuple):
    """A release that was or is being recorded in parts."""

    release_pk: int
    dataset: str
    started_at: datetime


def is_recorded_in_parts(database: Database, written: WrittenRelease) -> bool:
    """Return whether the release is too large to hold up everybody who writes while it is recorded."""
    return database.is_sqlite and max(written.qrels.rows, written.queries.rows) > PART


def begin_recording(session: Session, dataset_pk: int, *, now: datetime) -> int:
    """Reserve the key of a new release and return it."""
    published = session.scalar(select(func.max(col(ReleaseRow.pk)))) or 0
    reserved = session.scalar(select(func.max(col(ReleaseRecordingRow.release_pk)))) or 0
    release_pk = max(published, reserved) + 1
    values = {"release_pk": release_pk, "dataset_pk": dataset_pk, "started_at": now}
    session.add(ReleaseRecordingRow.model_validate(values))
    session.flush()
    return release_pk


def record_parts(database: Database, release_pk: int, written: WrittenRelease) -> Iterator[int]:
    """Record the release's queries and qrels, each part in a transaction of its own, and yield the rows of each part.

    Raises ConflictError if somebody has removed the recording meanwhile.
    """
    recording = LongWrite(database, before_parents=True)
    for row_class, spool in ((ReleaseQueryRow, written.queries), (ReleaseQrelRow, written.qrels)):
        for rows in spool.chunks():
            for start in range(0, len(rows), PART):
                part = rows[start : start + PART]
                with recording.part() as session:
                    _require_recording(session, release_pk)
                    add_rows_of_release(session, row_class, release_pk, part)
                yield len(part)


def end_recording(session: Session, release: ReleaseRow, release_pk: int) -> None:
    """Publish what was recorded: from this transaction on everybody reads it."""
    _require_recording(session, release_pk)
    session.execute(delete(ReleaseRecordingRow).where(col(ReleaseRecordingRow.release_pk) == release_pk))
    release.pk = release_pk
    session.add(release)
    session.flush()


def remove_recording(database: Database, release_pk: int) -> None:
    """Remove a recording that will never be published, in parts. Does nothing if the release is published after all."""
    removing = LongWrite(database, before_parents=True)
    for removal in _REMOVALS:
        removed = 1
        while removed:
            with removing.part() as session:
                if not _is_recording(session, release_pk):
                    return
                removed = execute_sql(session, removal, {"release_pk": release_pk, "part": PART})
    with database.write() as session:
        session.execute(delete(ReleaseRecordingRow).where(col(ReleaseRecordingRow.release_pk) == release_pk))


def list_recordings(session: Session) -> list[UnfinishedRecording]:
    """Return the recordings that have begun and neither ended nor been removed."""
    rows = session.execute(
        select(
            col(ReleaseRecordingRow.release_pk), col(DatasetRow.name), col(ReleaseRecordingRow.started_at)
        ).join(DatasetRow, col(DatasetRow.pk) == col(ReleaseRecordingRow.dataset_pk))
    )
    return [UnfinishedRecording(*row) for row in rows]


def _is_recording(session: Session, release_pk: int) -> bool:
    return session.get(ReleaseRecordingRow, release_pk) is not None


def _require_recording(session: Session, release_pk: int) -> None:
    if not _is_recording(session, release_pk):
        raise ConflictError(
            say("Publishing was interrupted by another process, and nothing was published. Publish again.")
        )
