"""Logout tokens of the OpenID Connect provider that were used

Revision: 0029, after 0028
"""

import sqlalchemy as sa
from alembic import op

revision = '0029'
down_revision = '0028'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('used_logout_token',
    sa.Column('token_sha256', sa.String(), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('token_sha256', name=op.f('pk_used_logout_token'))
    )
