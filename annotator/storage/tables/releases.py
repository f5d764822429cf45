"""The tables of releases.

The rows of a published release are immutable: triggers in the migrations refuse UPDATE and DELETE.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, UniqueConstraint
from sqlmodel import Field, SQLModel

from annotator.storage.tables.columns import json_column, text_column, time_column


class PseudonymRow(SQLModel, table=True):
    """The number of a person in a dataset's releases; assigned once, never changed."""

    __tablename__ = "pseudonym"
    __table_args__ = (UniqueConstraint("dataset_pk", "number"),)

    dataset_pk: int = Field(primary_key=True, foreign_key="dataset.pk")
    person_pk: int = Field(primary_key=True, foreign_key="person.pk")
    number: int


class ReleaseRow(SQLModel, table=True):
    """A published release.

    Immutable. `sums`: the text of its SHA256SUMS file; `signature`: that of its SHA256SUMS.sig.
    """

    __tablename__ = "release"
    __table_args__ = (UniqueConstraint("dataset_pk", "version"),)

    pk: int | None = Field(default=None, primary_key=True)
    dataset_pk: int = Field(foreign_key="dataset.pk")
    version: str
    published_by: int | None = Field(default=None, foreign_key="person.pk")
    created_at: datetime = time_column()
    note: str = text_column()
    content_sha256: str
    sums: str = text_column()
    manifest: dict[str, Any] = json_column()
    signature: str | None = text_column(nullable=True)


class ReleaseRecordingRow(SQLModel, table=True):
    """A release that is being recorded in parts, on SQLite (`releases/writing/judged_sql.py`).

    `release_pk`: the key that its row in `release` will have. Until that row exists, its queries and qrels
    are not read.
    """

    __tablename__ = "release_recording"

    release_pk: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    dataset_pk: int = Field(foreign_key="dataset.pk")
    started_at: datetime = time_column()


class ReleaseQueryRow(SQLModel, table=True):
    """A query as it was published. Immutable."""

    __tablename__ = "release_query"
    __table_args__ = (UniqueConstraint("release_pk", "query_id"),)

    release_pk: int = Field(primary_key=True, foreign_key="release.pk")
    position: int = Field(primary_key=True)
    query_id: str = text_column()
    text: str = text_column()


class ReleaseQrelRow(SQLModel, table=True):
    """A qrel as it was published. Immutable.

    `judgments`, `adjudication_pk`, `imported_qrel_pk`: its sources. `judgments`: primary keys in ascending
    order, separated by spaces; null in releases made before this was recorded.
    """

    __tablename__ = "release_qrel"
    __table_args__ = (
        CheckConstraint("grade IN (0, 1, 2, 3)", name="grade"),
        UniqueConstraint("release_pk", "query_id", "doc_id"),
    )

    release_pk: int = Field(primary_key=True, foreign_key="release.pk")
    position: int = Field(primary_key=True)
    query_id: str = text_column()
    doc_id: str = text_column()
    grade: int
    origin: str
    judgments: str | None = text_column(nullable=True)
    adjudication_pk: int | None = None
    imported_qrel_pk: int | None = None
