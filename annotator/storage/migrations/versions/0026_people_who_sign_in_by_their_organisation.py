"""People who sign in by their organisation: whose account they open, sign-ins under way, and roles that groups give

Revision: 0026, after 0025
"""

import sqlalchemy as sa
from alembic import op

revision = '0026'
down_revision = '0025'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('provider_identity',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('person_pk', sa.Integer(), nullable=False),
    sa.Column('issuer', sa.String(), nullable=False),
    sa.Column('subject', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['person_pk'], ['person.pk'], name=op.f('fk_provider_identity_person_pk')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_provider_identity')),
    sa.UniqueConstraint('issuer', 'subject', name=op.f('uq_provider_identity_issuer_subject'))
    )
    op.create_index(op.f('ix_provider_identity_person_pk'), 'provider_identity', ['person_pk'])
    op.create_table('sign_in_request',
    sa.Column('token_sha256', sa.String(), nullable=False),
    sa.Column('state_sha256', sa.String(), nullable=False),
    sa.Column('nonce', sa.String(), nullable=False),
    sa.Column('code_verifier', sa.String(), nullable=False),
    sa.Column('redirect_uri', sa.Text(), nullable=False),
    sa.Column('wanted', sa.Text(), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('token_sha256', name=op.f('pk_sign_in_request'))
    )
    op.execute("ALTER TABLE membership ADD COLUMN from_group BOOLEAN DEFAULT false NOT NULL")
    for column in (
        "identity_pk INTEGER CONSTRAINT fk_login_session_identity_pk REFERENCES provider_identity (pk)",
        "provider_session VARCHAR",
        "id_token VARCHAR",
    ):
        op.execute(f"ALTER TABLE login_session ADD COLUMN {column}")
