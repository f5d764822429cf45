"""Records of one disagreement: the facts about its pair, a lead's view of it, and its discussion.

The facts have usernames. The views of leads and annotators have no annotator's name and no rank, score or
system, because they could influence the decision. Facts and view share the parts in which nothing is hidden:
query, document, state in the queue.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from annotator.adjudication.records import (
    Decision,
    DecisionProposal,
    IndependentJudgment,
    digest_seen_state,
)
from annotator.domain.messages import Message, say
from annotator.domain.settling import QueueReason, Stage

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


@dataclass(frozen=True, slots=True)
class DisagreementQuery:
    """The query of a disagreement."""

    query_id: str
    text: str
    narrative: str | None
    language: str | None
    category: str | None


@dataclass(frozen=True, slots=True)
class DisagreementDocument:
    """The document of a disagreement."""

    doc_id: str
    title: str
    url: str | None
    media_type: str
    text: str | None  # the beginning of the present text; None if only the id is known
    length: int  # characters of the whole text
    sha256: str | None
    metadata: Mapping[str, str]


class DecisionImpact(NamedTuple):
    """The impact of the choice of a grade: the greatest change of any system's score on the pair's query."""

    ndcg: float  # 0-1, like the next two
    recall: float
    mrr: float
    flips: int  # pairs of systems that can change places


@dataclass(frozen=True, slots=True)
class DisagreementStatus:
    """The state of a pair in the queue for one lead. Without reasons if it is no disagreement."""

    waiting: QueueReason  # why it waits for a lead
    distance: int  # between the grades, 0-3
    taste: bool  # nothing but neighbouring grades on one side of relevance
    since: datetime | None  # None if it is no disagreement
    impact: DecisionImpact | None  # None without runs
    held_by: str | None  # another lead who has it open (username)
    assigned_to: str | None  # username
    lacking: int  # judgments that the pair still lacks
    holder_name: str | None = None  # as leads see it
    assigned_name: str | None = None


@dataclass(frozen=True, slots=True)
class PairStage:
    """The stage that a pair has reached."""

    stage: Stage
    grade: int | None
    contested_grade: int | None  # the settled grade, or the one that was settled until the pair was reopened


class DecisionObjection(NamedTuple):
    """An annotator's objection to a decision, with the username. For leads."""

    annotator: str
    text: str
    objected_at: datetime
    adjudication_pk: int


class AnnotatorQuestion(NamedTuple):
    """An annotator's question about a pair, with the username. For leads."""

    number: int
    annotator: str
    text: str
    asked_at: datetime
    answer: str | None


@dataclass(frozen=True, slots=True)
class DisagreementFacts:
    """The facts about one pair that a lead decides on. Lists are in the order of time."""

    pair_pk: int
    pair: str  # the key
    query_pk: int
    document_pk: int
    query: DisagreementQuery
    document: DisagreementDocument
    status: DisagreementStatus
    judged_by_reader: bool
    judgments: tuple[IndependentJudgment, ...]
    decisions: tuple[Decision, ...]
    proposals: tuple[DecisionProposal, ...]
    proposal_exported: bool  # the reader has exported the whole dataset with a hidden proposal for this pair
    discussion: PairDiscussion | None
    objections: tuple[DecisionObjection, ...]
    questions: tuple[AnnotatorQuestion, ...]

    @property
    def seen(self) -> str:
        """Return the digest of the judgments and decisions that are shown. It is sent back with a decision."""
        return digest_seen_state([judgment.event_id for judgment in self.judgments], len(self.decisions))


@dataclass(frozen=True, slots=True)
class NeighbourDocument:
    """Another judged document of the query, as a lead sees it."""

    pair: str
    doc_id: str
    title: str
    grade: int | None  # the settled grade, 0-3, if its pair lacks no judgment
    stage: Stage
    near: float | None  # similarity of the texts, 0-1; None below SIMILAR_FROM


@dataclass(frozen=True, slots=True)
class AnonymousObjection:
    """An annotator's objection to a decision, under a letter."""

    letter: str
    text: str
    objected_at: datetime


@dataclass(frozen=True, slots=True)
class AnonymousQuestion:
    """An annotator's question about the pair, under a letter."""

    number: int
    letter: str
    text: str
    asked_at: datetime
    answer: str | None


@dataclass(frozen=True, slots=True)
class DiscussionProgress:
    """The progress of a discussion, with letters for names."""

    state: DiscussionState
    asked_at: datetime
    waiting: tuple[Message, ...]  # a sentence for each annotator who has not spoken


@dataclass(frozen=True, slots=True)
class DisagreementView:
    """A disagreement as a lead sees it and decides on it."""

    pair: str  # the key
    seen: str  # to be sent back with the decision
    query: DisagreementQuery
    document: DisagreementDocument
    status: DisagreementStatus
    progress: PairStage
    guideline_version: int
    judgments: tuple[AnonymousJudgment, ...]
    text_changed: bool  # a judgment was made on an earlier text of the document
    decisions: tuple[Decision, ...]  # the oldest first
    proposals: tuple[DecisionProposal, ...] = ()  # those that the lead may see
    needs_two_leads: bool = False
    barred: Message | None = None  # why this lead must not decide
    discussion: DiscussionProgress | None = None
    objections: tuple[AnonymousObjection, ...] = ()
    questions: tuple[AnonymousQuestion, ...] = ()
    neighbours: tuple[NeighbourDocument, ...] = ()


@dataclass(frozen=True, slots=True)
class DisagreementBatch:
    """Disagreements handed out to a lead."""

    disagreements: tuple[DisagreementView, ...]
    left: int  # open disagreements that the filter lets through


class PairJudge(NamedTuple):
    """A person who judged a pair."""

    letter: str
    username: str
    name: str


class PairSystem(NamedTuple):
    """A system that put a pair into the pool, with the document's rank and score."""

    system: str
    rank: int | None
    score: float | None


@dataclass(frozen=True, slots=True)
class PairOrigin:
    """The people who judged a pair and the systems that pooled it. For leads who ask for it."""

    annotators: tuple[PairJudge, ...]
    systems: tuple[PairSystem, ...]
