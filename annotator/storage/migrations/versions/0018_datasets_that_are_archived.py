"""Datasets that are archived, and the evaluator whose measures a dataset is for

Revision: 0018, after 0017
"""

from alembic import op

revision = '0018'
down_revision = '0017'
branch_labels = None
depends_on = None


def upgrade() -> None:
    time = "TIMESTAMP WITH TIME ZONE" if op.get_bind().dialect.name == "postgresql" else "DATETIME"
    op.execute(f"ALTER TABLE dataset ADD COLUMN archived_at {time}")
    op.execute(
        "ALTER TABLE dataset ADD COLUMN profile VARCHAR DEFAULT 'trec' NOT NULL CONSTRAINT ck_dataset_profile "
        "CHECK (profile IN ('trec', 'nablarch', 'law', 'survey', 'code', 'document'))"
    )
