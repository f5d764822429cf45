"""Plan changes to the assignment: the changed assignments, their effect on people, and the reverse.

Pure. A step assigns queries to people, unassigns them, or moves all queries of one person to another. Its
plan lists each assignment that is added or removed. A preview counts the effects; its `seen` identifies the
state it was made from.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from annotator.domain.people import DatasetPerson
from annotator.labeling.assignment import AssignmentFacts, Key, OpenQuery, QuerySelection

StepKind = Literal["assign", "unassign", "reassign"]


@dataclass(frozen=True, slots=True)
class AssignmentStep:
    """What a lead asks for. `to`: of "reassign", the person who gets all queries of the one in `people`."""

    kind: StepKind
    people: tuple[str, ...]
    chosen: QuerySelection = field(default_factory=QuerySelection)
    to: str | None = None


@dataclass(frozen=True, slots=True)
class AssignmentPlan:
    """The assignments that a step adds and removes, as (query_pk, person_pk), and the step's queries."""

    queries: tuple[OpenQuery, ...]
    added: frozenset[Key]
    removed: frozenset[Key]

    def apply(self, assigned: Mapping[int, frozenset[int]]) -> dict[int, frozenset[int]]:
        """Return {query_pk: assigned people} after the plan, without unassigned queries."""
        after = {query_pk: set(people) for query_pk, people in assigned.items()}
        for query_pk, person_pk in self.added:
            after.setdefault(query_pk, set()).add(person_pk)
        for query_pk, person_pk in self.removed:
            after[query_pk].discard(person_pk)
        return {query_pk: frozenset(people) for query_pk, people in after.items() if people}

    def list_people(self) -> set[int]:
        """Return the people that an assignment is made or ended for."""
        return {person_pk for _, person_pk in self.added | self.removed}


@dataclass(frozen=True, slots=True)
class AssignmentUndo:
    """The reverse of a step: the assignments to remove and to add again, as (query_id, username)."""

    ended: tuple[tuple[str, str], ...]
    made: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PersonLoad:
    """A person's work before a step and after it: queries assigned to them, and pairs left for them."""

    username: str
    name: str
    queries: int
    queries_after: int
    pairs: int
    pairs_after: int


@dataclass(frozen=True, slots=True)
class AssignmentPreview:
    """What a step would change, in numbers."""

    queries: int  # that the step is about
    pairs: int  # of these queries that lack judgments
    changed: int  # assignments made and ended
    judged: int  # judgments of the people concerned on pairs of these queries; they stay
    held: int  # pairs in the hands of people who lose them; they become free
    restricted: int  # queries that everybody could judge before, and only the assigned people afterwards
    opened: int  # queries that only the assigned people could judge before, and everybody afterwards
    stuck: int  # pairs that too few people can judge, before
    stuck_after: int
    loads: tuple[PersonLoad, ...]  # of the people whose numbers change
    seen: str


@dataclass(frozen=True, slots=True)
class AssignmentResult:
    """What a step has changed, and how to reverse it."""

    queries: int
    changed: int
    leases: int  # pairs that are free again
    undo: AssignmentUndo


def plan_assigning(
    facts: AssignmentFacts, queries: Sequence[OpenQuery], takers: Collection[int]
) -> AssignmentPlan:
    """Assign each of these queries to each of these people."""
    nobody: frozenset[int] = frozenset()
    added = {
        (query.pk, taker)
        for query in queries
        for taker in takers
        if taker not in facts.assigned.get(query.pk, nobody)
    }
    return AssignmentPlan(tuple(queries), frozenset(added), frozenset())


def plan_unassigning(
    facts: AssignmentFacts, queries: Sequence[OpenQuery], people: Collection[int]
) -> AssignmentPlan:
    """Unassign these queries from these people."""
    nobody: frozenset[int] = frozenset()
    of_them = [query for query in queries if facts.assigned.get(query.pk, nobody) & set(people)]
    removed = {(query.pk, person) for query in of_them for person in facts.assigned[query.pk] & set(people)}
    return AssignmentPlan(tuple(of_them), frozenset(), frozenset(removed))


def plan_reassigning(facts: AssignmentFacts, leaver: int, taker: int) -> AssignmentPlan:
    """Move every query of one person to another."""
    queries = [query for query in facts.queries if leaver in facts.assigned.get(query.pk, ())]
    added = {(query.pk, taker) for query in queries if taker not in facts.assigned[query.pk]}
    return AssignmentPlan(
        tuple(queries), frozenset(added), frozenset((query.pk, leaver) for query in queries)
    )


def digest_plan(facts: AssignmentFacts, plan: AssignmentPlan) -> str:
    """Return a digest (16 hexadecimal digits) of the state that the plan was made from.

    It differs after another lead has changed these queries.
    """
    queries = [[query.pk, sorted(facts.assigned.get(query.pk, ()))] for query in plan.queries]
    content = json.dumps([queries, sorted(plan.added), sorted(plan.removed)])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def reverse_plan(facts: AssignmentFacts, plan: AssignmentPlan) -> AssignmentUndo:
    """Return the reverse of the plan."""
    people = {person.pk: person.username for person in facts.people}
    queries = {query.pk: query.query_id for query in plan.queries}
    return AssignmentUndo(
        tuple(sorted((queries[query], people[person]) for query, person in plan.added)),
        tuple(sorted((queries[query], people[person]) for query, person in plan.removed if person in people)),
    )


def preview_plan(
    facts: AssignmentFacts,
    plan: AssignmentPlan,
    *,
    concerned: Collection[int],
    given: Mapping[Key, int],
    in_hand: Mapping[Key, int],
    all_held: int = 0,
    stuck: int,
    stuck_after: int,
) -> AssignmentPreview:
    """Count the effects of the plan. `concerned`: the people that the step names.

    `given`: judgments, `in_hand`: pairs on running leases, both by (query_pk, person_pk). `all_held`: pairs
    that a leaving person holds, also of unassigned queries.
    """
    after = plan.apply(facts.assigned)
    about = {query.pk for query in plan.queries}
    return AssignmentPreview(
        queries=len(plan.queries),
        pairs=sum(query.open_pairs for query in plan.queries),
        changed=len(plan.added) + len(plan.removed),
        judged=sum(n for (query, person), n in given.items() if query in about and person in concerned),
        held=all_held
        or sum(
            n
            for (query, person), n in in_hand.items()
            if query in about and query in after and person not in after[query]
        ),
        restricted=sum(query not in facts.assigned and query in after for query in about),
        opened=sum(query in facts.assigned and query not in after for query in about),
        stuck=stuck,
        stuck_after=stuck_after,
        loads=compare_loads(facts, after),
        seen=digest_plan(facts, plan),
    )


def compare_loads(facts: AssignmentFacts, after: Mapping[int, frozenset[int]]) -> tuple[PersonLoad, ...]:
    """Return the work of the people whose numbers change, most pairs afterwards first."""
    before_loads = _count_loads(facts)
    after_loads = _count_loads(replace(facts, assigned=after))
    loads = [
        PersonLoad(
            person.username,
            person.name,
            before_loads[person.pk][0],
            after_loads[person.pk][0],
            before_loads[person.pk][1],
            after_loads[person.pk][1],
        )
        for person in facts.people
        if before_loads[person.pk] != after_loads[person.pk]
    ]
    return tuple(sorted(loads, key=lambda load: (-load.pairs_after, load.username)))


def _count_loads(facts: AssignmentFacts) -> dict[int, tuple[int, int]]:
    """Return the queries assigned to each person and the pairs left for them."""
    queries, pairs = dict.fromkeys((person.pk for person in facts.people), 0), dict[int, int]()
    for people in facts.assigned.values():
        for person_pk in people:
            queries[person_pk] = queries.get(person_pk, 0) + 1
    for query in facts.queries:
        eligible: list[DatasetPerson] = facts.find_eligible(query) if query.open_pairs else []
        for person in eligible:
            pairs[person.pk] = pairs.get(person.pk, 0) + facts.count_left(query, person)
    return {person.pk: (queries[person.pk], pairs.get(person.pk, 0)) for person in facts.people}
