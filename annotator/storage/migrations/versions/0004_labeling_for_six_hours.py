"""Labeling for six hours: what each pair lacks, versions of the standard, checks, assignments, proposals, questions

Revision: 0004, after 0003
"""

import sqlalchemy as sa
from alembic import op

revision = '0004'
down_revision = '0003'
branch_labels = None
depends_on = None

REASONS = "'unreadable', 'wrong_language', 'document_missing', 'query_unclear', 'other'"
# In place: making a table anew, as batch mode does, would lose its triggers.
COLUMNS = {
    'dataset': (
        "overlap_rules JSON",
        "training_score FLOAT DEFAULT 0.8 NOT NULL CONSTRAINT ck_dataset_training_score CHECK (training_score BETWEEN 0 AND 1)",
        "gold_rate FLOAT DEFAULT 0.0 NOT NULL CONSTRAINT ck_dataset_gold_rate CHECK (gold_rate BETWEEN 0 AND 0.5)",
        "repeat_rate FLOAT DEFAULT 0.0 NOT NULL CONSTRAINT ck_dataset_repeat_rate CHECK (repeat_rate BETWEEN 0 AND 0.5)",
        "repeat_after INTEGER DEFAULT 30 NOT NULL CONSTRAINT ck_dataset_repeat_after CHECK (repeat_after BETWEEN 1 AND 10000)",
        "idle_seconds INTEGER DEFAULT 120 NOT NULL CONSTRAINT ck_dataset_idle_seconds CHECK (idle_seconds BETWEEN 10 AND 3600)",
        "shown_metadata JSON",
    ),
    'rubric': ("why TEXT", "author_pk INTEGER CONSTRAINT fk_rubric_author_pk REFERENCES person (pk)"),
    'person': ("language VARCHAR",),
    'membership': ("categories JSON", "languages JSON"),
    'judgment': (f"reason VARCHAR CONSTRAINT ck_judgment_reason CHECK (reason IN ({REASONS}))",),
    'pair': ("wanted INTEGER DEFAULT 0 NOT NULL", "lacking INTEGER DEFAULT 0 NOT NULL"),
    'current_judgment': ("stale INTEGER DEFAULT 0 NOT NULL",),
}
# What the pairs of an older database lack, by the one overlap that their dataset had.
DERIVE = (
    "UPDATE pair SET wanted = (SELECT overlap FROM dataset d WHERE d.pk = pair.dataset_pk)",
    "UPDATE pair SET lacking = wanted - judged WHERE judged < wanted AND retired_at IS NULL "
    "AND (judged > 0 OR NOT kept) AND NOT EXISTS (SELECT 1 FROM adjudication a WHERE a.pair_pk = pair.pk)",
    "INSERT INTO query_work (query_pk, dataset_pk, open_pairs, begun_pairs) "
    "SELECT query_pk, dataset_pk, count(*), sum(CASE WHEN judged > 0 THEN 1 ELSE 0 END) "
    "FROM pair WHERE lacking > 0 GROUP BY query_pk, dataset_pk",
    "INSERT INTO query_answers (query_pk, annotator_pk, dataset_pk, answered, answered_open) "
    "SELECT p.query_pk, c.annotator_pk, c.dataset_pk, count(*), sum(CASE WHEN p.lacking > 0 THEN 1 ELSE 0 END) "
    "FROM current_judgment c JOIN pair p ON p.pk = c.pair_pk WHERE c.outcome <> 'later' "
    "GROUP BY p.query_pk, c.annotator_pk, c.dataset_pk",
    "UPDATE current_judgment SET stale = stale + 1 WHERE EXISTS (SELECT 1 FROM judgment j "
    "JOIN rubric made ON made.pk = j.rubric_pk JOIN rubric since ON since.dataset_pk = made.dataset_pk "
    "AND since.version > made.version AND since.change = 'semantic' WHERE j.pk = current_judgment.judgment_pk)",
    "UPDATE current_judgment SET stale = stale + 2 WHERE EXISTS (SELECT 1 FROM judgment j "
    "JOIN pair p ON p.pk = j.pair_pk JOIN document d ON d.pk = p.document_pk "
    "WHERE j.pk = current_judgment.judgment_pk AND j.document_sha256 <> d.text_sha256)",
)


def upgrade() -> None:
    for table, columns in COLUMNS.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    create_work_tables()
    create_check_tables()
    create_tables_of_contributions()
    for statement in DERIVE:
        op.execute(statement)
    more_than_none = {"sqlite_where": sa.text("lacking > 0"), "postgresql_where": sa.text("lacking > 0")}
    op.create_index('ix_pair_lacking', 'pair', ['query_pk'], **more_than_none)
    stale = {"sqlite_where": sa.text("stale > 0"), "postgresql_where": sa.text("stale > 0")}
    op.create_index('ix_current_judgment_stale', 'current_judgment', ['dataset_pk', 'annotator_pk'], **stale)


def reference(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f'{other}.pk'], name=op.f(f'fk_{table}_{column}'))


def create_work_tables() -> None:
    op.create_table('query_work',
    sa.Column('query_pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('open_pairs', sa.Integer(), nullable=False),
    sa.Column('begun_pairs', sa.Integer(), nullable=False),
    reference('query_work', 'query_pk', 'query'),
    reference('query_work', 'dataset_pk', 'dataset'),
    sa.PrimaryKeyConstraint('query_pk', name=op.f('pk_query_work'))
    )
    op.create_index(op.f('ix_query_work_dataset_pk'), 'query_work', ['dataset_pk'])
    op.create_table('query_answers',
    sa.Column('query_pk', sa.Integer(), nullable=False),
    sa.Column('annotator_pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('answered', sa.Integer(), nullable=False),
    sa.Column('answered_open', sa.Integer(), nullable=False),
    reference('query_answers', 'query_pk', 'query'),
    reference('query_answers', 'annotator_pk', 'person'),
    reference('query_answers', 'dataset_pk', 'dataset'),
    sa.PrimaryKeyConstraint('query_pk', 'annotator_pk', name=op.f('pk_query_answers'))
    )
    op.create_index('ix_query_answers_annotator', 'query_answers', ['annotator_pk', 'dataset_pk'])
    op.create_table('assignment',
    sa.Column('query_pk', sa.Integer(), nullable=False),
    sa.Column('person_pk', sa.Integer(), nullable=False),
    sa.Column('assigned_by_pk', sa.Integer(), nullable=True),
    sa.Column('assigned_at', sa.DateTime(timezone=True), nullable=False),
    reference('assignment', 'query_pk', 'query'),
    reference('assignment', 'person_pk', 'person'),
    reference('assignment', 'assigned_by_pk', 'person'),
    sa.PrimaryKeyConstraint('query_pk', 'person_pk', name=op.f('pk_assignment'))
    )
    op.create_index(op.f('ix_assignment_person_pk'), 'assignment', ['person_pk'])


def create_check_tables() -> None:
    op.create_table('check_pair',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('kind', sa.String(), nullable=False),
    sa.Column('grade', sa.Integer(), nullable=False),
    sa.Column('explanation', sa.Text(), nullable=False),
    sa.Column('marked_by_pk', sa.Integer(), nullable=True),
    sa.Column('marked_at', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint("kind IN ('training', 'gold')", name=op.f('ck_check_pair_kind')),
    sa.CheckConstraint('grade IN (0, 1, 2, 3)', name=op.f('ck_check_pair_grade')),
    reference('check_pair', 'pair_pk', 'pair'),
    reference('check_pair', 'marked_by_pk', 'person'),
    sa.PrimaryKeyConstraint('pair_pk', name=op.f('pk_check_pair'))
    )
    op.create_table('repeated_pair',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('key', sa.String(), nullable=False),
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('annotator_pk', sa.Integer(), nullable=False),
    sa.Column('handed_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('answered_at', sa.DateTime(timezone=True), nullable=True),
    reference('repeated_pair', 'pair_pk', 'pair'),
    reference('repeated_pair', 'annotator_pk', 'person'),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_repeated_pair')),
    sa.UniqueConstraint('key', name=op.f('uq_repeated_pair_key')),
    sa.UniqueConstraint('annotator_pk', 'pair_pk', name=op.f('uq_repeated_pair_annotator_pk_pair_pk'))
    )
    op.create_table('disclosure',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('person_pk', sa.Integer(), nullable=False),
    sa.Column('disclosed_at', sa.DateTime(timezone=True), nullable=False),
    reference('disclosure', 'pair_pk', 'pair'),
    reference('disclosure', 'person_pk', 'person'),
    sa.PrimaryKeyConstraint('pair_pk', 'person_pk', name=op.f('pk_disclosure'))
    )


def create_tables_of_contributions() -> None:
    op.create_table('proposal',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('annotator_pk', sa.Integer(), nullable=False),
    sa.Column('proposed_at', sa.DateTime(timezone=True), nullable=False),
    reference('proposal', 'pair_pk', 'pair'),
    reference('proposal', 'annotator_pk', 'person'),
    sa.PrimaryKeyConstraint('pair_pk', name=op.f('pk_proposal'))
    )
    op.create_table('question',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('annotator_pk', sa.Integer(), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('asked_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('answer', sa.Text(), nullable=True),
    sa.Column('answered_by_pk', sa.Integer(), nullable=True),
    sa.Column('answered_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('in_guideline', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    reference('question', 'pair_pk', 'pair'),
    reference('question', 'annotator_pk', 'person'),
    reference('question', 'answered_by_pk', 'person'),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_question'))
    )
    op.create_index(op.f('ix_question_pair_pk'), 'question', ['pair_pk'])
    op.create_index(op.f('ix_question_annotator_pk'), 'question', ['annotator_pk'])
