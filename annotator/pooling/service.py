"""Add single results to the pool, and list its pairs and the choices for a new round.

`rounds/rounds_service.py` makes whole rounds.

Each pair keeps the systems that proposed it, with rank and score, and the round in which it came.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.settling import PAIR_STATUSES
from annotator.people.roles_service import open_dataset
from annotator.pooling.rounds.round_records import NewRound
from annotator.pooling.rounds.rounds_sql import (
    add_new_pairs_to_round,
    add_round,
    find_latest_pair,
    list_pair_rounds,
)
from annotator.storage.database import Database, lock_dataset
from annotator.storage.pairs.pair_states import list_pair_states
from annotator.storage.pairs.pool import (
    PoolCandidate,
    Provenance,
    add_candidates,
    count_documents,
    list_pair_pks,
    list_provenance,
    list_queries,
    list_run_candidates,
    list_runs,
    list_titles,
)


@dataclass(frozen=True, slots=True)
class PoolPair:
    """A pair of the pool.

    `pair`: its id in the app. `status`: one of PAIR_STATUSES. `query`: the query's text. `title`: the
    document's. `round`: the number of its round; None if it came with a file, by a proposal or a remap, or
    before rounds were recorded.
    """

    pair: str
    query_id: str
    doc_id: str
    status: str
    provenance: tuple[Provenance, ...]
    query: str
    title: str
    round: int | None


@dataclass(frozen=True, slots=True)
class PooledResults:
    """The result of adding single results to the pool."""

    new: int
    already_there: int
    round: int | None = None  # the number of the round of the new pairs; None without any


def pool_results(
    database: Database,
    actor: Actor,
    dataset: str,
    results: Collection[tuple[str, str]],
    *,
    systems: Collection[str] = (),
    now: datetime,
    strategy: str = "results",
) -> PooledResults:
    """Add these results (query_id, doc_id) of imported runs to the pool, as one round. For leads.

    `strategy`: the name of the round. Each pair keeps the runs (all, or those of `systems`) that list it,
    with rank and score. Raises ValidationError for a result that no such run has.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        runs = {
            pk: system
            for pk, system in list_runs(session, dataset_pk).items()
            if not systems or system in systems
        }
        candidates = list_run_candidates(session, runs, sorted(set(results)))
        existing_pairs = list_pair_pks(session, dataset_pk, {item.query_pk for item in candidates})
    missing = sorted(set(results) - {(item.query_id, item.doc_id) for item in candidates})
    if missing:
        query_id, doc_id = missing[0]
        raise ValidationError(
            say(
                "No run has {doc_id!r} in its results for the query {query_id!r}.",
                doc_id=doc_id,
                query_id=query_id,
            )
        )
    fresh = [item for item in candidates if (item.query_pk, item.document_pk) not in existing_pairs]
    number, new = _store(database, actor, dataset, fresh, now, strategy) if fresh else (None, 0)
    return PooledResults(new, len(set(results)) - new, number)


def list_pairs(
    database: Database, actor: Actor, dataset: str, *, status: str | None = None
) -> list[PoolPair]:
    """Return the pairs (of one status) by query position and doc_id, with their systems. For leads."""
    if status is not None and status not in PAIR_STATUSES:
        raise ValidationError(f"status: expected one of {', '.join(PAIR_STATUSES)}, found {status!r}")
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        provenance = list_provenance(session, dataset_pk)
        rounds = list_pair_rounds(session, dataset_pk)
        queries, titles = list_queries(session, dataset_pk), list_titles(session, dataset_pk)
        return [
            PoolPair(
                state.key,
                state.query_id,
                state.doc_id,
                state.settlement.status,
                tuple(provenance.get(state.pair_pk, ())),
                queries[state.query_pk].text,
                titles[state.document_pk],
                rounds.get(state.pair_pk),
            )
            for state in list_pair_states(session, dataset_pk)
            if status in (None, state.settlement.status)
        ]


def _store(
    database: Database,
    actor: Actor,
    dataset: str,
    candidates: Sequence[PoolCandidate],
    now: datetime,
    strategy: str,
) -> tuple[int | None, int]:
    """Store the pairs and a round with the new ones; return its number (None without any) and their number."""
    with open_dataset(database, actor, dataset, "lead", writing=True) as (session, row, dataset_pk):
        lock_dataset(session, dataset_pk)
        latest = find_latest_pair(session, dataset_pk)
        new = add_candidates(session, dataset_pk, row.name, candidates, now=now).pairs
        number = None
        if new:
            systems = sorted({candidate.system for candidate in candidates})
            made = NewRound(strategy, {"systems": systems}, {"new": new})
            number = add_round(session, dataset_pk, made, {}, made_by=actor.person_id, now=now)
            add_new_pairs_to_round(session, dataset_pk, number, latest, {})
        return number, new


@dataclass(frozen=True, slots=True)
class RoundChoices:
    """The choices for a new round. `systems`: of imported runs. `fields`: {field: some values} of the first documents."""

    systems: tuple[str, ...]
    queries: int
    documents: int
    fields: Mapping[str, tuple[str, ...]]


def list_round_choices(database: Database, actor: Actor, dataset: str) -> RoundChoices:
    """Return the choices for a new round. For leads."""
    from annotator.pooling.filters.filters_sql import sample_field_values  # not for `annotator pairs`

    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return RoundChoices(
            systems=tuple(sorted(list_runs(session, dataset_pk).values())),
            queries=len(list_queries(session, dataset_pk)),
            documents=count_documents(session, dataset_pk),
            fields=sample_field_values(session, dataset_pk),
        )
