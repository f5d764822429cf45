"""Where imported data came from: a record of every import, and what came with it

Revision: 0007, after 0006
"""

import sqlalchemy as sa
from alembic import op

revision = '0007'
down_revision = '0006'
branch_labels = None
depends_on = None

TABLE = 'import_record'
CAME_WITH = ('judgment', 'imported_qrel', 'run')


def upgrade() -> None:
    op.create_table(TABLE,
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('kind', sa.String(), nullable=False),
    sa.Column('path', sa.Text(), nullable=False),
    sa.Column('sha256', sa.String(), nullable=True),
    sa.Column('format', sa.String(), nullable=True),
    sa.Column('system', sa.Text(), nullable=True),
    sa.Column('imported_by', sa.Integer(), nullable=True),
    sa.Column('imported_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('options', sa.JSON(), nullable=False),
    sa.Column('figures', sa.JSON(), nullable=False),
    sa.Column('declared', sa.JSON(), nullable=True),
    sa.CheckConstraint(
        "kind IN ('queries', 'documents', 'run', 'pairs', 'judgments', 'qrels')", name=op.f('ck_import_record_kind')
    ),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_import_record_dataset_pk')),
    sa.ForeignKeyConstraint(['imported_by'], ['person.pk'], name=op.f('fk_import_record_imported_by')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_import_record'))
    )
    op.create_index(op.f('ix_import_record_dataset_pk'), TABLE, ['dataset_pk'])
    make_append_only(TABLE)
    # In place: making a table anew, as batch mode does, would lose its triggers.
    for table in CAME_WITH:
        op.execute(
            f"ALTER TABLE {table} ADD COLUMN import_record_pk INTEGER "
            f"CONSTRAINT fk_{table}_import_record_pk REFERENCES import_record (pk)"
        )


def make_append_only(table: str) -> None:
    message = f"{table} is append-only"
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
            )
        return
    op.execute(
        f"CREATE FUNCTION {table}_is_append_only() RETURNS trigger LANGUAGE plpgsql "
        f"AS $$ BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = 'restrict_violation'; END $$"
    )
    for verb, level in (("UPDATE OR DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
        op.execute(
            f"CREATE TRIGGER {table}_no_{verb.split()[0].lower()} BEFORE {verb} ON {table} "
            f"FOR EACH {level} EXECUTE FUNCTION {table}_is_append_only()"
        )
