"""The tables of pool rounds: how the pool grew, and the candidates that each round left out by rule.

A round is one decision of a lead to add pairs, or to leave candidates out. Other pairs, and pairs from before
rounds were recorded, have no round. The three tables are written by `pooling/rounds/rounds_sql.py`;
`importing/remapping/remapping_sql.py` carries `left_out` to new document ids.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, UniqueConstraint
from sqlmodel import Field, SQLModel

from annotator.storage.tables.columns import json_column, text_column, time_column


class PoolRoundRow(SQLModel, table=True):
    """One round of pooling that added pairs or left candidates out. `number`: 1, 2, … in each dataset.

    `strategy`: how candidates were chosen ("depth", "fused", "stratified", "move-to-front", "adaptive",
    "holes", "relations", …). `options`: the request (depth, systems, retrievers, filters, budget, seed …);
    `figures`: the result (candidates, new pairs, left out by rule, depth by system …). `made_by`: null for
    the operator.
    """

    __tablename__ = "pool_round"
    __table_args__ = (
        UniqueConstraint("dataset_pk", "number"),
        CheckConstraint("number >= 1", name="number"),
    )

    pk: int | None = Field(default=None, primary_key=True)
    dataset_pk: int = Field(foreign_key="dataset.pk")
    number: int
    made_at: datetime = time_column()
    made_by: int | None = Field(default=None, foreign_key="person.pk")
    strategy: str
    options: dict[str, Any] = json_column()
    figures: dict[str, Any] = json_column()


class RoundPairRow(SQLModel, table=True):
    """The round in which a pair came into the pool, if any.

    `stratum`: the ranks that it was drawn from. `inclusion`: the probability with which it was drawn; null if
    it was chosen for certain.
    """

    __tablename__ = "round_pair"
    __table_args__ = (CheckConstraint("inclusion > 0 AND inclusion <= 1", name="inclusion"),)

    pair_pk: int = Field(primary_key=True, foreign_key="pair.pk")
    round_pk: int = Field(foreign_key="pool_round.pk", index=True)
    stratum: str | None = text_column(nullable=True)
    inclusion: float | None = None


class LeftOutRow(SQLModel, table=True):
    """A candidate that a round left out by rule.

    `kept_document_pk`: the document that is judged instead, if any.
    """

    __tablename__ = "left_out"

    round_pk: int = Field(primary_key=True, foreign_key="pool_round.pk")
    query_pk: int = Field(primary_key=True, foreign_key="query.pk")
    document_pk: int = Field(primary_key=True, foreign_key="document.pk", index=True)
    rule: str = text_column()
    kept_document_pk: int | None = Field(default=None, foreign_key="document.pk", index=True)
