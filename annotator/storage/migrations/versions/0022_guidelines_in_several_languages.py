"""Guidelines in several languages: the language of a version, and its translations

Revision: 0022, after 0021
"""

from alembic import op

revision = '0022'
down_revision = '0021'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "ALTER TABLE rubric ADD COLUMN language TEXT CONSTRAINT ck_rubric_language CHECK (language <> '')"
    )
    op.execute("ALTER TABLE rubric ADD COLUMN translations JSON DEFAULT '[]' NOT NULL")
