"""Secrets that every draw of a dataset rests on, and which line of a file a judgment came with

Revision: 0030, after 0029

Every dataset gets a secret for its checks. Orders that are under way stay as they are: only datasets without pairs get a secret for
their orders too. Whether a judgment came with a file is a column now. Until now its event id showed it: a UUID of version 5. But a
dataset that was restored under another name has only such ids.
"""

import secrets

import sqlalchemy as sa
from alembic import op

revision = '0030'
down_revision = '0029'
branch_labels = None
depends_on = None

# In place: making a table anew, as batch mode does, would lose its triggers.
COLUMNS = (
    "dataset ADD COLUMN check_secret VARCHAR DEFAULT '' NOT NULL",
    "dataset ADD COLUMN order_secret VARCHAR DEFAULT '' NOT NULL",
    "judgment ADD COLUMN line_id VARCHAR",
)
RENAMED = {
    "sqlite": "json_extract(e.after, '$.from')",
    "postgresql": "e.after ->> 'from'",
}
CAME_WITH_A_FILE = """
UPDATE judgment SET line_id = event_id WHERE import_record_pk IS NOT NULL
  OR (substr(event_id, 15, 1) = '5' AND browser IS NULL AND pair_pk NOT IN (
    SELECT p.pk FROM pair p JOIN dataset d ON d.pk = p.dataset_pk WHERE EXISTS (
      SELECT 1 FROM audit_event e
      WHERE e.dataset_pk = d.pk AND e.action = 'restored dataset' AND {renamed} <> d.name)))"""
MADE_HERE = """
UPDATE current_judgment SET imported = 0 WHERE imported > 0 AND EXISTS (
  SELECT 1 FROM judgment j WHERE j.pk = current_judgment.judgment_pk AND j.line_id IS NULL)"""


def upgrade() -> None:
    for column in COLUMNS:
        op.execute(f"ALTER TABLE {column}")
    connection = op.get_bind()
    datasets = connection.execute(
        sa.text("SELECT d.pk, EXISTS (SELECT 1 FROM pair p WHERE p.dataset_pk = d.pk) FROM dataset d")
    ).all()
    for pk, has_pairs in datasets:
        values = {"pk": pk, "checks": secrets.token_hex(32), "orders": '' if has_pairs else secrets.token_hex(32)}
        change = "UPDATE dataset SET check_secret = :checks, order_secret = :orders WHERE pk = :pk"
        connection.execute(sa.text(change), values)
    name_lines(CAME_WITH_A_FILE.format(renamed=RENAMED[connection.dialect.name]))
    op.execute(MADE_HERE)
    op.create_index(
        'ix_judgment_line_id', 'judgment', ['line_id'],
        sqlite_where=sa.text('line_id IS NOT NULL'), postgresql_where=sa.text('line_id IS NOT NULL'),
    )


def name_lines(statement: str) -> None:
    """Without the trigger that refuses every UPDATE: it is there again before anybody else sees the table."""
    if op.get_bind().dialect.name == 'sqlite':
        found = op.get_bind().execute(
            sa.text("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = 'judgment_no_update'")
        )
        trigger = found.scalar_one()
        op.execute("DROP TRIGGER judgment_no_update")
        op.execute(statement)
        op.execute(trigger)
    else:
        op.execute("ALTER TABLE judgment DISABLE TRIGGER USER")
        op.execute(statement)
        op.execute("ALTER TABLE judgment ENABLE TRIGGER USER")
