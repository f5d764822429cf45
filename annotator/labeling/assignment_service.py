"""Assign and unassign queries, reassign the work of people who leave, and show who waits for whom. For leads.

Each change is all or nothing: if a query is unknown or a person may not judge one of the queries, nothing
changes and the error names it. Judgments always stay.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from annotator.domain.errors import ConflictError, NotFound, StateError, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Actor, DatasetPerson, includes
from annotator.domain.settling import (
    check_rules,
    conditional_distance,
    describe_overlap,
    find_largest_overlap,
)
from annotator.labeling.assignment import (
    AssignmentChange,
    AssignmentFacts,
    AssignmentStatus,
    Handover,
    JudgmentProgress,
    OpenQuery,
    QueryFilter,
    QueryPage,
    QuerySelection,
    UnfinishedWork,
    count_judgments,
    list_waiting_people,
    list_waiting_queries,
)
from annotator.labeling.assignment_sql import (
    add_assignments,
    count_alike,
    count_answered,
    count_disclosed,
    count_given,
    count_in_hand,
    count_left_by,
    count_stuck,
    delete_assignments,
    end_leases_of_others,
    list_assigned,
    list_matching_ids,
    list_queries_with_work,
    list_query_page,
    list_running_leases,
)
from annotator.labeling.assignment_steps import (
    AssignmentPlan,
    AssignmentPreview,
    AssignmentResult,
    AssignmentStep,
    AssignmentUndo,
    digest_plan,
    plan_assigning,
    plan_reassigning,
    plan_unassigning,
    preview_plan,
    reverse_plan,
)
from annotator.labeling.shown_sql import list_progress
from annotator.people.roles_service import (
    enter_dataset,
    list_dataset_people,
    list_roles,
    open_dataset,
)
from annotator.storage.database import Database, lock_dataset
from annotator.storage.judgments.missing_judgments import count_current, count_lacking
from annotator.storage.logs.disclosures import list_blind_pairs
from annotator.storage.lookup import end_leases, find_person, key_of
from annotator.storage.tables.central import DatasetRow

NAMED = 5


def assign(
    database: Database,
    actor: Actor,
    dataset: str,
    people: Sequence[str],
    chosen: QuerySelection,
    *,
    now: datetime,
) -> AssignmentChange:
    """Assign these queries to these people. From now on only people they are assigned to are handed them."""
    done = change_assignment(
        database, actor, dataset, AssignmentStep("assign", tuple(people), chosen), now=now
    )
    return AssignmentChange(done.queries, tuple(dict.fromkeys(people)), done.changed, done.leases)


def take_back(
    database: Database,
    actor: Actor,
    dataset: str,
    people: Sequence[str],
    chosen: QuerySelection,
    *,
    now: datetime,
) -> AssignmentChange:
    """Unassign the selected queries (default: all) from these people.

    A query that is then assigned to nobody is open to everybody again.
    """
    done = change_assignment(
        database, actor, dataset, AssignmentStep("unassign", tuple(people), chosen), now=now
    )
    return AssignmentChange(done.queries, tuple(dict.fromkeys(people)), done.changed, done.leases)


def reassign(
    database: Database, actor: Actor, dataset: str, *, leaver: str, to: str, now: datetime
) -> Handover:
    """Assign every query of `leaver` to `to` instead, and end the leaver's leases. Judgments stay."""
    done = change_assignment(database, actor, dataset, AssignmentStep("reassign", (leaver,), to=to), now=now)
    shared = (
        2 * done.queries - done.changed
    )  # each query ends one assignment, and makes one unless the other had it
    return Handover(leaver, to, done.queries, shared, done.leases)


def preview_assignment(
    database: Database, actor: Actor, dataset: str, step: AssignmentStep, *, now: datetime
) -> AssignmentPreview:
    """Count what the step would change, without changing anything. Raises the errors of the step itself."""
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        facts = _read_facts(session, row, now=now)
        concerned, plan = _plan(session, facts, step)
        after = replace(facts, assigned=plan.apply(facts.assigned))
        lease = timedelta(minutes=row.lease_minutes)
        held = facts.held.get(key_of(find_person(session, step.people[0]).pk))
        return preview_plan(
            facts,
            plan,
            concerned=concerned,
            given=count_given(session, dataset_pk),
            in_hand=count_in_hand(session, dataset_pk, now=now, lease=lease),
            all_held=held.pairs if step.kind == "reassign" and held else 0,
            stuck=sum(_count_stuck(session, row, facts).values()),
            stuck_after=sum(_count_stuck(session, row, after).values()),
        )


def change_assignment(
    database: Database,
    actor: Actor,
    dataset: str,
    step: AssignmentStep,
    *,
    seen: str | None = None,
    now: datetime,
) -> AssignmentResult:
    """Apply the step.

    `seen`: `AssignmentPreview.seen` of the lead's preview; ConflictError if these queries have changed since.
    """
    with database.write() as session:
        row, facts = _lock_and_read(session, actor, dataset, now=now)
        _, plan = _plan(session, facts, step)
        if seen is not None and seen != digest_plan(facts, plan):
            raise ConflictError(
                say(
                    "Another person changed the assignment of these queries, so nothing was changed. Check the preview again."
                )
            )
        leases = _store(session, facts, plan, by=actor.person_id, now=now)
        if step.kind == "reassign":
            leaver_pk = key_of(find_person(session, step.people[0]).pk)
            leases += end_leases(session, leaver_pk, key_of(row.pk), now=now)
        changed = len(plan.added) + len(plan.removed)
        return AssignmentResult(len(plan.queries), changed, leases, reverse_plan(facts, plan))


def undo_assignment(
    database: Database, actor: Actor, dataset: str, undo: AssignmentUndo, *, now: datetime
) -> AssignmentResult:
    """Reverse a step. Raises ConflictError if one of its assignments has changed since."""
    with database.write() as session:
        _, facts = _lock_and_read(session, actor, dataset, now=now)
        queries = {query.query_id: query for query in facts.queries}
        people = {person.username: person for person in facts.people}
        nobody: frozenset[int] = frozenset()
        keys: dict[bool, set[tuple[int, int]]] = {True: set(), False: set()}
        for is_made, named in ((True, undo.made), (False, undo.ended)):
            for query_id, username in named:
                query, person = queries.get(query_id), people.get(username)
                if (
                    query is None
                    or person is None
                    or (person.pk in facts.assigned.get(query.pk, nobody)) == is_made
                ):
                    raise ConflictError(
                        say("This can no longer be undone: the assignment has changed since.")
                    )
                keys[is_made].add((query.pk, person.pk))
        for username in dict.fromkeys(username for _, username in undo.made):
            taken = [queries[query_id] for query_id, other in undo.made if other == username]
            _require_expertise(_find_taker(facts, username), taken)
        about = {query_pk for query_pk, _ in keys[True] | keys[False]}
        plan = AssignmentPlan(
            tuple(query for query in facts.queries if query.pk in about),
            frozenset(keys[True]),
            frozenset(keys[False]),
        )
        leases = _store(session, facts, plan, by=actor.person_id, now=now)
        changed = len(plan.added) + len(plan.removed)
        return AssignmentResult(len(plan.queries), changed, leases, reverse_plan(facts, plan))


def _plan(session: Session, facts: AssignmentFacts, step: AssignmentStep) -> tuple[set[int], AssignmentPlan]:
    """Return the people whom the step names, and its plan; refuse what cannot be done."""
    people = tuple(dict.fromkeys(step.people))
    if not people:
        raise ValidationError(say("Choose at least one person."))
    if step.kind == "assign":
        queries = _select_queries(facts, step.chosen)
        takers = [_find_taker(facts, username) for username in people]
        for taker in takers:
            _require_expertise(taker, queries)
        pks = {taker.pk for taker in takers}
        return pks, plan_assigning(facts, queries, pks)
    pks = {key_of(find_person(session, username).pk) for username in people}
    if step.kind == "unassign":
        chosen = list(facts.queries) if step.chosen.is_empty else _select_queries(facts, step.chosen)
        return pks, plan_unassigning(facts, chosen, pks)
    if step.to is None or step.to in people:
        raise ValidationError(
            say("{username} is named twice. Name two different people.", username=step.to or people[0])
        )
    (leaver,) = pks
    taker = _find_taker(facts, step.to)
    plan = plan_reassigning(facts, leaver, taker.pk)
    _require_expertise(taker, plan.queries)
    return {leaver, taker.pk}, plan


def _store(
    session: Session, facts: AssignmentFacts, plan: AssignmentPlan, *, by: int | None, now: datetime
) -> int:
    """Make and end the assignments of a plan; return how many leases of people who lost a query ended."""
    for person_pk in sorted(plan.list_people()):
        removed = [query for query, person in plan.removed if person == person_pk]
        added = [query for query, person in plan.added if person == person_pk]
        delete_assignments(session, removed, [person_pk])
        add_assignments(session, added, [person_pk], by=by, now=now)
    after = plan.apply(facts.assigned)
    return end_leases_of_others(session, [query.pk for query in plan.queries if query.pk in after], now=now)


def list_queries_to_assign(
    database: Database, actor: Actor, dataset: str, wanted: QueryFilter, *, limit: int, offset: int = 0
) -> QueryPage:
    """Return a page of the queries that match the filter, with the people they are assigned to. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        page = list_query_page(session, dataset_pk, wanted, limit=limit, offset=offset)
        people = tuple(
            person.username
            for person in list_dataset_people(session, dataset_pk)
            if person.roles and not person.disabled
        )
    return replace(page, people=people)


def list_matching_queries(database: Database, actor: Actor, dataset: str, wanted: QueryFilter) -> list[str]:
    """Return the ids of all queries that pass the filter, in their order. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return list_matching_ids(session, dataset_pk, wanted)


def list_left(database: Database, actor: Actor, username: str) -> list[UnfinishedWork]:
    """Return the person's unfinished work in each dataset that the actor leads."""
    with database.read() as session:
        rows = count_left_by(session, key_of(find_person(session, username).pk))
        roles = list_roles(session, actor)
        return [
            UnfinishedWork(session.get_one(DatasetRow, pk).name, queries, pairs)
            for pk, queries, pairs in rows
            if actor.is_operator or includes(roles.role_on(pk) or "annotator", "lead")
        ]


def show_assignment(database: Database, actor: Actor, dataset: str, *, now: datetime) -> AssignmentStatus:
    """Return people's work, waiting queries, and the pairs that nobody may judge. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        facts = _read_facts(session, row, now=now)
        stuck = _count_stuck(session, row, facts)
        judgments = JudgmentProgress(count_current(session, dataset_pk), count_lacking(session, dataset_pk))
        left = {person: progress.left for person, progress in list_progress(session, row, now=now).items()}
    return AssignmentStatus(
        overlap=row.overlap,
        rules=describe_overlap(row.overlap, row.overlap_rules),
        judgments=judgments,
        people=tuple(list_waiting_people(facts, left, now=now)),
        queries=tuple(list_waiting_queries(facts, stuck)),
        categories=_names(query.category for query in facts.queries),
        languages=_names(query.language for query in facts.queries),
        all_queries=len(facts.queries),
        given=len(facts.assigned),
        stuck=sum(stuck.values()),
    )


def free_pairs(database: Database, actor: Actor, dataset: str, username: str, *, now: datetime) -> int:
    """End the leases of this person in the dataset and return their number. For leads.

    Others can get these pairs at once. The person can still judge the pairs on their screen until others have
    finished these.
    """
    with open_dataset(database, actor, dataset, "lead", writing=True) as (session, _, dataset_pk):
        lock_dataset(session, dataset_pk)
        return end_leases(session, key_of(find_person(session, username).pk), dataset_pk, now=now)


def preview_overlap(
    database: Database, actor: Actor, dataset: str, *, overlap: int, rules: Mapping[str, Any] | None
) -> tuple[JudgmentProgress, int]:
    """Count the judgments that these rules would make in total, and the pairs that count without an extra one.

    These are the pairs that the lead may still judge: an extra judgment would tell how far their grades differ.
    """
    kept = check_rules(overlap, rules)
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        alike = count_alike(session, dataset_pk, one_by_one=_is_drawn(kept), blind=blind)
    withheld = len(blind) if conditional_distance(kept) else 0
    return count_judgments(overlap, kept, seed=row.order_seed, pairs=alike), withheld


def _lock_and_read(
    session: Session, actor: Actor, dataset: str, *, now: datetime
) -> tuple[DatasetRow, AssignmentFacts]:
    row = enter_dataset(session, actor, dataset, "lead")
    lock_dataset(session, key_of(row.pk))
    return row, _read_facts(session, row, now=now)


def _read_facts(session: Session, row: DatasetRow, *, now: datetime) -> AssignmentFacts:
    dataset_pk = key_of(row.pk)
    lease = timedelta(minutes=row.lease_minutes)
    return AssignmentFacts(
        queries=list_queries_with_work(session, dataset_pk),
        people=list_dataset_people(session, dataset_pk),
        assigned=list_assigned(session, dataset_pk),
        answered=count_answered(session, dataset_pk),
        disclosed=count_disclosed(session, dataset_pk),
        held=list_running_leases(session, dataset_pk, now=now, lease=lease),
    )


def _select_queries(facts: AssignmentFacts, selection: QuerySelection) -> list[OpenQuery]:
    """Return the selected queries. NotFound for an unknown id, or if no query matches."""
    if selection.is_empty:
        raise ValidationError(say("Choose queries, a category or a language."))
    wanted = None if selection.query_ids is None else set(selection.query_ids)
    missing = sorted((wanted or set()) - {query.query_id for query in facts.queries})
    if missing:
        raise NotFound(say("There is no query with the id {ids}.", ids=_list_some(missing)))
    chosen = [
        query
        for query in facts.queries
        if (wanted is None or query.query_id in wanted)
        and selection.category in (None, query.category)
        and selection.language in (None, query.language)
    ]
    if not chosen:
        raise NotFound(say("No query has this category and language."))
    return chosen


def _find_taker(facts: AssignmentFacts, username: str) -> DatasetPerson:
    """Return a person who may judge here and can sign in."""
    taker = next((person for person in facts.people if person.username == username), None)
    if taker is None or not taker.roles:
        raise StateError(
            say(
                "{username} has no role on this dataset. Add {username} to the dataset first.",
                username=username,
            )
        )
    if taker.disabled:
        raise StateError(say("The account {username} is disabled.", username=username))
    return taker


def _require_expertise(taker: DatasetPerson, queries: Sequence[OpenQuery]) -> None:
    foreign = [
        f"{query.query_id} ({query.category or '–'}, {query.language or '–'})"
        for query in queries
        if not taker.knows(query.category, query.language)
    ]
    if foreign:
        raise StateError(
            say(
                "{username} does not judge the category or language of these queries: {queries}. Change the "
                "person's categories or languages first.",
                username=taker.username,
                queries=_list_some(foreign),
            )
        )


def _count_stuck(session: Session, row: DatasetRow, facts: AssignmentFacts) -> dict[int, int]:
    """Return {query_pk: pairs that lack more judgments than the eligible people can still give}.

    Looks at single pairs only for queries with few eligible people. Queries without any count all open pairs.
    """
    stuck: dict[int, int] = {}
    doubtful: dict[frozenset[int], list[int]] = {}
    for query in facts.queries:
        able = (
            frozenset(person.pk for person in facts.find_eligible(query)) if query.open_pairs else frozenset()
        )
        if query.open_pairs and not able:
            stuck[query.pk] = query.open_pairs
        elif query.open_pairs:
            kept_out = sum((query.pk, pk) in facts.disclosed for pk in able)
            if len(able) - kept_out < find_largest_overlap(row.overlap, row.overlap_rules, query.category):
                doubtful.setdefault(able, []).append(query.pk)
    for able, queries in doubtful.items():
        stuck.update(count_stuck(session, queries, able))
    return stuck


def _is_drawn(rules: Mapping[str, Any] | None) -> bool:
    return bool((rules or {}).get("share"))


def _names(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name}))


def _list_some(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
