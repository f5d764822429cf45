"""In which round a pair came into the pool, and what each round left out

Revision: 0016, after 0015
"""

import sqlalchemy as sa
from alembic import op

revision = '0016'
down_revision = '0015'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('pool_round',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('made_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('made_by', sa.Integer(), nullable=True),
    sa.Column('strategy', sa.String(), nullable=False),
    sa.Column('options', sa.JSON(), nullable=False),
    sa.Column('figures', sa.JSON(), nullable=False),
    sa.CheckConstraint('number >= 1', name=op.f('ck_pool_round_number')),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_pool_round_dataset_pk')),
    sa.ForeignKeyConstraint(['made_by'], ['person.pk'], name=op.f('fk_pool_round_made_by')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_pool_round')),
    sa.UniqueConstraint('dataset_pk', 'number', name=op.f('uq_pool_round_dataset_pk_number'))
    )
    op.create_table('round_pair',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('round_pk', sa.Integer(), nullable=False),
    sa.Column('stratum', sa.Text(), nullable=True),
    sa.Column('inclusion', sa.Float(), nullable=True),
    sa.CheckConstraint('inclusion > 0 AND inclusion <= 1', name=op.f('ck_round_pair_inclusion')),
    sa.ForeignKeyConstraint(['pair_pk'], ['pair.pk'], name=op.f('fk_round_pair_pair_pk')),
    sa.ForeignKeyConstraint(['round_pk'], ['pool_round.pk'], name=op.f('fk_round_pair_round_pk')),
    sa.PrimaryKeyConstraint('pair_pk', name=op.f('pk_round_pair'))
    )
    op.create_index(op.f('ix_round_pair_round_pk'), 'round_pair', ['round_pk'], unique=False)
    op.create_table('left_out',
    sa.Column('round_pk', sa.Integer(), nullable=False),
    sa.Column('query_pk', sa.Integer(), nullable=False),
    sa.Column('document_pk', sa.Integer(), nullable=False),
    sa.Column('rule', sa.Text(), nullable=False),
    sa.Column('kept_document_pk', sa.Integer(), nullable=True),
    sa.ForeignKeyConstraint(['document_pk'], ['document.pk'], name=op.f('fk_left_out_document_pk')),
    sa.ForeignKeyConstraint(['kept_document_pk'], ['document.pk'], name=op.f('fk_left_out_kept_document_pk')),
    sa.ForeignKeyConstraint(['query_pk'], ['query.pk'], name=op.f('fk_left_out_query_pk')),
    sa.ForeignKeyConstraint(['round_pk'], ['pool_round.pk'], name=op.f('fk_left_out_round_pk')),
    sa.PrimaryKeyConstraint('round_pk', 'query_pk', 'document_pk', name=op.f('pk_left_out'))
    )
    op.create_index(op.f('ix_left_out_document_pk'), 'left_out', ['document_pk'], unique=False)
    op.create_index(op.f('ix_left_out_kept_document_pk'), 'left_out', ['kept_document_pk'], unique=False)
