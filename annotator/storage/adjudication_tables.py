"""The tables of adjudication, quality control and the audit log.

`current_adjudication`, `dispute` and the scores are derived, only by `adjudication/decisions_sql.py`,
`storage/disagreements.py` and `storage/impact_scores.py`. `adjudication`, `document_order` and `audit_event` are
append-only. A later draw never changes an earlier one or its pairs; a drawn pair's answer follows the judgments
(`quality/quality_sql.py`).
"""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, CheckConstraint, Column, Index, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from annotator.storage.columns import json_column, text_column, time_column


class AdjudicationRow(SQLModel, table=True):
    """What a lead decided on a pair: a grade, that it cannot be rated, or that an earlier decision is withdrawn. Append-only;
    the highest revision holds. `cause`: why annotators differed; `reason`: in the lead's own words, from files;
    `in_guideline`: the guideline should say so; `seconds`: how long the pair was open before the lead."""

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
    reason: str | None = text_column(nullable=True)
    cause: str | None = None
    in_guideline: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})
    seconds: float | None = None
    batch_pk: int | None = Field(default=None, foreign_key="settle_batch.pk")
    decided_at: datetime = time_column()


class SettleBatchRow(SQLModel, table=True):
    """Pairs that a lead settled together, by a policy. Undoing one withdraws its decisions."""

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
    """In which order a lead puts a query's documents where grades do not tell them apart. Append-only; the latest of a query
    holds. `pair_pks`: best first; pairs that are not among them come after."""

    __tablename__ = "document_order"

    pk: int | None = Field(default=None, primary_key=True)
    query_pk: int = Field(foreign_key="query.pk", index=True)
    lead_pk: int = Field(foreign_key="person.pk")
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


class DisputeRow(SQLModel, table=True):
    """A pair that waits for a lead (`open`), or that one has decided. `reasons`: why, as bits (`domain/settling.py`);
    `waiting`: those of them that it still waits for; `low`,
    `high`, `distance`: of the grades that speak against each other; `since`: the first of them that did. `impact` (nDCG),
    `recall_impact`, `mrr_impact`: how far the choice moves the system it moves most, on the pair's query; null without
    runs, where `impact` stands for it. `flips`: couples of systems whose order hangs on it. `taste`: see there too."""

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
    open: bool
    reasons: int
    waiting: int
    distance: int
    low: int | None = None
    high: int | None = None
    since: datetime = time_column()
    impact: float
    recall_impact: float | None = None
    mrr_impact: float | None = None
    flips: int | None = None
    taste: bool = False


class QueryScoreRow(SQLModel, table=True):
    """What each system scores on a query by the grades as they stand: `scores` holds nDCG, recall and reciprocal rank by
    system, null where the query has nothing relevant."""

    __tablename__ = "query_score"

    query_pk: int = Field(primary_key=True, foreign_key="query.pk")
    dataset_pk: int = Field(foreign_key="dataset.pk", index=True)
    scores: dict[str, Any] = json_column()


class ScoreTotalRow(SQLModel, table=True):
    """The sums of a dataset's `query_score` by system, and how many queries there are in them."""

    __tablename__ = "score_total"

    dataset_pk: int = Field(primary_key=True, foreign_key="dataset.pk")
    queries: int
    scores: dict[str, Any] = json_column()


class ScoreDueRow(SQLModel, table=True):
    """A query whose grades or runs have changed since its scores, and the impact of its disputes, were computed."""

    __tablename__ = "score_due"

    query_pk: int = Field(primary_key=True, foreign_key="query.pk")
    dataset_pk: int = Field(foreign_key="dataset.pk", index=True)


class CaseHoldRow(SQLModel, table=True):
    """A pair that is open in front of a lead, for a while. `tab` names the browser tab."""

    __tablename__ = "case_hold"

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    lead_pk: int = Field(foreign_key="person.pk")
    tab: str = text_column()
    expires_at: datetime = time_column()


class CaseAssignmentRow(SQLModel, table=True):
    """A pair that was given to a lead to decide."""

    __tablename__ = "case_assignment"

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    lead_pk: int = Field(foreign_key="person.pk", index=True)
    assigned_by_pk: int | None = Field(default=None, foreign_key="person.pk")
    assigned_at: datetime = time_column()


class CaseLaterRow(SQLModel, table=True):
    """A pair that a lead put off: it comes last for them."""

    __tablename__ = "case_later"

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    lead_pk: int = Field(primary_key=True, foreign_key="person.pk")
    put_off_at: datetime = time_column()


class DecisionProposalRow(SQLModel, table=True):
    """What one of two adjudicators says of a pair that takes both; no decision until the other says the same."""

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
    """A pair whose annotators were asked to look at each other's notes before a lead decides."""

    __tablename__ = "discussion"

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    asked_by_pk: int = Field(foreign_key="person.pk")
    asked_at: datetime = time_column()
    closed_at: datetime | None = time_column(nullable=True)


class DiscussionTurnRow(SQLModel, table=True):
    """What an annotator says after having seen the other's note: stands by the judgment, or revises it. No judgment:
    agreement does not count it."""

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
    """An annotator's one objection to what was decided on a pair they judged. A later decision answers it."""

    __tablename__ = "objection"
    __table_args__ = (CheckConstraint("length(trim(text)) > 0", name="text"),)

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    annotator_pk: int = Field(primary_key=True, foreign_key="person.pk")
    adjudication_pk: int = Field(foreign_key="adjudication.pk")
    text: str = text_column()
    objected_at: datetime = time_column()


class GuidelineDecisionRow(SQLModel, table=True):
    """A decision that led to a version of the guideline."""

    __tablename__ = "guideline_decision"

    rubric_pk: int = Field(primary_key=True, foreign_key="rubric.pk")
    adjudication_pk: int = Field(primary_key=True, foreign_key="adjudication.pk")


class AuditEventRow(SQLModel, table=True):
    """Something that a lead did: who (null: the operator), when, what, before, after. Append-only."""

    __tablename__ = "audit_event"
    __table_args__ = (Index("ix_audit_event_dataset_pk", "dataset_pk", "pk"),)

    pk: int | None = Field(default=None, primary_key=True)
    dataset_pk: int = Field(foreign_key="dataset.pk")
    pair_pk: int | None = Field(default=None, foreign_key="pair.pk", index=True)
    person_pk: int | None = Field(default=None, foreign_key="person.pk")
    action: str
    before: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    after: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    at: datetime = time_column()


class QualityDrawRow(SQLModel, table=True):
    """One draw of settled pairs for a third expert. `round`: draws of one round make up one sample; a new round begins
    from nothing. `population`: how many settled pairs the sample of the round speaks for, `outside`: how many it cannot
    (the expert judged or saw them). `rate`: the share of the population that the round's sample shall reach."""

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
    round: int
    annotator_pk: int = Field(foreign_key="person.pk")
    drawn_by_pk: int | None = Field(default=None, foreign_key="person.pk")
    rate: float
    seed: int
    population: int
    outside: int
    drawn_at: datetime = time_column()


class QualityPairRow(SQLModel, table=True):
    """A settled pair that was drawn, with the grade it had then, and what the expert says of it: nothing yet (`outcome`
    null), a grade, or that it cannot be rated. `answered_at`: when the answer that holds was received."""

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
    outcome: str | None = None
    grade: int | None = None
    answered_at: datetime | None = time_column(nullable=True)
