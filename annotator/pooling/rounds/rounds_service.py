"""Make a round of the pool: gather candidates, choose some by a strategy, and store the pairs.

Candidates are the first results of imported runs and of our own retrievers. Everything is computed before the
dataset is locked; then one transaction stores the pairs, their provenance, the round, and the candidates that
filters left out. Repeating a request changes nothing and makes no round.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from annotator.domain.audit import AuditAction
from annotator.domain.errors import StateError, ValidationError
from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.messages import add_command, join_first, say
from annotator.domain.people import Actor
from annotator.domain.settling import find_uniform_overlap
from annotator.labeling.my_work_service import compute_times
from annotator.people.roles_service import open_dataset
from annotator.pooling.adaptive.records import UNJUDGED
from annotator.pooling.filters.filters_sql import find_left_out
from annotator.pooling.retrievers.records import RetrieverNote, check_options, describe_options
from annotator.pooling.rounds.pool_records import (
    CandidateLists,
    CandidatePairs,
    Numbers,
    PoolChoice,
    PoolReport,
    PoolRequest,
    SystemCounts,
    SystemOrder,
)
from annotator.pooling.rounds.pooling_sql import (
    PoolArrays,
    list_doc_ids,
    name_systems,
    read_lists,
    read_pool,
    retrieve_from_documents,
)
from annotator.pooling.rounds.round_records import (
    JudgedProbability,
    LeftOut,
    NewRound,
    PairDraw,
    PoolRound,
)
from annotator.pooling.rounds.rounds_sql import (
    add_new_pairs_to_round,
    add_round,
    count_waiting,
    find_latest_pair,
    leaves_out_nothing_new,
    list_categories,
    list_drawn,
    list_judged_pairs,
    list_left_out_in,
    list_probabilities,
    list_rounds,
    raise_probabilities,
)
from annotator.pooling.rounds.samples import (
    carry_chances,
    check_independent,
    check_repeated,
    combine_chances,
    describe_per_query,
    estimate_effort,
    expect_relevant,
    is_same_draw,
    read_sample,
)
from annotator.pooling.rounds.strategies import (
    BUDGETED,
    PoolState,
    check_request,
    choose_candidates,
    count_strata,
    describe_order,
    drop_pairs,
    find_list_depth,
    find_strata,
    measure_chances,
    pair_candidates,
    spend_budget,
    tabulate,
)
from annotator.storage.database import Database, lock_dataset
from annotator.storage.judgments.missing_judgments import want
from annotator.storage.logs.audit_log import note_act
from annotator.storage.logs.disclosures import list_blind_pairs
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pair_states import list_pair_states
from annotator.storage.pairs.pool import (
    PoolCandidate,
    RetrievalQuery,
    add_candidates,
    add_pairs,
    count_documents,
    list_queries,
    list_runs,
    pair_key,
)
from annotator.storage.sql import split_into_chunks
from annotator.storage.tables.central import DatasetRow

Progress = Callable[[str, float], None]
PAIRS_AT_ONCE = 50_000
STORING = "storing"
"""The step that `progress` gets once everything is computed."""


@dataclass(frozen=True, slots=True, eq=False)
class _Gathered:
    """A request and its candidates. `runs`: {run_pk: system}. `retrieved`: candidates of our retrievers.

    `lists` and `pairs` are without the candidates that the request's filters leave out.
    """

    request: PoolRequest
    queries: Mapping[int, RetrievalQuery]
    runs: Mapping[int, str]
    retrieved: Sequence[PoolCandidate]
    notes: tuple[RetrieverNote, ...]
    lists: CandidateLists
    pairs: CandidatePairs
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Chosen:
    """The pairs that a strategy chose. `is_new`: whether each is not in the pool yet.

    `samples`: the numbers of earlier stratified rounds. Only for a further sample, for every candidate:
    `chances`: the probability that this sample draws it; `combined`: that at least one of all samples does.
    """

    choice: PoolChoice
    is_new: NDArray[np.bool_]
    order: SystemOrder | None = None  # of an adaptive round
    waiting: int = 0  # unjudged pairs of earlier budget rounds
    samples: tuple[int, ...] = ()
    chances: NDArray[np.float64] | None = None
    combined: NDArray[np.float64] | None = None


def make_round(
    database: Database,
    actor: Actor,
    dataset: str,
    request: PoolRequest,
    *,
    now: datetime,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> PoolReport:
    """Add the requested pairs to the pool, as one round. For leads.

    An exception from `progress` stops it with nothing stored; no call comes while pairs are stored. Raises
    StateError without any source of candidates, ValidationError for an impossible request.
    """
    check_request(request)
    check_options(request.retrievers, request.retrieval)
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        gathered = _gather(session, row, request, progress)
        pool = read_pool(session, dataset_pk)
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        grades = _read_grades(session, dataset_pk, gathered.pairs, pool, blind)
        chosen = _choose(session, dataset_pk, gathered, pool, grades)
        if request.strategy == "stratified":
            chosen = _combine_samples(session, dataset_pk, gathered, chosen, pool)
        doc_ids = list_doc_ids(session, dataset_pk)
        judgments = _count_judgments(session, row, gathered, chosen, doc_ids)
    times = compute_times(database, actor, dataset)
    report = _report(dataset, gathered, chosen, dry_run=dry_run)
    new_ranks = gathered.pairs.best[chosen.choice.pairs[chosen.is_new]]
    is_judged = grades >= 0
    judged, relevant = gathered.pairs.best[is_judged], grades[is_judged] >= RELEVANT_FROM
    figures: dict[str, Any] = {
        "expected_relevant": expect_relevant(new_ranks, judged, relevant),
        "effort": estimate_effort(judgments, times.overall.n, times.overall.seconds),
        "order": chosen.order,
        "waiting": chosen.waiting,
    }
    if not dry_run:
        if progress is not None:
            progress(STORING, 0.0)
        number, new = _store(database, actor, dataset, gathered, chosen, doc_ids, now)
        figures |= {"round": number, "new": new, "already_there": len(chosen.choice.pairs) - new}
        if progress is not None:
            progress(STORING, 1.0)
    return PoolReport(**{**report, **figures})


def list_pool_rounds(database: Database, actor: Actor, dataset: str) -> list[PoolRound]:
    """Return the rounds of a dataset's pool by number. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return list_rounds(session, dataset_pk)


def list_pair_probabilities(database: Database, actor: Actor, dataset: str) -> list[JudgedProbability]:
    """Return every settled pair of the pool with its inclusion probability. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        drawn = {(item.query_id, item.doc_id): item for item in list_probabilities(session, dataset_pk)}
        return [
            replace(drawn[state.query_id, state.doc_id], grade=state.settlement.grade)
            for state in list_pair_states(session, dataset_pk)
            if state.settlement.grade is not None or state.settlement.status == "unrateable"
        ]


def estimate_order_now(
    session: Session, dataset_pk: int, systems: Collection[str], blind: Collection[int]
) -> SystemOrder | None:
    """Estimate the present order of these imported systems; None if no pair of an adaptive round is judged.

    Uses the measure, the depth and the left-out candidates of the latest adaptive round. `blind`: pairs that
    the lead may still judge; they count as not judged.
    """
    rounds = [made for made in list_rounds(session, dataset_pk) if made.strategy == "adaptive"]
    if not rounds or list_judged_pairs(session, dataset_pk, "adaptive") <= set(blind):
        return None
    options = rounds[-1].options
    request = PoolRequest(strategy="adaptive", depth=options["depth"], measure=options["measure"])
    runs = {pk: system for pk, system in list_runs(session, dataset_pk).items() if system in systems}
    lists = read_lists(session, runs, find_list_depth(request))
    lists = drop_pairs(
        lists, pair_candidates(lists), list_left_out_in(session, dataset_pk, rounds[-1].number)
    )
    pairs = pair_candidates(lists)
    grades = _read_grades(session, dataset_pk, pairs, read_pool(session, dataset_pk), blind)
    nowhere = np.zeros(len(grades), dtype=np.bool_)
    state = PoolState(grades, nowhere, list_categories(session, dataset_pk), {})
    return describe_order(tabulate(lists, state), lists.systems, request)


def _gather(session: Session, row: DatasetRow, request: PoolRequest, progress: Progress | None) -> _Gathered:
    queries = list_queries(session, key_of(row.pk))
    if not queries:
        lacking = say("This dataset has no queries yet. Import them first.")
        raise StateError(add_command(lacking, f"annotator import queries {row.name} FILE"))
    runs = _choose_runs(session, row, request)
    depth = find_list_depth(request)
    retrieved: list[PoolCandidate] = []
    notes: tuple[RetrieverNote, ...] = ()
    if request.retrievers:
        if not count_documents(session, key_of(row.pk)):
            lacking = say("This dataset has no documents to search yet. Import them first.")
            raise StateError(add_command(lacking, f"annotator import documents {row.name} PATH"))
        retrieved, notes = retrieve_from_documents(session, key_of(row.pk), queries, request, depth, progress)
    lists = _join_lists(read_lists(session, runs, depth), retrieved)
    pairs = pair_candidates(lists)
    ranked = zip(pairs.query.tolist(), pairs.document.tolist(), pairs.best.tolist(), strict=True)
    left_out = find_left_out(session, key_of(row.pk), ranked, request.filters, progress=progress)
    if left_out:
        lists = drop_pairs(lists, pairs, [(item.query_pk, item.document_pk) for item in left_out])
        pairs = pair_candidates(lists)
    return _Gathered(request, queries, runs, retrieved, notes, lists, pairs, left_out)


def _choose_runs(session: Session, row: DatasetRow, request: PoolRequest) -> dict[int, str]:
    runs = list_runs(session, key_of(row.pk))
    if request.systems is not None:
        missing = [system for system in request.systems if system not in runs.values()]
        if missing:
            existing = join_first(sorted(runs.values())) or "none"
            raise ValidationError(f"no run of the system {missing[0]!r} is imported; there is: {existing}")
        runs = {pk: system for pk, system in runs.items() if system in request.systems}
    if not runs and not request.retrievers:
        raise StateError(
            add_command(
                say("There is no run to pool from yet. Import one, or choose a search in the documents."),
                f"annotator import run {row.name} FILE --system NAME, "
                f"or annotator pool {row.name} --depth K --retrieve bm25",
            )
        )
    return runs


def _join_lists(lists: CandidateLists, retrieved: Sequence[PoolCandidate]) -> CandidateLists:
    if not retrieved:
        return lists
    systems = (*lists.systems, *dict.fromkeys(item.system for item in retrieved))
    numbers = {system: number for number, system in enumerate(systems)}
    values = np.array(
        [(numbers[item.system], item.query_pk, item.document_pk, item.rank or 1) for item in retrieved],
        dtype=np.int64,
    )
    return CandidateLists(
        systems,
        np.concatenate([lists.system, values[:, 0].astype(np.int32)]),
        np.concatenate([lists.query, values[:, 1]]),
        np.concatenate([lists.document, values[:, 2]]),
        np.concatenate([lists.position, values[:, 3].astype(np.int32)]),
    )


def _is_in_pool(pairs: CandidatePairs, indexes: Numbers, pool: PoolArrays) -> NDArray[np.bool_]:
    width = int(max(pairs.document.max(initial=0), pool.document.max(initial=0))) + 1
    keys = pairs.query[indexes] * width + pairs.document[indexes]
    return np.isin(keys, pool.query * width + pool.document)


def _read_grades(
    session: Session, dataset_pk: int, pairs: CandidatePairs, pool: PoolArrays, blind: Collection[int]
) -> NDArray[np.int8]:
    """Return the settled grade of each candidate, or UNJUDGED.

    `blind`: pairs that the lead may still judge. They count as not judged, because the estimates and choices
    of a round reveal the grades behind them.
    """
    grades = np.full(len(pairs.query), UNJUDGED, dtype=np.int8)
    pair_pks = [pk for pk in pool.pk[pool.answered & pool.present].tolist() if pk not in blind]
    width = int(pairs.document.max(initial=0)) + 1
    keys = pairs.query * width + pairs.document
    for state in list_pair_states(session, dataset_pk, pair_pks) if pair_pks else ():
        grade = state.settlement.grade
        if grade is None or state.document_pk >= width:
            continue
        key = state.query_pk * width + state.document_pk
        index = int(np.searchsorted(keys, key))
        if index < len(keys) and keys[index] == key:
            grades[index] = grade
    return grades


def _choose(
    session: Session,
    dataset_pk: int,
    gathered: _Gathered,
    pool: PoolArrays,
    grades: NDArray[np.int8],
) -> _Chosen:
    request, pairs = gathered.request, gathered.pairs
    if request.strategy not in BUDGETED:
        choice = choose_candidates(gathered.lists, pairs, request)
        return _Chosen(choice, ~_is_in_pool(pairs, choice.pairs, pool))
    in_pool = _is_in_pool(pairs, np.arange(len(pairs.query)), pool)
    waiting = count_waiting(session, dataset_pk, BUDGETED)
    state = PoolState(grades, in_pool, list_categories(session, dataset_pk), waiting)
    table = tabulate(gathered.lists, state)
    order = describe_order(table, gathered.lists.systems, request) if request.strategy == "adaptive" else None
    choice = spend_budget(table, pairs, state, request)
    return _Chosen(choice, ~in_pool[choice.pairs], order, sum(waiting.values()))


def _combine_samples(
    session: Session, dataset_pk: int, gathered: _Gathered, chosen: _Chosen, pool: PoolArrays
) -> _Chosen:
    """Combine the sample's probabilities with those of earlier samples. Raises StateError if they are unknown."""
    request = gathered.request
    rounds = [made for made in list_rounds(session, dataset_pk) if made.strategy == "stratified"]
    samples = [read_sample(made) for made in rounds]
    numbers = tuple(sample.number for sample in samples)
    if not samples or (not chosen.is_new.any() and any(is_same_draw(sample, request) for sample in samples)):
        return replace(chosen, samples=numbers)
    check_independent(rounds, request)
    chances = measure_chances(gathered.pairs, find_strata(request))
    combined = chances
    runs = {system: run_pk for run_pk, system in list_runs(session, dataset_pk).items()}
    for sample in samples:
        systems = {runs[system]: system for system in sample.depths if system in runs}
        pairs = pair_candidates(read_lists(session, systems, sample.strata[-1].last))
        in_pool = _is_in_pool(pairs, np.arange(len(pairs.query)), pool)
        check_repeated(sample, pairs, list_drawn(session, dataset_pk, sample.number), in_pool)
        combined = combine_chances(combined, carry_chances(sample, pairs, gathered.pairs))
    return replace(chosen, samples=numbers, chances=chances, combined=combined)


def _update_probabilities(session: Session, dataset_pk: int, gathered: _Gathered, chosen: _Chosen) -> None:
    """Raise the probabilities of pairs from earlier rounds: this round could draw them too, or takes them for certain."""
    chances = chosen.chances
    if gathered.request.strategy in ("depth", "fused"):
        chances = np.zeros(len(gathered.pairs.query))
        chances[chosen.choice.pairs] = 1.0
    if chances is not None:
        keys = gathered.pairs.list_keys()
        raise_probabilities(session, dataset_pk, lambda: dict(zip(keys, chances.tolist(), strict=True)))


def _count_judgments(
    session: Session, row: DatasetRow, gathered: _Gathered, chosen: _Chosen, doc_ids: Mapping[int, str]
) -> int:
    """Count the judgments that the new pairs need, by the dataset's overlap and its exceptions."""
    everywhere = find_uniform_overlap(row.overlap, row.overlap_rules)
    if everywhere is not None:
        return everywhere * int(chosen.is_new.sum())
    names = _name_new(gathered, chosen, doc_ids)
    keys = [(query_pk, pair_key(row.name, *name)) for (query_pk, _), name in names.items()]
    return sum(want(session, key_of(row.pk), keys))


def _name_new(
    gathered: _Gathered, chosen: _Chosen, doc_ids: Mapping[int, str]
) -> dict[tuple[int, int], tuple[str, str]]:
    keys = gathered.pairs.list_keys(chosen.choice.pairs[chosen.is_new])
    return {key: (gathered.queries[key[0]].query_id, doc_ids[key[1]]) for key in keys}


def _store(
    database: Database,
    actor: Actor,
    dataset: str,
    gathered: _Gathered,
    chosen: _Chosen,
    doc_ids: Mapping[int, str],
    now: datetime,
) -> tuple[int | None, int]:
    """Store pairs, provenance and round; return its number (or None) and the number of new pairs.

    Without new pairs, a round is stored only if a candidate was newly left out, or for a further sample,
    which changes the probabilities of earlier ones. `waiting`: the counted unjudged pairs of budget rounds.
    Raises StateError if there are more now, because the same budget would be spent twice.
    """
    request = gathered.request
    with open_dataset(database, actor, dataset, "lead", writing=True) as (session, row, dataset_pk):
        lock_dataset(session, dataset_pk)
        budgeted = request.strategy in BUDGETED
        if budgeted and sum(count_waiting(session, dataset_pk, BUDGETED).values()) > chosen.waiting:
            raise StateError(
                say(
                    "another round has spent a budget in the meantime: nothing was added; check that round, then try again"
                )
            )
        pool, latest = read_pool(session, dataset_pk), find_latest_pair(session, dataset_pk)
        chosen = replace(chosen, is_new=~_is_in_pool(gathered.pairs, chosen.choice.pairs, pool))
        samples = tuple(
            made.number for made in list_rounds(session, dataset_pk) if made.strategy == "stratified"
        )
        if request.strategy == "stratified" and samples != chosen.samples:
            raise StateError(say("another sample was drawn in the meantime: nothing was added; try again"))
        _update_probabilities(session, dataset_pk, gathered, chosen)
        names = _name_new(gathered, chosen, doc_ids)
        for chunk in split_into_chunks(list(names), PAIRS_AT_ONCE):
            add_pairs(session, dataset_pk, row.name, {key: names[key] for key in chunk}, now=now)
        depth, is_new_pool = find_list_depth(request), not len(pool.pk)
        name_systems(session, dataset_pk, gathered.runs, gathered.queries, depth, is_new_pool=is_new_pool)
        if gathered.retrieved:
            pairs = names.keys() | set(zip(pool.query.tolist(), pool.document.tolist(), strict=True))
            pooled = [item for item in gathered.retrieved if (item.query_pk, item.document_pk) in pairs]
            add_candidates(session, dataset_pk, row.name, pooled, now=now)
        changes_nothing = not names and chosen.chances is None
        if changes_nothing and leaves_out_nothing_new(session, dataset_pk, gathered.left_out):
            return None, 0
        figures = _describe_figures(gathered, chosen)
        if chosen.order is not None:
            figures["order"] = asdict(chosen.order)
        new = NewRound(request.strategy, _describe_request(request), figures, gathered.left_out)
        number = add_round(session, dataset_pk, new, {}, made_by=actor.person_id, now=now)
        add_new_pairs_to_round(session, dataset_pk, number, latest, _list_draws(gathered, chosen))
        details = {"strategy": request.strategy, "pairs": len(names)}
        note_act(
            session,
            AuditAction.pool_round_made,
            actor,
            at=now,
            dataset=dataset_pk,
            target=str(number),
            details=details,
        )
        return number, len(names)


def _describe_request(request: PoolRequest) -> dict[str, Any]:
    options: dict[str, Any] = {"depth": request.depth}
    options["systems"] = None if request.systems is None else list(request.systems)
    options["retrievers"] = list(request.retrievers)
    options |= describe_options(request.retrievers, request.retrieval)
    if request.strategy in BUDGETED:
        options |= {"budget": request.budget, "per_category": request.per_category, "seed": request.seed}
    if request.strategy == "adaptive":
        options["measure"] = request.measure
    if request.strategy == "stratified":
        options |= {
            "strata": [f"{item.name}:{item.rate:g}" for item in find_strata(request)],
            "seed": request.seed,
        }
    if request.filters:
        options["filters"] = request.filters.list_rules()
    return options


def _describe_figures(gathered: _Gathered, chosen: _Chosen) -> dict[str, Any]:
    """Return the figures of a round, as JSON. `systems`: {system: considered results per query}."""
    depth = find_list_depth(gathered.request)
    return {
        "candidates": len(gathered.pairs.query),
        "chosen": len(chosen.choice.pairs),
        "new": int(chosen.is_new.sum()),
        "systems": dict.fromkeys(gathered.lists.systems, depth),
        "left_out": _count_left_out(gathered),
        "strata": [asdict(item) for item in count_strata(gathered.pairs, chosen.choice)],
    }


def _count_left_out(gathered: _Gathered) -> dict[str, int]:
    counts = Counter(item.rule for item in gathered.left_out)
    return {rule: counts[rule] for rule in gathered.request.filters.list_rules()}


def _list_draws(gathered: _Gathered, chosen: _Chosen) -> dict[tuple[int, int], PairDraw]:
    """Return {(query_pk, document_pk): draw} of the new pairs; empty if all were certain."""
    choice = chosen.choice
    if choice.stratum is None or choice.inclusion is None:
        return {}
    indexes = choice.pairs[chosen.is_new]
    inclusions = choice.inclusion[chosen.is_new] if chosen.combined is None else chosen.combined[indexes]
    drawn = zip(
        gathered.pairs.list_keys(indexes),
        choice.stratum[chosen.is_new].tolist(),
        inclusions.tolist(),
        strict=True,
    )
    return {
        key: PairDraw(choice.strata[stratum].name, inclusion if inclusion < 1 else None)  # NaN is not below 1
        for key, stratum, inclusion in drawn
    }


def _report(dataset: str, gathered: _Gathered, chosen: _Chosen, *, dry_run: bool) -> dict[str, Any]:
    """Return the fields of the report that do not depend on the stored round."""
    request, pairs, indexes = gathered.request, gathered.pairs, chosen.choice.pairs
    order = {query_pk: number for number, query_pk in enumerate(gathered.queries)}
    numbers = np.array([order[query_pk] for query_pk in pairs.query[indexes].tolist()], dtype=np.int64)
    counts = np.bincount(numbers, minlength=len(order))
    query_ids = [query.query_id for query in gathered.queries.values()]
    by_query = dict(zip(query_ids, counts.tolist(), strict=True))
    too_short = {query_id for note in gathered.notes if note.kind == "too_short" for query_id in note.names}
    depth = request.depth or find_list_depth(request)
    return {
        "dataset": dataset,
        "strategy": request.strategy,
        "depth": depth,
        "dry_run": dry_run,
        "round": None,
        "new": int(chosen.is_new.sum()),
        "already_there": int((~chosen.is_new).sum()),
        "per_query": describe_per_query(np.bincount(numbers[chosen.is_new], minlength=len(order))),
        "left_out": _count_left_out(gathered),
        "strata": count_strata(pairs, chosen.choice),
        "systems": _count_systems(gathered.lists, pairs, indexes),
        "short": {
            query_id: count
            for query_id, count in by_query.items()
            if request.strategy in ("depth", "fused") and 0 < count < depth
        },
        "without": tuple(query_id for query_id, count in by_query.items() if not count),
        "too_short": tuple(query_id for query_id in query_ids if query_id in too_short),
        "notes": gathered.notes,
    }


def _count_systems(lists: CandidateLists, pairs: CandidatePairs, chosen: Numbers) -> tuple[SystemCounts, ...]:
    is_chosen = np.zeros(len(pairs.query), dtype=np.bool_)
    is_chosen[chosen] = True
    counts = []
    for number, system in enumerate(lists.systems):
        pairs_of = pairs.of_entry[lists.system == number]
        pairs_of = pairs_of[is_chosen[pairs_of]]
        if len(pairs_of):
            queries = len(np.unique(pairs.query[pairs_of]))
            alone = int((pairs.lists[pairs_of] == 1).sum())
            counts.append(SystemCounts(system, queries, len(pairs_of), alone))
    return tuple(sorted(counts, key=lambda item: item.system))
