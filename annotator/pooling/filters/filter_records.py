"""Records of the filters of a pool: the lead's rules, and the documents and candidates that they look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NEAR_DUPLICATE = "near-duplicate"
"""The name of the rule for near duplicates begins like this. A colon and the threshold follow."""


@dataclass(frozen=True, slots=True)
class ExcludedValue:
    """Leave out documents in which `field` has this value. `field`: nested by dots."""

    field: str
    value: str

    @property
    def rule(self) -> str:
        """Return the name of the rule in reports and in the database."""
        return f"exclude:{self.field}={self.value}"


@dataclass(frozen=True, slots=True)
class NearDuplicateRule:
    """Leave out documents that say the same as a better ranked one. `threshold`: 0.5 to 1; None: equal texts only."""

    threshold: float | None

    @property
    def rule(self) -> str:
        return f"{NEAR_DUPLICATE}:{'exact' if self.threshold is None else self.threshold}"


@dataclass(frozen=True, slots=True)
class PoolFilters:
    """The rules that keep candidates out of a pool, in the order in which they apply.

    `title_patterns`: regular expressions of Python. `min_length`: in characters of the text. `one_per`: a
    field of documents; only the best ranked document of each value enters the pool of a query.
    """

    excluded: tuple[ExcludedValue, ...] = ()
    title_patterns: tuple[str, ...] = ()
    min_length: int = 0
    one_per: str | None = None
    near_duplicates: NearDuplicateRule | None = None

    def __bool__(self) -> bool:
        return bool(
            self.excluded or self.title_patterns or self.min_length or self.one_per or self.near_duplicates
        )

    def list_rules(self) -> list[str]:
        """Return the names of the rules."""
        return [
            *(excluded.rule for excluded in self.excluded),
            *map(name_title_rule, self.title_patterns),
            *([name_length_rule(self.min_length)] if self.min_length else []),
            *([name_one_per_rule(self.one_per)] if self.one_per else []),
            *([self.near_duplicates.rule] if self.near_duplicates else []),
        ]


NO_FILTERS = PoolFilters()


def name_title_rule(pattern: str) -> str:
    """Return the name of the rule that leaves out documents with a matching title."""
    return f"exclude-title:{pattern}"


def name_length_rule(characters: int) -> str:
    """Return the name of the rule that leaves out documents with a shorter text."""
    return f"min-length:{characters}"


def name_one_per_rule(field: str) -> str:
    """Return the name of the rule that leaves out all but the best document of each value of the field."""
    return f"one-per:{field}"


@dataclass(frozen=True, slots=True)
class FilteredDocument:
    """A document as the rules see it. `length`: characters of its text; None if unknown or without a text."""

    document_pk: int
    doc_id: str
    title: str
    url: str | None
    media_type: str
    extra: Mapping[str, Any]
    length: int | None


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate of one query. `in_pool`: it is already a pair, and no rule leaves it out."""

    document_pk: int
    in_pool: bool
