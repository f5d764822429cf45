"""Links that are used once: to make the first admin, to invite somebody, to choose a new password

Revision: 0019, after 0018
"""

import sqlalchemy as sa
from alembic import op

revision = '0019'
down_revision = '0018'
branch_labels = None
depends_on = None

TABLE = 'one_time_link'
PEOPLE = ('person_pk', 'author_pk', 'user_pk', 'revoker_pk')


def upgrade() -> None:
    op.create_table(TABLE,
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('token_sha256', sa.String(), nullable=False),
    sa.Column('purpose', sa.String(), nullable=False),
    sa.Column('role', sa.String(), nullable=True),
    sa.Column('dataset_pk', sa.Integer(), nullable=True),
    sa.Column('person_pk', sa.Integer(), nullable=True),
    sa.Column('note', sa.Text(), nullable=False),
    sa.Column('author_pk', sa.Integer(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('used_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('user_pk', sa.Integer(), nullable=True),
    sa.Column('revoked_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('revoker_pk', sa.Integer(), nullable=True),
    sa.CheckConstraint("purpose IN ('setup', 'invitation', 'password')", name=op.f('ck_one_time_link_purpose')),
    sa.CheckConstraint("role IN ('annotator', 'lead', 'admin')", name=op.f('ck_one_time_link_role')),
    sa.CheckConstraint("(purpose = 'invitation') = (role IS NOT NULL)", name=op.f('ck_one_time_link_role_iff_invitation')),
    sa.CheckConstraint("(purpose = 'password') = (person_pk IS NOT NULL)", name=op.f('ck_one_time_link_person_iff_password')),
    sa.CheckConstraint('(used_at IS NULL) = (user_pk IS NULL)', name=op.f('ck_one_time_link_user_iff_used')),
    sa.CheckConstraint('used_at IS NULL OR revoked_at IS NULL', name=op.f('ck_one_time_link_used_or_revoked')),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_one_time_link_dataset_pk')),
    *(sa.ForeignKeyConstraint([name], ['person.pk'], name=op.f(f'fk_one_time_link_{name}')) for name in PEOPLE),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_one_time_link')),
    sa.UniqueConstraint('token_sha256', name=op.f('uq_one_time_link_token_sha256'))
    )
    op.create_index(op.f('ix_one_time_link_dataset_pk'), TABLE, ['dataset_pk'])
