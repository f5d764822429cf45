"""The trail behind a qrel: the pair, the judgments it rests on, and the decision, if there was one.

Who judged is named by a key of the storage, which means nothing outside; releases give it a pseudonym.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotator.domain.settling import PairStatus


@dataclass(frozen=True, slots=True)
class GivenJudgment:
    """One annotator's current judgment, graded or unrateable, with everything a release publishes of it."""

    event_id: str
    annotator: int
    outcome: str
    grade: int | None
    note: str | None
    purpose: str
    judged_at: datetime
    seconds: float | None
    guideline_version: int

    @property
    def is_independent_grade(self) -> bool:
        """Whether it is one of those that qrels are made of."""
        return self.purpose == "independent" and self.grade is not None


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair of the pool with its settlement (`status`, `grade`) and what led to it.

    `decided_by` and `rationale`: of the decision that holds. `best_rank`: the best at which a system proposed
    the pair, None when unknown. `title` and `document_metadata` are the document's.
    """

    query_id: str
    doc_id: str
    status: PairStatus
    grade: int | None
    judgments: tuple[GivenJudgment, ...] = ()
    decided_by: int | None = None
    rationale: str | None = None
    best_rank: int | None = None
    title: str = ""
    document_metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Participant:
    """Somebody who judged, decided or publishes. `simulated`: not a person."""

    key: int
    username: str
    simulated: bool
