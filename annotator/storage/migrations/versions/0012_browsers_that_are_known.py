"""Browsers that are known: those in which somebody signed in before are not held up by the wrong guesses of others

Revision: 0012, after 0011
"""

import sqlalchemy as sa
from alembic import op

revision = '0012'
down_revision = '0011'
branch_labels = None
depends_on = None

TABLE = 'known_device'


def upgrade() -> None:
    op.create_table(TABLE,
    sa.Column('token_sha256', sa.String(), nullable=False),
    sa.Column('person_pk', sa.Integer(), nullable=False),
    sa.Column('seen_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['person_pk'], ['person.pk'], name=op.f('fk_known_device_person_pk')),
    sa.PrimaryKeyConstraint('token_sha256', 'person_pk', name=op.f('pk_known_device'))
    )
    op.create_index(op.f('ix_known_device_person_pk'), TABLE, ['person_pk'])
    for table in ('login_session', 'login_attempt'):
        op.execute(f"ALTER TABLE {table} ADD COLUMN device_sha256 VARCHAR")
