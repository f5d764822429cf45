"""Which judgment is current: by the order in which the server received them, not by a clock

Revision: 0009, after 0008

No judgment is changed. What is current stays current where the older of two answers came later than the newer one, as it
does when a browser was without a connection: the older one is marked late. Where the server's clock was set back between two
answers, the one received last holds from now on: the older rule had kept an answer that its annotator had revised. What follows
from that is derived by the program after the migration (`storage/schema.py`).
"""

import sqlalchemy as sa
from alembic import op

revision = '0009'
down_revision = '0008'
branch_labels = None
depends_on = None

# In place: making a table anew, as batch mode does, would lose its triggers.
COLUMNS = (
    "browser VARCHAR",
    "browser_number BIGINT CONSTRAINT ck_judgment_browser_number_iff_browser "
    "CHECK ((browser IS NULL) = (browser_number IS NULL))",
    "late BOOLEAN DEFAULT false NOT NULL",
)
COUNTED = "('independent', 'conditional')"
LATE = f"""
EXISTS (SELECT 1 FROM judgment e WHERE e.pair_pk = j.pair_pk AND e.annotator_pk = j.annotator_pk AND e.pk < j.pk
  AND e.judged_at > j.judged_at AND e.received_at <= j.received_at
  AND (e.purpose = j.purpose OR (e.purpose IN {COUNTED} AND j.purpose IN {COUNTED})))"""


def upgrade() -> None:
    for column in COLUMNS:
        op.execute(f"ALTER TABLE judgment ADD COLUMN {column}")
    op.drop_index('ix_judgment_pair_annotator_order', 'judgment')
    op.create_index('ix_judgment_pair_annotator_order', 'judgment', ['pair_pk', 'annotator_pk', 'pk'])
    mark_late()


def mark_late() -> None:
    """Without the trigger that refuses every UPDATE: it is there again before anybody else sees the table."""
    statement = f"UPDATE judgment AS j SET late = true WHERE {LATE}"
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
