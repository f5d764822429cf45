"""What a run's file says of each answer as a whole: how long the system took, and further fields

Revision: 0008, after 0007
"""

from alembic import op

revision = '0008'
down_revision = '0007'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # In place: making a table anew, as batch mode does, would lose what refers to it.
    op.execute("ALTER TABLE run ADD COLUMN query_signals JSON DEFAULT '{}' NOT NULL")
