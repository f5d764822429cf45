"""Find unjudged documents in the runs' first results, and say which of them could still change the order of systems.

A hole is an unjudged document in the top k of a run. For two systems, the difference of a measure lies between bounds
that hold for every grade (0–3) that their holes could have:

- A document adds gain × discount to a system's score. For the largest difference B − A, each hole gets the highest grade
  if B ranks it higher and grade 0 if not; for the smallest difference the other way round.
- nDCG divides by the ideal DCG, which grows with grades. The largest difference is therefore divided by the ideal of the
  judged documents alone if it is positive, and by the ideal with every hole at the highest grade if it is negative. The
  bounds are never too narrow, but may be wider than any assignment of grades reaches.

Documents that no run retrieved are left as they are. The order of two systems is open if the bounds of their difference
lie on both sides of 0. Cormack and Lynam (2007) and Moffat, Webber and Zobel (SIGIR 2007) bound scores in the same way.

What a system would lose had it not been pooled: Zobel (SIGIR 1998).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from annotator.domain.messages import Message, say, say_n
from annotator.evaluation.records import Gain, Grades, RankedRun, Truth

Floats = NDArray[np.float64]
HIGHEST_GRADE = 3
EQUAL_WITHIN = 1e-12


@dataclass(frozen=True, slots=True)
class OrderMeasure:
    """The measure that orders systems: nDCG@cutoff, or P@cutoff where `relevant_from` is given."""

    name: str
    cutoff: int
    gain: Gain = "grade"
    relevant_from: int | None = None  # None: nDCG

    @property
    def highest_gain(self) -> float:
        return self.give_gain(HIGHEST_GRADE)

    def give_gain(self, grade: int) -> float:
        """Return what a document of this grade adds at the first rank."""
        if self.relevant_from is not None:
            return float(grade >= self.relevant_from)
        return float(2**grade - 1) if self.gain == "exponential" else float(grade)

    def list_discounts(self) -> Floats:
        """Return what each rank up to the cutoff counts."""
        if self.relevant_from is not None:
            return np.ones(self.cutoff)
        return 1 / np.log2(np.arange(2, self.cutoff + 2))

    def compute_ideal(self, gains: Collection[float]) -> float:
        """Return the divisor of a query whose documents have these gains."""
        if self.relevant_from is not None:
            return float(self.cutoff)
        best = np.sort(np.fromiter(gains, dtype=np.float64))[::-1][: self.cutoff]
        return float(best @ self.list_discounts()[: len(best)])


@dataclass(frozen=True, slots=True)
class Hole:
    """An unjudged document in the top k of at least one run.

    `influence` is the most that one grade for it can move the mean difference of two systems whose order is open; 0 if
    it can move none.
    """

    query_id: str
    doc_id: str
    ranks: Mapping[str, int]  # by system, from 1
    influence: float


@dataclass(frozen=True, slots=True)
class OrderBounds:
    """Two systems and the bounds of their difference. Differences are B − A of the means; A is the higher one now."""

    a: str
    b: str
    difference: float
    lowest: float
    highest: float

    @property
    def is_open(self) -> bool:
        """Return whether the holes could change the order."""
        return self.lowest < -EQUAL_WITHIN and self.highest > EQUAL_WITHIN


@dataclass(frozen=True, slots=True)
class JudgingNeed:
    """All holes in the top k, most influential first, and what they could do to the order of every two systems."""

    measure: str
    cutoff: int
    queries: int
    holes: tuple[Hole, ...]
    orders: tuple[OrderBounds, ...]
    by_system: Mapping[str, int]  # number of holes in each system's top k
    by_query: Mapping[str, int]  # number of holes of each query that has any

    @property
    def open_orders(self) -> tuple[OrderBounds, ...]:
        return tuple(order for order in self.orders if order.is_open)

    @property
    def sentence(self) -> Message:
        """Whether judging can stop, or what to judge next."""
        if not self.holes:
            return say(
                "Every document in the systems' top {cutoff} is judged: judging can stop.", cutoff=self.cutoff
            )
        if not self.open_orders:
            return say(
                "No unjudged document in the top {cutoff} can change the systems' order on {measure}: judging can stop.",
                cutoff=self.cutoff,
                measure=self.measure,
            )
        return say_n(
            "{n} unjudged document in the top {cutoff} could change the order of systems on {measure}. Judge it next.",
            "{n:,} unjudged documents in the top {cutoff} could change the order of systems on {measure}. Judge them next.",
            sum(hole.influence > 0 for hole in self.holes),
            cutoff=self.cutoff,
            measure=self.measure,
        )


def find_holes(
    runs: Sequence[RankedRun], truth: Truth, measure: OrderMeasure, query_ids: Sequence[str]
) -> JudgingNeed:
    """Return the holes in the top k of `runs` over `query_ids`, and which orders of systems they leave open."""
    systems = [run.system for run in runs]
    pairs = np.array(list(combinations(range(len(runs)), 2)), dtype=np.int64).reshape(-1, 2)
    positions = [{query_id: index for index, query_id in enumerate(run.query_ids)} for run in runs]
    low, now, high = (np.zeros(len(pairs)) for _ in range(3))
    swings: list[tuple[str, str, dict[str, int], Floats]] = []
    for query_id in query_ids:
        listed = [
            _list_top(run, position.get(query_id), measure.cutoff)
            for run, position in zip(runs, positions, strict=True)
        ]
        judged = truth.grades.get(query_id, {})
        query = _bound_query(listed, judged, measure, pairs)
        low += query.lowest
        now += query.present
        high += query.highest
        for column, doc_id in enumerate(query.holes):
            ranks = {
                system: doc_ids.index(doc_id) + 1
                for system, doc_ids in zip(systems, listed, strict=True)
                if doc_id in doc_ids
            }
            swings.append((query_id, doc_id, ranks, query.swings[:, column]))
    count = max(1, len(query_ids))
    low, now, high = low / count, now / count, high / count
    is_open = (low < -EQUAL_WITHIN) & (high > EQUAL_WITHIN)
    holes = [
        Hole(query_id, doc_id, ranks, float(np.max(swing / count, initial=0.0, where=is_open)))
        for query_id, doc_id, ranks, swing in swings
    ]
    holes.sort(key=lambda hole: -hole.influence)
    by_query: dict[str, int] = {}
    for query_id, *_ in swings:
        by_query[query_id] = by_query.get(query_id, 0) + 1
    return JudgingNeed(
        measure=measure.name,
        cutoff=measure.cutoff,
        queries=len(query_ids),
        holes=tuple(holes),
        orders=tuple(
            _orient(systems[a], systems[b], float(now[index]), float(low[index]), float(high[index]))
            for index, (a, b) in enumerate(pairs.tolist())
        ),
        by_system={system: sum(system in ranks for _, _, ranks, _ in swings) for system in systems},
        by_query=by_query,
    )


def _list_top(run: RankedRun, index: int | None, cutoff: int) -> list[str]:
    return [] if index is None else run.list_documents(index)[:cutoff]


def _orient(a: str, b: str, difference: float, lowest: float, highest: float) -> OrderBounds:
    """Return the order with the higher system as A."""
    if difference > 0:
        return OrderBounds(b, a, -difference, -highest, -lowest)
    return OrderBounds(a, b, difference, lowest, highest)


@dataclass(frozen=True, slots=True)
class _QueryBounds:
    """Per pair of systems the bounds of one query's difference; per pair and hole how far it can move that difference."""

    lowest: Floats
    present: Floats
    highest: Floats
    holes: list[str]
    swings: Floats


def _bound_query(
    listed: Sequence[Sequence[str]],
    judged: Mapping[str, int],
    measure: OrderMeasure,
    pairs: NDArray[np.int64],
) -> _QueryBounds:
    discounts = measure.list_discounts()
    doc_ids = list(dict.fromkeys(doc_id for results in listed for doc_id in results))
    columns = {doc_id: column for column, doc_id in enumerate(doc_ids)}
    counted = np.zeros((len(listed), len(doc_ids)))
    for row, results in enumerate(listed):
        counted[row, [columns[doc_id] for doc_id in results]] = discounts[: len(results)]
    gains = np.array([measure.give_gain(judged[doc_id]) if doc_id in judged else 0.0 for doc_id in doc_ids])
    holes = [doc_id for doc_id in doc_ids if doc_id not in judged]
    is_hole = np.array([doc_id not in judged for doc_id in doc_ids], dtype=bool)
    judged_gains = [measure.give_gain(grade) for grade in judged.values()]
    least_ideal = measure.compute_ideal(judged_gains)
    most_ideal = measure.compute_ideal([*judged_gains, *([measure.highest_gain] * len(holes))])
    difference = counted[pairs[:, 1]] - counted[pairs[:, 0]]
    present = difference @ gains
    weights = difference[:, is_hole] * measure.highest_gain
    above = present + np.maximum(weights, 0).sum(axis=1)
    below = present + np.minimum(weights, 0).sum(axis=1)
    return _QueryBounds(
        lowest=-_divide_up(-below, least_ideal, most_ideal),
        present=present / least_ideal if least_ideal else np.zeros(len(pairs)),
        highest=_divide_up(above, least_ideal, most_ideal),
        holes=holes,
        swings=np.minimum(np.abs(weights) / least_ideal, 1.0)
        if least_ideal
        else (weights != 0).astype(np.float64),
    )


def _divide_up(numerator: Floats, least_ideal: float, most_ideal: float) -> Floats:
    """Return the largest quotient that an ideal between the two can give; no difference of scores exceeds 1."""
    if most_ideal == 0:
        return np.zeros_like(numerator)
    positive = np.minimum(numerator / least_ideal, 1.0) if least_ideal else (numerator > 0).astype(np.float64)
    return np.where(numerator > 0, positive, numerator / most_ideal)


def find_unique_contributions(runs: Sequence[RankedRun], depth: int) -> dict[str, dict[str, set[str]]]:
    """Return, by system and query_id, the documents that no other run has in its top `depth`."""
    finders: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        for index, query_id in enumerate(run.query_ids):
            for doc_id in run.list_documents(index)[:depth]:
                finders.setdefault((query_id, doc_id), []).append(run.system)
    unique: dict[str, dict[str, set[str]]] = {run.system: {} for run in runs}
    for (query_id, doc_id), systems in finders.items():
        if len(systems) == 1:
            unique[systems[0]].setdefault(query_id, set()).add(doc_id)
    return unique


def leave_out_documents(
    grades: Grades, documents: Mapping[str, Collection[str]]
) -> dict[str, dict[str, int]]:
    """Return the grades without these documents (by query_id): the truth had nobody pooled them."""
    return {
        query_id: {
            doc_id: grade for doc_id, grade in judged.items() if doc_id not in documents.get(query_id, ())
        }
        for query_id, judged in grades.items()
    }
