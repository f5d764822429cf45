"""The first schema

Revision: 0001, after None
"""

import sqlalchemy as sa
from alembic import op

revision = '0001'
down_revision = None
branch_labels = None
depends_on = None


APPEND_ONLY = ("judgment", "adjudication", "rubric", "release", "release_qrel")


def upgrade() -> None:
    create_tables()
    for table in APPEND_ONLY:
        refuse_changes(table)


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


def create_tables() -> None:
    op.create_table('dataset',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('title', sa.Text(), nullable=False),
    sa.Column('language', sa.String(), nullable=True),
    sa.Column('overlap', sa.Integer(), nullable=False),
    sa.Column('kappa_target', sa.Float(), nullable=False),
    sa.Column('lease_minutes', sa.Integer(), nullable=False),
    sa.Column('seed', sa.Integer(), nullable=False),
    sa.Column('list_grade_0', sa.Boolean(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint('kappa_target BETWEEN -1 AND 1', name=op.f('ck_dataset_kappa_target')),
    sa.CheckConstraint('lease_minutes BETWEEN 1 AND 10080', name=op.f('ck_dataset_lease_minutes')),
    sa.CheckConstraint('overlap BETWEEN 1 AND 20', name=op.f('ck_dataset_overlap')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_dataset')),
    sa.UniqueConstraint('name', name=op.f('uq_dataset_name'))
    )
    op.create_table('login_attempt',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('username', sa.String(), nullable=False),
    sa.Column('address', sa.String(), nullable=False),
    sa.Column('at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_login_attempt'))
    )
    with op.batch_alter_table('login_attempt', schema=None) as batch_op:
        batch_op.create_index('ix_login_attempt_address_at', ['address', 'at'], unique=False)
        batch_op.create_index('ix_login_attempt_username_at', ['username', 'at'], unique=False)

    op.create_table('person',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('username', sa.String(), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('password_hash', sa.String(), nullable=True),
    sa.Column('must_change_password', sa.Boolean(), nullable=False),
    sa.Column('simulated', sa.Boolean(), nullable=False),
    sa.Column('disabled_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_person')),
    sa.UniqueConstraint('username', name=op.f('uq_person_username'))
    )
    op.create_table('document',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('doc_id', sa.Text(), nullable=False),
    sa.Column('title', sa.Text(), nullable=False),
    sa.Column('url', sa.Text(), nullable=True),
    sa.Column('media_type', sa.String(), nullable=False),
    sa.Column('text_sha256', sa.String(), nullable=True),
    sa.Column('extra', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_document_dataset_pk')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_document')),
    sa.UniqueConstraint('dataset_pk', 'doc_id', name=op.f('uq_document_dataset_pk_doc_id'))
    )
    op.create_table('login_session',
    sa.Column('token_sha256', sa.String(), nullable=False),
    sa.Column('person_pk', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('revoked_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['person_pk'], ['person.pk'], name=op.f('fk_login_session_person_pk')),
    sa.PrimaryKeyConstraint('token_sha256', name=op.f('pk_login_session'))
    )
    with op.batch_alter_table('login_session', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_login_session_person_pk'), ['person_pk'], unique=False)

    op.create_table('membership',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('person_pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=True),
    sa.Column('role', sa.String(), nullable=False),
    sa.CheckConstraint("role IN ('annotator', 'lead', 'admin')", name=op.f('ck_membership_role')),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_membership_dataset_pk')),
    sa.ForeignKeyConstraint(['person_pk'], ['person.pk'], name=op.f('fk_membership_person_pk')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_membership'))
    )
    with op.batch_alter_table('membership', schema=None) as batch_op:
        batch_op.create_index('uq_membership_everywhere', ['person_pk'], unique=True, sqlite_where=sa.text('dataset_pk IS NULL'), postgresql_where=sa.text('dataset_pk IS NULL'))
        batch_op.create_index('uq_membership_one', ['person_pk', 'dataset_pk'], unique=True)

    op.create_table('pseudonym',
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('person_pk', sa.Integer(), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_pseudonym_dataset_pk')),
    sa.ForeignKeyConstraint(['person_pk'], ['person.pk'], name=op.f('fk_pseudonym_person_pk')),
    sa.PrimaryKeyConstraint('dataset_pk', 'person_pk', name=op.f('pk_pseudonym')),
    sa.UniqueConstraint('dataset_pk', 'number', name=op.f('uq_pseudonym_dataset_pk_number'))
    )
    op.create_table('query',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('query_id', sa.Text(), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('category', sa.Text(), nullable=True),
    sa.Column('language', sa.Text(), nullable=True),
    sa.Column('query_type', sa.Text(), nullable=True),
    sa.Column('difficulty', sa.Text(), nullable=True),
    sa.Column('primary_domain', sa.Text(), nullable=True),
    sa.Column('narrative', sa.Text(), nullable=True),
    sa.Column('extra', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_query_dataset_pk')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_query')),
    sa.UniqueConstraint('dataset_pk', 'query_id', name=op.f('uq_query_dataset_pk_query_id'))
    )
    op.create_table('release',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('version', sa.String(), nullable=False),
    sa.Column('published_by', sa.Integer(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('note', sa.Text(), nullable=False),
    sa.Column('content_sha256', sa.String(), nullable=False),
    sa.Column('sums', sa.Text(), nullable=False),
    sa.Column('manifest', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_release_dataset_pk')),
    sa.ForeignKeyConstraint(['published_by'], ['person.pk'], name=op.f('fk_release_published_by')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_release')),
    sa.UniqueConstraint('dataset_pk', 'version', name=op.f('uq_release_dataset_pk_version'))
    )
    op.create_table('rubric',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('title', sa.Text(), nullable=False),
    sa.Column('guideline', sa.Text(), nullable=False),
    sa.Column('grades', sa.JSON(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_rubric_dataset_pk')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_rubric')),
    sa.UniqueConstraint('dataset_pk', 'version', name=op.f('uq_rubric_dataset_pk_version'))
    )
    op.create_table('run',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('system', sa.String(), nullable=False),
    sa.Column('content_sha256', sa.String(), nullable=False),
    sa.Column('imported_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_run_dataset_pk')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_run')),
    sa.UniqueConstraint('dataset_pk', 'system', name=op.f('uq_run_dataset_pk_system'))
    )
    op.create_table('document_text',
    sa.Column('document_pk', sa.Integer(), nullable=False),
    sa.Column('sha256', sa.String(), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('imported_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['document_pk'], ['document.pk'], name=op.f('fk_document_text_document_pk')),
    sa.PrimaryKeyConstraint('document_pk', 'sha256', name=op.f('pk_document_text'))
    )
    op.create_table('pair',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('query_pk', sa.Integer(), nullable=False),
    sa.Column('document_pk', sa.Integer(), nullable=False),
    sa.Column('key', sa.String(), nullable=False),
    sa.Column('judged', sa.Integer(), server_default=sa.text('0'), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_pair_dataset_pk')),
    sa.ForeignKeyConstraint(['document_pk'], ['document.pk'], name=op.f('fk_pair_document_pk')),
    sa.ForeignKeyConstraint(['query_pk'], ['query.pk'], name=op.f('fk_pair_query_pk')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_pair')),
    sa.UniqueConstraint('key', name=op.f('uq_pair_key')),
    sa.UniqueConstraint('query_pk', 'document_pk', name=op.f('uq_pair_query_pk_document_pk'))
    )
    with op.batch_alter_table('pair', schema=None) as batch_op:
        batch_op.create_index('ix_pair_dataset_pk_judged', ['dataset_pk', 'judged'], unique=False)
        batch_op.create_index('ix_pair_query_pk_judged', ['query_pk', 'judged'], unique=False)
        batch_op.create_index(batch_op.f('ix_pair_document_pk'), ['document_pk'], unique=False)

    op.create_table('release_qrel',
    sa.Column('release_pk', sa.Integer(), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('query_id', sa.Text(), nullable=False),
    sa.Column('doc_id', sa.Text(), nullable=False),
    sa.Column('grade', sa.Integer(), nullable=False),
    sa.Column('origin', sa.String(), nullable=False),
    sa.CheckConstraint('grade IN (0, 1, 2, 3)', name=op.f('ck_release_qrel_grade')),
    sa.ForeignKeyConstraint(['release_pk'], ['release.pk'], name=op.f('fk_release_qrel_release_pk')),
    sa.PrimaryKeyConstraint('release_pk', 'position', name=op.f('pk_release_qrel')),
    sa.UniqueConstraint('release_pk', 'query_id', 'doc_id', name=op.f('uq_release_qrel_release_pk_query_id_doc_id'))
    )
    op.create_table('run_entry',
    sa.Column('run_pk', sa.Integer(), nullable=False),
    sa.Column('query_pk', sa.Integer(), nullable=False),
    sa.Column('document_pk', sa.Integer(), nullable=False),
    sa.Column('rank', sa.Integer(), nullable=False),
    sa.Column('score', sa.Float(), nullable=True),
    sa.Column('signals', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['document_pk'], ['document.pk'], name=op.f('fk_run_entry_document_pk')),
    sa.ForeignKeyConstraint(['query_pk'], ['query.pk'], name=op.f('fk_run_entry_query_pk')),
    sa.ForeignKeyConstraint(['run_pk'], ['run.pk'], name=op.f('fk_run_entry_run_pk')),
    sa.PrimaryKeyConstraint('run_pk', 'query_pk', 'document_pk', name=op.f('pk_run_entry')),
    sa.UniqueConstraint('run_pk', 'query_pk', 'rank', name=op.f('uq_run_entry_run_pk_query_pk_rank'))
    )
    op.create_table('adjudication',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.Column('lead_pk', sa.Integer(), nullable=False),
    sa.Column('rubric_pk', sa.Integer(), nullable=False),
    sa.Column('grade', sa.Integer(), nullable=False),
    sa.Column('rationale', sa.Text(), nullable=False),
    sa.Column('reason', sa.Text(), nullable=True),
    sa.Column('decided_at', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint('grade IN (0, 1, 2, 3)', name=op.f('ck_adjudication_grade')),
    sa.CheckConstraint('length(trim(rationale)) > 0', name=op.f('ck_adjudication_rationale')),
    sa.CheckConstraint('revision >= 1', name=op.f('ck_adjudication_revision')),
    sa.ForeignKeyConstraint(['lead_pk'], ['person.pk'], name=op.f('fk_adjudication_lead_pk')),
    sa.ForeignKeyConstraint(['pair_pk'], ['pair.pk'], name=op.f('fk_adjudication_pair_pk')),
    sa.ForeignKeyConstraint(['rubric_pk'], ['rubric.pk'], name=op.f('fk_adjudication_rubric_pk')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_adjudication')),
    sa.UniqueConstraint('pair_pk', 'revision', name=op.f('uq_adjudication_pair_pk_revision'))
    )
    op.create_table('judgment',
    sa.Column('pk', sa.Integer(), nullable=False),
    sa.Column('event_id', sa.String(), nullable=False),
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('annotator_pk', sa.Integer(), nullable=False),
    sa.Column('rubric_pk', sa.Integer(), nullable=False),
    sa.Column('outcome', sa.String(), nullable=False),
    sa.Column('grade', sa.Integer(), nullable=True),
    sa.Column('note', sa.Text(), nullable=True),
    sa.Column('purpose', sa.String(), nullable=False),
    sa.Column('document_sha256', sa.String(), nullable=True),
    sa.Column('judged_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('received_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('seconds', sa.Float(), nullable=True),
    sa.CheckConstraint("(outcome = 'graded') = (grade IS NOT NULL)", name=op.f('ck_judgment_grade_iff_graded')),
    sa.CheckConstraint("outcome IN ('graded', 'unrateable', 'later')", name=op.f('ck_judgment_outcome')),
    sa.CheckConstraint('grade IN (0, 1, 2, 3)', name=op.f('ck_judgment_grade')),
    sa.CheckConstraint('seconds >= 0', name=op.f('ck_judgment_seconds')),
    sa.ForeignKeyConstraint(['annotator_pk'], ['person.pk'], name=op.f('fk_judgment_annotator_pk')),
    sa.ForeignKeyConstraint(['pair_pk'], ['pair.pk'], name=op.f('fk_judgment_pair_pk')),
    sa.ForeignKeyConstraint(['rubric_pk'], ['rubric.pk'], name=op.f('fk_judgment_rubric_pk')),
    sa.PrimaryKeyConstraint('pk', name=op.f('pk_judgment')),
    sa.UniqueConstraint('event_id', name=op.f('uq_judgment_event_id')),
    sa.UniqueConstraint('pk', 'pair_pk', 'annotator_pk', name=op.f('uq_judgment_pk_pair_pk_annotator_pk'))
    )
    with op.batch_alter_table('judgment', schema=None) as batch_op:
        batch_op.create_index('ix_judgment_pair_annotator_order', ['pair_pk', 'annotator_pk', 'judged_at', 'pk'], unique=False)

    op.create_table('lease',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('annotator_pk', sa.Integer(), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['annotator_pk'], ['person.pk'], name=op.f('fk_lease_annotator_pk')),
    sa.ForeignKeyConstraint(['pair_pk'], ['pair.pk'], name=op.f('fk_lease_pair_pk')),
    sa.PrimaryKeyConstraint('pair_pk', 'annotator_pk', name=op.f('pk_lease'))
    )
    with op.batch_alter_table('lease', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_lease_annotator_pk'), ['annotator_pk'], unique=False)

    op.create_table('provenance',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('system', sa.String(), nullable=False),
    sa.Column('rank', sa.Integer(), nullable=True),
    sa.Column('score', sa.Float(), nullable=True),
    sa.Column('signals', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['pair_pk'], ['pair.pk'], name=op.f('fk_provenance_pair_pk')),
    sa.PrimaryKeyConstraint('pair_pk', 'system', name=op.f('pk_provenance'))
    )
    op.create_table('current_judgment',
    sa.Column('pair_pk', sa.Integer(), nullable=False),
    sa.Column('annotator_pk', sa.Integer(), nullable=False),
    sa.Column('judgment_pk', sa.Integer(), nullable=False),
    sa.Column('dataset_pk', sa.Integer(), nullable=False),
    sa.Column('outcome', sa.String(), nullable=False),
    sa.Column('grade', sa.Integer(), nullable=True),
    sa.Column('purpose', sa.String(), nullable=False),
    sa.ForeignKeyConstraint(['dataset_pk'], ['dataset.pk'], name=op.f('fk_current_judgment_dataset_pk')),
    sa.ForeignKeyConstraint(['judgment_pk', 'pair_pk', 'annotator_pk'], ['judgment.pk', 'judgment.pair_pk', 'judgment.annotator_pk'], name=op.f('fk_current_judgment_judgment_pk_pair_pk_annotator_pk')),
    sa.PrimaryKeyConstraint('pair_pk', 'annotator_pk', name=op.f('pk_current_judgment')),
    sa.UniqueConstraint('judgment_pk', name=op.f('uq_current_judgment_judgment_pk'))
    )
    with op.batch_alter_table('current_judgment', schema=None) as batch_op:
        batch_op.create_index('ix_current_judgment_dataset_annotator', ['dataset_pk', 'annotator_pk', 'outcome'], unique=False)
