"""What the use cases of assignment take and return."""

from dataclasses import dataclass

from annotator.domain.messages import Message
from annotator.labeling.preview import Judgments
from annotator.labeling.waiting import WaitingPerson, WaitingQuery


@dataclass(frozen=True, slots=True)
class Selection:
    """Which queries are meant: those with these ids, of this category and in this language, as far as given."""

    query_ids: tuple[str, ...] | None = None
    category: str | None = None
    language: str | None = None

    @property
    def is_empty(self) -> bool:
        return self == Selection()


@dataclass(frozen=True, slots=True)
class Assigned:
    """What was given or taken back: so many queries, of which `changed` (query, person) were new or gone. `leases`:
    pairs in others' hands that are free again."""

    queries: int
    people: tuple[str, ...]
    changed: int
    leases: int


@dataclass(frozen=True, slots=True)
class HandedOver:
    """What went from one person to another. `shared`: queries that the other had as well."""

    leaver: str
    to: str
    queries: int
    shared: int
    leases: int


@dataclass(frozen=True, slots=True)
class Left:
    """What a person would leave on a dataset: queries given to them that lack judgments, and those pairs."""

    dataset: str
    queries: int
    pairs: int


@dataclass(frozen=True, slots=True)
class Standing:
    """Who judges what, and who waits on whom. `rules`: the overlap in words. `stuck`: pairs that lack more judgments
    than there are people who may give them. `given`: queries that were given to somebody."""

    overlap: int
    rules: Message
    judgments: Judgments
    people: tuple[WaitingPerson, ...]
    queries: tuple[WaitingQuery, ...]
    categories: tuple[str, ...]
    languages: tuple[str, ...]
    all_queries: int
    given: int
    stuck: int
