"""The tables of quality control: which settled pairs were drawn for whom, and what the third expert said.

A draw and its pairs are never changed by a later draw; a pair's answer follows the judgments (`quality/quality_sql.py`).
"""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from annotator.storage.columns import time_column


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
