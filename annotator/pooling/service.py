"""Make the pool: choose which candidates become pairs to be judged, list the pairs, and count each system's share.

Each pair keeps who proposed it, at what rank and score, and the round in which it came (`rounds_service.py`). Pooling twice changes
nothing.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.settling import PAIR_STATUSES
from annotator.people.roles_service import require_role
from annotator.pooling.retrievers.records import RetrievalOptions
from annotator.pooling.rounds.round_records import NewRound
from annotator.pooling.rounds.rounds_sql import (
    add_new_pairs_to_round,
    add_round,
    find_latest_pair,
    list_pair_rounds,
)
from annotator.storage.database import Database, lock_dataset
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pair_states import list_pair_states
from annotator.storage.pairs.pool import (
    PoolCandidate,
    Provenance,
    add_candidates,
    list_pair_pks,
    list_provenance,
    list_queries,
    list_run_candidates,
    list_runs,
    list_titles,
)

if TYPE_CHECKING:
    from annotator.pooling.rounds.pool_records import PoolReport
    from annotator.pooling.rounds.rounds_service import Progress


@dataclass(frozen=True, slots=True)
class PoolPair:
    """A pair of the pool. `pair` is the id that the app uses; `status` one of PAIR_STATUSES.

    `query` and `title`: the query's text and the document's title. `round`: the number of the round in which it came; None if it
    came otherwise (with a file, by an annotator's proposal, by a remap), or before rounds were kept.
    """

    pair: str
    query_id: str
    doc_id: str
    status: str
    provenance: tuple[Provenance, ...]
    query: str
    title: str
    round: int | None


def pool_runs(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    depth: int,
    now: datetime,
    systems: Sequence[str] | None = None,
    retrievers: Sequence[str] = (),
    retrieval: RetrievalOptions = RetrievalOptions(),
    dry_run: bool = False,
    progress: "Progress | None" = None,
) -> "PoolReport":
    """Make pairs of the first `depth` results per query of each run (`systems` None: of all runs), and of
    what each of `retrievers` finds among the dataset's documents.

    A run's first results are counted by their order, whether its ranks begin at 0 or 1. For leads.
    StateError when there is nothing to pool from, ValidationError for a system or retriever there is not.
    """
    from annotator.pooling.rounds.pool_records import (
        PoolRequest,  # these bring numpy, which listing pairs spares
    )
    from annotator.pooling.rounds.rounds_service import make_round

    chosen = None if systems is None else tuple(systems)
    request = PoolRequest(depth=depth, systems=chosen, retrievers=tuple(retrievers), retrieval=retrieval)
    return make_round(database, actor, dataset, request, now=now, dry_run=dry_run, progress=progress)


@dataclass(frozen=True, slots=True)
class PooledResults:
    """The result of adding single results to the pool: new pairs, and those that were in the pool already."""

    new: int
    already_there: int
    round: int | None = None  # the number of the round in which the new pairs came


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
    """Make pairs of these results (query_id, doc_id) of imported runs, such as documents that nobody was asked to judge.

    The new pairs are a round, under the name `strategy`.

    Each pair keeps which runs (all, or those of `systems`) list it, at what rank and score; annotators see none of that, as
    of any other pair. For leads. ValidationError for a result that no such run has.
    """
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        runs = {
            pk: system
            for pk, system in list_runs(session, key_of(row.pk)).items()
            if not systems or system in systems
        }
        candidates = list_run_candidates(session, runs, sorted(set(results)))
        existing_pairs = list_pair_pks(session, key_of(row.pk), {item.query_pk for item in candidates})
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


def retrieve(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    depth: int,
    now: datetime,
    retrievers: Sequence[str] = ("bm25",),
    dry_run: bool = False,
    progress: "Progress | None" = None,
) -> "PoolReport":
    """Make pairs of what our own retrievers find, for a team without a run; imported runs are left aside."""
    return pool_runs(
        database,
        actor,
        dataset,
        depth=depth,
        now=now,
        systems=(),
        retrievers=retrievers,
        dry_run=dry_run,
        progress=progress,
    )


def list_pairs(
    database: Database, actor: Actor, dataset: str, *, status: str | None = None
) -> list[PoolPair]:
    """Return the pool by query position and doc_id, or the pairs of one status. Shows provenance: for leads."""
    if status is not None and status not in PAIR_STATUSES:
        raise ValidationError(f"status: expected one of {', '.join(PAIR_STATUSES)}, found {status!r}")
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        provenance = list_provenance(session, key_of(row.pk))
        rounds = list_pair_rounds(session, key_of(row.pk))
        queries, titles = list_queries(session, key_of(row.pk)), list_titles(session, key_of(row.pk))
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
            for state in list_pair_states(session, key_of(row.pk))
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
    """Make the pairs, and a round of those that are new; its number and how many these are."""
    with database.write() as session:
        row = find_dataset(session, dataset)
        dataset_pk = key_of(row.pk)
        require_role(session, actor, dataset_pk, "lead")
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
