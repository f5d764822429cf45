"""Widen the pool by relations between documents, and report how often the suggestions were right. For leads.

From every document settled at grade 3 for a query, rules follow a file of relations (`suggestion_rules.py`).
The documents at the end become pairs with the provenance `relation: RULE` and a suggested grade, which
settles nothing and which no annotator sees. Judged pairs get no suggestion; their counts show how good a rule
is.
"""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import StateError
from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.formats.input_tables import RelationLine
from annotator.people.roles_service import open_dataset
from annotator.pooling.rounds.round_records import NewRound, PairDraw
from annotator.pooling.rounds.rounds_sql import add_round
from annotator.pooling.suggestions.suggestion_rules import (
    SETTLED_AT,
    RelationSuggestion,
    RuleCounts,
    SuggestedPair,
    SuggestionReport,
    SuggestionRule,
    SuggestReport,
    check_relations,
    count_unused,
    find_suggestions,
    measure_accuracy,
)
from annotator.storage.database import Database, lock_dataset
from annotator.storage.logs.disclosures import find_pair_pks, list_blind_pairs, list_to_judge, note_seen
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pair_states import (
    IS_BY_RELATION,
    RELATION,
    PairState,
    add_suggestions,
    iterate_pair_states,
    list_pair_states,
)
from annotator.storage.pairs.pool import (
    PoolCandidate,
    add_candidates,
    are_in_use,
    list_pair_pks,
    list_queries,
)
from annotator.storage.tables.central import DatasetRow, DocumentRow, ImportedQrelRow, PairRow

PROVENANCE = "relation: "
"""The system name of a suggested pair begins like this. The rule's name follows."""
STRATEGY = "relations"
"""The strategy of a round of suggestions."""
ATTEMPTS = 3
"""How often suggestions are computed before the dataset is locked. After the last time they are computed under the lock."""


@dataclass(frozen=True, slots=True)
class StoredSuggestion:
    """A stored suggestion with its rule, its grade, and the starting documents with their pairs' keys."""

    pair_pk: int
    rule: str
    relation: str
    grade: int
    from_doc_ids: tuple[str, ...]
    from_pairs: tuple[str, ...]


def suggest_from(
    database: Database,
    actor: Actor,
    dataset: str,
    lines: Sequence[RelationLine],
    followed: Sequence[SuggestionRule],
    source: str,
    *,
    now: datetime,
    dry_run: bool = False,
    skip_unknown: bool = False,
) -> SuggestReport:
    """Add the suggestions of the rules to the pool, all or nothing. Repeating it changes nothing. For leads.

    `source`: the name of the relations in errors. `skip_unknown`: skip relations with a document that the
    dataset does not have. Pairs that the lead may still judge count as not judged. The suggestions are
    computed before the dataset is locked, and again if these pairs have changed by then. Raises BadInput with
    every bad relation, StateError if no pair is settled at grade 3 yet.
    """
    number = None
    for attempt in range(ATTEMPTS):
        with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
            documents = list_suggestable_documents(session, dataset_pk)
            kept, unknown = check_relations(lines, followed, documents, source, skip_unknown=skip_unknown)
            blind = list_blind_pairs(session, dataset_pk, actor.person_id)
            plan = _plan(session, row, kept, followed, documents, blind)
        counts = tuple(_count_rule(rule, plan) for rule in followed)
        if dry_run:
            break
        with open_dataset(database, actor, dataset, "lead", writing=True) as (session, row, _):
            lock_dataset(session, dataset_pk)
            if not _is_current(session, row, plan):
                if attempt < ATTEMPTS - 1:
                    continue
                blind = list_blind_pairs(session, dataset_pk, actor.person_id)
                plan = _plan(session, row, kept, followed, documents, blind)
                counts = tuple(_count_rule(rule, plan) for rule in followed)
            number = _store(session, row, plan, counts, made_by=actor.person_id, now=now)
            break
    return SuggestReport(
        dataset=dataset,
        dry_run=dry_run,
        relations=len(kept),
        queries=len(plan.settled),
        settled_documents=sum(map(len, plan.settled.values())),
        new_pairs=len(plan.new_pairs),
        queries_widened=len({query_id for query_id, _ in plan.new_pairs}),
        suggestions=len(plan.fresh),
        rules=counts,
        unused_relations=count_unused(kept, followed),
        unknown_documents=unknown,
        outdated=plan.outdated,
        round=number,
    )


def _is_current(session: Session, row: DatasetRow, plan: "_SuggestPlan") -> bool:
    """Return whether the plan is still right: its pairs, the stored suggestions and the documents are unchanged."""
    starts = {(query_id, doc_id) for query_id, doc_ids in plan.settled.items() for doc_id in doc_ids}
    names = starts | {(item.query_id, item.doc_id) for item in plan.suggested}
    known = {plan.pool[name].pair_pk: plan.pool[name] for name in names if name in plan.pool}
    planned = {pair_pk: state for pair_pk, state in known.items() if pair_pk not in plan.blind}
    present = {
        state.pair_pk: _describe_state(state)
        for state in list_pair_states(session, key_of(row.pk), sorted(planned))
    }
    query_pks = {query.query_id: pk for pk, query in list_queries(session, key_of(row.pk)).items()}
    new = {(query_pks[query_id], plan.documents[doc_id]) for query_id, doc_id in plan.new_pairs}
    pooled = list_pair_pks(session, key_of(row.pk), {query_pk for query_pk, _ in new}) if new else {}
    return (
        present == planned
        and new.isdisjoint(pooled)
        and list_relation_suggestions(session, key_of(row.pk)) == plan.stored
        and list_suggestable_documents(session, key_of(row.pk)) == plan.documents
    )


def report_suggestions(database: Database, actor: Actor, dataset: str, *, now: datetime) -> SuggestionReport:
    """Return how often each rule was right, and every suggestion with the state of its pair. For leads.

    Pairs that the lead must still judge are hidden. The shown grades are recorded: the lead never judges
    those pairs again.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        stored = list_relation_suggestions(session, dataset_pk)
        states, starting = _read_suggested(session, row, stored.values())
        pairs_of_interest = {*states, *(pk for pk, _ in starting.values())}
        to_judge = list_to_judge(session, actor.person_id, pairs_of_interest)
    by_pair: dict[int, list[StoredSuggestion]] = {}
    for _, suggestion in sorted(stored.items()):
        by_pair.setdefault(suggestion.pair_pk, []).append(suggestion)
    listed: list[tuple[str, SuggestedPair]] = []
    shown: list[SuggestedPair] = []
    seen: set[int] = set()
    for state in states.values():
        for suggestion in by_pair[state.pair_pk]:
            pair = _describe(suggestion, state, starting, to_judge)
            listed.append((suggestion.relation, pair))
            if state.pair_pk in to_judge:
                continue
            shown.append(pair)
            seen.update({starting[key][0] for key in suggestion.from_pairs} - to_judge)
            if pair.settled is not None:
                seen.add(state.pair_pk)
    note_seen(database, seen, actor.person_id, now=now)
    return SuggestionReport(dataset, measure_accuracy(listed), tuple(shown), len(listed) - len(shown))


def _read_suggested(
    session: Session, row: DatasetRow, stored: Collection[StoredSuggestion]
) -> tuple[dict[int, PairState], dict[str, tuple[int, bool]]]:
    """Return the states of the suggested pairs by pair_pk, and the starting pairs.

    Starting pairs: {key: (pair_pk, whether it is settled at grade 3 today)}. A pair that has left the pool is
    not.
    """
    states: dict[int, PairState] = {}
    keys = {key for suggestion in stored for key in suggestion.from_pairs}
    starting = {key: (pk, False) for key, pk in find_pair_pks(session, keys).items()}
    suggested = {suggestion.pair_pk for suggestion in stored}
    for state in iterate_pair_states(session, key_of(row.pk)) if stored else ():
        if state.pair_pk in suggested:
            states[state.pair_pk] = state
        if state.key in starting:
            starting[state.key] = (state.pair_pk, state.settlement.grade == SETTLED_AT)
    return states, starting


def _describe(
    suggestion: StoredSuggestion,
    state: PairState,
    starting: Mapping[str, tuple[int, bool]],
    to_judge: Container[int],
) -> SuggestedPair:
    """Return the suggestion without the starting documents that the reader must still judge."""
    return SuggestedPair(
        pair=state.key,
        query_id=state.query_id,
        doc_id=state.doc_id,
        rule=suggestion.rule,
        grade=suggestion.grade,
        status=state.settlement.status,
        settled=state.settlement.grade,
        from_doc_ids=tuple(
            doc_id
            for doc_id, key in zip(suggestion.from_doc_ids, suggestion.from_pairs, strict=True)
            if starting[key][0] not in to_judge
        ),
        outdated=not any(starting[key][1] for key in suggestion.from_pairs),
    )


@dataclass(frozen=True, slots=True)
class _PoolPairState:
    """The facts that decide whether a pair of the pool may still get a suggestion."""

    pair_pk: int
    key: str
    status: str
    grade: int | None


@dataclass(frozen=True, slots=True)
class _SuggestPlan:
    """The suggestions of the rules, and which of them are new. Pairs are named (query_id, doc_id)."""

    settled: Mapping[str, Sequence[str]]
    suggested: Sequence[RelationSuggestion]
    pool: Mapping[tuple[str, str], _PoolPairState]
    stored: Mapping[tuple[int, str], StoredSuggestion]
    fresh: Sequence[RelationSuggestion]
    new_pairs: frozenset[tuple[str, str]]
    outdated: int
    documents: Mapping[str, int]
    blind: Collection[int]


def _plan(
    session: Session,
    row: DatasetRow,
    lines: Iterable[RelationLine],
    rules: Sequence[SuggestionRule],
    documents: Mapping[str, int],
    blind: Collection[int],
) -> _SuggestPlan:
    """Plan the suggestions of the rules. `blind`: pairs that the lead may still judge; they count as not judged."""
    settled: dict[str, list[str]] = {}
    pool: dict[tuple[str, str], _PoolPairState] = {}
    for state in iterate_pair_states(session, key_of(row.pk), blind):
        pool[state.query_id, state.doc_id] = _describe_state(state)
        if state.settlement.grade == SETTLED_AT:
            settled.setdefault(state.query_id, []).append(state.doc_id)
    stored = list_relation_suggestions(session, key_of(row.pk))
    if not settled and not stored:
        raise StateError(say("no pair is settled at grade {grade} yet: judge first", grade=SETTLED_AT))
    suggested = find_suggestions(settled, lines, rules)
    starting = {pool[query_id, doc_id].key for query_id, doc_ids in settled.items() for doc_id in doc_ids}
    return _SuggestPlan(
        settled,
        suggested,
        pool,
        stored,
        [item for item in suggested if _is_fresh(item, pool, stored)],
        frozenset((item.query_id, item.doc_id) for item in suggested) - pool.keys(),
        sum(starting.isdisjoint(item.from_pairs) for item in stored.values()),
        documents,
        blind,
    )


def _describe_state(state: PairState) -> _PoolPairState:
    return _PoolPairState(state.pair_pk, state.key, state.settlement.status, state.settlement.grade)


def _is_fresh(
    item: RelationSuggestion,
    pool: Mapping[tuple[str, str], _PoolPairState],
    stored: Mapping[tuple[int, str], StoredSuggestion],
) -> bool:
    """Return whether to store the suggestion: the pair is unjudged, and the rule has not suggested the same."""
    state = pool.get((item.query_id, item.doc_id))
    if state is None:
        return True
    if state.status != "unjudged":
        return False
    earlier = stored.get((state.pair_pk, item.rule))
    starting = {pool[item.query_id, doc_id].key for doc_id in item.from_doc_ids}
    return earlier is None or earlier.grade != item.grade or not starting <= set(earlier.from_pairs)


def _store(
    session: Session,
    row: DatasetRow,
    plan: _SuggestPlan,
    counts: Sequence[RuleCounts],
    *,
    made_by: int | None,
    now: datetime,
) -> int | None:
    """Store the new pairs with their round, every provenance and the fresh suggestions; return the round's number, or None."""
    query_pks = {query.query_id: pk for pk, query in list_queries(session, key_of(row.pk)).items()}
    candidates = [
        PoolCandidate(
            query_pks[item.query_id],
            item.query_id,
            plan.documents[item.doc_id],
            item.doc_id,
            f"{PROVENANCE}{item.rule}",
        )
        for item in plan.suggested
    ]
    if not candidates:
        return None
    add_candidates(session, key_of(row.pk), row.name, candidates, now=now)
    pairs = list_pair_pks(session, key_of(row.pk), {query_pks[item.query_id] for item in plan.suggested})
    rows = [
        StoredSuggestion(
            pairs[query_pks[item.query_id], plan.documents[item.doc_id]],
            item.rule,
            item.relation,
            item.grade,
            item.from_doc_ids,
            tuple(plan.pool[item.query_id, doc_id].key for doc_id in item.from_doc_ids),
        )
        for item in plan.fresh
    ]
    add_relation_suggestions(session, rows, now=now)
    if not plan.new_pairs:
        return None
    new = NewRound(
        STRATEGY,
        {"rules": [{"rule": rule.rule, "relation": rule.relation, "grade": rule.grade} for rule in counts]},
        {
            "candidates": len({(item.query_id, item.doc_id) for item in plan.suggested}),
            "new_pairs": len(plan.new_pairs),
            "suggestions": len(plan.fresh),
            "new_by_rule": {rule.rule: rule.new for rule in counts},
        },
    )
    names = [(query_pks[query_id], plan.documents[doc_id]) for query_id, doc_id in plan.new_pairs]
    drawn = {pairs[name]: PairDraw() for name in names}
    return add_round(session, key_of(row.pk), new, drawn, made_by=made_by, now=now)


def _count_rule(rule: SuggestionRule, plan: _SuggestPlan) -> RuleCounts:
    new = waiting = suggested_before = 0
    judged: list[_PoolPairState] = []
    members = [item for item in plan.suggested if item.rule == rule.name]
    for item in members:
        state = plan.pool.get((item.query_id, item.doc_id))
        if state is None:
            new += 1
        elif (state.pair_pk, rule.name) in plan.stored:
            suggested_before += 1
        elif state.status == "unjudged":
            waiting += 1
        else:
            judged.append(state)
    grades = [state.grade for state in judged if state.grade is not None]
    return RuleCounts(
        rule=rule.name,
        relation=rule.relation,
        grade=rule.grade,
        pairs=len(members),
        new=new,
        waiting=waiting,
        judged_before=len(judged),
        suggested_before=suggested_before,
        settled_before=len(grades),
        exact_before=grades.count(rule.grade),
        relevant_before=sum(grade >= RELEVANT_FROM for grade in grades),
    )


def list_suggestable_documents(session: Session, dataset_pk: int) -> dict[str, int]:
    """Return {doc_id: document_pk} of every document that was not replaced by another."""
    statement = select(col(DocumentRow.doc_id), col(DocumentRow.pk)).where(*are_in_use(dataset_pk))
    return {doc_id: key_of(pk) for doc_id, pk in session.execute(statement)}


def list_relation_suggestions(session: Session, dataset_pk: int) -> dict[tuple[int, str], StoredSuggestion]:
    """Return the latest suggestion for each pair of the pool, by (pair_pk, rule)."""
    statement = (
        select(col(ImportedQrelRow.pair_pk), col(ImportedQrelRow.grade), col(ImportedQrelRow.source))
        .join(PairRow, col(PairRow.pk) == col(ImportedQrelRow.pair_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None), IS_BY_RELATION)
        .order_by(col(ImportedQrelRow.pk))
    )
    return {
        (pair_pk, source["rule"]): StoredSuggestion(
            pair_pk, source["rule"], source["relation"], grade, tuple(source["from"]), tuple(source["pairs"])
        )
        for pair_pk, grade, source in session.execute(statement)
    }


def add_relation_suggestions(
    session: Session, suggestions: Sequence[StoredSuggestion], *, now: datetime
) -> None:
    """Append suggestions. They settle nothing and open nothing."""
    rows: list[dict[str, Any]] = [
        {
            "pair_pk": suggestion.pair_pk,
            "grade": suggestion.grade,
            "keep": False,
            "source": {
                "kind": RELATION,
                "rule": suggestion.rule,
                "relation": suggestion.relation,
                "from": list(suggestion.from_doc_ids),
                "pairs": list(suggestion.from_pairs),
            },
            "description": None,
            "note": None,
            "annotator_grades": [],
            "extra": {},
            "imported_at": now,
        }
        for suggestion in suggestions
    ]
    add_suggestions(session, rows)
