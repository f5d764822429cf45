"""What each system contributes: to the candidates of one pooling, or to the pool as it stands. Pure rules."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SystemCounts:
    """What one system proposed: in how many queries, how many pairs, and how many that no other proposed.

    In the report of a pooling, `candidates` are the best `depth` per query; in the pool, the pairs it is named for.
    """

    system: str
    queries: int
    candidates: int
    only_here: int


def count_systems(proposals: Iterable[tuple[str, object, object]]) -> tuple[SystemCounts, ...]:
    """By system name, from (system, query, pair): who proposed which pair of which query."""
    proposed: dict[object, set[str]] = {}
    queries: dict[str, set[object]] = {}
    for system, query, pair in proposals:
        proposed.setdefault(pair, set()).add(system)
        queries.setdefault(system, set()).add(query)
    candidates, alone = dict.fromkeys(queries, 0), dict.fromkeys(queries, 0)
    for by in proposed.values():
        for system in by:
            candidates[system] += 1
            alone[system] += len(by) == 1
    return tuple(
        SystemCounts(system, len(queries[system]), candidates[system], alone[system])
        for system in sorted(queries)
    )
