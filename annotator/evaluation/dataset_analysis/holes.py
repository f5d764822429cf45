"""Find unjudged documents in the runs' first results that could still change the order of systems.

A hole is an unjudged document in the top k of a run. For two systems, the difference of the measure by which
they are ordered lies between bounds that hold for every grade (0–3) that the holes could have:

- nDCG, P: a document adds gain × discount to a system's score. For the largest difference B − A, each hole
  gets the highest grade if B ranks it higher and grade 0 if not; for the smallest difference the other way
  round. nDCG divides by the ideal DCG, which grows with grades. The largest difference is therefore divided
  by the ideal of the judged documents alone if it is positive, and by the ideal with every hole at the
  highest grade if it is negative. The bounds are never too narrow, but may be wider than any assignment of
  grades reaches.
- Success: exact.
- nDCG by position (`survey`): a hole that enters the list of relevant documents changes every gain. The
  bounds only use two facts: a system without a relevant document or a hole in its top k scores 0, and no
  score exceeds 1.

Documents that no run has in its top k keep their state: they add nothing to a score, but a relevant one
raises the ideal of nDCG. `JudgingNeed.can_change_below` says whether that could change an order. The order of
two systems is open unless all differences between the bounds give the same order, or all give a tie. Cormack
and Lynam (2007) and Moffat, Webber and Zobel (SIGIR 2007) bound scores in the same way. The loss of a system
that is not pooled: Zobel (SIGIR 1998).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from annotator.domain.messages import Message, say, say_n
from annotator.evaluation.records import Grades, Measure, RankedRun
from annotator.evaluation.scores.formulas import HIGHEST_GRADE, list_discounts, round_scores, to_gains

Floats = NDArray[np.float64]
Pairs = NDArray[np.int64]
EQUAL_WITHIN = 1e-12
AT_ONCE = 4_000_000
"""The maximum number of differences (pairs of systems x holes) in memory at a time."""


def choose_order_measure(measures: Sequence[Measure]) -> Measure | None:
    """Return the first nDCG with a cutoff, or else the first such P, or else the first such Success, or None."""
    for kind in ("nDCG", "P", "Success"):
        for measure in measures:
            if (
                measure.kind == kind
                and measure.cutoff is not None
                and measure.ideal == "truth"
                and not measure.over_returned
            ):
                return measure
    return None


@dataclass(frozen=True, slots=True)
class Hole:
    """An unjudged document in the top k of at least one run.

    `influence`: the most that a grade for this document alone can change the mean difference between two
    systems whose order is open.
    """

    query_id: str
    doc_id: str
    ranks: Mapping[
        str, int
    ]  # by system, from 1; empty where they are hidden from a reader who may judge the document
    influence: float


@dataclass(frozen=True, slots=True)
class OrderBounds:
    """Two systems and the bounds of the difference B − A of their means. A has the higher mean now."""

    a: str
    b: str
    difference: float
    lowest: float
    highest: float

    @property
    def is_open(self) -> bool:
        """Return whether grades for the holes could change the order, make a tie or break one."""
        return bool(_are_open(np.array([self.lowest]), np.array([self.highest]))[0])


def _are_open(lowest: Floats, highest: Floats) -> NDArray[np.bool_]:
    one_sided = (lowest > EQUAL_WITHIN) | (highest < -EQUAL_WITHIN)
    tied = (lowest >= -EQUAL_WITHIN) & (highest <= EQUAL_WITHIN)
    return ~one_sided & ~tied


@dataclass(frozen=True, slots=True)
class JudgingNeed:
    """All holes in the top k, most influential first, and the possible differences of every two systems."""

    measure: str
    cutoff: int
    queries: int
    holes: tuple[Hole, ...]
    orders: tuple[OrderBounds, ...]
    by_system: Mapping[str, int]  # number of holes in each system's top k
    by_query: Mapping[str, int]  # number of holes of each query with holes
    can_change_below: bool = False  # unjudged results below the top k could change an order that is not open

    @property
    def open_orders(self) -> tuple[OrderBounds, ...]:
        return tuple(order for order in self.orders if order.is_open)

    @property
    def sentence(self) -> Message:
        """Return whether judging can stop, or how many documents to judge next."""
        if self.can_change_below and not self.open_orders:
            return say(
                "No unjudged document in the top {cutoff} can change the systems' order on {measure}, but relevant ones "
                "further down could: they raise the ideal that scores are divided by.",
                cutoff=self.cutoff,
                measure=self.measure,
            )
        if not self.holes:
            return say(
                "Every document in the systems' top {cutoff} is judged: judging can stop.", cutoff=self.cutoff
            )
        if not self.orders:
            return say_n(
                "{n} document in the top {cutoff} of the only system is unjudged: its score is uncertain.",
                "{n:,} documents in the top {cutoff} of the only system are unjudged: its score is uncertain.",
                len(self.holes),
                cutoff=self.cutoff,
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
            sum(hole.influence > 0 for hole in self.holes) or len(self.holes),
            cutoff=self.cutoff,
            measure=self.measure,
        )


def find_holes(
    runs: Sequence[RankedRun],
    grades: Grades,
    measure: Measure,
    query_ids: Sequence[str],
    *,
    relevant_from: int = 1,
    may_join: Sequence[str] = (),
    unjudged: Mapping[str, int] | None = None,
) -> JudgingNeed:
    """Return the holes in the top k of `runs`, and the bounds of the differences between systems.

    `measure`: from `choose_order_measure`; k is its cutoff. `grades`: as the profile converts them. Means are
    over `query_ids`; a query of `may_join` enters the means as soon as one of its documents is relevant.
    `unjudged`: by query, how many unjudged documents the runs have at any rank; None: as many as in the top k.
    """
    systems = [run.system for run in runs]
    pairs = np.array(list(combinations(range(len(runs)), 2)), dtype=np.int64).reshape(-1, 2)
    tops = _TopLists.of(runs, measure, relevant_from)
    low, now, high, lowest, highest = (np.zeros(len(pairs)) for _ in range(5))
    by_query: dict[str, int] = {}
    for query_id in (*query_ids, *may_join):
        query = tops.tabulate(query_id, grades.get(query_id, {}))
        if query.holes:
            by_query[query_id] = len(query.holes)
        bounds = query.bound(pairs)
        low, now, high = low + bounds.lowest, now + bounds.present, high + bounds.highest
        below = max(0, (unjudged or {}).get(query_id, 0) - len(query.holes))
        bounds = query.bound(pairs, below=below) if below else bounds
        lowest, highest = lowest + bounds.lowest, highest + bounds.highest
    fewest, most = max(1, len(query_ids)), max(1, len(query_ids) + len(may_join))
    low = np.where(low < 0, low / fewest, low / most)
    high = np.where(high > 0, high / fewest, high / most)
    is_open = _are_open(low, high)
    open_pairs = pairs[is_open]
    holes: list[Hole] = []
    by_system = dict.fromkeys(systems, 0)
    for query_id in by_query:
        query = tops.tabulate(query_id, grades.get(query_id, {}))
        influences = (query.measure_influences(open_pairs) / fewest).tolist()
        ranks: dict[str, dict[str, int]] = {doc_id: {} for doc_id in query.holes}
        for system, doc_ids in zip(systems, query.listed, strict=True):
            for rank, doc_id in enumerate(doc_ids, start=1):
                if doc_id in ranks:
                    ranks[doc_id][system] = rank
                    by_system[system] += 1
        holes += [
            Hole(query_id, doc_id, ranks[doc_id], influence)
            for doc_id, influence in zip(query.holes, influences, strict=True)
        ]
    holes.sort(key=lambda hole: -hole.influence)
    return JudgingNeed(
        measure=measure.name,
        cutoff=tops.cutoff,
        queries=len(query_ids),
        holes=tuple(holes),
        orders=tuple(
            _orient(systems[a], systems[b], float(now[index] / fewest), float(low[index]), float(high[index]))
            for index, (a, b) in enumerate(pairs.tolist())
        ),
        by_system=by_system,
        by_query=by_query,
        can_change_below=bool((_are_open(lowest / most, highest / most) & ~is_open).any()),
    )


def _orient(a: str, b: str, difference: float, lowest: float, highest: float) -> OrderBounds:
    """Return the order with the higher system as A."""
    if difference > 0:
        return OrderBounds(b, a, -difference, -highest, -lowest)
    return OrderBounds(a, b, difference, lowest, highest)


@dataclass(frozen=True, slots=True)
class _TopLists:
    """The first `cutoff` results of the runs; `tabulate` prepares one query."""

    runs: Sequence[RankedRun]
    positions: Sequence[Mapping[str, int]]  # by run: the index of each query
    measure: Measure
    relevant_from: int
    cutoff: int
    discounts: Floats  # the factor of the gain at each rank

    @classmethod
    def of(cls, runs: Sequence[RankedRun], measure: Measure, relevant_from: int) -> "_TopLists":
        if measure.cutoff is None:
            raise ValueError(f"{measure.name} has no cutoff")
        return cls(
            runs,
            [{query_id: index for index, query_id in enumerate(run.query_ids)} for run in runs],
            measure,
            relevant_from,
            measure.cutoff,
            1 / list_discounts(measure.cutoff) if measure.kind == "nDCG" else np.ones(measure.cutoff),
        )

    def tabulate(self, query_id: str, judged: Mapping[str, int]) -> "_QueryTable":
        """Return one query's top lists, with the sum that each system gets from judged documents."""
        listed = [
            [] if (index := position.get(query_id)) is None else run.list_documents(index)[: self.cutoff]
            for run, position in zip(self.runs, self.positions, strict=True)
        ]
        results = [doc_id for doc_ids in listed for doc_id in doc_ids]
        holes = list(dict.fromkeys(doc_id for doc_id in results if doc_id not in judged))
        columns_by_id = {doc_id: column for column, doc_id in enumerate(holes)}
        judged_gains = self._to_gains([*judged.values()])
        gains_by_id = dict(zip(judged, judged_gains.tolist(), strict=True))
        lengths = np.array([len(doc_ids) for doc_ids in listed], dtype=np.int64)
        rows = np.repeat(np.arange(len(listed)), lengths)
        discounts = self.discounts[np.arange(len(results)) - np.repeat(np.cumsum(lengths) - lengths, lengths)]
        gains = np.array([gains_by_id.get(doc_id, 0.0) for doc_id in results])
        columns = np.array([columns_by_id.get(doc_id, -1) for doc_id in results], dtype=np.int64)
        counted = np.zeros((len(listed), len(holes)))
        is_hole = columns >= 0
        counted[rows[is_hole], columns[is_hole]] = discounts[is_hole]
        sums: Floats = np.bincount(rows, gains * discounts, minlength=len(listed)).astype(np.float64)
        return _QueryTable(self, listed, holes, sums, counted, judged_gains)

    def _to_gains(self, grades: Sequence[int]) -> Floats:
        """Return the gain of each grade, not discounted."""
        values = np.array(grades, dtype=np.int16)
        if self.measure.kind == "nDCG":
            return to_gains(values, self.measure.gain)
        return (values >= self.relevant_from).astype(np.float64)

    def list_hole_gains(self, judged_gains: Floats) -> Floats:
        """Return the possible gains of one hole, highest last."""
        if self.measure.gain == "position":  # as the first of the list
            return np.array([2.0 ** (np.count_nonzero(judged_gains) + 1) - 1])
        return np.unique(self._to_gains(range(1, HIGHEST_GRADE + 1)))

    def compute_ideal(self, gains: Floats) -> float:
        """Return the divisor of the score for a query whose documents have these gains."""
        if self.measure.kind != "nDCG":
            return float(self.cutoff) if self.measure.kind == "P" else 1.0
        best = np.sort(gains)[::-1][: self.cutoff]
        return float(best @ self.discounts[: len(best)])


@dataclass(frozen=True, slots=True)
class _Differences:
    """For each pair of systems: the bounds of one query's difference, and the present difference."""

    lowest: Floats
    present: Floats
    highest: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _QueryTable:
    """One query's top lists. `sums`: by system, over judged documents; `counted` [system, hole]: discounts."""

    tops: _TopLists
    listed: Sequence[Sequence[str]]
    holes: Sequence[str]
    sums: Floats
    counted: Floats
    judged_gains: Floats

    def bound(self, pairs: Pairs, *, below: int = 0) -> _Differences:
        """Return the bounds of the difference of each pair. `below`: the unjudged documents below the top k."""
        scores = self._score(self.sums, self.judged_gains)
        present = scores[pairs[:, 1]] - scores[pairs[:, 0]]
        if not self.holes and not below:
            return _Differences(present, present, present)
        measure = self.tops.measure
        if measure.kind == "Success":
            return self._bound_success(present, pairs)
        if measure.gain != "position":
            bounds = self._bound_sums(present, pairs, below)
            if measure.decimals is None:
                return bounds
            slack = 10.0**-measure.decimals * self._find_different(pairs)  # each score moves by half of it
            return _Differences(bounds.lowest - slack, present, bounds.highest + slack)
        reach = ((self.sums > 0) | self.counted.any(axis=1)) * 1.0
        different = self._find_different(pairs)
        return _Differences(-different * reach[pairs[:, 0]], present, different * reach[pairs[:, 1]])

    def _find_different(self, pairs: Pairs) -> Floats:
        """Return 1 for the pairs whose top lists differ, else 0."""
        return np.array([float(self.listed[a] != self.listed[b]) for a, b in pairs.tolist()])

    def _bound_success(self, present: Floats, pairs: Pairs) -> _Differences:
        has_hole = self.counted > 0
        common = has_hole.astype(np.float64) @ has_hole.T
        counts = has_hole.sum(axis=1)
        hit = self.sums > 0
        first, second = pairs[:, 0], pairs[:, 1]

        def find_highest(a: Pairs, b: Pairs) -> Floats:
            """Return the highest B − A. If A has no hit, B must hit by a judged document or a hole that A lacks."""
            reachable = hit[b] | (counts[b] > 0)
            alone = hit[b] | (counts[b] > common[a, b])
            highest: Floats = np.where(hit[a], reachable - 1.0, alone.astype(np.float64))
            return highest

        return _Differences(-find_highest(second, first), present, find_highest(first, second))

    def _bound_sums(self, present: Floats, pairs: Pairs, further: int) -> _Differences:
        highest_gain = float(self.tops.list_hole_gains(self.judged_gains)[-1])
        least = self.tops.compute_ideal(self.judged_gains)
        most = self.tops.compute_ideal(
            np.concatenate([self.judged_gains, np.full(len(self.holes) + further, highest_gain)])
        )
        numerators = self.sums[pairs[:, 1]] - self.sums[pairs[:, 0]]
        above, below = numerators.copy(), numerators.copy()
        for columns in self._split(len(pairs)):
            weights = (self.counted[pairs[:, 1], columns] - self.counted[pairs[:, 0], columns]) * highest_gain
            above += np.maximum(weights, 0).sum(axis=1)
            below += np.minimum(weights, 0).sum(axis=1)
        return _Differences(-_divide_up(-below, least, most), present, _divide_up(above, least, most))

    def measure_influences(self, pairs: Pairs) -> Floats:
        """Return for each hole the most that a grade for it alone changes the difference of any of the pairs."""
        influences = np.zeros(len(self.holes))
        if not len(pairs):
            return influences
        now = self._score(self.sums, self.judged_gains)[:, None]
        for gain in self.tops.list_hole_gains(self.judged_gains).tolist():
            if not gain:
                continue
            graded = self._score(self.sums[:, None] + gain * self.counted, np.append(self.judged_gains, gain))
            moves = graded - now
            for columns in self._split(len(pairs)):
                swings = np.abs(moves[pairs[:, 1], columns] - moves[pairs[:, 0], columns])
                influences[columns] = np.maximum(influences[columns], swings.max(axis=0))
        return np.where(influences > EQUAL_WITHIN, influences, 0.0)

    def _score(self, sums: Floats, gains: Floats) -> Floats:
        """Return the scores of systems with these sums. `gains`: of the judged documents of the query."""
        if self.tops.measure.kind == "Success":
            return (sums > 0).astype(np.float64)
        ideal = self.tops.compute_ideal(gains)
        scores = sums / ideal if ideal else np.zeros_like(sums)
        decimals = self.tops.measure.decimals
        return scores if decimals is None else round_scores(scores, decimals)

    def _split(self, pairs: int) -> Sequence[slice]:
        step = max(1, AT_ONCE // max(1, pairs))
        return [slice(start, start + step) for start in range(0, len(self.holes), step)]


def _divide_up(numerator: Floats, least_ideal: float, most_ideal: float) -> Floats:
    """Return the largest quotient for an ideal between the two; at most 1, the largest difference of scores."""
    if most_ideal == 0:
        return np.zeros_like(numerator)
    positive = np.minimum(numerator / least_ideal, 1.0) if least_ideal else (numerator > 0).astype(np.float64)
    return np.where(numerator > 0, positive, numerator / most_ideal)


def find_unique_contributions(runs: Sequence[RankedRun], depth: int) -> dict[str, dict[str, set[str]]]:
    """Return {system: {query_id: documents}}: documents that only this run has in its top `depth`."""
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
    """Return the grades without these documents, as if they had not been pooled. `documents`: by query_id."""
    return {
        query_id: {
            doc_id: grade for doc_id, grade in judged.items() if doc_id not in documents.get(query_id, ())
        }
        for query_id, judged in grades.items()
    }
