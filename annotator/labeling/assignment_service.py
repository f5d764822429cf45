"""Assign queries to people, take them back, hand on the work of people who leave, and show who waits for whom. For leads.

Everything happens at once or not at all: for an unknown query, or a person who may not judge one of the queries, nothing
changes and the error names them. Judgments always stay.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from annotator.domain.errors import NotFound, StateError, ValidationError
from annotator.domain.messages import say
from annotator.domain.overlap import check_rules, describe_overlap, most_for
from annotator.domain.people import Actor, includes
from annotator.labeling.assignment import (
    AssignmentChange,
    AssignmentFacts,
    AssignmentStatus,
    DatasetMember,
    Handover,
    JudgmentProgress,
    LeasedPairs,
    OpenQuery,
    PairsAlike,
    QuerySelection,
    RoleScope,
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
    count_left_by,
    count_stuck,
    delete_assignments,
    end_leases_of,
    end_leases_of_others,
    list_assigned,
    list_queries_with_work,
    list_running_leases,
)
from annotator.people.service import list_roles, require_role
from annotator.storage.database import Database, lock_dataset
from annotator.storage.lookup import find_dataset, find_person, key_of
from annotator.storage.roles import list_dataset_people
from annotator.storage.tables import DatasetRow

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
    with database.write() as session:
        _, facts = _lock_and_read(session, actor, dataset, now=now)
        queries = _select_queries(facts, chosen)
        takers = [_find_taker(facts, username) for username in dict.fromkeys(people)]
        if not takers:
            raise ValidationError(say("Choose at least one person."))
        for taker in takers:
            _require_expertise(taker, queries)
        pks = [query.pk for query in queries]
        new = add_assignments(session, pks, [taker.pk for taker in takers], by=actor.person_id, now=now)
        leases = end_leases_of_others(session, pks)
        return AssignmentChange(len(queries), tuple(taker.username for taker in takers), new, leases)


def take_back(
    database: Database,
    actor: Actor,
    dataset: str,
    people: Sequence[str],
    chosen: QuerySelection,
    *,
    now: datetime,
) -> AssignmentChange:
    """Take these queries (without a selection: all of theirs) back from these people.

    A query that is assigned to nobody any more goes to everybody again.
    """
    with database.write() as session:
        _, facts = _lock_and_read(session, actor, dataset, now=now)
        named = [find_person(session, username) for username in dict.fromkeys(people)]
        if not named:
            raise ValidationError(say("Choose at least one person."))
        persons = [key_of(person.pk) for person in named]
        queries = list(facts.queries) if chosen.is_empty else _select_queries(facts, chosen)
        assigned_pks = [
            query.pk for query in queries if facts.assigned.get(query.pk, frozenset()) & set(persons)
        ]
        gone = delete_assignments(session, assigned_pks, persons)
        still_assigned = [pk for pk in assigned_pks if facts.assigned[pk] - set(persons)]
        leases = end_leases_of_others(session, still_assigned)
        return AssignmentChange(len(assigned_pks), tuple(person.username for person in named), gone, leases)


def reassign(
    database: Database, actor: Actor, dataset: str, *, leaver: str, to: str, now: datetime
) -> Handover:
    """Assign every query of `leaver` to `to` instead, and end the leaver's leases. Judgments stay."""
    if leaver == to:
        raise ValidationError(say("{username} is named twice. Name two different people.", username=to))
    with database.write() as session:
        row, facts = _lock_and_read(session, actor, dataset, now=now)
        gone = key_of(find_person(session, leaver).pk)
        queries = [query for query in facts.queries if gone in facts.assigned.get(query.pk, ())]
        taker = _find_taker(facts, to)
        _require_expertise(taker, queries)
        shared = sum(taker.pk in facts.assigned[query.pk] for query in queries)
        pks = [query.pk for query in queries]
        delete_assignments(session, pks, [gone])
        add_assignments(session, pks, [taker.pk], by=actor.person_id, now=now)
        leases = end_leases_of(session, key_of(row.pk), gone)
        return Handover(leaver, taker.username, len(queries), shared, leases)


def list_left(database: Database, actor: Actor, username: str) -> list[UnfinishedWork]:
    """Return what this person leaves, or would leave, in each dataset that the actor leads."""
    with database.read() as session:
        rows = count_left_by(session, key_of(find_person(session, username).pk))
        roles = list_roles(session, actor)
        return [
            UnfinishedWork(session.get_one(DatasetRow, pk).name, queries, pairs)
            for pk, queries, pairs in rows
            if actor.is_operator or includes(roles.role_on(pk) or "annotator", "lead")
        ]


def show_assignment(database: Database, actor: Actor, dataset: str, *, now: datetime) -> AssignmentStatus:
    """Return who judges what in this dataset, who waits for whom, and the pairs that nobody may judge."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        facts = _read_facts(session, row, now=now)
        stuck = _count_stuck(session, row, facts)
        alike = count_alike(session, key_of(row.pk), one_by_one=_is_drawn(row.overlap_rules))
    return AssignmentStatus(
        overlap=row.overlap,
        rules=describe_overlap(row.overlap, row.overlap_rules),
        judgments=_count_judgments(row, row.overlap, row.overlap_rules, alike),
        people=tuple(list_waiting_people(facts, now=now)),
        queries=tuple(list_waiting_queries(facts, stuck)),
        categories=_names(query.category for query in facts.queries),
        languages=_names(query.language for query in facts.queries),
        all_queries=len(facts.queries),
        given=len(facts.assigned),
        stuck=sum(stuck.values()),
    )


def preview_overlap(
    database: Database, actor: Actor, dataset: str, *, overlap: int, rules: Mapping[str, Any] | None
) -> JudgmentProgress:
    """Count the judgments that these rules would make in total: given, and still to give. Changes nothing."""
    kept = check_rules(overlap, rules)
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        alike = count_alike(session, key_of(row.pk), one_by_one=_is_drawn(kept))
    return _count_judgments(row, overlap, kept, alike)


def _lock_and_read(
    session: Session, actor: Actor, dataset: str, *, now: datetime
) -> tuple[DatasetRow, AssignmentFacts]:
    row = find_dataset(session, dataset)
    require_role(session, actor, key_of(row.pk), "lead")
    lock_dataset(session, key_of(row.pk))
    return row, _read_facts(session, row, now=now)


def _read_facts(session: Session, row: DatasetRow, *, now: datetime) -> AssignmentFacts:
    dataset_pk = key_of(row.pk)
    lease = timedelta(minutes=row.lease_minutes)
    people = [
        DatasetMember(
            pk=person.pk,
            username=person.username,
            name=person.name,
            limits=tuple(
                RoleScope(_tuple_of(categories), _tuple_of(languages))
                for _, categories, languages in person.roles
            ),
            works=person.can_sign_in
            and (person.active or any(role == "annotator" for role, _, _ in person.roles)),
            disabled=person.disabled,
        )
        for person in list_dataset_people(session, dataset_pk)
    ]
    return AssignmentFacts(
        queries=[OpenQuery(*query) for query in list_queries_with_work(session, dataset_pk)],
        people=people,
        assigned={
            query: frozenset(assignees) for query, assignees in list_assigned(session, dataset_pk).items()
        },
        answered=count_answered(session, dataset_pk),
        disclosed=count_disclosed(session, dataset_pk),
        held={
            person: LeasedPairs(pairs, ends - lease)
            for person, (pairs, ends) in list_running_leases(
                session, dataset_pk, now=now, lease=lease
            ).items()
        },
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


def _find_taker(facts: AssignmentFacts, username: str) -> DatasetMember:
    """Return a person who may judge here and can sign in."""
    taker = next((person for person in facts.people if person.username == username), None)
    if taker is None or not taker.limits:
        raise StateError(
            say(
                "{username} has no role on this dataset. Add {username} to the dataset first.",
                username=username,
            )
        )
    if taker.disabled:
        raise StateError(say("The account {username} is disabled.", username=username))
    return taker


def _require_expertise(taker: DatasetMember, queries: Sequence[OpenQuery]) -> None:
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
    """Return, by query, how many pairs lack more judgments than those who may judge can still give.

    Pairs are only counted for queries that few may judge; queries without anybody count all their open pairs.
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
            if len(able) - kept_out < most_for(row.overlap, row.overlap_rules, query.category):
                doubtful.setdefault(able, []).append(query.pk)
    for able, queries in doubtful.items():
        stuck.update(count_stuck(session, queries, able))
    return stuck


def _count_judgments(
    row: DatasetRow,
    overlap: int,
    rules: Mapping[str, Any] | None,
    alike: Iterable[tuple[str, str | None, int, int | None, int]],
) -> JudgmentProgress:
    return count_judgments(overlap, rules, seed=row.seed, pairs=(PairsAlike(*row) for row in alike))


def _is_drawn(rules: Mapping[str, Any] | None) -> bool:
    return bool((rules or {}).get("share"))


def _names(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name}))


def _tuple_of(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


def _list_some(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
