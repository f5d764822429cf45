"""Releases that can be defended: earlier ground truth, remapped documents, and what each published qrel rests on

Revision: 0002, after 0001
"""

import sqlalchemy as sa
from alembic import op

revision = '0002'
down_revision = '0001'
branch_labels = None
depends_on = None


APPEND_ONLY = ("imported_qrel", "remap", "release_query")


def upgrade() -> None:
    add_columns()
    create_tables()
    for table in APPEND_ONLY:
        refuse_changes(table)


def add_columns() -> None:
    op.add_column('dataset', sa.Column('requirements', sa.JSON(), nullable=True))
    # in place: making the table anew, as batch mode does, would lose its triggers
    op.execute(
        "ALTER TABLE rubric ADD COLUMN change VARCHAR DEFAULT 'semantic' NOT NULL "
        "CONSTRAINT ck_rubric_change CHECK (change IN ('minor', 'semantic'))"
    )
    op.add_column('pair', sa.Column('kept', sa.Boolean(), server_default=sa.text('false'), nullable=False))
    op.add_column('pair', sa.Column('retired_at', sa.DateTime(timezone=True), nullable=True))
    op.add_column('release_qrel', sa.Column('judgments', sa.Text(), nullable=True))
    op.add_column('release_qrel', sa.Column('adjudication_pk', sa.Integer(), nullable=True))
    op.add_column('release_qrel', sa.Column('imported_qrel_pk', sa.Integer(), nullable=True))


def create_tables() -> None:
    op.create_table('imported_qrel',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('grade', sa.Integer(), nullable=False),
    sa.Column('keep', sa.Boolean(), nullable=False),
    sa.Column('source', sa.JSON(), nullable=False),
    sa.Column('description', sa.Text(), nullable=True),
    sa.Column('note', sa.Text(), nullable=True),
    sa.Column('annotator_grades', sa.JSON(), nullable=False),
    sa.Column('extra', sa.JSON(), nullable=False),
    sa.Column('imported_at', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint('grade IN (0, 1, 2, 3)', name=op.f('ck_imported_qrel_grade')),
    sa.ForeignKeyConstraint(['pair_pk'], ['pair.pk'], name=op.f('fk_imported_qrel_pair_pk')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_imported_qrel'))
    )
    op.create_index(op.f('ix_imported_qrel_pair_pk'), 'imported_qrel', ['pair_pk'], unique=False)
    op.create_table('remap',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('old_doc_id', sa.Text(), nullable=False),
    sa.Column('new_doc_id', sa.Text(), nullable=False),
    sa.Column('kind', sa.String(), nullable=False),
    sa.Column('remapped_at', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint("kind IN ('renamed', 'split', 'merged')", name=op.f('ck_remap_kind')),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_remap_dataset_pk')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_remap'))
    )
    op.create_index(op.f('ix_remap_dataset_pk'), 'remap', ['dataset_pk'], unique=False)
    op.create_table('release_query',
    sa.Column('release_pk', sa.Integer(), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('query_id', sa.Text(), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.ForeignKeyConstraint(['release_pk'], ['release.pk'], name=op.f('fk_release_query_release_pk')),
    sa.PrimaryKeyConstraint('release_pk', 'position', name=op.f('pk_release_query')),
    sa.UniqueConstraint('release_pk', 'query_id', name=op.f('uq_release_query_release_pk_query_id'))
    )


def refuse_changes(table: str) -> None:
    """The database itself refuses to update or delete a row of this table."""
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
