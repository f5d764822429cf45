"""Up to which pair a change of the guideline's meaning is marked

Revision: 0025, after 0024
"""

import sqlalchemy as sa
from alembic import op

revision = '0025'
down_revision = '0024'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('guideline_marking',
    sa.Column('dataset_pk', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('rubric_pk', sa.Integer(), nullable=False),
    sa.Column('after_pair_pk', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_guideline_marking_dataset_pk')),
    sa.ForeignKeyConstraint(['rubric_pk'], ['rubric.pk'], name=op.f('fk_guideline_marking_rubric_pk')),
    sa.PrimaryKeyConstraint('dataset_pk', name=op.f('pk_guideline_marking'))
    )
