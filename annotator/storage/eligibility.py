"""Which queries are a person's: by the categories and languages of their roles, and by whom a query was given to.

A role on the dataset or on every dataset that allows a query is enough. A query that was given to people is theirs alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from sqlalchemy.orm import Session

from annotator.storage.sql import Prepared, prepare, read_json, run

_GIVEN = """
  (NOT EXISTS (SELECT 1 FROM assignment s WHERE s.query_pk = {query})
    OR EXISTS (SELECT 1 FROM assignment s WHERE s.query_pk = {query} AND s.person_pk = :annotator_pk))"""
_HELD = prepare(
    "SELECT EXISTS (SELECT 1 FROM assignment) AS given, categories, languages FROM membership "
    "WHERE person_pk = :person_pk AND (dataset_pk = :dataset_pk OR dataset_pk IS NULL)"
)
_EXPERTISE = " AND EXISTS (SELECT 1 FROM query e WHERE e.pk = {query} AND ({allowed}))"


@dataclass(frozen=True, slots=True)
class Eligibility:
    """The queries of a person as a condition in SQL, and the values that it names. `given`: queries are given to people."""

    given: bool = True
    allowed: str = ""
    values: Mapping[str, list[str]] = field(default_factory=dict)

    def prepare(self, statement: str, *, query: str) -> Prepared:
        """A statement whose {eligible} stands for the condition; `query`: the column that holds the query's key."""
        return _prepare(statement, query, self.given, self.allowed, tuple(self.values))

    def only_expertise(self) -> "Eligibility":
        """The same, to whomever the queries were given."""
        return replace(self, given=False)


@lru_cache(maxsize=256)
def _prepare(statement: str, query: str, given: bool, allowed: str, names: tuple[str, ...]) -> Prepared:
    condition = _GIVEN.format(query=query) if given else "1 = 1"
    if allowed:
        condition += _EXPERTISE.format(query=query, allowed=allowed)
    lists = (*names, "chosen") if ":chosen" in statement else names
    return prepare(statement.replace("{eligible}", condition), lists=lists)


def find_eligibility(session: Session, dataset_pk: int, person_pk: int) -> Eligibility:
    """What the person's roles allow; what was given to whom is looked up by the condition itself."""
    given = True
    allowed: list[str] = []
    values: dict[str, list[str]] = {}
    held = run(session, _HELD, {"dataset_pk": dataset_pk, "person_pk": person_pk}).all()
    for number, (any_given, *limits) in enumerate(held):
        given = bool(any_given)
        parts = []
        for name, limit in zip(("category", "language"), map(read_json, limits), strict=True):
            if limit is not None:
                values[f"{name}_{number}"] = list(limit)
                parts.append(f"e.{name} IN :{name}_{number}")
        if not parts:
            return Eligibility(given)
        allowed.append(f"({' AND '.join(parts)})")
    return Eligibility(given, " OR ".join(allowed), values)
