"""In which order the results of a run stand: by score as trec_eval orders them, or by the file's own ranks.

The one place of this rule. trec_eval never reads the rank column: it compares scores as 32-bit floats, the highest
first, and of equal ones the ids as strings of bytes, the last first. A file whose ranks say something else is
contradictory; which of the two is meant is not for a program to guess, so it is counted and reported.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from annotator.domain.ground_truth import RunEntry

Order = Literal["score", "rank"]
ORDERS: tuple[Order, ...] = ("score", "rank")
FILE_RANK = "file_rank"
"""The signal that keeps the file's own rank where the result stands in another place."""


@dataclass(frozen=True, slots=True)
class OrderedResults:
    """The results of one query in their order. `contradictions`: how many stand, by the file's ranks, where a result of
    another score belongs; `reordered_ties`: how many results of equal score stand otherwise than in the file."""

    entries: tuple[RunEntry, ...]
    by: Order
    contradictions: int = 0
    reordered_ties: int = 0


def sort_results(entries: Sequence[RunEntry], order: Order) -> list[RunEntry]:
    """The results of one query in their order: by score where `order` says so and each has one, else by rank, and as they
    come where one has no rank."""
    if order == "score" and _has_all(entries, "score"):
        return sort_by_score(entries)
    if _has_all(entries, "rank"):
        return sorted(entries, key=lambda entry: entry.rank or 0)
    return list(entries)


def sort_by_score(entries: Sequence[RunEntry]) -> list[RunEntry]:
    """The results of one query as trec_eval orders them. Each needs a score."""
    scores = read_as_floats(entries)
    # Python compares texts by code points, which is how their bytes in UTF-8 compare.
    ordered = sorted(range(len(entries)), key=lambda at: (scores[at], entries[at].doc_id), reverse=True)
    return [entries[at] for at in ordered]


def read_as_floats(entries: Sequence[RunEntry]) -> list[float]:
    """The scores as trec_eval holds them: rounded to 32 bits, infinite where they do not fit."""
    return array("f", [0.0 if entry.score is None else entry.score for entry in entries]).tolist()


def order_results(entries: Sequence[RunEntry], order: Order, *, first: int = 1) -> OrderedResults:
    """Order the results of one query and count their ranks from `first`.

    By rank where `order` says so or a result has no score; every result then needs a rank. The rank that the file
    gave is kept among the signals (`file_rank`) where it is another.
    """
    has_scores = _has_all(entries, "score")
    contradictions = ties = 0
    if has_scores and _has_all(entries, "rank"):
        contradictions, ties = _compare(sort_results(entries, "rank"), sort_by_score(entries))
    ordered = sort_results(entries, order)
    return OrderedResults(
        tuple(_place(entry, rank) for rank, entry in enumerate(ordered, first)),
        "score" if order == "score" and has_scores else "rank",
        contradictions,
        ties,
    )


def _has_all(entries: Sequence[RunEntry], name: Literal["score", "rank"]) -> bool:
    return all(getattr(entry, name) is not None for entry in entries)


def _compare(by_rank: Sequence[RunEntry], by_score: Sequence[RunEntry]) -> tuple[int, int]:
    """How many places hold another score in the one order than in the other, and how many another result of equal score.

    Results that share a rank say nothing about their order, so they are compared as if they stood as by score.
    """
    place = {entry.doc_id: at for at, entry in enumerate(by_score)}
    by_rank = sorted(by_rank, key=lambda entry: (entry.rank or 0, place[entry.doc_id]))
    different = sum(
        one != other for one, other in zip(read_as_floats(by_rank), read_as_floats(by_score), strict=True)
    )
    moved = sum(one.doc_id != other.doc_id for one, other in zip(by_rank, by_score, strict=True))
    return different, 0 if different else moved


def _place(entry: RunEntry, rank: int) -> RunEntry:
    if entry.rank is None or entry.rank == rank:
        return replace(entry, rank=rank) if entry.rank is None else entry
    name = FILE_RANK
    while name in entry.signals:
        name += "_"
    return replace(entry, rank=rank, signals={**entry.signals, name: entry.rank})
