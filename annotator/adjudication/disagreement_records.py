"""Records of one disagreement: the facts about its pair, and a lead's view of it.

The facts have usernames. The view has no annotator's name and no rank, score or system, because they could
influence the decision. Facts and view share the parts in which nothing is hidden: query, document, state in
the queue.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from annotator.adjudication.discussion.discussion_records import (
    AnonymousJudgment,
    DiscussionState,
    PairDiscussion,
)
from annotator.adjudication.records import (
    Decision,
    DecisionProposal,
    IndependentJudgment,
    digest_seen_state,
)
from annotator.domain.messages import Message
from annotator.domain.settling import QueueReason, Stage


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
    grade: int | None  # the settled grade, 0-3, if the lead may see it
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
