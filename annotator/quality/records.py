"""Records of quality control: samples of settled pairs that a third expert judges once more, blind.

An *error* is a pair whose settled grade is not the expert's. The claim is "less than 5 % of the settled grades are
errors". Both readings of a sample are always shown: the *rate* in the sample, and the *bound* that it proves
(one-sided, 95 % confidence, exact, for a population of this size). The dataset's `quality_rule` says which one the
release gate uses.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, get_args

from annotator.agreement.records import Interval
from annotator.domain.messages import Message

LIMIT = 0.05
CONFIDENCE = 0.95
DEFAULT_RATE = 0.10
Verdict = Literal["passed", "failed", "undecided"]
QualityRule = Literal["bound", "rate"]
RULES: tuple[QualityRule, ...] = get_args(QualityRule)
ErrorState = Literal["reopened", "decided", "retired"]
ErrorKind = Literal["any", "far", "relevance"]
ERROR_KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)
"""Any other grade; two or three grades apart; relevant (from 1 on) for one and not for the other."""


@dataclass(frozen=True, slots=True)
class QualityDraw:
    """One draw: `pairs` of the `population` settled pairs that its round speaks for were drawn for `annotator`.

    `outside`: settled pairs that this annotator cannot check, since they judged, proposed or saw them. `rate`: the
    share of the population that the round's sample was to reach. `drawn_by`: None for the operator. What came of its
    pairs: `checked`, `unrateable`, and the rest not answered; `errors` are among those checked.
    """

    number: int
    round: int
    annotator: str
    drawn_by: str | None
    rate: float
    seed: int
    population: int
    outside: int
    pairs: int
    drawn_at: datetime
    checked: int = 0
    unrateable: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True)
class QualityStratum:
    """Settled pairs of one category (None: of queries without one) and one settled grade: how many the sample speaks
    for, how many of them the round holds already, and how many would be drawn."""

    category: str | None
    grade: int
    population: int
    drawn: int
    pairs: int


@dataclass(frozen=True, slots=True)
class QualityPreview:
    """What a draw would do; nothing is written. `drawn`: what the round holds already, `pairs`: what would be added (0:
    nothing is missing, and a draw would be refused)."""

    round: int
    annotator: str
    rate: float
    seed: int
    population: int
    outside: int
    drawn: int
    pairs: int
    strata: tuple[QualityStratum, ...]


@dataclass(frozen=True, slots=True)
class QualityExpert:
    """Somebody who can sign in and has a role: how many of the settled pairs they judged, and how many they can check."""

    username: str
    name: str
    judged: int
    available: int


class SampledPair(NamedTuple):
    """A drawn pair. `settled_grade`, `settled_by`: as it was settled when it was drawn; `outcome`, `grade`, `note`: what
    the expert says, None so far; `decided`: the grade that a lead gave it since; `barred`: the expert cannot answer it
    any more; `retired`: it has left the pool."""

    draw: int
    round: int
    pair_pk: int
    key: str
    query_id: str
    doc_id: str
    category: str | None
    settled_grade: int
    settled_by: str
    outcome: str | None
    grade: int | None
    answered_at: datetime | None
    note: str | None
    decided: int | None
    barred: bool
    retired: bool


@dataclass(frozen=True, slots=True)
class QualityError:
    """A drawn pair whose settled grade (`settled_by`: how it was settled) is not the expert's.

    `state`: "reopened" until a lead decides it anew, then "decided" with `decided_grade`; "retired" where the pair left
    the pool undecided, which waits for nobody and is an error all the same.
    """

    pair: str
    query_id: str
    doc_id: str
    category: str | None
    settled_grade: int
    settled_by: str
    expert_grade: int
    note: str | None
    draw: int
    round: int
    answered_at: datetime
    state: ErrorState
    decided_grade: int | None = None

    @property
    def distance(self) -> int:
        return abs(self.settled_grade - self.expert_grade)


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Errors of one kind among the pairs checked: the share, its exact 95 % interval (Clopper & Pearson 1934), and
    `bound`, the upper limit of the whole population's share that the sample proves with 95 % confidence (exact,
    hypergeometric: one-sided). All None when nothing is checked."""

    errors: int
    checked: int
    rate: float | None
    ci95: Interval | None
    bound: float | None

    def as_json(self) -> dict[str, Any]:
        return {
            "errors": self.errors,
            "checked": self.checked,
            "rate": self.rate,
            "ci95": list(self.ci95) if self.ci95 else None,
            "upper_bound": self.bound,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityStatus:
    """How the quality control of a dataset stands; every count, rate and verdict is of the present round (0: nothing was
    ever drawn); `draws` and `errors` are the whole trail, of every round.

    `drawn` = `checked` + `unrateable` (the expert cannot rate it; neither error nor checked) + `barred` (can no longer
    be judged by the one it was drawn for) + `waiting`. `settled_since`: settled pairs that came after the last draw, of
    which it says nothing. `verdicts`: by rule; `further`: how many more pairs without an error would pass by the bound
    (0 when passed, None when no sample of this population can). `sentences`: what all this means, most important first.
    `hidden`: errors that are not in `errors`, since who asks has still to judge their pairs.
    """

    dataset: str
    rule: QualityRule
    round: int
    population: int
    outside: int
    settled_since: int
    drawn: int
    checked: int
    unrateable: int
    barred: int
    waiting: int
    rates: Mapping[str, ErrorRate]
    verdicts: Mapping[str, Verdict]
    further: int | None
    sentences: tuple[Message, ...]
    draws: tuple[QualityDraw, ...]
    errors: tuple[QualityError, ...]
    hidden: int = 0

    @property
    def verdict(self) -> Verdict:
        """By the dataset's own rule."""
        return self.verdicts[self.rule]
