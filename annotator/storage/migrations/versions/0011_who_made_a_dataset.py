"""Who made a dataset, whom to ask, under which licence, and from what it was made

Revision: 0011, after 0010
"""

from alembic import op

revision = '0011'
down_revision = '0010'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # In place: making a table anew, as batch mode does, would lose what refers to it.
    for name in ("authors", "contact", "licence", "source"):
        op.execute(f"ALTER TABLE dataset ADD COLUMN {name} TEXT")
