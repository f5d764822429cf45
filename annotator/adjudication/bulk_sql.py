"""Read what decisions on many pairs need, such as pairs by name, what was seen and last decisions; store batches.

Reads chunks of plain rows, so that fifty thousand pairs cost a few seconds. Refuses nothing.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from annotator.adjudication.decisions_sql import list_judged_by
from annotator.adjudication.queue_records import QueueFilter
from annotator.adjudication.queue_sql import QueueReader, list_rows
from annotator.adjudication.records import Decision, PolicyCandidate, compute_case_version, takes_two
from annotator.domain.people import Actor
from annotator.domain.settling import QueueReason
from annotator.storage.adjudication_tables import AdjudicationRow, CurrentAdjudicationRow, SettleBatchRow
from annotator.storage.lookup import key_of
from annotator.storage.sql import PreparedSql, execute_sql, fetch_tuples, prepare_sql, read_time
from annotator.storage.tables import DatasetRow, PersonRow

CHUNK = 500
Name = tuple[str, str]
_BY_NAME = prepare_sql(
    """
SELECT q.query_id, d.doc_id, p.pk, p.key, x.open FROM query q JOIN pair p ON p.query_pk = q.pk JOIN document d ON d.pk = p.document_pk
LEFT JOIN dispute x ON x.pair_pk = p.pk
WHERE q.dataset_pk = :dataset_pk AND q.query_id IN :queries AND d.dataset_pk = :dataset_pk AND d.doc_id IN :documents
  AND p.retired_at IS NULL""",
    lists=["queries", "documents"],
)
# The judgments that `adjudication/decisions_sql.py` shows on a case.
_EVENTS = prepare_sql(
    """
SELECT c.pair_pk, j.event_id FROM current_judgment c JOIN judgment j ON j.pk = c.judgment_pk
WHERE c.pair_pk IN :pairs AND c.purpose = 'independent' AND c.outcome <> 'later'
UNION ALL SELECT x.pair_pk, j.event_id FROM quality_pair x JOIN judgment j ON j.pk = x.judgment_pk
WHERE x.pair_pk IN :pairs AND x.outcome IS NOT NULL""",
    lists=["pairs"],
)
_GRADES = prepare_sql(
    """
SELECT c.pair_pk, c.grade FROM current_judgment c WHERE c.pair_pk IN :pairs AND c.purpose = 'independent'
  AND c.outcome <> 'later' AND c.grade IS NOT NULL""",
    lists=["pairs"],
)
_DISCUSSED = prepare_sql(
    "SELECT pair_pk FROM discussion WHERE closed_at IS NULL AND pair_pk IN :pairs", lists=["pairs"]
)
_LAST = prepare_sql(
    """
SELECT a.pair_pk, p.key, a.revision, a.outcome, a.grade, a.rationale, a.reason, a.decided_at, a.cause
FROM adjudication a JOIN pair p ON p.pk = a.pair_pk
WHERE a.pair_pk IN :pairs AND NOT EXISTS (SELECT 1 FROM adjudication n WHERE n.pair_pk = a.pair_pk AND n.revision > a.revision)""",
    lists=["pairs"],
)
_STILL_HOLD = prepare_sql("""
SELECT a.pair_pk, p.key FROM adjudication a JOIN current_adjudication c ON c.adjudication_pk = a.pk JOIN pair p ON p.pk = a.pair_pk
WHERE a.batch_pk = :batch_pk ORDER BY a.pair_pk""")


class NamedPair(NamedTuple):
    """A pair of the pool. `open`: whether it waits for a lead; None where it is no dispute."""

    pair_pk: int
    key: str
    open: bool | None


@dataclass(frozen=True, slots=True)
class DecisionBatch:
    """Pairs that a lead settled together. `holding`: how many of its decisions hold still; `lead`, `undone_by`: usernames."""

    number: int
    policy: str
    rationale: str
    pairs: int
    holding: int
    lead: str
    made_at: datetime
    undone_at: datetime | None
    undone_by: str | None


def list_named(session: Session, dataset_pk: int, names: Collection[Name]) -> dict[Name, NamedPair]:
    """The pairs of these query_id and doc_id; names that are not in the pool are absent."""
    wanted = set(names)
    by_query: dict[str, list[str]] = {}
    for query_id, doc_id in wanted:
        by_query.setdefault(query_id, []).append(doc_id)
    found: dict[Name, NamedPair] = {}
    for queries, documents in _gather(by_query):
        values = {"dataset_pk": dataset_pk, "queries": queries, "documents": documents}
        for query_id, doc_id, pk, key, is_open in execute_sql(session, _BY_NAME, values):
            if (query_id, doc_id) in wanted:
                found[query_id, doc_id] = NamedPair(pk, key, None if is_open is None else bool(is_open))
    return found


def list_seen_events(session: Session, pair_pks: Iterable[int]) -> dict[int, list[str]]:
    """The event ids of the judgments that a lead sees on these pairs; pairs without one are absent."""
    found: dict[int, list[str]] = {}
    for pair_pk, event_id in _run_all(session, _EVENTS, pair_pks):
        found.setdefault(pair_pk, []).append(event_id)
    return found


def list_given_grades(session: Session, pair_pks: Iterable[int]) -> dict[int, list[int]]:
    """The grades of these pairs' current independent judgments; pairs without one are absent."""
    found: dict[int, list[int]] = {}
    for pair_pk, grade in _run_all(session, _GRADES, pair_pks):
        found.setdefault(pair_pk, []).append(grade)
    return found


def list_discussed(session: Session, pair_pks: Iterable[int]) -> set[int]:
    """Of these pairs the ones whose annotators a lead has asked to discuss them."""
    return {row[0] for row in _run_all(session, _DISCUSSED, pair_pks)}


def list_last_decisions(session: Session, pair_pks: Iterable[int]) -> dict[int, Decision]:
    """The last decision on each of these pairs, also one that took another back; pairs without one are absent."""
    found = {}
    for pair_pk, *told, decided_at, cause in _run_all(session, _LAST, pair_pks):
        key, revision, outcome, grade, rationale, reason = told
        at = read_time(decided_at)
        found[pair_pk] = Decision(key, revision, outcome, grade, rationale, reason, at, cause)
    return found


def list_candidates(
    session: Session, dataset: DatasetRow, actor: Actor, wanted: QueueFilter, *, now: datetime
) -> list[PolicyCandidate]:
    """The open disputes of this part of the queue, as a policy of this lead's looks at them."""
    reader = QueueReader(key_of(dataset.pk), actor.person_id, now)
    rows = list_rows(session, reader, replace(wanted, shown="open"), "distance")
    pks = [row.DisputeRow.pair_pk for row in rows]
    grades, events, last = (
        list_given_grades(session, pks),
        list_seen_events(session, pks),
        list_last_decisions(session, pks),
    )
    judged, discussed = list_judged_by(session, actor.person_id, pks), list_discussed(session, pks)
    return [
        PolicyCandidate(
            pair_pk=pk,
            key=row.pair,
            waiting=QueueReason(row.DisputeRow.waiting),
            taste=row.DisputeRow.taste,
            grades=grades.get(pk, ()),
            seen=compute_case_version(events.get(pk, ()), last[pk].revision if pk in last else 0),
            impact=None if row.DisputeRow.recall_impact is None else row.DisputeRow.impact,
            flips=row.DisputeRow.flips or 0,
            second=takes_two(dataset.second_adjudicator, row.DisputeRow.distance),
            judged=pk in judged,
            held=row.held_by not in (None, actor.username),
            assigned=row.assigned_to not in (None, actor.username),
            discussed=pk in discussed,
        )
        for pk, row in zip(pks, rows, strict=True)
    ]


def add_batch(
    session: Session, dataset_pk: int, lead_pk: int, policy: str, rationale: str, pairs: int, *, now: datetime
) -> int:
    """Note that these pairs are settled together; returns the batch's number."""
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
    """The batch of that number, None where this dataset has none."""
    row = session.get(SettleBatchRow, number)
    return row if row is not None and row.dataset_pk == dataset_pk else None


def list_still_holding(session: Session, batch_pk: int) -> dict[int, str]:
    """The pairs that a batch settled and on which nobody has decided since: their keys by pair_pk."""
    return {row[0]: row[1] for row in execute_sql(session, _STILL_HOLD, {"batch_pk": batch_pk})}


def list_batches_of(
    session: Session, dataset_pk: int, number: int | None = None
) -> tuple[DecisionBatch, ...]:
    """The dataset's batches (or the one of that number), the last one first."""
    lead, other = aliased(PersonRow), aliased(PersonRow)
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
        select(SettleBatchRow, holding.c.n, col(lead.username), col(other.username))
        .join(lead, col(lead.pk) == col(SettleBatchRow.lead_pk))
        .outerjoin(other, col(other.pk) == col(SettleBatchRow.undone_by_pk))
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
            n or 0,
            by,
            row.made_at,
            row.undone_at,
            undone_by,
        )
        for row, n, by, undone_by in session.execute(statement)
    )


def _gather(by_query: dict[str, list[str]]) -> Iterable[tuple[list[str], list[str]]]:
    """Queries and their documents, some at a time."""
    queries, documents = list[str](), list[str]()
    for query_id, doc_ids in by_query.items():
        for start in range(0, len(doc_ids), CHUNK):
            some = doc_ids[start : start + CHUNK]
            if queries and (len(queries) >= CHUNK or len(documents) + len(some) > CHUNK):
                yield queries, documents
                queries, documents = [], []
            queries.append(query_id)
            documents += some
    if queries:
        yield queries, documents


def _run_all(session: Session, statement: PreparedSql, pair_pks: Iterable[int]) -> list[Any]:
    session.flush()
    ordered = sorted(set(pair_pks))
    found = list[Any]()
    for start in range(0, len(ordered), CHUNK):
        found += fetch_tuples(session, statement, {"pairs": ordered[start : start + CHUNK]})
    return found
