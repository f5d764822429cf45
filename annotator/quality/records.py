"""Records of quality control: samples of settled pairs that a third expert judges again, blind.

An *error* is a pair with a settled grade other than the expert's. The claim is "less than 5 % of the settled
grades are errors". Both readings of a sample are always shown: the *rate* in the sample, and the *bound* that
it proves (one-sided, 95 % confidence, exact, for a population of this size). The dataset's `quality_rule`
selects the reading for the release gate.
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
    """Pairs drawn for an annotator."""

    number: int
    round: int
    annotator: str
    drawn_by: str | None  # None for the operator
    rate: float  # target of the round's sample, as a share of the population
    seed: int
    population: int  # settled pairs that the round's sample represents
    outside: int  # settled pairs that this annotator judged, proposed or saw, and so cannot check
    pairs: int  # drawn pairs; those not in `checked` or `unrateable` have no answer yet
    drawn_at: datetime
    checked: int = 0
    unrateable: int = 0
    errors: int = 0  # among the checked pairs


@dataclass(frozen=True, slots=True)
class QualityStratum:
    """Settled pairs of one category and one settled grade."""

    category: str | None  # None: queries without one
    grade: int
    population: int  # pairs that the sample represents
    drawn: int  # pairs that the round already has
    pairs: int  # pairs that would be drawn


@dataclass(frozen=True, slots=True)
class QualityPreview:
    """The preview of a draw."""

    round: int
    annotator: str
    rate: float
    seed: int
    population: int
    outside: int
    drawn: int  # pairs that the round already has
    pairs: int  # pairs that would be added; 0: the sample is complete, and a draw would be refused
    strata: tuple[QualityStratum, ...]


@dataclass(frozen=True, slots=True)
class QualityExpert:
    """A person with a role who can sign in.

    `other_leads`: names of the other leads. They decide the errors that this person finds.
    """

    username: str
    name: str
    judged: int  # settled pairs that the person judged
    available: int  # settled pairs that the person can check
    is_lead: bool = False
    other_leads: tuple[str, ...] = ()

    @property
    def is_sole_lead(self) -> bool:
        """Return whether no lead could decide the errors that this person finds: leads never decide own pairs."""
        return self.is_lead and not self.other_leads


class SampledPair(NamedTuple):
    """A drawn pair."""

    draw: int
    round: int
    pair_pk: int
    key: str
    query_id: str
    doc_id: str
    category: str | None
    settled_grade: int  # when it was drawn
    settled_by: str  # how it was settled when it was drawn
    outcome: str | None  # of the expert's judgment; None: not answered yet
    grade: int | None
    answered_at: datetime | None
    note: str | None
    decided: int | None  # the grade of a later decision by a lead
    barred: bool  # whether the expert can no longer answer it
    retired: bool  # whether it has left the pool


@dataclass(frozen=True, slots=True)
class QualityError:
    """A drawn pair with another settled grade than the expert's.

    `state`: "reopened" until a lead decides it again, then "decided"; "retired" if the pair left the pool
    undecided: it needs no decision, but still counts as an error.
    """

    pair: str
    query_id: str
    doc_id: str
    category: str | None
    settled_grade: int
    settled_by: str  # how the grade was settled
    expert_grade: int
    note: str | None
    draw: int
    round: int
    answered_at: datetime
    state: ErrorState
    decided_grade: int | None = None  # for the state "decided"

    @property
    def distance(self) -> int:
        return abs(self.settled_grade - self.expert_grade)


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Errors of one kind among the checked pairs. The figures are None if nothing is checked."""

    errors: int
    checked: int
    rate: float | None  # share of errors
    ci95: Interval | None  # exact interval (Clopper & Pearson 1934)
    bound: float | None
    """Upper limit of the population's share of errors that the sample proves with 95 % confidence (one-sided)."""

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
    """The state of quality control of a dataset. Counts, rates and verdicts are of the present round.

    `drawn` = `checked` + `unrateable` + `barred` + `waiting`.
    """

    dataset: str
    rule: QualityRule
    round: int = 0  # 0: nothing was ever drawn
    population: int = 0
    outside: int = 0
    settled_since: int = 0  # settled pairs that came after the last draw, on which its sample says nothing
    drawn: int = 0
    checked: int = 0
    unrateable: int = 0  # the expert cannot rate the pair; neither an error nor checked
    barred: int = 0  # pairs that the chosen expert can no longer judge
    waiting: int = 0
    rates: Mapping[str, ErrorRate]
    verdicts: Mapping[str, Verdict]  # by rule
    further: int | None = None
    """Pairs without an error still needed to pass by the bound; 0 if passed, None if impossible."""
    sentences: tuple[Message, ...]  # what this means, the most important first
    draws: tuple[QualityDraw, ...] = ()  # of every round
    errors: tuple[QualityError, ...] = ()  # of every round
    hidden: int = 0  # checked pairs that are left out, because the reader may still judge them

    @property
    def verdict(self) -> Verdict:
        """Return the verdict by the dataset's own rule."""
        return self.verdicts[self.rule]
