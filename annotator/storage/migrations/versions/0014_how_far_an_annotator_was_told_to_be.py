"""How far an annotator was told to be

Revision: 0014, after 0013
"""

import sqlalchemy as sa
from alembic import op

revision = '0014'
down_revision = '0013'
branch_labels = None
depends_on = None

TABLE = 'told_progress'


def upgrade() -> None:
    op.create_table(TABLE,
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('annotator_pk', sa.Integer(), nullable=False),
    sa.Column('answered', sa.Integer(), nullable=False),
    sa.Column('done', sa.Integer(), nullable=False),
    sa.Column('total', sa.Integer(), nullable=False),
    sa.Column('reserve_until', sa.Integer(), nullable=True),
    sa.CheckConstraint('done <= total', name=op.f('ck_told_progress_done')),
    sa.ForeignKeyConstraint(['annotator_pk'], ['person.pk'], name=op.f('fk_told_progress_annotator_pk')),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_told_progress_dataset_pk')),
    sa.PrimaryKeyConstraint('dataset_pk', 'annotator_pk', name=op.f('pk_told_progress'))
    )
