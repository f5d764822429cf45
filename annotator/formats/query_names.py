"""Find the query that a line of a run means, by its query_id or its text (NFC, trimmed)."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from annotator.domain.errors import Problems
from annotator.domain.messages import say
from annotator.formats.syntax.text import describe


@dataclass(frozen=True, slots=True)
class QueryNames:
    """Queries by id and by text. `ambiguous`: texts already noted as shared by several queries."""

    query_ids: frozenset[str]
    by_text: Mapping[str, list[str]]
    ambiguous: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, queries: Iterable[tuple[str, str]]) -> "QueryNames":
        """Return the lookup for these queries, given as (query_id, text)."""
        by_text: dict[str, list[str]] = {}
        query_ids = []
        for query_id, text in queries:
            query_ids.append(query_id)
            by_text.setdefault(_normalise(text), []).append(query_id)
        return cls(frozenset(query_ids), by_text)

    def find(self, query_id: str, query: str | None, line: int, problems: Problems) -> str | None:
        """Return the known query_id, or None. Notes a text that several queries have."""
        if query is None:
            return query_id if query_id in self.query_ids else None
        query_ids = self.by_text.get(_normalise(query), [])
        if len(query_ids) > 1 and query not in self.ambiguous:
            self.ambiguous.add(query)
            several = ", ".join(query_ids[:3])
            problems.add(
                line,
                say("a query_id, or a text that one query has"),
                say("{query}, which {queries} have", query=describe(query), queries=several),
            )
        return query_ids[0] if query_ids else None


def _normalise(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()
