"""What a decided dispute teaches, and when the guideline has learned it: the one rule that worklist, counts and pages share.

Every decision that holds can teach; which of them the guideline can answer is said by their cause, or by the lead who asked
that the guideline should say so.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from annotator.domain.settling import Decided

TEACHING = frozenset({"guideline_gap", "ambiguous_query", "borderline"})
"""The causes that words in the guideline can take away."""
Kind = Literal["group", "asked", "single", "questions"]
Apart = tuple[int, int] | Literal["unrateable"]
"""What speaks against each other on a pair: two grades, or any grade and that it cannot be rated."""


@dataclass(frozen=True, slots=True)
class DecisionExample:
    """A decision that holds, as an example for the guideline. `pair` and `revision` name it. `grades`: what annotators said,
    lowest first, nobody named; `impact`: of the dispute (`adjudication/queue_records.py`); `answered_in`: the version of the guideline
    that it led to, None while it waits."""

    pair: str
    revision: int
    query_id: str
    query: str
    category: str | None
    doc_id: str
    title: str
    grades: tuple[Decided, ...]
    decided: Decided
    rationale: str
    cause: str | None
    in_guideline: bool
    apart: Apart | None
    impact: float
    decided_at: datetime
    answered_in: int | None = None

    @property
    def waits(self) -> bool:
        """Whether the guideline is asked to say something, and no version does yet."""
        return self.answered_in is None and teaches(self.cause, self.in_guideline)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """An annotator's question whose answer is marked for the guideline."""

    number: int
    pair: str
    query_id: str
    query: str
    doc_id: str
    title: str
    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """An entry of the worklist: decisions that teach the same, or questions. `key` names it. `category`, `apart`, `cause`:
    what they have in common; `of`: how many decided disputes there are where it was looked for. `impact`: of all of them
    together. `asking`: how many of the decisions ask the guideline to say so."""

    key: str
    kind: Kind
    sentence: str
    cases: tuple[DecisionExample, ...] = ()
    questions: tuple[AskedQuestion, ...] = ()
    category: str | None = None
    apart: Apart | None = None
    cause: str | None = None
    of: int = 0

    @property
    def open(self) -> int:
        """How many of its decisions and questions no version answers yet."""
        return sum(case.answered_in is None for case in self.cases) + len(self.questions)

    @property
    def waiting(self) -> int:
        """Those of them that wait for the guideline."""
        return sum(case.waits for case in self.cases) + len(self.questions)

    @property
    def answered_in(self) -> tuple[int, ...]:
        """The versions that answer it, once none of it is open."""
        found = {case.answered_in for case in self.cases if case.answered_in is not None}
        return () if self.open else tuple(sorted(found))

    @property
    def impact(self) -> float:
        return sum(case.impact for case in self.cases)

    @property
    def asking(self) -> int:
        return sum(case.in_guideline for case in self.cases)

    def as_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        return {
            "key": self.key,
            "kind": self.kind,
            "sentence": str(self.sentence),
            "category": self.category,
            "apart": self.apart,
            "cause": self.cause,
            "decisions": len(self.cases),
            "of": self.of,
            "open": self.open,
            "asking": self.asking,
            "impact": round(self.impact, 6),
            "answered_in": list(self.answered_in),
            "cases": [asdict(case) for case in self.cases],
            "questions": [asdict(question) for question in self.questions],
        }


@dataclass(frozen=True, slots=True)
class GuidelineWorklist:
    """What disputes teach, most to be gained first, what is answered last. `decided`: how many decisions it was drawn from."""

    lessons: tuple[Lesson, ...]
    decided: int

    @property
    def waiting(self) -> int:
        """How many decisions and questions wait for the guideline."""
        return sum(lesson.waiting for lesson in self.lessons)


def teaches(cause: str | None, in_guideline: bool) -> bool:
    """Whether the guideline is asked to say something."""
    return in_guideline or cause in TEACHING


def find_answer(revision: int, in_guideline: bool, led: Sequence[tuple[int, int]]) -> int | None:
    """The version of the guideline that answers a decision; `led`: the revisions of its pair that led to a version, with
    that version. An earlier decision's version answers a later one too, unless that asks the guideline anew."""
    found = [version for decided, version in led if decided == revision or not in_guideline]
    return max(found, default=None)
