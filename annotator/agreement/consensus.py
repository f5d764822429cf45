"""Estimate the grade behind several judgments, and compare it with leads' decisions.

An estimate settles nothing and enters no release. Only pairs with two or more judgments are estimated, and
only adjudicated pairs are compared: where all gave the same grade, every method agrees anyway.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import median
from typing import NamedTuple

import numpy as np

from annotator.agreement.consensus_records import Consensus, DecisionMatch, EstimatedAnnotator, EstimatedPair
from annotator.agreement.dawid_skene import DawidSkene, find_likelier
from annotator.agreement.judgment_table import Ints
from annotator.domain.grades import GRADES

SETTLED = ("unanimous", "adjudicated")


class ConsensusPair(NamedTuple):
    """A pair with its current independent grades by annotator, and its settled grade."""

    query_id: str
    doc_id: str
    grades: Mapping[int, int]
    settled: int | None
    settled_by: str


def find_majority(grades: Sequence[int]) -> int | None:
    """Return the grade given most often; None if two grades are given equally often."""
    counts = sorted(((grades.count(grade), grade) for grade in set(grades)), reverse=True)
    return counts[0][1] if len(counts) == 1 or counts[0][0] > counts[1][0] else None


def compare_estimates(dataset: str, pairs: Iterable[ConsensusPair], names: Mapping[int, str]) -> Consensus:
    """Return the estimates of pairs with two or more judgments; none if Dawid and Skene's fails.

    `names`: of the annotators, by the keys of `ConsensusPair.grades`.
    """
    shared = [pair for pair in pairs if len(pair.grades) > 1]
    people, columns = _gather(shared, names)
    model = find_likelier(*columns)
    if not model.converged:
        return Consensus(dataset, (), (), (), (), model.rounds, False)
    best, surest = model.probabilities.argmax(axis=1).tolist(), model.probabilities.max(axis=1).tolist()
    estimated = [
        _describe(pair, grade, probability)
        for pair, grade, probability in zip(shared, best, surest, strict=True)
    ]
    return Consensus(
        dataset=dataset,
        pairs=estimated,
        annotators=_describe_people(people, columns, model),
        matches=_match(estimated),
        shares=tuple(model.shares.tolist()),
        iterations=model.rounds,
        converged=model.converged,
    )


def _gather(
    pairs: Sequence[ConsensusPair], names: Mapping[int, str]
) -> tuple[list[str], tuple[Ints, Ints, Ints]]:
    """Return the annotators by name, and the pair index, annotator index and grade of every judgment."""
    person, grade = array("q"), array("q")
    for pair in pairs:
        person.extend(pair.grades)
        grade.extend(pair.grades.values())
    pair_number = np.repeat(
        np.arange(len(pairs)), np.array([len(pair.grades) for pair in pairs], dtype=np.int64)
    )
    keys, number = np.unique(np.array(person, dtype=np.int64), return_inverse=True)
    people = [names[key] for key in keys.tolist()]
    by_name = sorted(range(len(people)), key=lambda at: people[at])
    order = np.empty(len(people), dtype=np.int64)
    order[by_name] = np.arange(len(people))
    return [people[at] for at in by_name], (pair_number, order[number], np.array(grade, dtype=np.int64))


@lru_cache(4096)
def _sum_up(grades: tuple[int, ...]) -> tuple[int | None, float]:
    """Return majority and median. Cached: a million pairs have a few hundred different tuples of grades."""
    return find_majority(grades), float(median(grades))


def _describe(pair: ConsensusPair, grade: int, probability: float) -> EstimatedPair:
    majority, middle = _sum_up(tuple(pair.grades.values()))
    settles = pair.settled_by in SETTLED
    return EstimatedPair(
        pair.query_id,
        pair.doc_id,
        len(pair.grades),
        majority,
        middle,
        grade,
        probability,
        pair.settled if settles else None,
        pair.settled_by if settles else None,
    )


def _describe_people(
    names: Sequence[str], columns: tuple[Ints, Ints, Ints], estimated: DawidSkene
) -> tuple[EstimatedAnnotator, ...]:
    pair, annotator, grade = columns
    judgments = np.bincount(annotator, minlength=len(names))
    right = np.bincount(annotator, weights=estimated.probabilities[pair, grade], minlength=len(names))
    return tuple(
        EstimatedAnnotator(
            name,
            int(judgments[index]),
            float(right[index] / judgments[index]),
            tuple(tuple(row) if sum(row) > 0 else None for row in estimated.errors[index].tolist()),
        )
        for index, name in enumerate(names)
    )


METHODS: Mapping[str, Callable[[EstimatedPair], int | None]] = {
    "majority": lambda pair: pair.majority,
    "median": lambda pair: int(pair.median) if pair.median in GRADES else None,
    "Dawid and Skene": lambda pair: pair.dawid_skene,
}


def _match(pairs: Sequence[EstimatedPair]) -> tuple[DecisionMatch, ...]:
    decided = [pair for pair in pairs if pair.settled_by == "adjudicated"]
    return tuple(
        _count(name, [(value(pair), pair.settled) for pair in decided]) for name, value in METHODS.items()
    )


def _count(name: str, pairs: Sequence[tuple[int | None, int | None]]) -> DecisionMatch:
    compared = [(estimated, settled) for estimated, settled in pairs if estimated is not None]
    return DecisionMatch(
        name,
        len(compared),
        sum(estimate == other for estimate, other in compared),
        len(pairs) - len(compared),
    )
