"""The tables of labeling without judgments: leases, assignments, counts, checks, proposals and questions.

They hold the present state; none of them is append-only. `query_work` and `query_answers` are derived by
`storage/judgments/missing_judgments.py`, and updated by `storage/judgments/answers.py` for an annotator's
answers.
"""

from datetime import datetime

from sqlalchemy import CheckConstraint, Column, Index, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from annotator.storage.tables.columns import text_column, time_column


class LeaseRow(SQLModel, table=True):
    """A pair reserved for an annotator for a while. Leases prevent more judgments than a pair needs."""

    __tablename__ = "lease"

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    annotator_pk: int = Field(primary_key=True, foreign_key="person.pk", index=True)
    expires_at: datetime = time_column()
    # The browser tab that holds it: two tabs of one annotator show different pairs; empty if unknown.
    tab: str = Field(default="", sa_column=Column(Text, nullable=False, server_default=text("''")))


class QueryWorkRow(SQLModel, table=True):
    """The number of pairs of a query that lack judgments. A row with 0 says the same as none."""

    __tablename__ = "query_work"

    query_pk: int = Field(primary_key=True, foreign_key="query.pk")
    dataset_pk: int = Field(foreign_key="dataset.pk", index=True)
    open_pairs: int  # that lack judgments
    begun_pairs: int  # the part with a judgment of someone other than the proposer


class QueryAnswersRow(SQLModel, table=True):
    """The number of answered pairs of a query and an annotator.

    Derived by `storage/judgments/missing_judgments.py`.
    """

    __tablename__ = "query_answers"
    __table_args__ = (Index("ix_query_answers_annotator", "annotator_pk", "dataset_pk"),)

    query_pk: int = Field(primary_key=True, foreign_key="query.pk")
    annotator_pk: int = Field(primary_key=True, foreign_key="person.pk")
    dataset_pk: int = Field(foreign_key="dataset.pk")
    answered: int
    answered_open: int  # the part that lacks others' judgments


class AssignmentRow(SQLModel, table=True):
    """A query that is assigned to a person. A query with assignments is handed to these people only."""

    __tablename__ = "assignment"

    query_pk: int = Field(primary_key=True, foreign_key="query.pk")
    person_pk: int = Field(primary_key=True, foreign_key="person.pk", index=True)
    assigned_by_pk: int | None = Field(default=None, foreign_key="person.pk")
    assigned_at: datetime = time_column()


class CheckRow(SQLModel, table=True):
    """A training or gold pair with a right grade from a lead. It is not handed out as ordinary work."""

    __tablename__ = "check_pair"
    __table_args__ = (
        CheckConstraint("kind IN ('training', 'gold')", name="kind"),
        CheckConstraint("grade IN (0, 1, 2, 3)", name="grade"),
    )

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    kind: str
    grade: int  # the right one
    explanation: str = text_column()  # shown after the answer in training; hidden for gold
    marked_by_pk: int | None = Field(default=None, foreign_key="person.pk")
    marked_at: datetime = time_column()


class RepeatRow(SQLModel, table=True):
    """A pair shown to the same annotator again, under its own key: the answer is not a revision."""

    __tablename__ = "repeated_pair"
    __table_args__ = (UniqueConstraint("annotator_pk", "pair_pk"),)

    pk: int | None = Field(default=None, primary_key=True)
    key: str = Field(unique=True)
    pair_pk: int = Field(foreign_key="pair.pk")
    annotator_pk: int = Field(foreign_key="person.pk")
    handed_at: datetime = time_column()
    answered_at: datetime | None = time_column(nullable=True)


class DisclosureRow(SQLModel, table=True):
    """A person has seen others' judgments of a pair, and so can no longer judge it."""

    __tablename__ = "disclosure"

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    person_pk: int = Field(primary_key=True, foreign_key="person.pk")
    disclosed_at: datetime = time_column()


class ProposalRow(SQLModel, table=True):
    """A pair that an annotator proposed because the pool had missed its document."""

    __tablename__ = "proposal"

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    annotator_pk: int = Field(foreign_key="person.pk")
    proposed_at: datetime = time_column()


class QuestionRow(SQLModel, table=True):
    """An annotator's question to the leads about a pair, and the answer."""

    __tablename__ = "question"

    pk: int | None = Field(default=None, primary_key=True)
    pair_pk: int = Field(foreign_key="pair.pk", index=True)
    annotator_pk: int = Field(foreign_key="person.pk", index=True)
    # The lead wants the guideline to say it.
    in_guideline: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})
    text: str = text_column()
    asked_at: datetime = time_column()
    answer: str | None = text_column(nullable=True)
    answered_by_pk: int | None = Field(default=None, foreign_key="person.pk")
    answered_at: datetime | None = time_column(nullable=True)


class SeenAnswerRow(SQLModel, table=True):
    """The answer to a question that its asker was shown last. For that person alone; never exported."""

    __tablename__ = "seen_answer"

    question_pk: int = Field(primary_key=True, foreign_key="question.pk")
    answered_at: datetime = time_column()  # of the answer that was shown
    seen_at: datetime = time_column()  # when it was shown for the first time


class ShownProgressRow(SQLModel, table=True):
    """The progress that an annotator was shown last (`labeling/records.py`). It never goes back."""

    __tablename__ = "told_progress"
    __table_args__ = (CheckConstraint("done <= total", name="done"),)

    dataset_pk: int = Field(primary_key=True, foreign_key="dataset.pk")
    annotator_pk: int = Field(primary_key=True, foreign_key="person.pk")
    answered: int
    done: int
    total: int
    reserve_until: int | None = None
