"""Store the leads' orders of a query's documents, and read the latest one. A stored order never changes."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.lookup import key_of
from annotator.storage.sql import add_rows, split_into_chunks
from annotator.storage.tables.adjudication import DocumentOrderRow
from annotator.storage.tables.central import PairRow

QUERIES_AT_ONCE = 500


def add_orders(session: Session, lead_pk: int, orders: Mapping[int, Sequence[int]], *, now: datetime) -> None:
    """Store these orders (pair_pks, best first, by query_pk)."""
    rows = [
        {"query_pk": query_pk, "lead_pk": lead_pk, "pair_pks": list(pair_pks), "ordered_at": now}
        for query_pk, pair_pks in orders.items()
    ]
    add_rows(session, DocumentOrderRow, rows)


def list_orders(session: Session, query_pks: Sequence[int]) -> dict[int, list[int]]:
    """Return the current orders (pair_pks, best first) by query_pk; queries without one are absent."""
    orders: dict[int, list[int]] = {}
    for chunk in split_into_chunks(query_pks, QUERIES_AT_ONCE):
        statement = (
            select(col(DocumentOrderRow.query_pk), col(DocumentOrderRow.pair_pks))
            .where(col(DocumentOrderRow.query_pk).in_(chunk))
            .order_by(col(DocumentOrderRow.pk))
        )
        orders.update((query_pk, pair_pks) for query_pk, pair_pks in session.execute(statement))
    return orders


def list_query_pks_of(session: Session, pair_pks: Sequence[int]) -> dict[int, int]:
    """Return the query_pk of each of these pairs, by pair_pk."""
    query_pks: dict[int, int] = {}
    for chunk in split_into_chunks(pair_pks, QUERIES_AT_ONCE):
        rows = session.execute(
            select(col(PairRow.pk), col(PairRow.query_pk)).where(col(PairRow.pk).in_(chunk))
        )
        query_pks.update((key_of(pk), query_pk) for pk, query_pk in rows)
    return query_pks
