"""In which order a lead puts a query's documents of one grade

Revision: 0010, after 0009
"""

import sqlalchemy as sa
from alembic import op

revision = '0010'
down_revision = '0009'
branch_labels = None
depends_on = None

TABLE = 'document_order'


def upgrade() -> None:
    op.create_table(TABLE,
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('query_pk', sa.Integer(), nullable=False),
    sa.Column('lead_pk', sa.Integer(), nullable=False),
    sa.Column('pair_pks', sa.JSON(), nullable=False),
    sa.Column('ordered_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['lead_pk'], ['person.pk'], name=op.f('fk_document_order_lead_pk')),
    sa.ForeignKeyConstraint(['query_pk'], ['query.pk'], name=op.f('fk_document_order_query_pk')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_document_order'))
    )
    op.create_index(op.f('ix_document_order_query_pk'), TABLE, ['query_pk'])
    make_append_only(TABLE)


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
