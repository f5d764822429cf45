"""Alembic's entry: runs the migrations on the connection that `storage/schema.py` hands over."""

from alembic import context
from sqlmodel import SQLModel

from annotator.storage import (  # they fill the metadata
    adjudication_tables,  # noqa: F401
    audit_tables,  # noqa: F401
    labeling_tables,  # noqa: F401
    pool_tables,  # noqa: F401
    tables,  # noqa: F401
)

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    compare_type=False,
)
context.run_migrations()
