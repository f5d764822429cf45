"""What importing queries would change: which are new, which differ, and which change is refused.

A rule between the reader and the database. What a file does not mention stays as it is: a missing column
empties no field, a missing metadata key removes none. Refused, with the line: another text for a query that
has been judged (its judgments were made under the old one).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import QUERY_FIELDS, Query
from annotator.formats.input_tables import QueryLine
from annotator.formats.text import describe


@dataclass(frozen=True, slots=True)
class KnownQuery:
    """A query as it is stored; `judged`: it has judgments."""

    pk: int
    query: Query
    judged: bool


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """`changed` is by primary key. Nothing is stored yet."""

    added: tuple[Query, ...]
    changed: tuple[tuple[int, Query], ...]
    unchanged: int


def plan_queries(known: Mapping[str, KnownQuery], lines: Sequence[QueryLine], path: str) -> QueryPlan:
    """Compare a file's queries with the stored ones. BadInput names every change that is refused."""
    problems = Problems(path)
    added: list[Query] = []
    changed: list[tuple[int, Query]] = []
    for line, query in lines:
        before = known.get(query.query_id)
        if before is None:
            added.append(query)
            continue
        after = _merge(before.query, query)
        if before.judged and after.text != before.query.text:
            expected = (
                f"the text that {describe(query.query_id)} was judged under: {describe(before.query.text)}"
            )
            problems.add(line, expected, describe(query.text))
        elif after != before.query:
            changed.append((before.pk, after))
    problems.raise_if_any()
    return QueryPlan(tuple(added), tuple(changed), len(lines) - len(added) - len(changed))


def _merge(before: Query, found: Query) -> Query:
    mentioned = {name: getattr(found, name) for name in QUERY_FIELDS if getattr(found, name) is not None}
    return replace(before, text=found.text, metadata={**before.metadata, **found.metadata}, **mentioned)
