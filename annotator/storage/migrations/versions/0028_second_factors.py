"""Second factors of people, their recovery codes, and sign-ins that wait for one

Revision: 0028, after 0027
"""

import sqlalchemy as sa
from alembic import op

revision = '0028'
down_revision = '0027'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('second_factor',
    sa.Column('person_pk', sa.Integer(), nullable=False),
    sa.Column('secret', sa.String(), nullable=True),
    sa.Column('confirmed_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('last_step', sa.BigInteger(), nullable=True),
    sa.Column('removed_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('remover_pk', sa.Integer(), nullable=True),
    sa.CheckConstraint('(secret IS NULL) = (removed_at IS NOT NULL)', name=op.f('ck_second_factor_secret_or_removed')),
    sa.CheckConstraint('(secret IS NULL) = (confirmed_at IS NULL)', name=op.f('ck_second_factor_confirmed_iff_secret')),
    sa.ForeignKeyConstraint(['person_pk'], ['person.pk'], name=op.f('fk_second_factor_person_pk')),
    sa.ForeignKeyConstraint(['remover_pk'], ['person.pk'], name=op.f('fk_second_factor_remover_pk')),
    sa.PrimaryKeyConstraint('person_pk', name=op.f('pk_second_factor'))
    )
    op.create_table('recovery_code',
    sa.Column('code_sha256', sa.String(), nullable=False),
    sa.Column('person_pk', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['person_pk'], ['person.pk'], name=op.f('fk_recovery_code_person_pk')),
    sa.PrimaryKeyConstraint('code_sha256', name=op.f('pk_recovery_code'))
    )
    op.create_index(op.f('ix_recovery_code_person_pk'), 'recovery_code', ['person_pk'])
    op.create_table('half_sign_in',
    sa.Column('token_sha256', sa.String(), nullable=False),
    sa.Column('person_pk', sa.Integer(), nullable=False),
    sa.Column('need', sa.String(), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint("need IN ('code', 'set-up')", name=op.f('ck_half_sign_in_need')),
    sa.ForeignKeyConstraint(['person_pk'], ['person.pk'], name=op.f('fk_half_sign_in_person_pk')),
    sa.PrimaryKeyConstraint('token_sha256', name=op.f('pk_half_sign_in'))
    )
    op.create_index(op.f('ix_half_sign_in_person_pk'), 'half_sign_in', ['person_pk'])
    op.execute("ALTER TABLE login_session ADD COLUMN second_factor BOOLEAN DEFAULT false NOT NULL")
