"""Which queries are a person's: by the categories and languages of their roles, and by whom a query was given to.

A role on the dataset or on every dataset that allows a query is enough. A query that was given to people is theirs alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from sqlalchemy import TextClause, bindparam, or_, select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.columns import UtcDateTime
from annotator.storage.labeling_tables import AssignmentRow
from annotator.storage.tables import MembershipRow

_GIVEN = """
  (NOT EXISTS (SELECT 1 FROM assignment s WHERE s.query_pk = {query})
    OR EXISTS (SELECT 1 FROM assignment s WHERE s.query_pk = {query} AND s.person_pk = :annotator_pk))"""
_EXPERTISE = " AND EXISTS (SELECT 1 FROM query e WHERE e.pk = {query} AND ({allowed}))"


@dataclass(frozen=True, slots=True)
class Eligibility:
    """The queries of a person as a condition in SQL, and the values that it names. `given`: queries are given to people."""

    given: bool = True
    allowed: str = ""
    values: Mapping[str, list[str]] = field(default_factory=dict)

    def prepare(self, statement: str, *, query: str) -> TextClause:
        """A statement whose {eligible} stands for the condition; `query`: the column that holds the query's key."""
        return _prepare(statement, query, self.given, self.allowed, tuple(self.values))


@lru_cache(maxsize=256)
def _prepare(statement: str, query: str, given: bool, allowed: str, names: tuple[str, ...]) -> TextClause:
    condition = _GIVEN.format(query=query) if given else "1 = 1"
    if allowed:
        condition += _EXPERTISE.format(query=query, allowed=allowed)
    prepared = text(statement.replace("{eligible}", condition))
    prepared = prepared.bindparams(*(bindparam(name, expanding=True) for name in names))
    if ":chosen" in statement:
        prepared = prepared.bindparams(bindparam("chosen", expanding=True))
    return prepared.bindparams(bindparam("now", type_=UtcDateTime)) if ":now" in statement else prepared


def find_eligibility(session: Session, dataset_pk: int, person_pk: int) -> Eligibility:
    """What the person's roles allow; what was given to whom is looked up by the condition itself."""
    held = select(col(MembershipRow.categories), col(MembershipRow.languages)).where(
        col(MembershipRow.person_pk) == person_pk,
        or_(col(MembershipRow.dataset_pk) == dataset_pk, col(MembershipRow.dataset_pk).is_(None)),
    )
    given = session.scalar(select(col(AssignmentRow.query_pk)).limit(1)) is not None
    allowed: list[str] = []
    values: dict[str, list[str]] = {}
    for number, limits in enumerate(session.execute(held)):
        parts = []
        for name, limit in zip(("category", "language"), limits, strict=True):
            if limit is not None:
                values[f"{name}_{number}"] = list(limit)
                parts.append(f"e.{name} IN :{name}_{number}")
        if not parts:
            return Eligibility(given)
        allowed.append(f"({' AND '.join(parts)})")
    return Eligibility(given, " OR ".join(allowed), values)
