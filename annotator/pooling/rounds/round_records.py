"""Records of pool rounds: what a round is, how a pair was drawn in it, and what it left out by rule."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class PairDraw:
    """How a pair was chosen. `inclusion`: the probability, above 0 and at most 1; None if it was chosen for certain."""

    stratum: str | None = None
    inclusion: float | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A candidate left out by rule, such as `exclude:language=ko`, `min-length:100` or `near-duplicate`.

    `kept_document_pk`: the document that is judged in its stead, if there is one.
    """

    query_pk: int
    document_pk: int
    rule: str
    kept_document_pk: int | None = None


@dataclass(frozen=True, slots=True)
class NewRound:
    """A round to be stored: what was asked for, and what came of it. Options and figures become JSON."""

    strategy: str
    options: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class PoolRound:
    """A stored round. `pairs`: how many came with it; those that left the pool since are included.

    `made_by`: a username, None for the operator.
    """

    number: int
    made_at: datetime
    made_by: str | None
    strategy: str
    pairs: int
    options: Mapping[str, Any]
    figures: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LeftOutDocument:
    """What a round left out, by the outside world's ids."""

    round: int
    query_id: str
    doc_id: str
    rule: str
    kept_doc_id: str | None


@dataclass(frozen=True, slots=True)
class PoolHistory:
    """How a pool came to be, for a release.

    `without_round`: pairs of the pool that came in no round. `drawn`: pairs that were drawn at random with a probability below 1.
    `not_pooled`: systems of imported runs that no pair names. `left_out`: by rule, how many candidates that are not in the pool.
    """

    rounds: tuple[PoolRound, ...] = ()
    without_round: int = 0
    drawn: int = 0
    not_pooled: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PairProbability:
    """A pair of the pool with the probability by which its round drew it; 1 for a pair that was chosen for certain."""

    query_id: str
    doc_id: str
    round: int | None
    stratum: str | None
    inclusion: float


@dataclass(frozen=True, slots=True)
class JudgedProbability:
    """A settled pair with the probability by which its round drew it. `grade`: None if it cannot be rated."""

    query_id: str
    doc_id: str
    grade: int | None
    round: int | None
    stratum: str | None
    inclusion: float
