"""Records of the worklist. Rules: which decisions ask for guidance, and which version answers them.

A decision asks for guidance by its cause or at the lead's request.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from annotator.domain.settling import Decided

TEACHING = frozenset({"guideline_gap", "ambiguous_query", "borderline"})
"""Causes of disagreement that words in the guideline can remove."""
Kind = Literal["group", "asked", "single", "questions"]
Apart = tuple[int, int] | Literal["unrateable"]
"""How the judgments of a pair differ: the lowest and highest grade, or a grade against "unrateable"."""


@dataclass(frozen=True, slots=True)
class DecisionExample:
    """A decision as an example for the guideline. `pair` and `revision` identify it."""

    pair: str
    revision: int
    query_id: str
    query: str
    category: str | None
    doc_id: str
    title: str
    grades: tuple[Decided, ...]  # of the annotators, lowest first, without names
    decided: Decided
    rationale: str
    cause: str | None
    in_guideline: bool
    apart: Apart | None
    impact: float  # impact of the disagreement, see adjudication/queue/queue_records.py
    decided_at: datetime
    answered_in: int | None = None  # the version of the guideline that it led to

    @property
    def waits(self) -> bool:
        """Return whether the decision asks for guidance and no version answers it yet."""
        return self.answered_in is None and teaches(self.cause, self.in_guideline)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """An annotator's question with an answer marked for the guideline."""

    number: int
    pair: str
    query_id: str
    query: str
    doc_id: str
    title: str
    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class WorklistItem:
    """An entry of the worklist: decisions that have something in common, or questions."""

    key: str  # the same while decisions are added
    kind: Kind
    sentence: str
    decisions: tuple[DecisionExample, ...] = ()
    questions: tuple[AskedQuestion, ...] = ()
    category: str | None = None  # common category, difference and cause of the decisions
    apart: Apart | None = None
    cause: str | None = None
    of: int = 0  # number of decided disagreements in the same categories

    @property
    def open(self) -> int:
        """Count its decisions and questions that no version answers yet."""
        return sum(decision.answered_in is None for decision in self.decisions) + len(self.questions)

    @property
    def waiting(self) -> int:
        """Count its decisions and questions that wait for the guideline."""
        return sum(decision.waits for decision in self.decisions) + len(self.questions)

    @property
    def answered_in(self) -> tuple[int, ...]:
        """Return the versions that answer it; empty while any part is open."""
        versions = {decision.answered_in for decision in self.decisions if decision.answered_in is not None}
        return () if self.open else tuple(sorted(versions))

    @property
    def impact(self) -> float:
        """Return the total impact of its disagreements."""
        return sum(decision.impact for decision in self.decisions)

    @property
    def asking(self) -> int:
        """Count its decisions for which a lead asked for guidance."""
        return sum(decision.in_guideline for decision in self.decisions)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of the command line."""
        return {
            "key": self.key,
            "kind": self.kind,
            "sentence": str(self.sentence),
            "category": self.category,
            "apart": self.apart,
            "cause": self.cause,
            "decisions": len(self.decisions),
            "of": self.of,
            "open": self.open,
            "asking": self.asking,
            "impact": round(self.impact, 6),
            "answered_in": list(self.answered_in),
            "cases": [asdict(decision) for decision in self.decisions],
            "questions": [asdict(question) for question in self.questions],
        }


@dataclass(frozen=True, slots=True)
class GuidelineWorklist:
    """The worklist from decided disagreements: the most valuable items first, answered items last."""

    items: tuple[WorklistItem, ...]
    decided: int  # number of decisions behind the items

    @property
    def waiting(self) -> int:
        """Count the decisions and questions that wait for the guideline."""
        return sum(item.waiting for item in self.items)


def teaches(cause: str | None, in_guideline: bool) -> bool:
    """Return whether a decision asks for guidance."""
    return in_guideline or cause in TEACHING


def find_answer(revision: int, in_guideline: bool, led: Sequence[tuple[int, int]]) -> int | None:
    """Return the version of the guideline that answers a decision, or None.

    `led`: (revision, version) for the pair's decisions that led to a version. The version of an earlier
    decision also answers a later decision, unless the lead asked for guidance again.
    """
    versions = [version for led_revision, version in led if led_revision == revision or not in_guideline]
    return max(versions, default=None)
