"""Which decisions and answers annotators have read; whatever they could see until now counts as read

Revision: 0023, after 0022
"""

import sqlalchemy as sa
from alembic import op

revision = '0023'
down_revision = '0022'
branch_labels = None
depends_on = None

READ_DECISIONS = """
INSERT INTO seen_decision (pair_pk, person_pk, adjudication_pk, seen_at)
SELECT a.pair_pk, d.person_pk, a.adjudication_pk, d.disclosed_at
FROM disclosure d JOIN current_adjudication a ON a.pair_pk = d.pair_pk
JOIN current_judgment c ON c.pair_pk = d.pair_pk AND c.annotator_pk = d.person_pk"""
READ_ANSWERS = """
INSERT INTO seen_answer (question_pk, answered_at, seen_at)
SELECT pk, answered_at, answered_at FROM question WHERE answered_at IS NOT NULL"""


def upgrade() -> None:
    op.create_table('seen_decision',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('person_pk', sa.Integer(), nullable=False),
    sa.Column('adjudication_pk', sa.Integer(), nullable=False),
    sa.Column('seen_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['adjudication_pk'], ['adjudication.pk'], name=op.f('fk_seen_decision_adjudication_pk')),
    sa.ForeignKeyConstraint(['pair_pk'], ['pair.pk'], name=op.f('fk_seen_decision_pair_pk')),
    sa.ForeignKeyConstraint(['person_pk'], ['person.pk'], name=op.f('fk_seen_decision_person_pk')),
    sa.PrimaryKeyConstraint('pair_pk', 'person_pk', name=op.f('pk_seen_decision'))
    )
    op.create_table('seen_answer',
    sa.Column('question_pk', sa.Integer(), nullable=False),
    sa.Column('answered_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('seen_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['question_pk'], ['question.pk'], name=op.f('fk_seen_answer_question_pk')),
    sa.PrimaryKeyConstraint('question_pk', name=op.f('pk_seen_answer'))
    )
    op.execute(READ_DECISIONS)
    op.execute(READ_ANSWERS)
