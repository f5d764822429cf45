"""The tables of the audit log: its entries, and separately the personal data."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Integer
from sqlmodel import Field, SQLModel

from annotator.storage.tables.columns import text_column, time_column


class AuditEntryRow(SQLModel, table=True):
    """One entry of the audit log. Append-only, chained by its hashes (`domain/audit.py`).

    `sequence`: from 1, without gaps. `dataset`: its name at that time. `object`: the object of the act, such
    as a version or a file's name; never a person. `details`: canonical JSON. `actor`, `subject`, `address`:
    commitments to values in `audit_personal`.
    """

    __tablename__ = "audit_entry"
    __table_args__ = (
        CheckConstraint("sequence >= 1", name="sequence"),
        CheckConstraint("actor_kind IN ('person', 'operator', 'program', 'unknown')", name="actor_kind"),
        CheckConstraint("source IN ('web', 'cli', 'program')", name="source"),
        CheckConstraint("length(details) <= 4000", name="details"),
        Index("ix_audit_entry_action_at", "action", "at"),
        Index("ix_audit_entry_dataset", "dataset", "sequence"),
    )

    sequence: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    at: datetime = time_column()
    action: str
    actor_kind: str
    source: str
    request_id: str | None = None
    dataset: str | None = None
    object: str = text_column()
    details: str = text_column()
    actor: str | None = None
    subject: str | None = None
    address: str | None = None
    previous: str
    sha256: str = Field(unique=True)


class AuditPersonalRow(SQLModel, table=True):
    """A personal value of an entry: a username or an address at that time.

    `person_pk`: its owner; null for an address of an unknown person. `salt`: of the commitment; null after
    pseudonymisation, when `value` is the pseudonym. Rows can be removed; an entry records how many.
    """

    __tablename__ = "audit_personal"
    __table_args__ = (CheckConstraint("field IN ('actor', 'subject', 'address')", name="field"),)

    sequence: int = Field(
        sa_column=Column(Integer, ForeignKey("audit_entry.sequence"), primary_key=True, autoincrement=False)
    )
    field: str = Field(primary_key=True)
    person_pk: int | None = Field(default=None, foreign_key="person.pk", index=True)
    value: str = text_column()
    salt: str | None = None
