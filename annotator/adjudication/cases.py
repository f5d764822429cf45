"""What is known of a pair that a lead is to decide, with the names: as storage reads it, before adjudication hides them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotator.adjudication.discussion import PairDiscussion
from annotator.adjudication.records import Answer
from annotator.domain.disputes import Stage
from annotator.domain.settling import Decided


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one lead proposes on a pair that takes two (`seconding.py`). `by`: their username."""

    lead_pk: int
    by: str
    outcome: str
    grade: int | None
    rationale: str
    cause: str | None
    in_guideline: bool

    @property
    def decided(self) -> Decided:
        """What the pair would be settled as."""
        return "unrateable" if self.grade is None else self.grade


@dataclass(frozen=True, slots=True)
class Known:
    """A judged document of a query. `grade`: the settled one, where it may be told."""

    pair_pk: int
    pair: str
    query_pk: int
    document_pk: int
    doc_id: str
    title: str
    sha256: str | None
    stage: Stage
    grade: int | None


@dataclass(frozen=True, slots=True)
class HowFar:
    """How far a pair has come. `contested_grade`: what is settled, or was until the pair was reopened."""

    stage: Stage
    grade: int | None
    contested_grade: int | None


@dataclass(slots=True)
class CaseFacts:
    """What is known of one pair. `row`, and what the lists hold: columns of `adjudication/case_sql.py`, in their order of time."""

    row: Any
    metadata: Mapping[str, str]
    answers: list[Answer]
    proposals: tuple[Proposal, ...]
    discussion: PairDiscussion | None = None
    decisions: list[Any] = field(default_factory=list)
    objections: list[Any] = field(default_factory=list)
    questions: list[Any] = field(default_factory=list)
