"""Put the results of a run in order: by score as trec_eval does, or by rank as team programs do.

By score: as 32-bit floats, highest first; equal scores by doc_id, last first, in the order of their bytes. A query with
a result that has no score is ordered by rank, and as it comes where a rank is missing too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say_n
from annotator.evaluation.records import Order

Codes = NDArray[np.int64]

NO_RANK = -1
ORDERS: tuple[Order, ...] = ("score", "rank")


@dataclass(frozen=True, slots=True, eq=False)
class ResultColumns:
    """Results in the order of their file, as columns of equal length. Codes are indexes into the two lists of names."""

    query_ids: Sequence[str]
    queries: Codes
    doc_ids: Sequence[str]
    documents: Codes
    scores: NDArray[np.float64]  # NaN where there is none
    ranks: Codes  # NO_RANK where there is none


@dataclass(frozen=True, slots=True, eq=False)
class ResultOrder:
    """`rows` of the columns, query by query in the order in which queries first come, best result first.

    `queries` are the queries' codes in that order, and `starts` where the results of each begin.
    """

    rows: Codes
    queries: Codes
    starts: Codes
    contradictions: int  # queries whose ranks contradict their scores
    reordered_ties: int = 0  # results of equal score that stand in another place than in the file


def check_order(order: str) -> Order:
    """Return the order of that name. Raises ValidationError if there is none."""
    for name in ORDERS:
        if order == name:
            return name
    raise ValidationError(f"expected the order {' or '.join(ORDERS)}, found {order!r}")


def order_columns(columns: ResultColumns, order: Order) -> ResultOrder:
    """Return the order of all results. Every document stands once in a query."""
    queries = columns.queries
    codes, first_rows = np.unique(queries, return_index=True)
    by_appearance = codes[np.argsort(first_rows)]
    place = np.empty(len(columns.query_ids), dtype=np.int64)
    place[by_appearance] = np.arange(len(by_appearance))
    places = place[queries]

    unscored = _count_by_place(places, np.isnan(columns.scores), len(codes)) > 0
    unranked = _count_by_place(places, columns.ranks == NO_RANK, len(codes)) > 0
    by_score = ~unscored if order == "score" else np.zeros(len(codes), dtype=bool)
    by_rank = ~by_score & ~unranked
    with np.errstate(over="ignore"):  # a score above 3e38 is infinite to trec_eval too
        scores = -columns.scores.astype(np.float32).astype(np.float64)
    positions = np.arange(len(queries), dtype=np.float64)
    keys = np.where(by_score[places], scores, np.where(by_rank[places], columns.ranks, positions))
    rows = _sort(columns, places, keys, by_score)
    starts = np.concatenate([[0], np.cumsum(np.bincount(places, minlength=len(codes)))])
    both = ~unscored & ~unranked
    contradicting = _find_contradictions(columns, places, scores, both)
    counted = by_score & ~contradicting
    in_file = np.where(both[places], columns.ranks, positions)
    ties = _count_reordered_ties(rows, in_file, keys, places, counted)
    return ResultOrder(rows, by_appearance, starts, int(contradicting.sum()), ties)


def drop_repeats(columns: ResultColumns, order: ResultOrder) -> ResultOrder:
    """Return the order without results whose document stands higher in the same query."""
    queries = columns.queries[order.rows].astype(np.int64)
    pairs = queries * max(1, len(columns.doc_ids)) + columns.documents[order.rows]
    kept = np.zeros(len(pairs), dtype=bool)
    kept[np.unique(pairs, return_index=True)[1]] = True
    starts = np.concatenate([[0], np.cumsum(kept)])[order.starts]
    return replace(order, rows=order.rows[kept], starts=starts)


def note_ties(count: int, *, option: str | None = None) -> list[Message]:
    """Return a sentence about reordered ties, or nothing for 0. `option`: the option that keeps the file's order."""
    if not count:
        return []
    if option is None:
        return [
            say_n(
                "{n} result of equal score is not where its file has it: ordered by id, as trec_eval does",
                "{n:,} results of equal score are not where their file has them: ordered by id, as trec_eval does",
                count,
            )
        ]
    return [
        say_n(
            "{n} result of equal score is not where its file has it: ordered by id, as trec_eval does; "
            "{option} keeps the order of the file",
            "{n:,} results of equal score are not where their file has them: ordered by id, as trec_eval does; "
            "{option} keeps the order of the file",
            count,
            option=option,
        )
    ]


def find_duplicate_row(columns: ResultColumns) -> int | None:
    """Return a row whose document stands in its query on an earlier row too; None if every one stands once."""
    pairs = columns.queries.astype(np.int64) * max(1, len(columns.doc_ids)) + columns.documents
    ordered = np.sort(pairs)  # much faster than to find where they stand, which is rarely needed
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    order = np.argsort(pairs, kind="stable")
    repeated = np.flatnonzero(pairs[order][1:] == pairs[order][:-1])
    return int(order[repeated + 1].min()) if len(repeated) else None


def _sort(
    columns: ResultColumns, places: Codes, keys: NDArray[np.float64], by_score: NDArray[np.bool_]
) -> Codes:
    """Sort by query and key; equal scores by doc_id, last first. Only documents with equal scores are compared by id."""
    rows = _sort_by(keys, places)
    equal = (
        (places[rows][1:] == places[rows][:-1])
        & (keys[rows][1:] == keys[rows][:-1])
        & by_score[places[rows][1:]]
    )
    if not equal.any():
        return rows
    tied = np.zeros(len(rows), dtype=bool)
    tied[:-1] |= equal
    tied[1:] |= equal
    codes = np.unique(columns.documents[rows[tied]]).tolist()
    codes.sort(key=lambda code: columns.doc_ids[code], reverse=True)  # code points compare as UTF-8 bytes do
    id_order = np.zeros(len(columns.doc_ids), dtype=np.int64)
    id_order[codes] = np.arange(len(codes))
    tie_keys = np.where(by_score[places], id_order[columns.documents], 0)
    return np.lexsort((tie_keys, keys, places))


def _find_contradictions(
    columns: ResultColumns, places: Codes, scores: NDArray[np.float64], both: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return, for each query, whether a result stands by rank below one of a lower score. `scores` are negated."""
    rows = _sort_by(scores, columns.ranks, places)
    falls = (places[rows][1:] == places[rows][:-1]) & (scores[rows][1:] < scores[rows][:-1])
    return both & (_count_by_place(places[rows][1:], falls, len(both)) > 0)


def _count_reordered_ties(
    rows: Codes, in_file: NDArray[Any], keys: NDArray[np.float64], places: Codes, counted: NDArray[np.bool_]
) -> int:
    """Count the results of the counted queries that the order by id moves within their score.

    `in_file`: the place of each result in its file. Results that share a place say nothing about their order.
    """
    moved = _sort_by(in_file[rows], keys[rows], places[rows]) != np.arange(len(rows))
    return int((moved & counted[places[rows]]).sum())


def _count_by_place(places: Codes, condition: NDArray[np.bool_], count: int) -> Codes:
    return np.bincount(places[condition], minlength=count)


def _sort_by(*keys: NDArray[Any]) -> Codes:
    """Return np.lexsort of the keys, the last being the first to decide; at once if the rows are in order already."""
    undecided = np.ones(len(keys[0]) - 1, dtype=bool) if len(keys[0]) else np.zeros(0, dtype=bool)
    for key in reversed(keys):
        if (undecided & (key[1:] < key[:-1])).any():
            return np.lexsort(keys)
        undecided &= key[1:] == key[:-1]
    return np.arange(len(keys[0]))
