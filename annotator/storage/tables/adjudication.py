"""The tables of adjudication, quality control and the audit log.

`current_adjudication`, `dispute` and the scores are derived, only by
`storage/judgments/current_judgments.py`, `storage/pairs/disagreements.py` and
`storage/pairs/disagreements.py`. `adjudication`, `document_order` and `audit_event` are append-only. A later
draw never changes an earlier one or its pairs; a drawn pair's answer follows the judgments
(`quality/quality_sql.py`).
"""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, CheckConstraint, Column, Index, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from annotator.storage.tables.columns import json_column, text_column, time_column


class AdjudicationRow(SQLModel, table=True):
    """A lead's decision on a pair: a grade, "cannot be rated", or the withdrawal of a decision.

    Append-only. The highest revision holds.
    """

    __tablename__ = "adjudication"
    __table_args__ = (
        UniqueConstraint("pair_pk", "revision"),
        CheckConstraint("grade IN (0, 1, 2, 3)", name="grade"),
        CheckConstraint("revision >= 1", name="revision"),
        CheckConstraint("outcome IN ('graded', 'unrateable', 'withdrawn')", name="outcome"),
        CheckConstraint("(outcome = 'graded') = (grade IS NOT NULL)", name="grade_iff_graded"),
        CheckConstraint(
            "cause IN ('guideline_gap', 'ambiguous_query', 'misread_document', 'missing_knowledge', 'slip', 'borderline')",
            name="cause",
        ),
        CheckConstraint("seconds >= 0", name="seconds"),
    )

    pk: int | None = Field(default=None, primary_key=True)
    pair_pk: int = Field(foreign_key="pair.pk")
    revision: int
    lead_pk: int = Field(foreign_key="person.pk")
    rubric_pk: int = Field(foreign_key="rubric.pk")
    outcome: str = Field(default="graded", sa_column_kwargs={"server_default": text("'graded'")})
    grade: int | None = None
    rationale: str = text_column()
    # Why annotators differed, in words of a file.
    reason: str | None = text_column(nullable=True)
    cause: str | None = None  # why annotators differed
    # The guideline should say so.
    in_guideline: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})
    seconds: float | None = None  # how long the lead had the pair open
    batch_pk: int | None = Field(default=None, foreign_key="settle_batch.pk")
    decided_at: datetime = time_column()


class SettleBatchRow(SQLModel, table=True):
    """Pairs that a lead settled together by a policy. Undoing it withdraws its decisions."""

    __tablename__ = "settle_batch"
    __table_args__ = (CheckConstraint("policy IN ('median', 'lower', 'higher')", name="policy"),)

    pk: int | None = Field(default=None, primary_key=True)
    dataset_pk: int = Field(foreign_key="dataset.pk")
    lead_pk: int = Field(foreign_key="person.pk")
    policy: str
    rationale: str = text_column()
    pairs: int
    made_at: datetime = time_column()
    undone_at: datetime | None = time_column(nullable=True)
    undone_by_pk: int | None = Field(default=None, foreign_key="person.pk")


class DocumentOrderRow(SQLModel, table=True):
    """A lead's order of a query's documents with equal grades. Append-only; the latest of a query holds."""

    __tablename__ = "document_order"

    pk: int | None = Field(default=None, primary_key=True)
    query_pk: int = Field(foreign_key="query.pk", index=True)
    lead_pk: int = Field(foreign_key="person.pk")
    # Best first; other pairs come after them.
    pair_pks: list[int] = Field(sa_column=Column(JSON, nullable=False))
    ordered_at: datetime = time_column()


class CurrentAdjudicationRow(SQLModel, table=True):
    """The decision that holds: the highest revision, unless that one withdrew it."""

    __tablename__ = "current_adjudication"

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    dataset_pk: int = Field(foreign_key="dataset.pk", index=True)
    adjudication_pk: int = Field(foreign_key="adjudication.pk")
    lead_pk: int
    outcome: str
    grade: int | None = None
    decided_at: datetime = time_column()


class DisagreementRow(SQLModel, table=True):
    """A pair that waits for a lead or is decided. Derived by `storage/pairs/disagreements.py`."""

    __tablename__ = "dispute"
    __table_args__ = (
        Index("ix_dispute_distance", "dataset_pk", "open", "distance", "since", "pair_pk"),
        Index("ix_dispute_impact", "dataset_pk", "open", "impact", "since", "pair_pk"),
        Index("ix_dispute_since", "dataset_pk", "open", "since", "pair_pk"),
        Index("ix_dispute_query_pk", "query_pk"),
    )

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    dataset_pk: int = Field(foreign_key="dataset.pk")
    query_pk: int = Field(foreign_key="query.pk")
    open: bool  # waits for a lead
    reasons: int  # bits of `QueueReason` (`domain/settling.py`)
    waiting: int  # the part of `reasons` that is not handled yet
    distance: int  # between `low` and `high`
    low: int | None = None  # the lowest and the highest of the differing grades
    high: int | None = None
    since: datetime = time_column()  # when the first reason began
    # How far the choice moves nDCG on the query, for the system that it moves most. Without runs: see `adjudication/impact/impact.py`.
    impact: float
    recall_impact: float | None = None  # the same for recall; null without runs, like the next ones
    mrr_impact: float | None = None
    flips: int | None = None  # pairs of systems whose order depends on the choice
    taste: bool = False  # the grades are neighbours on one side of relevance


class QueryScoreRow(SQLModel, table=True):
    """Each system's scores on a query by the present grades."""

    __tablename__ = "query_score"

    query_pk: int = Field(primary_key=True, foreign_key="query.pk")
    dataset_pk: int = Field(foreign_key="dataset.pk", index=True)
    # nDCG, recall and reciprocal rank by system; null if no document of the query is relevant.
    scores: dict[str, Any] = json_column()


class ScoreTotalRow(SQLModel, table=True):
    """Each system's sums over the `query_score` of a dataset."""

    __tablename__ = "score_total"

    dataset_pk: int = Field(primary_key=True, foreign_key="dataset.pk")
    queries: int  # number of queries in the sums
    scores: dict[str, Any] = json_column()


class ScoreDueRow(SQLModel, table=True):
    """A query that must be scored again, because its grades or runs have changed."""

    __tablename__ = "score_due"

    query_pk: int = Field(primary_key=True, foreign_key="query.pk")
    dataset_pk: int = Field(foreign_key="dataset.pk", index=True)


class DisagreementHoldRow(SQLModel, table=True):
    """A pair that a lead has open, for a while."""

    __tablename__ = "case_hold"

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    lead_pk: int = Field(foreign_key="person.pk")
    tab: str = text_column()  # the browser tab
    expires_at: datetime = time_column()


class DisagreementAssignmentRow(SQLModel, table=True):
    """A pair that is assigned to a lead to decide."""

    __tablename__ = "case_assignment"

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    lead_pk: int = Field(foreign_key="person.pk", index=True)
    assigned_by_pk: int | None = Field(default=None, foreign_key="person.pk")
    assigned_at: datetime = time_column()


class PutOffDisagreementRow(SQLModel, table=True):
    """A pair that a lead put off. It comes last for that lead."""

    __tablename__ = "case_later"

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    lead_pk: int = Field(primary_key=True, foreign_key="person.pk")
    put_off_at: datetime = time_column()


class DecisionProposalRow(SQLModel, table=True):
    """A lead's proposed decision on a pair that needs two leads. It holds when another lead agrees."""

    __tablename__ = "decision_proposal"
    __table_args__ = (
        CheckConstraint("outcome IN ('graded', 'unrateable')", name="outcome"),
        CheckConstraint("(outcome = 'graded') = (grade IS NOT NULL)", name="grade_iff_graded"),
    )

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    lead_pk: int = Field(primary_key=True, foreign_key="person.pk")
    outcome: str
    grade: int | None = None
    rationale: str = text_column()
    cause: str | None = None
    in_guideline: bool
    proposed_at: datetime = time_column()


class DiscussionRow(SQLModel, table=True):
    """A pair under discussion: its annotators read each other's notes before a lead decides."""

    __tablename__ = "discussion"

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    asked_by_pk: int = Field(foreign_key="person.pk")
    asked_at: datetime = time_column()
    closed_at: datetime | None = time_column(nullable=True)


class DiscussionTurnRow(SQLModel, table=True):
    """An annotator's turn in a discussion: confirms or revises the judgment. Agreement does not count it."""

    __tablename__ = "discussion_turn"
    __table_args__ = (
        CheckConstraint("outcome IN ('graded', 'unrateable')", name="outcome"),
        CheckConstraint("(outcome = 'graded') = (grade IS NOT NULL)", name="grade_iff_graded"),
    )

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    annotator_pk: int = Field(primary_key=True, foreign_key="person.pk")
    outcome: str
    grade: int | None = None
    revised: bool
    note: str | None = text_column(nullable=True)
    said_at: datetime = time_column()


class ObjectionRow(SQLModel, table=True):
    """An annotator's only objection to the decision on a pair they judged. A later decision answers it."""

    __tablename__ = "objection"
    __table_args__ = (CheckConstraint("length(trim(text)) > 0", name="text"),)

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    annotator_pk: int = Field(primary_key=True, foreign_key="person.pk")
    adjudication_pk: int = Field(foreign_key="adjudication.pk")
    text: str = text_column()
    objected_at: datetime = time_column()


class SeenDecisionRow(SQLModel, table=True):
    """The decision that an annotator of the pair was shown last. Only for that person; never exported."""

    __tablename__ = "seen_decision"

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    person_pk: int = Field(primary_key=True, foreign_key="person.pk")
    adjudication_pk: int = Field(foreign_key="adjudication.pk")
    seen_at: datetime = time_column()  # when it was shown for the first time


class GuidelineDecisionRow(SQLModel, table=True):
    """A decision that led to a version of the guideline."""

    __tablename__ = "guideline_decision"

    rubric_pk: int = Field(primary_key=True, foreign_key="rubric.pk")
    adjudication_pk: int = Field(primary_key=True, foreign_key="adjudication.pk")


class AuditEventRow(SQLModel, table=True):
    """Something that a lead did. Append-only."""

    __tablename__ = "audit_event"
    __table_args__ = (Index("ix_audit_event_dataset_pk", "dataset_pk", "pk"),)

    pk: int | None = Field(default=None, primary_key=True)
    dataset_pk: int = Field(foreign_key="dataset.pk")
    pair_pk: int | None = Field(default=None, foreign_key="pair.pk", index=True)
    person_pk: int | None = Field(default=None, foreign_key="person.pk")  # null: the operator
    action: str
    before: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    after: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    at: datetime = time_column()


class QualityDrawRow(SQLModel, table=True):
    """A draw of settled pairs for a third expert. Draws of one round make up one sample."""

    __tablename__ = "quality_draw"
    __table_args__ = (
        UniqueConstraint("dataset_pk", "number"),
        CheckConstraint("rate > 0 AND rate <= 1", name="rate"),
        CheckConstraint("population >= 1", name="population"),
        CheckConstraint("outside >= 0", name="outside"),
        CheckConstraint("round >= 1", name="round"),
    )

    pk: int | None = Field(default=None, primary_key=True)
    dataset_pk: int = Field(foreign_key="dataset.pk")
    number: int
    round: int  # a new round begins a new sample
    annotator_pk: int = Field(foreign_key="person.pk")
    drawn_by_pk: int | None = Field(default=None, foreign_key="person.pk")
    rate: float  # the share of the population that the round's sample shall reach
    seed: int
    population: int  # settled pairs that the round's sample represents
    outside: int  # settled pairs that it cannot represent, since the expert judged or saw them
    drawn_at: datetime = time_column()


class QualityPairRow(SQLModel, table=True):
    """A drawn pair, with its settled grade at that time and the expert's answer."""

    __tablename__ = "quality_pair"
    __table_args__ = (
        CheckConstraint("settled_grade IN (0, 1, 2, 3)", name="settled_grade"),
        CheckConstraint("outcome IN ('graded', 'unrateable')", name="outcome"),
        CheckConstraint("grade IN (0, 1, 2, 3)", name="grade"),
        Index("ix_quality_pair_pair_pk", "pair_pk"),
    )

    draw_pk: int = Field(primary_key=True, foreign_key="quality_draw.pk")
    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    settled_grade: int
    settled_by: str
    judgment_pk: int | None = Field(default=None, foreign_key="judgment.pk")
    outcome: str | None = None  # null: not answered yet
    grade: int | None = None
    answered_at: datetime | None = time_column(nullable=True)  # when the present answer was received
