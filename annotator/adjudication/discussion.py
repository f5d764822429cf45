"""What annotators see and say after their own work on a query: a discussion of a pair, what was decided on it, an objection.

Shared by their page and by the leads' view of a pair. A turn in a discussion is no judgment and nothing counts it; people
stand as letters (`domain/shuffling.py`), and nobody is named.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from annotator.domain.messages import Message, say

State = Literal["asked", "answered", "closed"]
Wait = Literal["own_work", "answer", "gone"]
"""Why an annotator has not spoken: has open work on the query, has not answered yet, can no longer be asked."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What an annotator said after having seen the others' notes: `revised`, or stood by the judgment."""

    outcome: str
    grade: int | None
    note: str | None
    revised: bool
    said_at: datetime


@dataclass(frozen=True, slots=True)
class PairDiscussion:
    """How far a pair's discussion is. `by_itself`: the dataset's setting asked for it, no lead; `turns`, `waits`: by the
    username of those who judged the pair."""

    state: State
    asked_at: datetime
    by_itself: bool
    turns: Mapping[str, Turn]
    waits: Mapping[str, Wait]


@dataclass(frozen=True, slots=True)
class Said:
    """What one annotator judged, under a letter, and their turn where it may be seen."""

    letter: str
    outcome: str
    grade: int | None
    note: str | None
    turn: Turn | None = None


@dataclass(frozen=True, slots=True)
class OwnDiscussion:
    """A discussion as one of its annotators sees it. `stage`: own_work (something of the query is still open to them),
    waiting (not looked at yet), open (looked at, nothing said), said. `others`: empty before they have looked; `seen`: to be
    handed back with the turn. `text_length`: of the document, 0 without its text."""

    pair: str
    query_id: str
    query: str
    narrative: str | None
    doc_id: str
    title: str
    text_length: int
    stage: Literal["own_work", "waiting", "open", "said"]
    own: Said
    others: tuple[Said, ...] = ()
    seen: str = ""


@dataclass(frozen=True, slots=True)
class OwnObjection:
    """An annotator's objection; `answered`: a lead has decided, or taken the decision back, since."""

    text: str
    objected_at: datetime
    answered: bool


@dataclass(frozen=True, slots=True)
class OwnDecision:
    """What a lead decided on a pair that the annotator judged, beside their own answer. `outcome`: graded, unrateable, or
    withdrawn where the decision they objected to was taken back. `guideline_since`: the version of the guideline that says
    so, None where none was made from it. `new`: they have not been shown it."""

    pair: str
    query_id: str
    query: str
    doc_id: str
    title: str
    own_outcome: str
    own_grade: int | None
    outcome: str
    grade: int | None
    rationale: str
    reason: str | None
    cause: str | None
    revision: int
    decided_at: datetime
    guideline_since: int | None = None
    objection: OwnObjection | None = None
    new: bool = False

    @property
    def differs(self) -> bool:
        """Whether the lead decided otherwise than the annotator had judged."""
        decided = (self.outcome, self.grade)
        return self.outcome != "withdrawn" and decided != (self.own_outcome, self.own_grade)


@dataclass(frozen=True, slots=True)
class OwnDecisions:
    """A page of decisions on one's own pairs, the latest first, of `total`; `differing` of all decided otherwise."""

    total: int
    differing: int
    decisions: tuple[OwnDecision, ...]


def say_wait(letter: str, query_id: str, wait: Wait) -> Message:
    """Why the annotator of this letter has not spoken yet, for a lead."""
    if wait == "own_work":
        return say("waits until {letter} has finished query {query_id}", letter=letter, query_id=query_id)
    if wait == "gone":
        return say("{letter} can no longer be asked", letter=letter)
    return say("waits for {letter}", letter=letter)
