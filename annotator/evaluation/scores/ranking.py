"""Order the results of a run: by score as trec_eval does, or by rank as team programs do.

By score: as 32-bit floats, highest first; equal scores by doc_id in descending order of bytes. A query is
ordered by rank if one of its results has no score, and keeps the order of the file if a rank is missing too.
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
    """Results in the order of their file, as columns of equal length. Codes are indexes into the lists of ids."""

    query_ids: Sequence[str]
    queries: Codes
    doc_ids: Sequence[str]
    documents: Codes
    scores: NDArray[np.float64]  # NaN without a score
    ranks: Codes  # NO_RANK without a rank


@dataclass(frozen=True, slots=True, eq=False)
class ResultOrder:
    """The order of results: `rows` of the columns, grouped by query in order of appearance, best result first.

    `queries`: the codes of the queries in this order. `starts`: for each query the index of its first result
    in `rows`, then the number of all results.
    """

    rows: Codes
    queries: Codes
    starts: Codes
    contradictions: int  # queries whose ranks contradict their scores
    reordered_ties: int = 0  # results of equal score that the order by id has moved


def check_order(order: str) -> Order:
    """Return the order of this name. Raises ValidationError for an unknown name."""
    for name in ORDERS:
        if order == name:
            return name
    raise ValidationError(f"expected the order {' or '.join(ORDERS)}, found {order!r}")


def order_columns(columns: ResultColumns, order: Order) -> ResultOrder:
    """Return the order of all results."""
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
    in_file = np.where(both[places], columns.ranks, positions)  # results that share a rank have not moved
    moved = _sort_by(in_file[rows], keys[rows], places[rows]) != np.arange(len(rows))
    ties = int((moved & counted[places[rows]]).sum())
    return ResultOrder(rows, by_appearance, starts, int(contradicting.sum()), ties)


def drop_repeats(columns: ResultColumns, order: ResultOrder) -> ResultOrder:
    """Return the order without results whose document ranks higher in the same query."""
    queries = columns.queries[order.rows].astype(np.int64)
    pairs = queries * max(1, len(columns.doc_ids)) + columns.documents[order.rows]
    kept = np.zeros(len(pairs), dtype=bool)
    kept[np.unique(pairs, return_index=True)[1]] = True
    starts = np.concatenate([[0], np.cumsum(kept)])[order.starts]
    return replace(order, rows=order.rows[kept], starts=starts)


def note_ties(count: int, *, option: str | None = None) -> list[Message]:
    """Return a sentence on reordered ties, or [] for 0. `option`: the option that keeps the file's order."""
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
    """Return the first row that repeats a document of its query, or None."""
    pairs = columns.queries.astype(np.int64) * max(1, len(columns.doc_ids)) + columns.documents
    ordered = np.sort(pairs)  # much faster than finding the row, which is rarely needed
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    order = np.argsort(pairs, kind="stable")
    repeated = np.flatnonzero(pairs[order][1:] == pairs[order][:-1])
    return int(order[repeated + 1].min()) if len(repeated) else None


def _sort(
    columns: ResultColumns, places: Codes, keys: NDArray[np.float64], by_score: NDArray[np.bool_]
) -> Codes:
    """Sort by query and key, and equal scores by doc_id in descending order."""
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
    """Return for each query whether a result ranks below one with a lower score. `scores` are negated."""
    rows = _sort_by(scores, columns.ranks, places)
    falls = (places[rows][1:] == places[rows][:-1]) & (scores[rows][1:] < scores[rows][:-1])
    return both & (_count_by_place(places[rows][1:], falls, len(both)) > 0)


def _count_by_place(places: Codes, condition: NDArray[np.bool_], count: int) -> Codes:
    return np.bincount(places[condition], minlength=count)


def _sort_by(*keys: NDArray[Any]) -> Codes:
    """Return np.lexsort of the keys (the last key decides first), fast if the rows are already in order."""
    undecided = np.ones(len(keys[0]) - 1, dtype=bool) if len(keys[0]) else np.zeros(0, dtype=bool)
    for key in reversed(keys):
        if (undecided & (key[1:] < key[:-1])).any():
            return np.lexsort(keys)
        undecided &= key[1:] == key[:-1]
    return np.arange(len(keys[0]))
