"""Agreement one can trust: when and how fast the current judgments were made; quality control

Revision: 0005, after 0004
"""

import sqlalchemy as sa
from alembic import op

revision = '0005'
down_revision = '0004'
branch_labels = None
depends_on = None

# In place: making a table anew, as batch mode does, would lose its triggers.
COLUMNS = {
    'dataset': (
        "quality_rule VARCHAR DEFAULT 'bound' NOT NULL CONSTRAINT ck_dataset_quality_rule CHECK (quality_rule IN ('bound', 'rate'))",
        "show_own_agreement BOOLEAN DEFAULT false NOT NULL",
    ),
    'current_judgment': ("rubric_pk INTEGER", "seconds FLOAT", "made_at BIGINT"),
}
MADE_AT = {
    'sqlite': "CAST(strftime('%s', substr(j.judged_at, 1, 19)) AS INTEGER)",
    'postgresql': "CAST(floor(extract(epoch FROM j.judged_at)) AS BIGINT)",
}


def upgrade() -> None:
    for table, columns in COLUMNS.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    made_at = MADE_AT[op.get_bind().dialect.name]
    op.get_bind().exec_driver_sql(
        "UPDATE current_judgment SET rubric_pk = j.rubric_pk, seconds = j.seconds, "
        f"made_at = {made_at} FROM judgment j WHERE j.pk = current_judgment.judgment_pk"
    )
    create_quality_tables()
    checks = sa.text("purpose NOT IN ('independent', 'conditional')")
    op.create_index(
        'ix_judgment_checks', 'judgment', ['pair_pk', 'purpose'], sqlite_where=checks, postgresql_where=checks
    )


def reference(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f'{other}.pk'], name=op.f(f'fk_{table}_{column}'))


def create_quality_tables() -> None:
    op.create_table('quality_draw',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('round', sa.Integer(), nullable=False),
    sa.Column('annotator_pk', sa.Integer(), nullable=False),
    sa.Column('drawn_by_pk', sa.Integer(), nullable=True),
    sa.Column('rate', sa.Float(), nullable=False),
    sa.Column('seed', sa.Integer(), nullable=False),
    sa.Column('population', sa.Integer(), nullable=False),
    sa.Column('outside', sa.Integer(), nullable=False),
    sa.Column('drawn_at', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint('rate > 0 AND rate <= 1', name=op.f('ck_quality_draw_rate')),
    sa.CheckConstraint('population >= 1', name=op.f('ck_quality_draw_population')),
    sa.CheckConstraint('outside >= 0', name=op.f('ck_quality_draw_outside')),
    sa.CheckConstraint('round >= 1', name=op.f('ck_quality_draw_round')),
    reference('quality_draw', 'dataset_pk', 'dataset'),
    reference('quality_draw', 'annotator_pk', 'person'),
    reference('quality_draw', 'drawn_by_pk', 'person'),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_quality_draw')),
    sa.UniqueConstraint('dataset_pk', 'number', name=op.f('uq_quality_draw_dataset_pk_number'))
    )
    op.create_table('quality_pair',
    sa.Column('draw_pk', sa.Integer(), nullable=False),
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('settled_grade', sa.Integer(), nullable=False),
    sa.Column('settled_by', sa.String(), nullable=False),
    sa.Column('judgment_pk', sa.Integer(), nullable=True),
    sa.Column('outcome', sa.String(), nullable=True),
    sa.Column('grade', sa.Integer(), nullable=True),
    sa.Column('answered_at', sa.DateTime(timezone=True), nullable=True),
    sa.CheckConstraint('settled_grade IN (0, 1, 2, 3)', name=op.f('ck_quality_pair_settled_grade')),
    sa.CheckConstraint("outcome IN ('graded', 'unrateable')", name=op.f('ck_quality_pair_outcome')),
    sa.CheckConstraint('grade IN (0, 1, 2, 3)', name=op.f('ck_quality_pair_grade')),
    reference('quality_pair', 'draw_pk', 'quality_draw'),
    reference('quality_pair', 'pair_pk', 'pair'),
    reference('quality_pair', 'judgment_pk', 'judgment'),
    sa.PrimaryKeyConstraint('draw_pk', 'pair_pk', name=op.f('pk_quality_pair'))
    )
    op.create_index('ix_quality_pair_pair_pk', 'quality_pair', ['pair_pk'])
