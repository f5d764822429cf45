"""How much proposals add to a pool: of the relevant documents, the share that no system had found. Pure rules."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotator.domain.grades import RELEVANT_FROM


@dataclass(frozen=True, slots=True)
class QueryGain:
    """Of the settled relevant documents of a query (or of all, `query_id` None): how many there are, and how many of
    those no system had found."""

    query_id: str | None
    proposed: int
    relevant: int
    only_proposed: int


def count_gains(
    settled: Iterable[tuple[str, int | None, bool]], proposed: Mapping[str, int]
) -> tuple[tuple[QueryGain, ...], QueryGain]:
    """Per query that has a proposal, and in total. `settled`: (query_id, grade, whether only a proposal put it into
    the pool) of every pair, the grade None where there is none; `proposed`: how many proposals a query has."""
    relevant: dict[str, int] = {}
    alone: dict[str, int] = {}
    for query_id, grade, only_proposed in settled:
        if grade is not None and grade >= RELEVANT_FROM:
            relevant[query_id] = relevant.get(query_id, 0) + 1
            alone[query_id] = alone.get(query_id, 0) + only_proposed
    queries = tuple(
        QueryGain(query_id, number, relevant.get(query_id, 0), alone.get(query_id, 0))
        for query_id, number in proposed.items()
    )
    return queries, QueryGain(None, sum(proposed.values()), sum(relevant.values()), sum(alone.values()))
