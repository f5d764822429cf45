"""Show the pool to leads: contents, systems, relevance by rank, left-out candidates, and pairs.

The database counts, so a pool of a million proposals is shown in seconds; nothing here lists all pairs.
Grades of single pairs are not shown here, because seeing them must be recorded. Pairs that the lead may still
judge count as not judged.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.domain.errors import NotFound, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.settling import PAIR_STATUSES
from annotator.people.roles_service import open_dataset
from annotator.pooling.analysis import pool_analysis_sql as sql
from annotator.pooling.analysis.pool_analysis import (
    ClusterSums,
    DepthReport,
    LeftOutCandidate,
    LeftOutGroup,
    LeftOutPage,
    PairCount,
    PairFilter,
    PairPage,
    PoolContents,
    PooledPair,
    PooledPairOrigin,
    SystemShare,
    choose_drawn,
    count_from_one,
    describe_ranks,
    describe_system_ranks,
    find_last_ranks,
    hide_origin,
    judge_depth,
    list_bounds,
    name_sets,
)
from annotator.pooling.rounds.round_records import PoolRound
from annotator.pooling.rounds.rounds_sql import list_rounds
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import (
    FigureStamp,
    has_pairs_to_judge,
    list_blind_pairs,
    list_to_judge,
    note_seen,
    stamp_figures,
)
from annotator.storage.pairs.pair_states import list_pair_states

PAGE = 50
MOST_PAGE = 500
MOST_DUPLICATES = 100


def read_stamp(database: Database, actor: Actor, dataset: str) -> FigureStamp:
    """Return a value that changes with the pool and its judgments. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return stamp_figures(session, dataset_pk, actor.person_id, sql.read_pool_stamp(session))


def show_contents(database: Database, actor: Actor, dataset: str) -> PoolContents:
    """Return the pool by status, by system and by set of systems. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        by_system = sql.count_system_ranks(session, dataset_pk, actor.person_id)
        proposed = {system: sum(ranks.values(), PairCount()) for system, ranks in by_system.items()}
        drawn = choose_drawn({system: counted.pairs for system, counted in proposed.items()})
        counted_sets = sql.count_sets(session, dataset_pk, actor.person_id, drawn)
        sets = name_sets(drawn, counted_sets)
        alone = {item.systems[0]: item.counted for item in sets if len(item.systems) == 1 and not item.others}
        if len(drawn) < len(proposed):
            alone = sql.count_alone(session, dataset_pk, actor.person_id)
        blind_pairs = len(list_blind_pairs(session, dataset_pk, actor.person_id))
    statuses = dict.fromkeys(PAIR_STATUSES, 0)
    for _, _, status, counted in counted_sets:
        statuses[status] += counted.pairs
    systems = tuple(
        SystemShare(
            system, _find_deepest(by_system[system]), proposed[system], alone.get(system, PairCount())
        )
        for system in sorted(proposed)
    )
    return PoolContents(statuses, systems, drawn, sets, blind_pairs)


def show_depth(database: Database, actor: Actor, dataset: str) -> DepthReport:
    """Return the share of relevant pairs by rank, overall and by system, and at the last ranks by category. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        by_system = sql.count_system_ranks(session, dataset_pk, actor.person_id)
        pairs = sql.count_pairs(session, dataset_pk)
        deepest = max((_find_deepest(ranks) or 0 for ranks in by_system.values()), default=0)
        if not deepest:
            return DepthReport((), None, {}, {}, pairs)
        bounds, first = list_bounds(deepest), find_last_ranks(deepest)
        from_zero = [system for system, ranks in by_system.items() if 0 in ranks]
        categories = sql.count_ranks(
            session, dataset_pk, actor.person_id, bounds=bounds, last=first, from_zero=from_zero
        )
    nothing = PairCount(), ClusterSums()
    overall: dict[int, tuple[PairCount, ClusterSums]] = {}
    for groups in categories.values():
        for group, (counted, sums) in groups.items():
            total = overall.get(group, nothing)
            overall[group] = total[0] + counted, total[1] + sums
    by_rank = describe_ranks(bounds, overall)
    return DepthReport(
        overall=by_rank,
        verdict=judge_depth(first, deepest, *overall.get(sql.LAST_RANKS, nothing)),
        by_system={
            system: describe_system_ranks(bounds, count_from_one(by_system[system]))
            for system in sorted(by_system)
            if _find_deepest(by_system[system])
        },
        categories={
            category: judge_depth(first, deepest, *categories[category].get(sql.LAST_RANKS, nothing))
            for category in sorted(categories, key=lambda name: (name is None, name or ""))
        },
        unranked=pairs - sum(share.counted.pairs for share in by_rank),
    )


def _find_deepest(ranks: Mapping[int | None, PairCount]) -> int | None:
    return max((rank for rank in count_from_one(ranks) if rank is not None), default=None)


def list_pair_page(
    database: Database, actor: Actor, dataset: str, chosen: PairFilter, *, start: int = 0, most: int = PAGE
) -> PairPage:
    """Return a part of the filtered pairs, by query position and doc_id. For leads.

    Pairs that the lead may still judge have neither systems nor status, and no filter by system finds them.
    Raises ValidationError for an unknown status.
    """
    if chosen.status is not None and chosen.status not in PAIR_STATUSES:
        raise ValidationError(f"status: expected one of {', '.join(PAIR_STATUSES)}, found {chosen.status!r}")
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        pair_pks, total = sql.list_pair_pks_of_page(
            session, dataset_pk, actor.person_id, chosen, start=start, most=min(most, MOST_PAGE)
        )
        hidden = list_to_judge(session, actor.person_id, pair_pks)
        pairs = [
            hide_origin(pair) if pk in hidden else pair
            for pk, pair in zip(pair_pks, _read_pairs(session, dataset_pk, pair_pks), strict=True)
        ]
        hides = chosen.system is not None and has_pairs_to_judge(session, dataset_pk, actor.person_id)
    return PairPage(tuple(pairs), total, hides)


def show_pair(
    database: Database, actor: Actor, dataset: str, pair: str, *, reveal: bool = False, now: datetime
) -> PooledPairOrigin:
    """Return a pair with its origin. For leads. Raises NotFound if the pool has no such pair.

    A pair that the lead may still judge has neither systems nor status. With `reveal` it has them, and the
    lead may no longer judge it.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        pair_pk = sql.find_pair(session, dataset_pk, pair)
        if pair_pk is None:
            raise NotFound(say("the pool has no pair {pair!r}", pair=pair))
        (shown,) = _read_pairs(session, dataset_pk, [pair_pk])
        (state,) = list_pair_states(session, dataset_pk, [pair_pk])
        row = sql.read_pair_rows(session, [pair_pk])[pair_pk]
        duplicates = sql.list_in_stead(
            session, dataset_pk, state.query_pk, state.document_pk, most=MOST_DUPLICATES
        )
        ranked = sql.is_ranked(session, state.query_pk)
        hidden = bool(list_to_judge(session, actor.person_id, [pair_pk]))
    if hidden and not reveal:
        return PooledPairOrigin(hide_origin(shown), None, None, tuple(duplicates), ranked)
    if hidden:
        note_seen(database, [pair_pk], actor.person_id, now=now)
    return PooledPairOrigin(shown, row.stratum, row.inclusion, tuple(duplicates), ranked)


def show_rounds(
    database: Database, actor: Actor, dataset: str
) -> tuple[tuple[PoolRound, ...], dict[int, PairCount], tuple[LeftOutGroup, ...]]:
    """Return the rounds, their pairs by number, and their left-out candidates by rule. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        rounds = tuple(list_rounds(session, dataset_pk))
        counted = sql.count_rounds(session, dataset_pk, actor.person_id)
        return rounds, counted, tuple(sql.list_left_out_groups(session, dataset_pk))


def list_left_out_page(
    database: Database,
    actor: Actor,
    dataset: str,
    number: int,
    rule: str,
    *,
    start: int = 0,
    most: int = PAGE,
) -> LeftOutPage:
    """Return a part of the candidates that a round left out by a rule; none for an unknown round or rule. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        total = next(
            (
                group.candidates
                for group in sql.list_left_out_groups(session, dataset_pk)
                if (group.number, group.rule) == (number, rule)
            ),
            0,
        )
        listed = (
            sql.list_left_out(session, dataset_pk, number, rule, start=start, most=min(most, MOST_PAGE))
            if total > start
            else []
        )
    return LeftOutPage(tuple(listed), total)


def iterate_left_out(database: Database, actor: Actor, dataset: str) -> Iterator[LeftOutCandidate]:
    """Return all candidates that the rounds left out, for a file. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return iter(sql.list_every_left_out(session, dataset_pk))


def _read_pairs(session: Session, dataset_pk: int, pair_pks: Sequence[int]) -> list[PooledPair]:
    rows, provenance = sql.read_pair_rows(session, pair_pks), sql.read_provenance(session, pair_pks)
    states = {state.pair_pk: state for state in list_pair_states(session, dataset_pk, pair_pks)}
    return [
        PooledPair(
            states[pk].key,
            states[pk].query_id,
            rows[pk].query,
            rows[pk].category,
            states[pk].doc_id,
            rows[pk].title,
            states[pk].settlement.status,
            rows[pk].number,
            tuple(provenance.get(pk, ())),
        )
        for pk in pair_pks
    ]
