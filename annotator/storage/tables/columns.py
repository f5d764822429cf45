"""Define the kinds of columns that tables use, and how constraints and indexes are named."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, Column, DateTime, Text, text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
SQLModel.metadata.naming_convention = NAMING
SQLModel.model_config["defer_build"] = (
    True  # a validator is built for a table whose rows are validated, not for all
)


class UtcDateTime(TypeDecorator[datetime]):
    """A time with a zone on both databases: stored in UTC, read as an aware time in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def time_column(*, nullable: bool = False) -> Any:
    return Field(default=None, sa_column=Column(UtcDateTime, nullable=nullable))


def number_column(value: float) -> Any:
    """Return a column of numbers in which rows from before its migration get `value`."""
    return Field(default=value, sa_column_kwargs={"server_default": text(str(value))})


def json_column() -> Any:
    return Field(default_factory=dict, sa_column=Column(JSON, nullable=False))


def text_column(*, nullable: bool = False) -> Any:
    return Field(default=None if nullable else "", sa_column=Column(Text, nullable=nullable))
