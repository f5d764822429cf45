"""Two tabs of one annotator share no pair: a lease knows the tab that holds it

Revision: 0003, after 0002
"""

import sqlalchemy as sa
from alembic import op

revision = '0003'
down_revision = '0002'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('lease', sa.Column('tab', sa.Text(), server_default=sa.text("''"), nullable=False))
