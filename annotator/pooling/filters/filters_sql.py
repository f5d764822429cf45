"""Read the documents for a lead's rules, and decide which candidates stay out of the pool."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Select, func, literal, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.pooling.filters.filters import (
    FilteredDocument,
    PoolFilters,
    leave_out,
    leave_out_duplicates,
    list_field_names,
    list_unknown_fields,
    list_values,
    match_titles,
    name_title_rule,
    rank_candidates,
    refuse_fields,
)
from annotator.pooling.filters.near_duplicates import SimilarTexts
from annotator.pooling.rounds.round_records import LeftOut
from annotator.storage.lookup import key_of
from annotator.storage.pairs import document_text
from annotator.storage.pairs.document_text import TEXT_IS_PRESENT
from annotator.storage.sql import split_into_chunks
from annotator.storage.tables.central import DocumentRow, DocumentTextRow, PairRow

CHUNK = 500
SAMPLED_DOCUMENTS, SAMPLED_VALUES, LONGEST_VALUE = 500, 100, 80
ReportShare = Callable[[str, float], None]


def find_left_out(
    session: Session,
    dataset_pk: int,
    candidates: Iterable[tuple[int, int, float]],
    filters: PoolFilters,
    *,
    progress: ReportShare | None = None,
) -> tuple[LeftOut, ...]:
    """Return the candidates that stay out of the pool, each with one rule, by query, rule and document.

    `candidates`: (query_pk, document_pk, rank), each pair once; rank 1 is best. Pairs of the pool are never
    left out. Raises ValidationError for a field that no document has, or a title pattern that takes too long.
    """
    if not filters:
        return ()
    ranked = rank_candidates(candidates, _list_pool(session, dataset_pk))
    pks = {candidate.document_pk for candidates in ranked.values() for candidate in candidates}
    documents = _read_documents(session, pks, with_length=filters.min_length > 0)
    _check_fields(session, dataset_pk, filters, documents)
    left_out = leave_out(ranked, documents, filters, _match_titles(filters, documents))
    if filters.near_duplicates is not None:
        dropped = {(item.query_pk, item.document_pk) for item in left_out}
        entering = {
            query_pk: [item for item in candidates if (query_pk, item.document_pk) not in dropped]
            for query_pk, candidates in ranked.items()
        }
        pks = {candidate.document_pk for candidates in entering.values() for candidate in candidates}
        similar = SimilarTexts(filters.near_duplicates.threshold, _read_texts(session, pks, progress))
        left_out += leave_out_duplicates(
            entering,
            filters.near_duplicates,
            similar,
            lambda suspects: _read_texts(session, suspects, None),
        )
    return tuple(sorted(left_out, key=lambda item: (item.query_pk, item.rule, item.document_pk)))


def sample_field_values(session: Session, dataset_pk: int) -> dict[str, tuple[str, ...]]:
    """Return {field: some of its values} of the first documents, for a lead to choose from."""
    statement = _select_documents(with_length=False).where(col(DocumentRow.dataset_pk) == dataset_pk)
    statement = statement.order_by(col(DocumentRow.pk)).limit(SAMPLED_DOCUMENTS)
    documents = [FilteredDocument(*row) for row in session.execute(statement)]
    sampled = {}
    for field in sorted(list_field_names(documents)):
        values = {value for document in documents for value in list_values(document, field)}
        short = sorted(value for value in values if len(value) <= LONGEST_VALUE)
        sampled[field] = tuple(short[:SAMPLED_VALUES])
    return sampled


def _list_pool(session: Session, dataset_pk: int) -> dict[int, dict[int, None]]:
    """Return the documents of the pool by query_pk; last the pairs with an imported or taken-over grade."""
    statement = (
        select(col(PairRow.query_pk), col(PairRow.document_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None))
        .order_by(col(PairRow.kept), col(PairRow.document_pk))
    )
    pool: dict[int, dict[int, None]] = {}
    for query_pk, document_pk in session.execute(statement):
        pool.setdefault(query_pk, {})[document_pk] = None
    return pool


def _check_fields(
    session: Session, dataset_pk: int, filters: PoolFilters, documents: Mapping[int, FilteredDocument]
) -> None:
    """Raise ValidationError for an unknown field. Reads the whole dataset only if the candidates lack a field."""
    if not list_unknown_fields(filters, list_field_names(documents.values())):
        return
    statement = _select_documents(with_length=False).where(col(DocumentRow.dataset_pk) == dataset_pk)
    rows = session.execute(statement.execution_options(yield_per=CHUNK))
    names = list_field_names(FilteredDocument(*row) for row in rows)
    refuse_fields(list_unknown_fields(filters, names), names)


def _match_titles(filters: PoolFilters, documents: Mapping[int, FilteredDocument]) -> dict[int, str]:
    """Return {document_pk: the rule of the first pattern that its title matches}."""
    rules: dict[int, str] = {}
    for pattern in filters.title_patterns:
        titles = {pk: document.title for pk, document in documents.items() if pk not in rules}
        rules.update(dict.fromkeys(match_titles(pattern, titles), name_title_rule(pattern)))
    return rules


def _select_documents(*, with_length: bool) -> Select[Any]:
    length: ColumnElement[int | None] = (
        select(func.length(col(DocumentTextRow.text))).where(TEXT_IS_PRESENT).scalar_subquery()
        if with_length
        else literal(None)
    )
    columns = DocumentRow.__table__.c["pk", "doc_id", "title", "url", "media_type", "extra"]  # type: ignore[attr-defined]
    return select(*columns, length)


def _read_documents(
    session: Session, document_pks: Collection[int], *, with_length: bool
) -> dict[int, FilteredDocument]:
    statement = _select_documents(with_length=with_length)
    return {
        row[0]: FilteredDocument(*row)
        for chunk in split_into_chunks(sorted(document_pks), CHUNK)
        for row in session.execute(statement.where(col(DocumentRow.pk).in_(chunk)))
    }


def _read_texts(
    session: Session, document_pks: Collection[int], progress: ReportShare | None
) -> Iterator[tuple[int, str]]:
    """Yield (document_pk, beginning of the present text) of these documents, and report the progress."""
    text = func.substr(col(DocumentTextRow.text), 1, document_text.RANKED_CHARACTERS)
    statement = select(col(DocumentRow.pk), text).join(DocumentTextRow, TEXT_IS_PRESENT)
    done = 0
    for chunk in split_into_chunks(sorted(document_pks), CHUNK):
        for pk, text in session.execute(statement.where(col(DocumentRow.pk).in_(chunk))):
            yield key_of(pk), text
        done += len(chunk)
        if progress is not None:
            progress("near duplicates", done / len(document_pks))
