"""Records of discussions, and of decisions as the annotators of the pair see them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from annotator.domain.messages import Message, say

DiscussionState = Literal["asked", "answered", "closed"]
WaitReason = Literal["own_work", "answer", "gone"]
"""Why an annotator has not spoken: has open work on the query, has not answered yet, can no longer be asked."""


@dataclass(frozen=True, slots=True)
class DiscussionTurn:
    """An annotator's turn: an answer after reading the others' notes. It is no judgment."""

    outcome: str
    grade: int | None
    note: str | None
    revised: bool  # differs from the annotator's judgment
    said_at: datetime


@dataclass(frozen=True, slots=True)
class PairDiscussion:
    """The state of a pair's discussion, with usernames."""

    state: DiscussionState
    asked_at: datetime
    turns: Mapping[str, DiscussionTurn]  # by username
    waiting: Mapping[str, WaitReason]  # those who have not spoken, by username


@dataclass(frozen=True, slots=True)
class AnonymousJudgment:
    """One judgment of a pair, with a letter for the annotator, which is valid for this pair only."""

    letter: str  # A, B, …
    outcome: str
    grade: int | None
    note: str | None
    guideline_version: int
    simulated: bool  # the annotator is no person
    quality: bool = False  # made for quality control, after the pair was settled
    turn: DiscussionTurn | None = None


@dataclass(frozen=True, slots=True)
class OwnDiscussion:
    """A discussion as one of its annotators sees it."""

    pair: str
    query_id: str
    query: str
    narrative: str | None
    doc_id: str
    title: str
    excerpt: str  # the first words of the document
    text_length: int  # characters of the document; 0 without its text
    has_spoken: bool
    own: AnonymousJudgment
    others: tuple[AnonymousJudgment, ...]
    seen: str  # to be sent back with the turn


@dataclass(frozen=True, slots=True)
class OwnDiscussions:
    """A page of an annotator's open discussions, those that wait for the annotator first."""

    total: int  # on all pages
    discussions: tuple[OwnDiscussion, ...]


@dataclass(frozen=True, slots=True)
class OwnObjection:
    """An annotator's objection to a decision, as the annotator sees it."""

    text: str
    objected_at: datetime
    answered: bool  # a lead has since changed or withdrawn the decision


@dataclass(frozen=True, slots=True)
class OwnDecision:
    """A lead's decision on a pair, as an annotator who judged the pair sees it."""

    pair: str
    query_id: str
    query: str
    doc_id: str
    title: str
    own_outcome: str
    own_grade: int | None
    outcome: str  # "withdrawn" if the decision that the annotator objected to was withdrawn
    grade: int | None
    rationale: str
    reason: str | None
    cause: str | None
    revision: int
    decided_at: datetime
    guideline_since: int | None = None  # the first guideline version made from the decision
    objection: OwnObjection | None = None
    new: bool = False  # the annotator had not been shown it before this visit
    unread: bool = False  # the annotator has not been shown it at all
    excerpt: str = ""  # the first words of the document

    @property
    def differs(self) -> bool:
        """Return whether the decision differs from the annotator's judgment."""
        decided = (self.outcome, self.grade)
        return self.outcome != "withdrawn" and decided != (self.own_outcome, self.own_grade)


@dataclass(frozen=True, slots=True)
class OwnDecisions:
    """A page of an annotator's `OwnDecision`s: new ones first, then the latest first."""

    total: int  # on all pages
    differing: int  # on all pages: decisions that differ from the annotator's judgment
    decisions: tuple[OwnDecision, ...]


@dataclass(frozen=True, slots=True)
class OwnNews:
    """The news for an annotator, as counts up to 100."""

    discussions: int  # that wait for the annotator
    decisions: int  # on own pairs, not shown yet


def explain_wait(letter: str, query_id: str, wait: WaitReason) -> Message:
    """Say to a lead why the annotator with this letter has not spoken yet."""
    if wait == "own_work":
        return say("waiting until {letter} has finished query {query_id}", letter=letter, query_id=query_id)
    if wait == "gone":
        return say("{letter} can no longer be asked", letter=letter)
    return say("waiting for {letter}", letter=letter)
