"""Make the pool: choose which candidates become pairs to be judged, list the pairs, and count each system's share.

Candidates are the first results of imported runs, and what our own retrievers find for teams without a run. Each pair keeps
who proposed it, at what rank and score. Everything is computed before the dataset is locked; pooling twice changes nothing.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.domain.errors import StateError, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.settling import PAIR_STATUSES
from annotator.people.service import require_role
from annotator.pooling.retrieval_sql import retrieve_from_documents
from annotator.pooling.retrievers.options import check_options
from annotator.pooling.retrievers.records import RetrievalOptions, RetrieverNote
from annotator.pooling.search_index import SearchKeeper
from annotator.pooling.search_sql import SearchedTexts
from annotator.storage.database import Database, lock_dataset
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pair_states import list_pair_states
from annotator.storage.pool import (
    PoolCandidate,
    Provenance,
    RetrievalQuery,
    add_candidates,
    count_documents,
    list_first_results,
    list_pair_pks,
    list_provenance,
    list_queries,
    list_run_candidates,
    list_runs,
    list_titles,
)
from annotator.storage.tables import DatasetRow


@dataclass(frozen=True, slots=True)
class SystemCounts:
    """The proposals of one system: in how many queries, how many pairs, and how many that no other proposed.

    In the report of a pooling, `candidates` are the best `depth` per query; in the pool, the pairs it is named for.
    """

    system: str
    queries: int
    candidates: int
    only_here: int


def count_systems(proposals: Iterable[tuple[str, object, object]]) -> tuple[SystemCounts, ...]:
    """Return what each system proposed, sorted by name, from (system, query, pair)."""
    proposed: dict[object, set[str]] = {}
    queries: dict[str, set[object]] = {}
    for system, query, pair in proposals:
        proposed.setdefault(pair, set()).add(system)
        queries.setdefault(system, set()).add(query)
    candidates, alone = dict.fromkeys(queries, 0), dict.fromkeys(queries, 0)
    for by in proposed.values():
        for system in by:
            candidates[system] += 1
            alone[system] += len(by) == 1
    return tuple(
        SystemCounts(system, len(queries[system]), candidates[system], alone[system])
        for system in sorted(queries)
    )


MAX_DEPTH = 10_000
Progress = Callable[[str, float], None]
SEARCHES = SearchKeeper()  # one for the process: indexes in memory


@dataclass(frozen=True, slots=True)
class PoolReport:
    """The result of pooling candidates. With `dry_run` nothing was stored, and `new` would have been.

    `new` pairs and those `already_there` together are all different candidates. `short` counts candidates
    by query_id where there are some but fewer than `depth`; `without` are the queries that have none, and
    `too_short` those in which our retrievers find no two characters in a row to match; `notes` say by retriever what it
    could not do.
    """

    dataset: str
    depth: int
    dry_run: bool
    new: int
    already_there: int
    systems: tuple[SystemCounts, ...]
    short: Mapping[str, int]
    without: tuple[str, ...]
    too_short: tuple[str, ...]
    notes: tuple[RetrieverNote, ...]


@dataclass(frozen=True, slots=True)
class PoolPair:
    """A pair of the pool. `pair` is the id that the app uses; `status` one of PAIR_STATUSES.

    `query` and `title`: the query's text and the document's title.
    """

    pair: str
    query_id: str
    doc_id: str
    status: str
    provenance: tuple[Provenance, ...]
    query: str
    title: str


@dataclass(frozen=True, slots=True)
class Pool:
    """The pool as it stands. `statuses` counts the pairs by status, every status named, 0 included."""

    pairs: tuple[PoolPair, ...]
    statuses: Mapping[str, int]
    systems: tuple[SystemCounts, ...]


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The answer of a search: documents (document_pk), best first.

    None while the search is still being prepared, of which `share` (0 to 1) is done. `most_characters`: how much of each
    document is searched (None: all of it).
    """

    document_pks: tuple[int, ...] | None
    share: float
    most_characters: int | None


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
    progress: Progress | None = None,
) -> PoolReport:
    """Make pairs of the first `depth` results per query of each run (`systems` None: of all runs), and of
    what each of `retrievers` finds among the dataset's documents.

    A run's first results are counted by their order, whether its ranks begin at 0 or 1. For leads.
    StateError when there is nothing to pool from, ValidationError for a system or retriever there is not.
    """
    _check_options(depth, retrievers, retrieval)
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        queries = list_queries(session, key_of(row.pk))
        if not queries:
            raise StateError(f"the dataset has no queries yet: annotator import queries {dataset} FILE")
        candidates = list_first_results(session, _choose_runs(session, row, systems, retrievers), depth)
        retrieved, notes = _retrieve(
            session, row, queries, retrievers, retrieval, depth=depth, progress=progress
        )
        candidates += retrieved
        existing_pairs = list_pair_pks(session, key_of(row.pk), set(queries))
    query_documents = {(candidate.query_pk, candidate.document_pk) for candidate in candidates}
    new = (
        len(query_documents - existing_pairs.keys())
        if dry_run
        else _store(database, actor, dataset, candidates, now)
    )
    per_query = {query.query_id: 0 for query in queries.values()}
    for query_pk, _ in query_documents:
        per_query[queries[query_pk].query_id] += 1
    return PoolReport(
        dataset=dataset,
        depth=depth,
        dry_run=dry_run,
        new=new,
        already_there=len(query_documents) - new,
        systems=count_systems(
            (item.system, item.query_pk, (item.query_pk, item.document_pk)) for item in candidates
        ),
        short={query_id: count for query_id, count in per_query.items() if 0 < count < depth},
        without=tuple(query_id for query_id, count in per_query.items() if not count),
        too_short=_list_too_short(queries, notes),
        notes=notes,
    )


@dataclass(frozen=True, slots=True)
class PooledResults:
    """The result of adding single results to the pool: new pairs, and those that were in the pool already."""

    new: int
    already_there: int


def pool_results(
    database: Database,
    actor: Actor,
    dataset: str,
    results: Collection[tuple[str, str]],
    *,
    systems: Collection[str] = (),
    now: datetime,
) -> PooledResults:
    """Make pairs of these results (query_id, doc_id) of imported runs, such as documents that nobody was asked to judge.

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
            say("no run lists {doc_id!r} for the query {query_id!r}", doc_id=doc_id, query_id=query_id)
        )
    fresh = [item for item in candidates if (item.query_pk, item.document_pk) not in existing_pairs]
    new = _store(database, actor, dataset, fresh, now) if fresh else 0
    return PooledResults(new, len(set(results)) - new)


def retrieve(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    depth: int,
    now: datetime,
    retrievers: Sequence[str] = ("bm25",),
    dry_run: bool = False,
    progress: Progress | None = None,
) -> PoolReport:
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
            )
            for state in list_pair_states(session, key_of(row.pk))
            if status in (None, state.settlement.status)
        ]


def show_pool(database: Database, actor: Actor, dataset: str) -> Pool:
    """Return the whole pool, with how many pairs there are of each status and by each system. For leads."""
    pairs = tuple(list_pairs(database, actor, dataset))
    by_status = Counter(pair.status for pair in pairs)
    return Pool(
        pairs=pairs,
        statuses={status: by_status[status] for status in PAIR_STATUSES},
        systems=count_systems(
            (by.system, pair.query_id, pair.pair) for pair in pairs for by in pair.provenance
        ),
    )


def search_texts(
    database: Database, actor: Actor, dataset: str, text: str, *, limit: int, now: datetime
) -> SearchAnswer:
    """Search the dataset's documents as one types. The index is made in the background when it is first asked for."""
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "annotator")
    name = database.url.render_as_string(hide_password=True), dataset_pk
    ready, share = SEARCHES.find(name, SearchedTexts(database, dataset_pk), now=now)
    if ready is None:
        return SearchAnswer(None, share, None)
    document_pks = tuple(ready.document_pks[match.text] for match in ready.index.search(text, limit=limit))
    return SearchAnswer(document_pks, 1.0, ready.most_characters)


def _check_options(depth: int, retrievers: Sequence[str], retrieval: RetrievalOptions) -> None:
    if not 1 <= depth <= MAX_DEPTH:
        raise ValidationError(f"depth: expected 1 to {MAX_DEPTH}, found {depth}")
    check_options(retrievers, retrieval)


def _choose_runs(
    session: Session, row: DatasetRow, systems: Sequence[str] | None, retrievers: Sequence[str]
) -> dict[int, str]:
    """Return the systems to pool from, by run_pk."""
    runs = list_runs(session, key_of(row.pk))
    if systems is not None:
        missing = [system for system in systems if system not in runs.values()]
        if missing:
            there = ", ".join(sorted(runs.values())) or "none"
            raise ValidationError(f"no run of the system {missing[0]!r} is imported; there is: {there}")
        runs = {pk: system for pk, system in runs.items() if system in systems}
    if not runs and not retrievers:
        raise StateError(
            f"there is no run to pool from: annotator import run {row.name} FILE --system NAME; "
            f"or retrieve from the documents: annotator pool {row.name} --depth K --retrieve bm25"
        )
    return runs


def _retrieve(
    session: Session,
    row: DatasetRow,
    queries: Mapping[int, RetrievalQuery],
    retrievers: Sequence[str],
    options: RetrievalOptions,
    *,
    depth: int,
    progress: Progress | None,
) -> tuple[list[PoolCandidate], tuple[RetrieverNote, ...]]:
    """Return what our own retrievers propose, and what they could not do."""
    if not retrievers:
        return [], ()
    if not count_documents(session, key_of(row.pk)):
        raise StateError(
            f"the dataset has no documents to search: annotator import documents {row.name} PATH"
        )
    return retrieve_from_documents(
        session, key_of(row.pk), queries, retrievers, options, depth=depth, progress=progress
    )


def _list_too_short(queries: Mapping[int, RetrievalQuery], notes: Sequence[RetrieverNote]) -> tuple[str, ...]:
    too_short = {query_id for note in notes if note.kind == "too_short" for query_id in note.names}
    return tuple(query.query_id for query in queries.values() if query.query_id in too_short)


def _store(
    database: Database, actor: Actor, dataset: str, candidates: Sequence[PoolCandidate], now: datetime
) -> int:
    """Make the pairs; how many are new."""
    with database.write() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        lock_dataset(session, key_of(row.pk))
        return add_candidates(session, key_of(row.pk), row.name, candidates, now=now).pairs
