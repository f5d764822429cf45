"""Progress by annotator, and who judged when, from an index

Revision: 0021, after 0020
"""

from alembic import op

revision = '0021'
down_revision = '0020'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        'ix_current_judgment_annotator_outcome', 'current_judgment', ['dataset_pk', 'annotator_pk', 'outcome', 'made_at']
    )
    op.drop_index('ix_current_judgment_dataset_annotator', 'current_judgment')
