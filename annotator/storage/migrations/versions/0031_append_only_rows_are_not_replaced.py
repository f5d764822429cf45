"""Append-only rows cannot be replaced either, whatever program opens the file

Revision: 0031, after 0030
"""

import sqlalchemy as sa
from alembic import op

revision = '0031'
down_revision = '0030'
branch_labels = None
depends_on = None

# Also `audit_personal`: its rows may be deleted, but not changed.
KEPT = "SELECT tbl_name FROM sqlite_master WHERE type = 'trigger' AND name = tbl_name || '_no_update' ORDER BY 1"


def upgrade() -> None:
    """SQLite deletes the row that INSERT OR REPLACE replaces without a delete trigger, unless the connection asks for one."""
    if op.get_bind().dialect.name != "sqlite":
        return  # PostgreSQL has no REPLACE, and its ON CONFLICT DO UPDATE meets the trigger that refuses updates
    for table in op.get_bind().execute(sa.text(KEPT)).scalars().all():
        keys = list_keys(table)
        there = " OR ".join(
            f"EXISTS (SELECT 1 FROM {table} WHERE {' AND '.join(f'{name} = NEW.{name}' for name in key)})" for key in keys
        )
        op.execute(
            f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {there} "
            f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        )


def list_keys(table: str) -> list[tuple[str, ...]]:
    """Return the primary key and the unique keys of a table, without those that hold another one."""
    inspector = sa.inspect(op.get_bind())
    keys = [tuple(inspector.get_pk_constraint(table)["constrained_columns"])]
    keys += [tuple(each["column_names"]) for each in inspector.get_unique_constraints(table)]
    keys += [tuple(each["column_names"]) for each in inspector.get_indexes(table) if each["unique"]]
    keys = list(dict.fromkeys(keys))
    return [key for key in keys if not any(set(other) < set(key) for other in keys)]
