"""Read the data for decisions on many pairs, and store batches.

Reads plain rows in chunks, so that fifty thousand pairs take a few seconds.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from annotator.adjudication.bulk.policies import DecisionBatch, PolicyCandidate
from annotator.adjudication.decision_check import needs_two_leads
from annotator.adjudication.decisions_sql import find_pairs_among, list_judged_by, list_last_decisions
from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.adjudication.queue.queue_sql import list_rows, make_reader
from annotator.adjudication.records import digest_seen_state
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.people import Actor
from annotator.storage.lookup import key_of
from annotator.storage.sql import fetch, fetch_by_pair, fetch_tuples, prepare_sql, split_into_chunks
from annotator.storage.tables.adjudication import AdjudicationRow, CurrentAdjudicationRow, SettleBatchRow
from annotator.storage.tables.central import DatasetRow, PersonRow

CHUNK = 500
PairName = tuple[str, str]
_BY_NAME = prepare_sql(
    """
SELECT q.query_id, d.doc_id, p.pk AS pair_pk, p.key, x.open FROM query q JOIN pair p ON p.query_pk = q.pk JOIN document d ON d.pk = p.document_pk
LEFT JOIN dispute x ON x.pair_pk = p.pk
WHERE q.dataset_pk = :dataset_pk AND q.query_id IN :queries AND d.dataset_pk = :dataset_pk AND d.doc_id IN :documents
  AND p.retired_at IS NULL""",
    lists=["queries", "documents"],
)
# The same judgments as `list_judgments` of `adjudication/decisions_sql.py`.
_EVENTS = prepare_sql(
    f"""
SELECT c.pair_pk, j.event_id FROM current_judgment c JOIN judgment j ON j.pk = c.judgment_pk
WHERE c.pair_pk IN :pairs AND c.purpose = '{COUNTED_PURPOSE}' AND c.outcome <> 'later'
UNION ALL SELECT x.pair_pk, j.event_id FROM quality_pair x JOIN judgment j ON j.pk = x.judgment_pk
WHERE x.pair_pk IN :pairs AND x.outcome IS NOT NULL""",
    lists=["pairs"],
)
_GRADES = prepare_sql(
    f"""
SELECT c.pair_pk, c.grade FROM current_judgment c WHERE c.pair_pk IN :pairs AND c.purpose = '{COUNTED_PURPOSE}'
  AND c.outcome <> 'later' AND c.grade IS NOT NULL""",
    lists=["pairs"],
)
_DISCUSSED = prepare_sql(
    "SELECT pair_pk FROM discussion WHERE closed_at IS NULL AND pair_pk IN :pairs", lists=["pairs"]
)
_STILL_HOLD = prepare_sql("""
SELECT a.pair_pk, p.key FROM adjudication a JOIN current_adjudication c ON c.adjudication_pk = a.pk JOIN pair p ON p.pk = a.pair_pk
WHERE a.batch_pk = :batch_pk ORDER BY a.pair_pk""")


_NAMES = prepare_sql(
    """
SELECT p.pk AS pair_pk, q.query_id, q.text AS query, d.doc_id, d.title
FROM pair p JOIN query q ON q.pk = p.query_pk JOIN document d ON d.pk = p.document_pk WHERE p.pk IN :pairs""",
    lists=["pairs"],
)


class PairNames(NamedTuple):
    """The query and the document of a pair."""

    query_id: str
    query: str
    doc_id: str
    title: str


class NamedPair(NamedTuple):
    """A pair of the pool with its names."""

    query_id: str
    doc_id: str
    pair_pk: int
    key: str
    open: bool | None  # whether it waits for a lead; None if it is no disagreement


def list_named_pairs(
    session: Session, dataset_pk: int, names: Collection[PairName]
) -> dict[PairName, NamedPair]:
    """Return the pairs with these names (query_id, doc_id); names that are not in the pool are absent."""
    distinct_names, by_query = set(names), dict[str, list[str]]()
    for query_id, doc_id in distinct_names:
        by_query.setdefault(query_id, []).append(doc_id)
    pairs: dict[PairName, NamedPair] = {}
    for queries, documents in _split_names(by_query):
        values = {"dataset_pk": dataset_pk, "queries": queries, "documents": documents}
        for pair in fetch(session, _BY_NAME, NamedPair, values):
            if (pair.query_id, pair.doc_id) in distinct_names:
                pairs[pair.query_id, pair.doc_id] = pair
    return pairs


def list_pair_names(session: Session, pair_pks: Collection[int]) -> dict[int, PairNames]:
    """Return the query and the document of each of these pairs, by pair_pk."""
    names = fetch_by_pair(session, _NAMES, PairNames, pair_pks)
    return {pair_pk: only for pair_pk, (only,) in names.items()}


def list_seen_events(session: Session, pair_pks: Collection[int]) -> dict[int, list[str]]:
    """Return the event ids of the judgments that a lead sees, by pair_pk; pairs without one are absent."""
    return fetch_by_pair(session, _EVENTS, str, pair_pks)


def list_candidates(
    session: Session, dataset: DatasetRow, actor: Actor, wanted: QueueFilter, *, now: datetime
) -> list[PolicyCandidate]:
    """Return the open disagreements of this part of the queue, for a policy of this lead.

    Leaves out pairs that the lead may still judge: a policy's preview would show their grades.
    """
    reader = make_reader(session, key_of(dataset.pk), actor.person_id, now)
    rows = list_rows(session, reader, replace(wanted, shown="open"), "distance")
    pair_pks = [row.pair_pk for row in rows]
    grades = fetch_by_pair(session, _GRADES, int, pair_pks)
    event_ids = list_seen_events(session, pair_pks)
    last = list_last_decisions(session, pair_pks)
    judged = list_judged_by(session, actor.person_id, pair_pks)
    discussed = find_pairs_among(session, _DISCUSSED, pair_pks)
    return [
        PolicyCandidate(
            pair_pk=row.pair_pk,
            pair=row.pair,
            waiting=row.waiting,
            taste=row.taste,
            grades=grades.get(row.pair_pk, ()),
            seen=digest_seen_state(
                event_ids.get(row.pair_pk, ()),
                last[row.pair_pk].revision if row.pair_pk in last else 0,
            ),
            impact=None if row.recall_impact is None else row.impact,
            flips=row.flips or 0,
            needs_second=needs_two_leads(dataset.second_adjudicator, row.distance),
            judged=row.pair_pk in judged,
            held=row.held_by not in (None, actor.username),
            assigned=row.assigned_to not in (None, actor.username),
            discussed=row.pair_pk in discussed,
        )
        for row in rows
    ]


def add_batch(
    session: Session, dataset_pk: int, lead_pk: int, policy: str, rationale: str, pairs: int, *, now: datetime
) -> int:
    """Store a batch of `pairs` pairs and return its number."""
    values = {
        "dataset_pk": dataset_pk,
        "lead_pk": lead_pk,
        "policy": policy,
        "rationale": rationale,
        "pairs": pairs,
        "made_at": now,
    }
    row = SettleBatchRow.model_validate(values)
    session.add(row)
    session.flush()
    return key_of(row.pk)


def find_batch(session: Session, dataset_pk: int, number: int) -> SettleBatchRow | None:
    """Return the batch with that number; None if the dataset has none."""
    row = session.get(SettleBatchRow, number)
    return row if row is not None and row.dataset_pk == dataset_pk else None


def list_still_holding(session: Session, batch_pk: int) -> dict[int, str]:
    """Return the pairs of a batch, {pair_pk: key}, if its decision still holds."""
    return dict(fetch_tuples(session, _STILL_HOLD, {"batch_pk": batch_pk}))


def list_batches_of(
    session: Session, dataset_pk: int, number: int | None = None
) -> tuple[DecisionBatch, ...]:
    """Return the dataset's batches, or the one with that number, the latest first."""
    lead, undoer = aliased(PersonRow), aliased(PersonRow)
    holding = (
        select(col(AdjudicationRow.batch_pk), func.count().label("n"))
        .join(CurrentAdjudicationRow, col(CurrentAdjudicationRow.adjudication_pk) == col(AdjudicationRow.pk))
        .where(
            col(AdjudicationRow.batch_pk).is_not(None), col(CurrentAdjudicationRow.dataset_pk) == dataset_pk
        )
        .group_by(col(AdjudicationRow.batch_pk))
        .subquery()
    )
    statement = (
        select(SettleBatchRow, holding.c.n, col(lead.username), col(undoer.username))
        .join(lead, col(lead.pk) == col(SettleBatchRow.lead_pk))
        .outerjoin(undoer, col(undoer.pk) == col(SettleBatchRow.undone_by_pk))
        .outerjoin(holding, holding.c.batch_pk == col(SettleBatchRow.pk))
        .where(col(SettleBatchRow.dataset_pk) == dataset_pk)
        .order_by(col(SettleBatchRow.pk).desc())
    )
    if number is not None:
        statement = statement.where(col(SettleBatchRow.pk) == number)
    return tuple(
        DecisionBatch(
            key_of(row.pk),
            row.policy,
            row.rationale,
            row.pairs,
            holding_count or 0,
            lead_name,
            row.made_at,
            row.undone_at,
            undone_by,
        )
        for row, holding_count, lead_name, undone_by in session.execute(statement)
    )


def _split_names(by_query: dict[str, list[str]]) -> Iterable[tuple[list[str], list[str]]]:
    """Yield query ids and their document ids, up to CHUNK of each at a time."""
    queries, documents = list[str](), list[str]()
    for query_id, doc_ids in by_query.items():
        for chunk in split_into_chunks(doc_ids, CHUNK):
            if queries and (len(queries) >= CHUNK or len(documents) + len(chunk) > CHUNK):
                yield queries, documents
                queries, documents = [], []
            queries.append(query_id)
            documents += chunk
    if queries:
        yield queries, documents
