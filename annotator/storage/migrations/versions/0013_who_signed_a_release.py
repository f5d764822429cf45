"""The signature of a release, where its publisher signed it

Revision: 0013, after 0012
"""

from alembic import op

revision = '0013'
down_revision = '0012'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # In place: making the table anew, as batch mode does, would lose its triggers.
    op.execute("ALTER TABLE release ADD COLUMN signature TEXT")
