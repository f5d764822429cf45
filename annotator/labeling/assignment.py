"""Assignment rules: whom each query can go to, who waits on whom, and how many judgments an overlap makes.

Pure. A query goes to annotators of whom one role covers its category and its language; once it was given to people,
only to those of them. A role with categories covers no query of another category, and none without a category.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from annotator.domain.messages import Message
from annotator.domain.overlap import Rules, allows_further, conditional_distance, wanted_for

Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RoleScope:
    """What one role covers; None: everything."""

    categories: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None

    def cover(self, category: str | None, language: str | None) -> bool:
        return (self.categories is None or category in self.categories) and (
            self.languages is None or language in self.languages
        )


@dataclass(frozen=True, slots=True)
class DatasetMember:
    """Somebody who may label here, or has something here. `limits`: of each of their roles, none left when they have
    none any more. `works`: can sign in, and is an annotator, has judged or was given queries here."""

    pk: int
    username: str
    name: str
    limits: tuple[RoleScope, ...]
    works: bool
    disabled: bool = False

    def knows(self, category: str | None, language: str | None) -> bool:
        """Whether one of their roles covers such a query."""
        return any(limits.cover(category, language) for limits in self.limits)


@dataclass(frozen=True, slots=True)
class OpenQuery:
    """A query, its pairs that lack judgments, and those of them that somebody has begun."""

    pk: int
    query_id: str
    text: str
    category: str | None
    language: str | None
    open_pairs: int
    begun_pairs: int


@dataclass(frozen=True, slots=True)
class LeasedPairs:
    """What somebody holds: pairs on running leases, and when the oldest was taken."""

    pairs: int
    since: datetime


@dataclass(frozen=True, slots=True)
class AssignmentFacts:
    """What storage knows of a dataset. `answered` and `disclosed`: by (query, person), how many pairs that lack
    judgments the person has answered, or may not judge for having seen others' grades."""

    queries: Sequence[OpenQuery]
    people: Sequence[DatasetMember]
    assigned: Mapping[int, frozenset[int]] = field(default_factory=dict)
    answered: Mapping[Key, int] = field(default_factory=dict)
    disclosed: Mapping[Key, int] = field(default_factory=dict)
    held: Mapping[int, LeasedPairs] = field(default_factory=dict)

    def find_eligible(self, query: OpenQuery) -> list[DatasetMember]:
        """Those the query can go to."""
        given = self.assigned.get(query.pk)
        return [
            person
            for person in self.people
            if person.works
            and (given is None or person.pk in given)
            and person.knows(query.category, query.language)
        ]

    def count_left(self, query: OpenQuery, person: DatasetMember) -> int:
        """How many of the query's pairs the person could still be handed."""
        key = (query.pk, person.pk)
        return max(0, query.open_pairs - self.answered.get(key, 0) - self.disclosed.get(key, 0))


@dataclass(frozen=True, slots=True)
class WaitingPerson:
    """Somebody, what they were given, and what is left for them. `queries`: given to them; `open_queries`: those with
    pairs for them; `pairs`: pairs left that they may do; `holds`: pairs on running leases, the first taken so many seconds ago."""

    username: str
    name: str
    categories: tuple[str, ...] | None
    languages: tuple[str, ...] | None
    works: bool
    disabled: bool
    queries: int
    open_queries: int
    pairs: int
    holds: int
    held_seconds: int | None


@dataclass(frozen=True, slots=True)
class WaitingQuery:
    """A query with pairs that lack judgments. `given_to`: the people it was given to, nobody where it is anybody's;
    `waits_for`: pairs left by username; `stuck`: pairs that lack more judgments than there are people who may give them."""

    query_id: str
    text: str
    category: str | None
    language: str | None
    open_pairs: int
    begun_pairs: int
    given_to: tuple[str, ...]
    waits_for: Mapping[str, int]
    stuck: int


def list_waiting_people(facts: AssignmentFacts, *, now: datetime) -> list[WaitingPerson]:
    """Everybody, those with the most left first."""
    left: dict[int, list[int]] = {person.pk: [] for person in facts.people}
    for query in facts.queries:
        for person in facts.find_eligible(query):
            if pairs := facts.count_left(query, person):
                left[person.pk].append(pairs)
    given = [pk for people in facts.assigned.values() for pk in people]
    found = [
        WaitingPerson(
            username=person.username,
            name=person.name,
            categories=_widest([limits.categories for limits in person.limits]),
            languages=_widest([limits.languages for limits in person.limits]),
            works=person.works,
            disabled=person.disabled,
            queries=given.count(person.pk),
            open_queries=len(left[person.pk]),
            pairs=sum(left[person.pk]),
            holds=held.pairs if held else 0,
            held_seconds=max(0, int((now - held.since).total_seconds())) if held else None,
        )
        for person in facts.people
        for held in [facts.held.get(person.pk)]
    ]
    return sorted(found, key=lambda person: (-person.pairs, person.username))


def list_waiting_queries(facts: AssignmentFacts, stuck: Mapping[int, int]) -> list[WaitingQuery]:
    """The queries with pairs that lack judgments, in their order; `stuck`: how many of them nobody can finish."""
    names = {person.pk: person.username for person in facts.people}
    found = []
    for query in facts.queries:
        if not query.open_pairs:
            continue
        left = {person.username: facts.count_left(query, person) for person in facts.find_eligible(query)}
        found.append(
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
    return found


def _widest(all_names: Sequence[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    """Everything that one of the roles covers; None: all."""
    if any(names is None for names in all_names):
        return None
    return tuple(dict.fromkeys(name for names in all_names for name in names or ()))


@dataclass(frozen=True, slots=True)
class PairsAlike:
    """So many pairs of the same standing: of a query of this category, with so many answers, whose independent grades
    (two or more) lie `spread` apart. `key`: of the one pair, where which pair it is matters."""

    key: str
    category: str | None
    answers: int
    spread: int | None
    pairs: int


@dataclass(frozen=True, slots=True)
class JudgmentProgress:
    """How many judgments have been given and how many are still to give."""

    done: int
    left: int

    @property
    def total(self) -> int:
        return self.done + self.left


def count_judgments(
    overlap: int, rules: Rules | None, *, seed: int, found: Iterable[PairsAlike]
) -> JudgmentProgress:
    """What these pairs come to under the rules. A third judgment counts only where two have differed already."""
    distance = conditional_distance(rules)
    done = left = 0
    for alike in found:
        wanted = wanted_for(overlap, rules, seed=seed, key=alike.key, category=alike.category)
        differs = distance is not None and alike.spread is not None and alike.spread >= distance
        further = differs and allows_further(rules, wanted)
        done += alike.pairs * alike.answers
        left += alike.pairs * max(0, wanted + further - alike.answers)
    return JudgmentProgress(done, left)


@dataclass(frozen=True, slots=True)
class QuerySelection:
    """Which queries are meant: those with these ids, of this category and in this language, as far as given."""

    query_ids: tuple[str, ...] | None = None
    category: str | None = None
    language: str | None = None

    @property
    def is_empty(self) -> bool:
        return self == QuerySelection()


@dataclass(frozen=True, slots=True)
class AssignmentChange:
    """What was given or taken back: so many queries, of which `changed` (query, person) were new or gone. `leases`:
    pairs in others' hands that are free again."""

    queries: int
    people: tuple[str, ...]
    changed: int
    leases: int


@dataclass(frozen=True, slots=True)
class Handover:
    """What went from one person to another. `shared`: queries that the other had as well."""

    leaver: str
    to: str
    queries: int
    shared: int
    leases: int


@dataclass(frozen=True, slots=True)
class UnfinishedWork:
    """What a person would leave on a dataset: queries given to them that lack judgments, and those pairs."""

    dataset: str
    queries: int
    pairs: int


@dataclass(frozen=True, slots=True)
class AssignmentStatus:
    """Who judges what, and who waits on whom. `rules`: the overlap in words. `stuck`: pairs that lack more judgments
    than there are people who may give them. `given`: queries that were given to somebody."""

    overlap: int
    rules: Message
    judgments: JudgmentProgress
    people: tuple[WaitingPerson, ...]
    queries: tuple[WaitingQuery, ...]
    categories: tuple[str, ...]
    languages: tuple[str, ...]
    all_queries: int
    given: int
    stuck: int
