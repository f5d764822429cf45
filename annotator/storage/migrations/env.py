"""Alembic's entry: runs the migrations on the connection that `storage/schema.py` hands over."""

from alembic import context
from sqlmodel import SQLModel

from annotator.storage.tables import every_table  # noqa: F401  (it fills the metadata)

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    compare_type=False,
)
context.run_migrations()
