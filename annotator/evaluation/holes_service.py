"""Add holes to the pool: unjudged documents of imported runs become pairs, most influential first.

A new pair is like any other: it keeps the systems that list the document, with rank and score, which
annotators never see. The holes are those of `annotator evaluate DATASET` with its default profile: runs
ordered by score, queries with a settled grade. A hole that is already in the pool waits there for its grade,
and is only counted.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.domain.errors import StateError, ValidationError
from annotator.domain.messages import Message, add_command, say
from annotator.domain.people import Actor
from annotator.evaluation.dataset_analysis.holes import Hole, JudgingNeed, find_holes
from annotator.evaluation.evaluate import cut_run
from annotator.evaluation.evaluation_sql import choose_imported_runs, read_imported_run
from annotator.evaluation.records import RankedRun
from annotator.evaluation.scores.measures import parse_measure_name
from annotator.evaluation.service import find_blind_queries, read_truth
from annotator.people.roles_service import open_dataset
from annotator.pooling.service import pool_results
from annotator.storage.database import Database
from annotator.storage.pairs.pair_states import list_queries
from annotator.storage.pairs.pool import (
    PoolCandidate,
    Provenance,
    list_pair_pks,
    list_run_candidates,
    list_runs,
)

HOLE_DEPTH, MAX_DEPTH = 10, 1_000  # default and maximum depth of a search for holes
Name = tuple[str, str]  # query_id, doc_id


@dataclass(frozen=True, slots=True)
class PooledDocument:
    """A document that becomes a pair to be judged.

    `influence`: how far a grade for it can change the mean difference of two systems whose order is open.
    """

    query_id: str
    doc_id: str
    influence: float
    provenance: tuple[Provenance, ...]


@dataclass(frozen=True, slots=True)
class PooledHoles:
    """The holes that became pairs, most influential first, and counts of the others.

    With `dry_run` nothing was stored: `documents` would have become pairs.
    """

    dataset: str
    dry_run: bool
    documents: tuple[PooledDocument, ...]
    already_there: int  # holes that are in the pool and have no settled grade yet
    measure: str  # of the influence
    depth: int
    holes: int  # unjudged documents in the first `depth` results
    left: int  # holes that stay outside the pool because of `limit`
    sentence: Message  # whether judging can stop
    round: int | None = None  # the number of the new round; None without a new pair


def pool_holes(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    now: datetime,
    depth: int = HOLE_DEPTH,
    systems: Sequence[str] | None = None,
    limit: int | None = None,
    dry_run: bool = False,
) -> PooledHoles:
    """Make pairs of the unjudged documents in the first `depth` results of the runs. For leads.

    `systems` None: all. `limit`: the maximum number of new pairs; the most influential holes come first, then
    those with the best rank. Raises NotFound for an unknown system, StateError if no pair has a settled
    grade, and ValidationError for a bad depth or limit.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise ValidationError(f"depth: expected 1 to {MAX_DEPTH:,}, found {depth:,}")
    if limit is not None and limit < 1:
        raise ValidationError(f"limit: expected a number from 1, found {limit:,}")
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        blind = find_blind_queries(session, dataset_pk, actor.person_id)
        need = _find_holes(session, dataset_pk, dataset, systems, depth, blind)
        holes = {
            (hole.query_id, hole.doc_id): hole
            for hole in sorted(need.holes, key=lambda hole: (-hole.influence, min(hole.ranks.values())))
        }
        listed = _read_candidates(session, dataset_pk, holes, systems or ())
        outside = _keep_outside_pool(session, dataset_pk, listed)
    chosen = dict(list(outside.items())[:limit])
    number = None
    if chosen and not dry_run:
        number = pool_results(
            database, actor, dataset, chosen, systems=systems or (), now=now, strategy="holes"
        ).round
    return PooledHoles(
        dataset=dataset,
        dry_run=dry_run,
        documents=_describe(chosen, holes),
        already_there=len(listed) - len(outside),
        measure=need.measure,
        depth=depth,
        holes=len(holes),
        left=len(outside) - len(chosen),
        sentence=need.sentence,
        round=number,
    )


def _find_holes(
    session: Session,
    dataset_pk: int,
    dataset: str,
    systems: Sequence[str] | None,
    depth: int,
    blind: Collection[str],
) -> JudgingNeed:
    """Find the holes without using grades of the `blind` queries, which the lead may still judge."""
    runs = choose_imported_runs(session, dataset_pk, dataset, systems or ())
    truth, _ = read_truth(session, dataset_pk, dataset, None, blind)
    judged = [query_id for query_id, grades in truth.grades.items() if grades]
    if not judged:
        raise StateError(
            add_command(
                say("The systems cannot be scored yet: no pair has a settled grade."),
                f"annotator pool {dataset} --depth K makes the first pairs",
            )
        )
    query_ids = {pk: query.query_id for pk, query in list_queries(session, dataset_pk).items()}
    first_results, unjudged = list[RankedRun](), {query_id: set[str]() for query_id in judged}
    for imported in runs:
        run = read_imported_run(session, imported, query_ids, "score")
        first_results.append(cut_run(run, depth))
        for index, query_id in enumerate(run.query_ids):
            if query_id in unjudged:
                unjudged[query_id].update(run.list_documents(index))
    return find_holes(
        first_results,
        truth.grades,
        parse_measure_name(f"nDCG@{depth}"),
        judged,
        unjudged={
            query_id: len(found.difference(truth.grades[query_id])) for query_id, found in unjudged.items()
        },
    )


def _read_candidates(
    session: Session, dataset_pk: int, names: Collection[Name], systems: Collection[str]
) -> dict[Name, list[PoolCandidate]]:
    """Return {name: results of the imported runs with this document}. Empty `systems`: all."""
    runs = {
        pk: system
        for pk, system in list_runs(session, dataset_pk).items()
        if not systems or system in systems
    }
    by_name: dict[Name, list[PoolCandidate]] = {name: [] for name in names}
    for candidate in list_run_candidates(session, runs, list(by_name)):
        by_name[candidate.query_id, candidate.doc_id].append(candidate)
    return {name: candidates for name, candidates in by_name.items() if candidates}


def _keep_outside_pool(
    session: Session, dataset_pk: int, listed: Mapping[Name, list[PoolCandidate]]
) -> dict[Name, list[PoolCandidate]]:
    pairs = list_pair_pks(
        session,
        dataset_pk,
        {candidate.query_pk for candidates in listed.values() for candidate in candidates},
    )
    return {
        name: candidates
        for name, candidates in listed.items()
        if (candidates[0].query_pk, candidates[0].document_pk) not in pairs
    }


def _describe(
    chosen: Mapping[Name, Sequence[PoolCandidate]], holes: Mapping[Name, Hole]
) -> tuple[PooledDocument, ...]:
    return tuple(
        PooledDocument(
            *name,
            influence=holes[name].influence,
            provenance=tuple(
                Provenance(candidate.system, candidate.rank, candidate.score, candidate.signals)
                for candidate in candidates
            ),
        )
        for name, candidates in chosen.items()
    )
