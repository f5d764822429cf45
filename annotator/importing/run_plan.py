"""What of a run file is stored and in which order, what identifies its content, and which lines cannot be stored.

A rule between the reader and the database. Refused, with the line: a query there is not in the dataset; where the
ranks decide the order, a rank twice in a query.
"""

import hashlib
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotator.domain.errors import Problems, ValidationError
from annotator.domain.ground_truth import Run, RunEntry
from annotator.domain.run_order import ORDERS, Order, OrderedResults, order_results
from annotator.formats.text import describe
from annotator.formats.trec_run import RunLine, to_run

RESERVED = "import"
OWN_SYSTEMS = (RESERVED, "remap")
LONGEST_SYSTEM = 200


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A run as it is to be stored: its entries in their order, the SHA-256 of what the file says (the same whatever the
    order), counts for the record of the import, and notes for people."""

    run: Run
    content_sha256: str
    figures: Mapping[str, Any]
    notes: tuple[str, ...]


def check_order(order: str) -> Order:
    """The order of that name. ValidationError when there is none."""
    for known in ORDERS:
        if order == known:
            return known
    raise ValidationError(f"--order: expected one of {', '.join(ORDERS)}, found {order!r}")


def plan_run(lines: Sequence[RunLine], path: str, *, system: str | None, order: Order) -> RunPlan:
    """Order the results of every query. `system` overrides what the file says.

    Ranks count from 0 when the file's do, else from 1. BadInput names every line whose rank is there twice, where the
    order goes by rank.
    """
    run = to_run(lines, path, system=system)
    check_system(run.system)
    _check_ranks(lines, path, order)
    by_query: dict[str, list[RunEntry]] = {}
    for entry in run.entries:
        by_query.setdefault(entry.query_id, []).append(entry)
    first = 0 if any(entry.rank == 0 for entry in run.entries) else 1
    ordered = [order_results(entries, order, first=first) for entries in by_query.values()]
    entries = tuple(entry for results in ordered for entry in results.entries)
    figures = _count_contradictions(ordered)
    notes = (f"system {run.system}", *_note_order(ordered, order, figures))
    return RunPlan(Run(run.system, entries), hash_run(run), figures, notes)


def _check_ranks(lines: Iterable[RunLine], path: str, order: Order) -> None:
    """BadInput for every rank that a query has twice, unless scores decide the order of the query."""
    by_rank = {line.entry.query_id for line in lines if order == "rank" or line.entry.score is None}
    problems = Problems(path)
    seen: dict[tuple[str, int | None], int] = {}
    for line, entry, _ in lines:
        if entry.query_id not in by_rank:
            continue
        before = seen.setdefault((entry.query_id, entry.rank), line)
        if before != line:
            expected = f"each rank of a query once (first on line {before})"
            problems.add(line, expected, f"rank {entry.rank} again")
    problems.raise_if_any()


def _count_contradictions(ordered: Iterable[OrderedResults]) -> dict[str, Any]:
    """Of how many queries the ranks contradict the scores, and how many results that moves; nothing when of none."""
    found = [results.contradictions for results in ordered if results.contradictions]
    return {"rank_contradictions": {"queries": len(found), "results": sum(found)}} if found else {}


def _note_order(ordered: Sequence[OrderedResults], order: Order, figures: Mapping[str, Any]) -> list[str]:
    notes = []
    if figures:
        counts = figures["rank_contradictions"]
        queries, results = _count(counts["queries"], "query", "queries"), _count(counts["results"], "result")
        chosen = (
            "ordered by score, as trec_eval does; --order rank goes by the ranks"
            if order == "score"
            else "ordered by rank; trec_eval goes by the scores"
        )
        notes.append(f"warning: the ranks contradict the scores in {queries} ({results}): {chosen}")
    if order == "rank":
        return notes
    ties = sum(results.reordered_ties for results in ordered)
    if ties:
        standing = "stands" if ties == 1 else "stand"
        notes.append(
            f"{_count(ties, 'result')} of equal score {standing} in another place than in the file: "
            "ordered by id, as trec_eval does"
        )
    without = sum(results.by == "rank" for results in ordered)
    if without:
        notes.append(f"{_count(without, 'query', 'queries')} ordered by rank: a result has no score")
    return notes


def _count(number: int, one: str, several: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def check_system(system: str) -> str:
    """The system's name. ValidationError when it is empty, too long, or a name that pairs carry which no system proposed."""
    if not system.strip() or len(system) > LONGEST_SYSTEM or not system.isprintable():
        raise ValidationError(
            f"expected a system name of up to {LONGEST_SYSTEM} characters, found {system!r}"
        )
    if system in OWN_SYSTEMS:
        carried = "imported" if system == RESERVED else "remapped"
        raise ValidationError(
            f"the system name {system!r} is what {carried} pairs carry; use another --system"
        )
    return system


def hash_run(run: Run) -> str:
    """SHA-256 over the entries as the file has them, in hexadecimal: the same whatever the order of the lines."""
    entries = sorted(
        json.dumps(
            [entry.query_id, entry.rank, entry.doc_id, entry.score, dict(entry.signals)],
            ensure_ascii=False,
            sort_keys=True,
        )
        for entry in run.entries
    )
    return hashlib.sha256("\n".join(entries).encode("utf-8")).hexdigest()


def check_queries(lines: Iterable[tuple[int, str]], known: Container[str], path: str) -> None:
    """BadInput for every (line, query_id) that is not of this dataset."""
    problems = Problems(path)
    for line, query_id in lines:
        if query_id not in known:
            problems.add(line, "a query_id of this dataset", describe(query_id))
    problems.raise_if_any()
