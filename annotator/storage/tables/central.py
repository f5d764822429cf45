"""The central tables. Every limit is a database constraint too; build rows with `model_validate`.

SQLModel's table classes skip validation. `judgment` and `adjudication` are append-only: triggers in the
migrations refuse UPDATE and DELETE on both databases. `current_judgment` is derived
(`storage/judgments/current_judgments.py`). The tables of signing in, labeling, adjudication and quality
control, releases, pooling and the audit log are in the other files of this folder. A command imports only the
files that it uses, because each table takes two milliseconds. Names ending in `_pk` are our integer keys;
`query_id` and `doc_id` are always the outside world's ids. Partial indexes are declared for SQLite only,
because naming PostgreSQL's option here would import SQLAlchemy's dialect for it into every command; the
migrations make them alike on both.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    UniqueConstraint,
    text,
)
from sqlmodel import Field, SQLModel

from annotator.domain.ground_truth import PROFILE_NAMES
from annotator.domain.judgments import COUNTED_PURPOSE, CURRENT_PURPOSES
from annotator.domain.shuffling import Seed, mix_secret
from annotator.storage.sql import quote_texts
from annotator.storage.tables.columns import json_column, number_column, text_column, time_column

NOT_COUNTED = text(f"purpose NOT IN {quote_texts(CURRENT_PURPOSES)}")


class DatasetRow(SQLModel, table=True):
    """One ground-truth project and its settings.

    `overlap_rules`: exceptions to `overlap`, as `domain/settling.py` reads them. `shown_metadata`: the further
    columns of documents that the panel shows. `quality_rule`: see `quality/records.py`. `search_hosts`: the
    hosts that its queries may be sent to; for leads only. `profile`: the evaluator whose measures the dataset
    is for. `archived_at`: nothing in it may be judged or changed since then. `check_secret`, `order_secret`:
    needed to compute a draw (docs/labeling.md); never shown. `order_secret` is empty in a dataset that is
    older than it.
    """

    __tablename__ = "dataset"
    __table_args__ = (
        CheckConstraint("overlap BETWEEN 1 AND 20", name="overlap"),
        CheckConstraint("kappa_target BETWEEN -1 AND 1", name="kappa_target"),
        CheckConstraint("lease_minutes BETWEEN 1 AND 10080", name="lease_minutes"),
        CheckConstraint("training_score BETWEEN 0 AND 1", name="training_score"),
        CheckConstraint("gold_rate BETWEEN 0 AND 0.5", name="gold_rate"),
        CheckConstraint("repeat_rate BETWEEN 0 AND 0.5", name="repeat_rate"),
        CheckConstraint("repeat_after BETWEEN 1 AND 10000", name="repeat_after"),
        CheckConstraint("idle_seconds BETWEEN 10 AND 3600", name="idle_seconds"),
        CheckConstraint("quality_rule IN ('bound', 'rate')", name="quality_rule"),
        CheckConstraint("discuss_from BETWEEN 1 AND 3", name="discuss_from"),
        CheckConstraint(f"profile IN {quote_texts(PROFILE_NAMES)}", name="profile"),
    )

    pk: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    title: str = text_column()
    language: str | None = None
    authors: str | None = text_column(nullable=True)
    contact: str | None = text_column(nullable=True)
    licence: str | None = text_column(nullable=True)
    source: str | None = text_column(nullable=True)
    overlap: int = 2
    kappa_target: float = 0.7
    lease_minutes: int = 60
    seed: int = 0
    list_grade_0: bool = False
    requirements: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    overlap_rules: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    training_score: float = number_column(0.8)
    gold_rate: float = number_column(0.0)
    repeat_rate: float = number_column(0.0)
    repeat_after: int = number_column(30)
    idle_seconds: int = number_column(120)
    shown_metadata: list[str] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    quality_rule: str = Field(default="bound", sa_column_kwargs={"server_default": text("'bound'")})
    show_own_agreement: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})
    second_adjudicator: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})
    discuss_from: int | None = None
    search_hosts: list[str] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    profile: str = Field(default="trec", sa_column_kwargs={"server_default": text("'trec'")})
    archived_at: datetime | None = time_column(nullable=True)
    created_at: datetime = time_column()
    check_secret: str = Field(default="", repr=False, sa_column_kwargs={"server_default": text("''")})
    order_secret: str = Field(default="", repr=False, sa_column_kwargs={"server_default": text("''")})

    @property
    def check_seed(self) -> Seed:
        """Return the seed of what checks annotators and of what quality control draws."""
        return mix_secret(self.seed, self.check_secret)

    @property
    def order_seed(self) -> Seed:
        """Return the seed of orders, of letters for names, and of the share of pairs with another overlap."""
        return mix_secret(self.seed, self.order_secret)


class RubricRow(SQLModel, table=True):
    """One version of a dataset's grade definitions and guideline. Never changed; a new version follows it.

    `language`: of `title`, `guideline` and `grades`, the authoritative texts (null: unknown). `translations`:
    the same four in each other language. `change`, against the version before: "minor" (wording) or
    "semantic" (the meaning of a grade). `why`: what changed and why. `author_pk`: the publisher (null: the
    operator).
    """

    __tablename__ = "rubric"
    __table_args__ = (
        UniqueConstraint("dataset_pk", "version"),
        CheckConstraint("change IN ('minor', 'semantic')", name="change"),
        CheckConstraint("language <> ''", name="language"),
    )

    pk: int | None = Field(default=None, primary_key=True)
    dataset_pk: int = Field(foreign_key="dataset.pk")
    version: int
    title: str = text_column()
    guideline: str = text_column()
    grades: list[dict[str, Any]] = Field(sa_column=Column(JSON, nullable=False))
    language: str | None = text_column(nullable=True)
    translations: list[dict[str, Any]] = Field(
        default_factory=list, sa_column=Column(JSON, nullable=False, server_default=text("'[]'"))
    )
    change: str = Field(default="semantic", sa_column_kwargs={"server_default": text("'semantic'")})
    why: str | None = text_column(nullable=True)
    author_pk: int | None = Field(default=None, foreign_key="person.pk")
    created_at: datetime = time_column()


class GuidelineMarkingRow(SQLModel, table=True):
    """An unfinished marking of a changed meaning of grades (`storage/judgments/outdated.py`).

    `rubric_pk`: the version that made the change. All pairs up to `after_pair_pk` are marked.
    """

    __tablename__ = "guideline_marking"

    dataset_pk: int = Field(
        primary_key=True, foreign_key="dataset.pk", sa_column_kwargs={"autoincrement": False}
    )
    rubric_pk: int = Field(foreign_key="rubric.pk")
    after_pair_pk: int = 0


class QueryRow(SQLModel, table=True):
    """A query. `position` is its index in the file that it came from, and the order of every export."""

    __tablename__ = "query"
    __table_args__ = (UniqueConstraint("dataset_pk", "query_id"),)

    pk: int | None = Field(default=None, primary_key=True)
    dataset_pk: int = Field(foreign_key="dataset.pk")
    position: int
    query_id: str = text_column()
    text: str = text_column()
    category: str | None = text_column(nullable=True)
    language: str | None = text_column(nullable=True)
    query_type: str | None = text_column(nullable=True)
    difficulty: str | None = text_column(nullable=True)
    primary_domain: str | None = text_column(nullable=True)
    narrative: str | None = text_column(nullable=True)
    extra: dict[str, Any] = json_column()


class DocumentRow(SQLModel, table=True):
    """A document. `text_sha256`: of its present text in `document_text`; null if only its id is known."""

    __tablename__ = "document"
    __table_args__ = (UniqueConstraint("dataset_pk", "doc_id"),)

    pk: int | None = Field(default=None, primary_key=True)
    dataset_pk: int = Field(foreign_key="dataset.pk")
    doc_id: str = text_column()
    title: str = text_column()
    url: str | None = text_column(nullable=True)
    media_type: str = Field(default="text/plain")
    text_sha256: str | None = None
    extra: dict[str, Any] = json_column()


class DocumentTextRow(SQLModel, table=True):
    """A present or earlier text of a document. Earlier texts stay, because judgments refer to them."""

    __tablename__ = "document_text"

    document_pk: int = Field(primary_key=True, foreign_key="document.pk")
    sha256: str = Field(primary_key=True)
    text: str = text_column()
    imported_at: datetime = time_column()


class ImportRecordRow(SQLModel, table=True):
    """One import that stored something: see `domain/ground_truth.py`. Append-only."""

    __tablename__ = "import_record"
    __table_args__ = (
        CheckConstraint(
            "kind IN ('queries', 'documents', 'run', 'pairs', 'judgments', 'qrels')", name="kind"
        ),
    )

    pk: int | None = Field(default=None, primary_key=True)
    dataset_pk: int = Field(foreign_key="dataset.pk", index=True)
    kind: str
    path: str = text_column()
    sha256: str | None = None
    format: str | None = None
    system: str | None = text_column(nullable=True)
    imported_by: int | None = Field(default=None, foreign_key="person.pk")
    imported_at: datetime = time_column()
    options: dict[str, Any] = json_column()
    figures: dict[str, Any] = json_column()
    declared: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))


class RunRow(SQLModel, table=True):
    """One system's run over a dataset.

    `query_signals`: by query_id, the fields of its file about the whole query (`latency_ms` and every further
    field). Queries without results are included.
    """

    __tablename__ = "run"
    __table_args__ = (UniqueConstraint("dataset_pk", "system"),)

    pk: int | None = Field(default=None, primary_key=True)
    dataset_pk: int = Field(foreign_key="dataset.pk")
    system: str
    content_sha256: str
    query_signals: dict[str, Any] = json_column()
    imported_at: datetime = time_column()
    import_record_pk: int | None = Field(default=None, foreign_key="import_record.pk")


class RunEntryRow(SQLModel, table=True):
    """One ranked result of a run. Score and further signals are stored as the file has them."""

    __tablename__ = "run_entry"
    __table_args__ = (UniqueConstraint("run_pk", "query_pk", "rank"),)

    run_pk: int = Field(primary_key=True, foreign_key="run.pk")
    query_pk: int = Field(primary_key=True, foreign_key="query.pk")
    document_pk: int = Field(primary_key=True, foreign_key="document.pk")
    rank: int
    score: float | None = None
    signals: dict[str, Any] = json_column()


class PairRow(SQLModel, table=True):
    """A query with one candidate document.

    `key`: the opaque id that the app uses; it says nothing about rank. `judged`: how many annotators have a
    current independent judgment, a grade or "unrateable"; derived together with `current_judgment`. `kept`:
    the grade of an earlier ground truth holds, so the pair needs no judgment. `retired_at`: when the pair
    left the pool because its document got other ids (`remap`); its judgments are kept. `wanted`: the number
    of annotators who must judge it, by the dataset's overlap and its exceptions. `lacking`: the number of
    missing judgments; 0 if the pair needs none. Both are derived by `storage/judgments/missing_judgments.py`.
    """

    __tablename__ = "pair"
    __table_args__ = (
        UniqueConstraint("query_pk", "document_pk"),
        Index("ix_pair_dataset_pk_judged", "dataset_pk", "judged"),
        Index("ix_pair_query_pk_judged", "query_pk", "judged"),
        Index(
            "ix_pair_lacking",
            "query_pk",
            sqlite_where=text("lacking > 0"),
        ),
    )

    pk: int | None = Field(default=None, primary_key=True)
    dataset_pk: int = Field(foreign_key="dataset.pk")
    query_pk: int = Field(foreign_key="query.pk")
    document_pk: int = Field(foreign_key="document.pk", index=True)
    key: str = Field(unique=True)
    judged: int = Field(default=0, sa_column_kwargs={"server_default": text("0")})
    kept: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})
    wanted: int = number_column(0)
    lacking: int = number_column(0)
    retired_at: datetime | None = time_column(nullable=True)
    created_at: datetime = time_column()


class ProvenanceRow(SQLModel, table=True):
    """A system that put a pair into the pool, with rank and score. For leads only.

    On PostgreSQL, triggers check once for each statement what the foreign key checks on SQLite (migration
    0020).
    """

    __tablename__ = "provenance"

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    system: str = Field(primary_key=True)
    rank: int | None = None
    score: float | None = None
    signals: dict[str, Any] = json_column()


class PersonRow(SQLModel, table=True):
    """A person. A person known only from an imported file has no `password_hash` and cannot sign in.

    `language`: of the interface; null: the browser's.
    """

    __tablename__ = "person"

    pk: int | None = Field(default=None, primary_key=True)
    username: str = Field(unique=True)
    name: str = text_column()
    password_hash: str | None = None
    must_change_password: bool = False
    simulated: bool = False
    language: str | None = None
    disabled_at: datetime | None = time_column(nullable=True)
    created_at: datetime = time_column()


class MembershipRow(SQLModel, table=True):
    """A person's role on a dataset; on every dataset where `dataset_pk` is null.

    `categories`, `languages`: of the queries the person judges; null: all. `from_group`: given, and taken
    away, by a group of the OpenID Connect provider; otherwise given by hand.
    """

    __tablename__ = "membership"
    __table_args__ = (
        CheckConstraint("role IN ('annotator', 'lead', 'admin')", name="role"),
        Index("uq_membership_one", "person_pk", "dataset_pk", unique=True),
        Index(
            "uq_membership_everywhere",
            "person_pk",
            unique=True,
            sqlite_where=text("dataset_pk IS NULL"),
        ),
    )

    pk: int | None = Field(default=None, primary_key=True)
    person_pk: int = Field(foreign_key="person.pk")
    dataset_pk: int | None = Field(default=None, foreign_key="dataset.pk")
    role: str
    categories: list[str] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    languages: list[str] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    from_group: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})


class JudgmentRow(SQLModel, table=True):
    """One annotator's judgment of one pair, as it was given. Append-only.

    `event_id`: makes a repeated delivery harmless. `judged_at`: when the key was pressed, never later than
    `received_at`. `browser`, `browser_number`: the annotator's browser, and the number of the press in it;
    null if unknown. `late`: it is never current (see `storage/judgments/current_judgments.py`).
    `document_sha256`: of the text that was judged; null if there was none. `purpose`: "independent" for an
    ordinary judgment; only those count for agreement and qrels. "conditional": requested because the first
    two differed; "training", "gold" and "repeat": checks on the annotator; "quality": a third expert's, on a
    pair settled without them. `reason`: why the pair is unrateable. `line_id`: identifies the content of its
    line in an imported file (`importing/judgments/judgment_plan.py`); null if it was made in this program.
    `import_record_pk`: the import it came with; null also if it was imported before imports were recorded.
    """

    __tablename__ = "judgment"
    __table_args__ = (
        UniqueConstraint("pk", "pair_pk", "annotator_pk"),
        CheckConstraint("outcome IN ('graded', 'unrateable', 'later')", name="outcome"),
        CheckConstraint("grade IN (0, 1, 2, 3)", name="grade"),
        CheckConstraint("(outcome = 'graded') = (grade IS NOT NULL)", name="grade_iff_graded"),
        CheckConstraint("seconds >= 0", name="seconds"),
        CheckConstraint(
            "reason IN ('unreadable', 'wrong_language', 'document_missing', 'query_unclear', 'other')",
            name="reason",
        ),
        CheckConstraint("(browser IS NULL) = (browser_number IS NULL)", name="browser_number_iff_browser"),
        Index("ix_judgment_pair_annotator_order", "pair_pk", "annotator_pk", "pk"),
        Index("ix_judgment_checks", "pair_pk", "purpose", sqlite_where=NOT_COUNTED),
        Index("ix_judgment_line_id", "line_id", sqlite_where=text("line_id IS NOT NULL")),
    )

    pk: int | None = Field(default=None, primary_key=True)
    event_id: str = Field(unique=True)
    pair_pk: int = Field(foreign_key="pair.pk")
    annotator_pk: int = Field(foreign_key="person.pk")
    rubric_pk: int = Field(foreign_key="rubric.pk")
    outcome: str
    grade: int | None = None
    note: str | None = text_column(nullable=True)
    reason: str | None = None
    purpose: str = COUNTED_PURPOSE
    document_sha256: str | None = None
    judged_at: datetime = time_column()
    received_at: datetime = time_column()
    seconds: float | None = None
    import_record_pk: int | None = Field(default=None, foreign_key="import_record.pk")
    browser: str | None = None
    browser_number: int | None = Field(default=None, sa_type=BigInteger)
    late: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})
    line_id: str | None = None


class CurrentJudgmentRow(SQLModel, table=True):
    """The current judgment of an annotator on a pair; the primary key allows one only.

    Derived from `judgment` by `storage/judgments/current_judgments.py`, and for an annotator's answers by
    `storage/judgments/answers.py`; narrow, for fast reading of a million rows. `stale`: 0 up to date, 1 made
    under an older guideline, 2 on an older text, 3 both. `rubric_pk`, `seconds`: the judgment's own.
    `made_at`: its press, in whole seconds since 1970, UTC. `imported`: 0 made in this program, 1 from a file
    that says when it was made, 2 from a file that does not; `made_at` is then the time of the import. The
    guideline version of an imported judgment is unknown.
    """

    __tablename__ = "current_judgment"
    __table_args__ = (
        ForeignKeyConstraint(
            ["judgment_pk", "pair_pk", "annotator_pk"],
            ["judgment.pk", "judgment.pair_pk", "judgment.annotator_pk"],
        ),
        Index("ix_current_judgment_annotator_outcome", "dataset_pk", "annotator_pk", "outcome", "made_at"),
        Index(
            "ix_current_judgment_stale",
            "dataset_pk",
            "annotator_pk",
            "judgment_pk",
            sqlite_where=text("stale > 0"),
        ),
    )

    pair_pk: int = Field(primary_key=True)
    annotator_pk: int = Field(primary_key=True)
    judgment_pk: int = Field(unique=True)
    dataset_pk: int = Field(foreign_key="dataset.pk")
    outcome: str
    grade: int | None = None
    purpose: str
    stale: int = number_column(0)
    rubric_pk: int | None = None
    seconds: float | None = None
    made_at: int | None = Field(default=None, sa_type=BigInteger)
    imported: int = number_column(0)


class ImportedQrelRow(SQLModel, table=True):
    """A grade from an earlier ground truth, with its source. Append-only; the latest of a pair counts.

    `keep`: it settles the pair until a person judges it; otherwise it is a suggestion, for leads only.
    `source`: {"kind": "qrels", path, format, sha256, origin[, place]}, {"kind": "remap", old_doc_id, …},
    {"kind": "relation", rule, relation, from, pairs}: a rule's suggestion, never kept, or {"kind":
    "near_duplicate", of, of_pair, rule, round, accepted_by}: the grade of another document, which a lead
    accepted. `place`: the rank of the document in its query's list, from 1, if the order of the list means
    something.
    """

    __tablename__ = "imported_qrel"
    __table_args__ = (CheckConstraint("grade IN (0, 1, 2, 3)", name="grade"),)

    pk: int | None = Field(default=None, primary_key=True)
    pair_pk: int = Field(foreign_key="pair.pk", index=True)
    grade: int
    keep: bool
    source: dict[str, Any] = json_column()
    description: str | None = text_column(nullable=True)
    note: str | None = text_column(nullable=True)
    annotator_grades: list[Any] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    extra: dict[str, Any] = json_column()
    imported_at: datetime = time_column()
    import_record_pk: int | None = Field(default=None, foreign_key="import_record.pk")


class RemapRow(SQLModel, table=True):
    """A new id that a document got when its corpus was ingested again. Append-only.

    `kind`: "renamed" (one to one), "split" (one to many) or "merged" (many to one).
    """

    __tablename__ = "remap"
    __table_args__ = (CheckConstraint("kind IN ('renamed', 'split', 'merged')", name="kind"),)

    pk: int | None = Field(default=None, primary_key=True)
    dataset_pk: int = Field(foreign_key="dataset.pk", index=True)
    old_doc_id: str = text_column()
    new_doc_id: str = text_column()
    kind: str
    remapped_at: datetime = time_column()


APPEND_ONLY = (
    "judgment",
    "adjudication",
    "imported_qrel",
    "remap",
    "release",
    "release_query",
    "release_qrel",
    "rubric",
    "audit_event",
    "audit_entry",
    "import_record",
    "document_order",
)
