"""Every query of a dataset with its judged pairs: what a release is written from, a few hundred queries in memory.

Columns instead of whole rows, and times as text, because a release reads every judgment of a dataset. Orders do
not depend on a database's collation. Pairs that a remap retired are left out.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import ColumnElement, Text, cast, select, type_coerce
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.ground_truth import NOTHING, Document, Query
from annotator.domain.import_records import TAKEN_OVER
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.releases.records import GivenJudgment, KeptGrade, ReleasePair
from annotator.storage.logs.import_records import IMPORT
from annotator.storage.lookup import key_of
from annotator.storage.pairs.document_order import list_orders
from annotator.storage.pairs.imported_grades import ImportedQrel, list_imported_ranks, list_kept_imports
from annotator.storage.pairs.pair_states import (
    QUERIES_AT_ONCE,
    ExpertGrade,
    list_open_errors,
    list_query_pks,
    read_queries,
    settle_again,
)
from annotator.storage.pairs.pool import select_documents_left
from annotator.storage.sql import fetch_tuples, read_iso_time, split_into_chunks
from annotator.storage.tables.adjudication import AdjudicationRow, CurrentAdjudicationRow
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    PairRow,
    RubricRow,
)

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
        .where(col(DocumentRow.dataset_pk) == dataset_pk, col(DocumentRow.pk).not_in(select_documents_left()))
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
