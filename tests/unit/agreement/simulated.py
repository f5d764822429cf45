"""Judgments made up for the tests of the signals: queries of their own difficulty, annotators with chosen faults."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from annotator.agreement.judgment_table import Floats, GradedJudgments, Ints, sort_judged

DAY = 24 * 60 * 60
BEGIN = 1_767_571_200  # Monday 2026-01-05 00:00 UTC


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong with the work; nothing by default. `leans`: how likely an annotator gives one grade more, by number.
    `late_errors`: the share of random grades in the last third. `turns`: who leans so only in the last third.
    `hurries`: who judges a fifth of the pairs in two seconds, at random. `guesses`: who gives random grades throughout.
    `constant`: who gives this one grade in 98 of 100 judgments. `between`: how likely the first gives one grade more than they
    would where the second judges the same pair. `begins`: who gives every grade from this one on one higher, always.
    `narrow`: all documents truly deserve grade 0 in this share."""

    leans: Mapping[int, float] = field(default_factory=dict)
    late_errors: float = 0.0
    turns: Mapping[int, float] = field(default_factory=dict)
    hurries: frozenset[int] = frozenset()
    guesses: frozenset[int] = frozenset()
    constant: Mapping[int, int] = field(default_factory=dict)
    between: Mapping[tuple[int, int], float] = field(default_factory=dict)
    begins: Mapping[int, int] = field(default_factory=dict)
    narrow: float = 0.0


@dataclass(frozen=True, slots=True)
class Work:
    """Judgments with the time of each and the seconds it took."""

    judged: GradedJudgments
    made_at: Ints
    seconds: Floats


def simulate(
    seed: int,
    *,
    queries: int = 40,
    per_query: int = 10,
    annotators: int = 3,
    overlap: int = 2,
    days: int = 28,
    right: float = 0.85,
    faults: Faults | None = None,
) -> Work:
    """Each pair is judged by `overlap` of the annotators; with a chance of about `right`, which differs by query, each
    gives the true grade, else one beside it."""
    faults = faults or Faults()
    random = np.random.default_rng(seed)
    pairs = queries * per_query
    pair = np.repeat(np.arange(pairs), overlap)
    annotator = random.permuted(np.tile(np.arange(annotators), (pairs, 1)), axis=1)[:, :overlap].ravel()
    query = pair // per_query
    chance = np.clip(right + random.normal(0, 0.08, queries), 0.3, 1.0)[query]
    truth = random.choice(4, pairs, p=[0.4, 0.25, 0.2, 0.15])
    if faults.narrow:
        truth = np.where(random.random(pairs) < faults.narrow, 0, truth)
    truth = truth[pair]
    grade = np.where(random.random(len(pair)) < chance, truth, truth + random.choice([-1, 1], len(pair)))
    late = query >= queries * 2 // 3
    seconds = random.lognormal(3.2, 0.5, len(pair))
    grade = np.where(
        late & (random.random(len(pair)) < faults.late_errors), random.integers(0, 4, len(pair)), grade
    )
    for who, often in (*faults.leans.items(), *faults.turns.items()):
        when = (annotator == who) & (late | (who in faults.leans)) & (random.random(len(pair)) < often)
        grade = grade + when
    grade = _add_more_faults(random, faults, pair, annotator, np.clip(grade, 0, 3))
    hurried = np.isin(annotator, list(faults.hurries)) & (random.random(len(pair)) < 0.2)
    grade = np.where(hurried, random.integers(0, 4, len(pair)), grade)
    seconds = np.where(hurried, 2.0, seconds)
    judged = sort_judged(query, pair, annotator, np.clip(grade, 0, 3))
    order = np.lexsort((annotator, pair))
    made_at = BEGIN + query * days * DAY // queries + random.integers(0, 8 * 60 * 60, len(pair))
    return Work(judged, made_at[order], seconds[order])


def _add_more_faults(random: Generator, faults: Faults, pair: Ints, annotator: Ints, grade: Ints) -> Ints:
    """The faults that draw no random number where nobody has them, so that older tests keep their data."""
    for who in faults.guesses:
        grade = np.where(annotator == who, random.integers(0, 4, len(pair)), grade)
    for (who, beside), often in faults.between.items():
        together = np.isin(pair, pair[annotator == beside])
        grade = grade + ((annotator == who) & together & (random.random(len(pair)) < often))
    for who, begin in faults.begins.items():
        grade = grade + ((annotator == who) & (grade >= begin))
    for who, given in faults.constant.items():
        grade = np.where((annotator == who) & (random.random(len(pair)) < 0.98), given, grade)
    return grade
