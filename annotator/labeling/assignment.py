"""Assignment rules: who can judge each query, who waits for whom, and how many judgments an overlap makes.

Pure. An annotator can judge a query if one of their roles covers its category and its language, and if it is
assigned to them or to nobody. A role with categories does not cover a query of another category or without a
category.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from annotator.domain.messages import Message
from annotator.domain.people import DatasetPerson
from annotator.domain.settling import Rules, allows_further, conditional_distance, find_overlap
from annotator.domain.shuffling import Seed

Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class OpenQuery:
    """A query, with the numbers of pairs that lack judgments and of begun pairs among them."""

    pk: int
    query_id: str
    text: str
    category: str | None
    language: str | None
    open_pairs: int
    begun_pairs: int


@dataclass(frozen=True, slots=True)
class LeasedPairs:
    """A person's running leases: their number, when the oldest was taken, and when the last ends."""

    pairs: int
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class AssignmentFacts:
    """The state of a dataset that the rules of assignment need.

    Both are counts by (query, person) of pairs that lack judgments. `answered`: pairs that the person has
    answered. `disclosed`: pairs that the person may not judge because they saw others' grades.
    """

    queries: Sequence[OpenQuery]
    people: Sequence[DatasetPerson]
    assigned: Mapping[int, frozenset[int]] = field(default_factory=dict)
    answered: Mapping[Key, int] = field(default_factory=dict)
    disclosed: Mapping[Key, int] = field(default_factory=dict)
    held: Mapping[int, LeasedPairs] = field(default_factory=dict)

    def find_eligible(self, query: OpenQuery) -> list[DatasetPerson]:
        """Return the people that the query can go to."""
        assignees = self.assigned.get(query.pk)
        return [
            person
            for person in self.people
            if person.works
            and (assignees is None or person.pk in assignees)
            and person.knows(query.category, query.language)
        ]

    def count_left(self, query: OpenQuery, person: DatasetPerson) -> int:
        """Count the query's pairs that the person could still be handed."""
        key = (query.pk, person.pk)
        return max(0, query.open_pairs - self.answered.get(key, 0) - self.disclosed.get(key, 0))


@dataclass(frozen=True, slots=True)
class WaitingPerson:
    """A person, their assigned queries, and their remaining work."""

    username: str
    name: str
    categories: tuple[str, ...] | None
    languages: tuple[str, ...] | None
    works: bool
    disabled: bool
    queries: int  # assigned to them
    open_queries: int  # queries with pairs for this person
    pairs: int  # that they can still get, as shown on their own pages
    holds: int  # pairs on running leases
    held_seconds: int | None
    reserved_seconds: int | None  # until the last lease ends, unless the person goes on


@dataclass(frozen=True, slots=True)
class WaitingQuery:
    """A query with pairs that lack judgments, and the people it waits for."""

    query_id: str
    text: str
    category: str | None
    language: str | None
    open_pairs: int
    begun_pairs: int
    given_to: tuple[str, ...]  # empty: anybody's
    waits_for: Mapping[str, int]  # pairs left, by username
    stuck: int  # pairs that lack more judgments than people may give


def list_waiting_people(
    facts: AssignmentFacts, left: Mapping[str, int], *, now: datetime
) -> list[WaitingPerson]:
    """Return all people, most remaining work first. `left`: {username: pairs that they can still get}."""
    open_queries = Counter(
        person.pk
        for query in facts.queries
        for person in facts.find_eligible(query)
        if facts.count_left(query, person)
    )
    assigned_pks = [pk for people in facts.assigned.values() for pk in people]
    people_waiting = [
        WaitingPerson(
            username=person.username,
            name=person.name,
            categories=_widest([role.categories for role in person.roles]),
            languages=_widest([role.languages for role in person.roles]),
            works=person.works,
            disabled=person.disabled,
            queries=assigned_pks.count(person.pk),
            open_queries=open_queries[person.pk],
            pairs=left.get(person.username, 0) if person.works else 0,
            holds=held.pairs if held else 0,
            held_seconds=max(0, int((now - held.since).total_seconds())) if held else None,
            reserved_seconds=max(0, int((held.until - now).total_seconds())) if held else None,
        )
        for person in facts.people
        for held in [facts.held.get(person.pk)]
    ]
    return sorted(people_waiting, key=lambda person: (-person.pairs, person.username))


def list_waiting_queries(facts: AssignmentFacts, stuck: Mapping[int, int]) -> list[WaitingQuery]:
    """Return the queries with missing judgments, in order.

    `stuck`: {query_pk: pairs that nobody can finish}.
    """
    names = {person.pk: person.username for person in facts.people}
    queries_waiting = []
    for query in facts.queries:
        if not query.open_pairs:
            continue
        left = {person.username: facts.count_left(query, person) for person in facts.find_eligible(query)}
        queries_waiting.append(
            WaitingQuery(
                query_id=query.query_id,
                text=query.text,
                category=query.category,
                language=query.language,
                open_pairs=query.open_pairs,
                begun_pairs=query.begun_pairs,
                given_to=tuple(sorted(names[pk] for pk in facts.assigned.get(query.pk, ()) if pk in names)),
                waits_for={name: pairs for name, pairs in left.items() if pairs},
                stuck=stuck.get(query.pk, 0),
            )
        )
    return queries_waiting


def _widest(all_names: Sequence[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    """Return everything that one of the roles covers; None: all."""
    if any(names is None for names in all_names):
        return None
    return tuple(dict.fromkeys(name for names in all_names for name in names or ()))


@dataclass(frozen=True, slots=True)
class PairsAlike:
    """Pairs of the same category, number of judgments and spread, counted."""

    key: str  # of the one pair, where it matters which
    category: str | None
    answers: int
    spread: int | None  # of the counted grades, two or more
    pairs: int
    is_closed: bool = False  # decided, a check, or a kept import: no more judgments are needed


@dataclass(frozen=True, slots=True)
class JudgmentProgress:
    """The number of judgments given, and the number still to give."""

    done: int
    left: int

    @property
    def total(self) -> int:
        return self.done + self.left


def count_judgments(
    overlap: int, rules: Rules | None, *, seed: Seed, pairs: Iterable[PairsAlike]
) -> JudgmentProgress:
    """Count the judgments that these pairs need under the rules, and how many are made.

    A third judgment counts only where two already differ.
    """
    distance = conditional_distance(rules)
    done = left = 0
    for alike in pairs:
        wanted = find_overlap(overlap, rules, seed=seed, key=alike.key, category=alike.category)
        differs = distance is not None and alike.spread is not None and alike.spread >= distance
        further = differs and allows_further(rules, wanted)
        done += alike.pairs * alike.answers
        if not alike.is_closed:
            left += alike.pairs * max(0, wanted + further - alike.answers)
    return JudgmentProgress(done, left)


@dataclass(frozen=True, slots=True)
class QuerySelection:
    """A selection of queries by ids, category and language. Absent criteria select all queries."""

    query_ids: tuple[str, ...] | None = None
    category: str | None = None
    language: str | None = None

    @property
    def is_empty(self) -> bool:
        return self == QuerySelection()


@dataclass(frozen=True, slots=True)
class QueryFilter:
    """Which queries to list. `search`: part of an id or of a text; `assigned_to`: a username, or NOBODY."""

    search: str = ""
    category: str | None = None
    language: str | None = None
    assigned_to: str | None = None


NOBODY = ""
"""The filter value for queries that are assigned to nobody, which everybody may judge. No username is
empty."""


@dataclass(frozen=True, slots=True)
class QueryToAssign:
    """A query as a list shows it to a lead who assigns."""

    query_id: str
    text: str
    category: str | None
    language: str | None
    open_pairs: int
    assigned_to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryPage:
    """Some of the queries that pass a filter, and what can be filtered by."""

    total: int
    pairs: int  # of all queries that pass, which lack judgments
    queries: tuple[QueryToAssign, ...]
    categories: tuple[str, ...]
    languages: tuple[str, ...]
    people: tuple[str, ...] = ()  # who can be assigned queries


@dataclass(frozen=True, slots=True)
class AssignmentChange:
    """The number of assignments made or ended."""

    queries: int
    people: tuple[str, ...]
    changed: int  # (query, person) that are new or gone
    leases: int  # pairs that are free again


@dataclass(frozen=True, slots=True)
class Handover:
    """The work that went from one person to another."""

    leaver: str
    to: str
    queries: int
    shared: int  # queries that the other had as well
    leases: int


@dataclass(frozen=True, slots=True)
class UnfinishedWork:
    """A person's unfinished work in a dataset: assigned queries that lack judgments, and their open pairs."""

    dataset: str
    queries: int
    pairs: int


@dataclass(frozen=True, slots=True)
class AssignmentStatus:
    """The assignments of a dataset: who judges what, and who waits for whom."""

    overlap: int
    rules: Message  # the overlap in words
    judgments: JudgmentProgress
    people: tuple[WaitingPerson, ...]
    queries: tuple[WaitingQuery, ...]
    categories: tuple[str, ...]
    languages: tuple[str, ...]
    all_queries: int
    given: int  # assigned queries
    stuck: int  # pairs that lack more judgments than people may give
