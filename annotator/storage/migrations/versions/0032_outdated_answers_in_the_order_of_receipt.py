"""An annotator's outdated answers are found in the order in which they were received

Revision: 0032, after 0031
"""

import sqlalchemy as sa
from alembic import op

revision = '0032'
down_revision = '0031'
branch_labels = None
depends_on = None


def upgrade() -> None:
    stale = {"sqlite_where": sa.text("stale > 0"), "postgresql_where": sa.text("stale > 0")}
    op.drop_index('ix_current_judgment_stale', 'current_judgment')
    op.create_index('ix_current_judgment_stale', 'current_judgment', ['dataset_pk', 'annotator_pk', 'judgment_pk'], **stale)
