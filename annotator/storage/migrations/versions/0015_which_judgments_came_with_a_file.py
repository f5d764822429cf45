"""Which current judgments came with a file: of these nobody knows the guideline, and of some not the time

Revision: 0015, after 0014
"""

from alembic import op

revision = '0015'
down_revision = '0014'
branch_labels = None
depends_on = None

FILL = """
UPDATE current_judgment SET imported = CASE WHEN j.judged_at = j.received_at THEN 2 ELSE 1 END FROM judgment j
WHERE j.pk = current_judgment.judgment_pk AND (j.import_record_pk IS NOT NULL OR substr(j.event_id, 15, 1) = '5')"""


def upgrade() -> None:
    # In place: making a table anew, as batch mode does, would lose its triggers.
    op.execute("ALTER TABLE current_judgment ADD COLUMN imported INTEGER DEFAULT 0 NOT NULL")
    op.execute(FILL)
