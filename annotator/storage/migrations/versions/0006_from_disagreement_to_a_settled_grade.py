"""From disagreement to a settled grade: decisions that say why, the queue, its leads, and the trail of what they do

Revision: 0006, after 0005
"""

import sqlalchemy as sa
from alembic import op

revision = '0006'
down_revision = '0005'
branch_labels = None
depends_on = None

# In place: making a table anew, as batch mode does, would lose its triggers.
COLUMNS = {
    'dataset': (
        "second_adjudicator BOOLEAN DEFAULT false NOT NULL",
        "discuss_from INTEGER CONSTRAINT ck_dataset_discuss_from CHECK (discuss_from BETWEEN 1 AND 3)",
    ),
}
DECISION = (
    "outcome VARCHAR DEFAULT 'graded' NOT NULL CONSTRAINT ck_adjudication_outcome CHECK (outcome IN ('graded', 'unrateable', 'withdrawn'))",
    "cause VARCHAR CONSTRAINT ck_adjudication_cause CHECK (cause IN ('guideline_gap', 'ambiguous_query', "
    "'misread_document', 'missing_knowledge', 'slip', 'borderline'))",
    "in_guideline BOOLEAN DEFAULT false NOT NULL",
    "seconds FLOAT CONSTRAINT ck_adjudication_seconds CHECK (seconds >= 0)",
    "batch_pk INTEGER CONSTRAINT fk_adjudication_batch_pk REFERENCES settle_batch (pk)",
)
GRADE_IFF_GRADED = "(outcome = 'graded') = (grade IS NOT NULL)"
KEPT = "pk, pair_pk, revision, lead_pk, rubric_pk, grade, rationale, reason, decided_at"


def upgrade() -> None:
    for table, columns in COLUMNS.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    create_batch()
    if op.get_bind().dialect.name == 'sqlite':
        make_adjudication_anew()
    else:
        op.execute("ALTER TABLE adjudication ALTER COLUMN grade DROP NOT NULL")
        op.execute("ALTER TABLE adjudication DROP CONSTRAINT ck_adjudication_rationale")
        for column in DECISION:
            op.execute(f"ALTER TABLE adjudication ADD COLUMN {column}")
        op.execute(f"ALTER TABLE adjudication ADD CONSTRAINT ck_adjudication_grade_iff_graded CHECK ({GRADE_IFF_GRADED})")
    create_current_adjudication()
    create_dispute()
    create_score()
    create_work_of_leads()
    create_talk()
    create_trail()


def reference(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f'{other}.pk'], name=op.f(f'fk_{table}_{column}'))


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


def create_batch() -> None:
    op.create_table('settle_batch',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('lead_pk', sa.Integer(), nullable=False),
    sa.Column('policy', sa.String(), nullable=False),
    sa.Column('rationale', sa.Text(), nullable=False),
    sa.Column('pairs', sa.Integer(), nullable=False),
    sa.Column('made_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('undone_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('undone_by_pk', sa.Integer(), nullable=True),
    sa.CheckConstraint("policy IN ('median', 'lower', 'higher')", name=op.f('ck_settle_batch_policy')),
    reference('settle_batch', 'dataset_pk', 'dataset'),
    reference('settle_batch', 'lead_pk', 'person'),
    reference('settle_batch', 'undone_by_pk', 'person'),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_settle_batch'))
    )


def make_adjudication_anew() -> None:
    """SQLite cannot let a column be null that was not. Nothing refers to the table; its triggers are made anew."""
    op.execute(f"""
CREATE TABLE adjudication_anew (
  pk INTEGER NOT NULL, pair_pk INTEGER NOT NULL, revision INTEGER NOT NULL, lead_pk INTEGER NOT NULL,
  rubric_pk INTEGER NOT NULL, grade INTEGER, rationale TEXT NOT NULL, reason TEXT, decided_at DATETIME NOT NULL,
  {', '.join(DECISION)},
  CONSTRAINT pk_adjudication PRIMARY KEY (pk),
  CONSTRAINT uq_adjudication_pair_pk_revision UNIQUE (pair_pk, revision),
  CONSTRAINT ck_adjudication_grade CHECK (grade IN (0, 1, 2, 3)),
  CONSTRAINT ck_adjudication_grade_iff_graded CHECK ({GRADE_IFF_GRADED}),
  CONSTRAINT ck_adjudication_revision CHECK (revision >= 1),
  CONSTRAINT fk_adjudication_lead_pk FOREIGN KEY(lead_pk) REFERENCES person (pk),
  CONSTRAINT fk_adjudication_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk),
  CONSTRAINT fk_adjudication_rubric_pk FOREIGN KEY(rubric_pk) REFERENCES rubric (pk))""")
    op.execute(f"INSERT INTO adjudication_anew ({KEPT}) SELECT {KEPT} FROM adjudication")
    op.execute("DROP TABLE adjudication")
    op.execute("ALTER TABLE adjudication_anew RENAME TO adjudication")
    make_append_only('adjudication')


def create_current_adjudication() -> None:
    op.create_table('current_adjudication',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('adjudication_pk', sa.Integer(), nullable=False),
    sa.Column('lead_pk', sa.Integer(), nullable=False),
    sa.Column('outcome', sa.String(), nullable=False),
    sa.Column('grade', sa.Integer(), nullable=True),
    sa.Column('decided_at', sa.DateTime(timezone=True), nullable=False),
    reference('current_adjudication', 'pair_pk', 'pair'),
    reference('current_adjudication', 'dataset_pk', 'dataset'),
    reference('current_adjudication', 'adjudication_pk', 'adjudication'),
    sa.PrimaryKeyConstraint('pair_pk', name=op.f('pk_current_adjudication'))
    )
    op.create_index(op.f('ix_current_adjudication_dataset_pk'), 'current_adjudication', ['dataset_pk'])
    op.execute(
        "INSERT INTO current_adjudication (pair_pk, dataset_pk, adjudication_pk, lead_pk, outcome, grade, decided_at) "
        "SELECT a.pair_pk, p.dataset_pk, a.pk, a.lead_pk, a.outcome, a.grade, a.decided_at "
        "FROM adjudication a JOIN pair p ON p.pk = a.pair_pk WHERE NOT EXISTS "
        "(SELECT 1 FROM adjudication n WHERE n.pair_pk = a.pair_pk AND n.revision > a.revision)"
    )


def create_dispute() -> None:
    op.create_table('dispute',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('query_pk', sa.Integer(), nullable=False),
    sa.Column('open', sa.Boolean(), nullable=False),
    sa.Column('reasons', sa.Integer(), nullable=False),
    sa.Column('waiting', sa.Integer(), nullable=False),
    sa.Column('distance', sa.Integer(), nullable=False),
    sa.Column('low', sa.Integer(), nullable=True),
    sa.Column('high', sa.Integer(), nullable=True),
    sa.Column('since', sa.DateTime(timezone=True), nullable=False),
    sa.Column('impact', sa.Float(), nullable=False),
    sa.Column('recall_impact', sa.Float(), nullable=True),
    sa.Column('mrr_impact', sa.Float(), nullable=True),
    sa.Column('flips', sa.Integer(), nullable=True),
    sa.Column('taste', sa.Boolean(), nullable=False),
    reference('dispute', 'pair_pk', 'pair'),
    reference('dispute', 'dataset_pk', 'dataset'),
    reference('dispute', 'query_pk', 'query'),
    sa.PrimaryKeyConstraint('pair_pk', name=op.f('pk_dispute'))
    )
    for name, columns in {
        'distance': ['dataset_pk', 'open', 'distance', 'since', 'pair_pk'],
        'impact': ['dataset_pk', 'open', 'impact', 'since', 'pair_pk'],
        'since': ['dataset_pk', 'open', 'since', 'pair_pk'],
        'query_pk': ['query_pk'],
    }.items():
        op.create_index(f'ix_dispute_{name}', 'dispute', columns)


def create_score() -> None:
    op.create_table('query_score',
    sa.Column('query_pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('scores', sa.JSON(), nullable=False),
    reference('query_score', 'query_pk', 'query'),
    reference('query_score', 'dataset_pk', 'dataset'),
    sa.PrimaryKeyConstraint('query_pk', name=op.f('pk_query_score'))
    )
    op.create_index(op.f('ix_query_score_dataset_pk'), 'query_score', ['dataset_pk'])
    op.create_table('score_total',
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('queries', sa.Integer(), nullable=False),
    sa.Column('scores', sa.JSON(), nullable=False),
    reference('score_total', 'dataset_pk', 'dataset'),
    sa.PrimaryKeyConstraint('dataset_pk', name=op.f('pk_score_total'))
    )
    op.create_table('score_due',
    sa.Column('query_pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    reference('score_due', 'query_pk', 'query'),
    reference('score_due', 'dataset_pk', 'dataset'),
    sa.PrimaryKeyConstraint('query_pk', name=op.f('pk_score_due'))
    )
    op.create_index(op.f('ix_score_due_dataset_pk'), 'score_due', ['dataset_pk'])


def create_work_of_leads() -> None:
    op.create_table('case_hold',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('lead_pk', sa.Integer(), nullable=False),
    sa.Column('tab', sa.Text(), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    reference('case_hold', 'pair_pk', 'pair'),
    reference('case_hold', 'lead_pk', 'person'),
    sa.PrimaryKeyConstraint('pair_pk', name=op.f('pk_case_hold'))
    )
    op.create_table('case_assignment',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('lead_pk', sa.Integer(), nullable=False),
    sa.Column('assigned_by_pk', sa.Integer(), nullable=True),
    sa.Column('assigned_at', sa.DateTime(timezone=True), nullable=False),
    reference('case_assignment', 'pair_pk', 'pair'),
    reference('case_assignment', 'lead_pk', 'person'),
    reference('case_assignment', 'assigned_by_pk', 'person'),
    sa.PrimaryKeyConstraint('pair_pk', name=op.f('pk_case_assignment'))
    )
    op.create_index(op.f('ix_case_assignment_lead_pk'), 'case_assignment', ['lead_pk'])
    op.create_table('case_later',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('lead_pk', sa.Integer(), nullable=False),
    sa.Column('put_off_at', sa.DateTime(timezone=True), nullable=False),
    reference('case_later', 'pair_pk', 'pair'),
    reference('case_later', 'lead_pk', 'person'),
    sa.PrimaryKeyConstraint('pair_pk', 'lead_pk', name=op.f('pk_case_later'))
    )
    op.create_table('decision_proposal',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('lead_pk', sa.Integer(), nullable=False),
    sa.Column('outcome', sa.String(), nullable=False),
    sa.Column('grade', sa.Integer(), nullable=True),
    sa.Column('rationale', sa.Text(), nullable=False),
    sa.Column('cause', sa.String(), nullable=True),
    sa.Column('in_guideline', sa.Boolean(), nullable=False),
    sa.Column('proposed_at', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint("outcome IN ('graded', 'unrateable')", name=op.f('ck_decision_proposal_outcome')),
    sa.CheckConstraint("(outcome = 'graded') = (grade IS NOT NULL)", name=op.f('ck_decision_proposal_grade_iff_graded')),
    reference('decision_proposal', 'pair_pk', 'pair'),
    reference('decision_proposal', 'lead_pk', 'person'),
    sa.PrimaryKeyConstraint('pair_pk', 'lead_pk', name=op.f('pk_decision_proposal'))
    )


def create_talk() -> None:
    op.create_table('discussion',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('asked_by_pk', sa.Integer(), nullable=False),
    sa.Column('asked_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('closed_at', sa.DateTime(timezone=True), nullable=True),
    reference('discussion', 'pair_pk', 'pair'),
    reference('discussion', 'asked_by_pk', 'person'),
    sa.PrimaryKeyConstraint('pair_pk', name=op.f('pk_discussion'))
    )
    op.create_table('discussion_turn',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('annotator_pk', sa.Integer(), nullable=False),
    sa.Column('outcome', sa.String(), nullable=False),
    sa.Column('grade', sa.Integer(), nullable=True),
    sa.Column('revised', sa.Boolean(), nullable=False),
    sa.Column('note', sa.Text(), nullable=True),
    sa.Column('said_at', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint("outcome IN ('graded', 'unrateable')", name=op.f('ck_discussion_turn_outcome')),
    sa.CheckConstraint("(outcome = 'graded') = (grade IS NOT NULL)", name=op.f('ck_discussion_turn_grade_iff_graded')),
    reference('discussion_turn', 'pair_pk', 'pair'),
    reference('discussion_turn', 'annotator_pk', 'person'),
    sa.PrimaryKeyConstraint('pair_pk', 'annotator_pk', name=op.f('pk_discussion_turn'))
    )
    op.create_table('objection',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('annotator_pk', sa.Integer(), nullable=False),
    sa.Column('adjudication_pk', sa.Integer(), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('objected_at', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint('length(trim(text)) > 0', name=op.f('ck_objection_text')),
    reference('objection', 'pair_pk', 'pair'),
    reference('objection', 'annotator_pk', 'person'),
    reference('objection', 'adjudication_pk', 'adjudication'),
    sa.PrimaryKeyConstraint('pair_pk', 'annotator_pk', name=op.f('pk_objection'))
    )


def create_trail() -> None:
    op.create_table('guideline_decision',
    sa.Column('rubric_pk', sa.Integer(), nullable=False),
    sa.Column('adjudication_pk', sa.Integer(), nullable=False),
    reference('guideline_decision', 'rubric_pk', 'rubric'),
    reference('guideline_decision', 'adjudication_pk', 'adjudication'),
    sa.PrimaryKeyConstraint('rubric_pk', 'adjudication_pk', name=op.f('pk_guideline_decision'))
    )
    op.create_table('audit_event',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('pair_pk', sa.Integer(), nullable=True),
    sa.Column('person_pk', sa.Integer(), nullable=True),
    sa.Column('action', sa.String(), nullable=False),
    sa.Column('before', sa.JSON(), nullable=True),
    sa.Column('after', sa.JSON(), nullable=True),
    sa.Column('at', sa.DateTime(timezone=True), nullable=False),
    reference('audit_event', 'dataset_pk', 'dataset'),
    reference('audit_event', 'pair_pk', 'pair'),
    reference('audit_event', 'person_pk', 'person'),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_audit_event'))
    )
    op.create_index('ix_audit_event_dataset_pk', 'audit_event', ['dataset_pk', 'pk'])
    op.create_index(op.f('ix_audit_event_pair_pk'), 'audit_event', ['pair_pk'])
    make_append_only('audit_event')
