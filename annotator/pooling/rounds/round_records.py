"""Records of pool rounds: a round, the draw of its pairs, and the candidates that it left out by rule."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class PairDraw:
    """How a pair was chosen. `inclusion`: its probability, above 0 and at most 1; None if it was certain."""

    stratum: str | None = None
    inclusion: float | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A candidate left out by a rule such as `near-duplicate:0.9`. `kept_document_pk`: the document judged instead, if any."""

    query_pk: int
    document_pk: int
    rule: str
    kept_document_pk: int | None = None


@dataclass(frozen=True, slots=True)
class NewRound:
    """A round to store. Options and figures become JSON."""

    strategy: str
    options: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class PoolRound:
    """A stored round. `pairs`: their number, with retired ones. `made_by`: a username; None: the operator."""

    number: int
    made_at: datetime
    made_by: str | None
    strategy: str
    pairs: int
    options: Mapping[str, Any]
    figures: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PoolHistory:
    """The history of a pool, for a release.

    `without_round`: pairs of no round. `drawn`: pairs with an inclusion probability below 1. `not_pooled`:
    systems of imported runs without a pair. `left_out`: {rule: candidates that are not in the pool}.
    """

    rounds: tuple[PoolRound, ...] = ()
    without_round: int = 0
    drawn: int = 0
    not_pooled: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgedProbability:
    """A pair with the probability that its round drew it; 1 if it was certain. `grade`: None without a settled grade."""

    query_id: str
    doc_id: str
    grade: int | None
    round: int | None
    stratum: str | None
    inclusion: float
