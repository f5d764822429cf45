"""Alembic's entry: runs the migrations on the connection that `storage/schema.py` hands over."""

from alembic import context
from sqlmodel import SQLModel

from annotator.storage import adjudication_tables, labeling_tables, tables  # noqa: F401  (they fill the metadata)

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    compare_type=False,
)
context.run_migrations()
