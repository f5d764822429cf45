"""Alembic's entry: runs the migrations on the connection that `storage/schema.py` hands over."""

from alembic import context
from sqlmodel import SQLModel

from annotator.storage.tables import (  # they fill the metadata
    adjudication,  # noqa: F401
    audit,  # noqa: F401
    central,  # noqa: F401
    labeling,  # noqa: F401
    pooling,  # noqa: F401
)

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    compare_type=False,
)
context.run_migrations()
