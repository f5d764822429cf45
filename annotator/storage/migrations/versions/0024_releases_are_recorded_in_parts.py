"""Which releases are being recorded in parts; rows of a release that is not published may be removed

Revision: 0024, after 0023
"""

import sqlalchemy as sa
from alembic import op

revision = '0024'
down_revision = '0023'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('release_recording',
    sa.Column('release_pk', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('started_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_release_recording_dataset_pk')),
    sa.PrimaryKeyConstraint('release_pk', name=op.f('pk_release_recording'))
    )
    if op.get_bind().dialect.name != "sqlite":
        return  # one transaction records a release there, so nothing is ever left of it
    for table in ("release_query", "release_qrel"):
        op.execute(f"DROP TRIGGER {table}_no_delete")
        op.execute(
            f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} "
            "WHEN EXISTS (SELECT 1 FROM release WHERE pk = OLD.release_pk) "
            f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        )
