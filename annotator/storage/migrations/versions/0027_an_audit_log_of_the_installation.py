"""An audit log of the whole installation: entries that are chained by hashes, and beside them what names people

Revision: 0027, after 0026
"""

import sqlalchemy as sa
from alembic import op

revision = '0027'
down_revision = '0026'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('audit_entry',
    sa.Column('sequence', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('action', sa.String(), nullable=False),
    sa.Column('actor_kind', sa.String(), nullable=False),
    sa.Column('source', sa.String(), nullable=False),
    sa.Column('request_id', sa.String(), nullable=True),
    sa.Column('dataset', sa.String(), nullable=True),
    sa.Column('object', sa.Text(), nullable=False),
    sa.Column('details', sa.Text(), nullable=False),
    sa.Column('actor', sa.String(), nullable=True),
    sa.Column('subject', sa.String(), nullable=True),
    sa.Column('address', sa.String(), nullable=True),
    sa.Column('previous', sa.String(), nullable=False),
    sa.Column('sha256', sa.String(), nullable=False),
    sa.CheckConstraint("sequence >= 1", name=op.f('ck_audit_entry_sequence')),
    sa.CheckConstraint("actor_kind IN ('person', 'operator', 'program', 'unknown')", name=op.f('ck_audit_entry_actor_kind')),
    sa.CheckConstraint("source IN ('web', 'cli', 'program')", name=op.f('ck_audit_entry_source')),
    sa.CheckConstraint("length(details) <= 4000", name=op.f('ck_audit_entry_details')),
    sa.PrimaryKeyConstraint('sequence', name=op.f('pk_audit_entry')),
    sa.UniqueConstraint('sha256', name=op.f('uq_audit_entry_sha256'))
    )
    op.create_index('ix_audit_entry_action_at', 'audit_entry', ['action', 'at'])
    op.create_index('ix_audit_entry_dataset', 'audit_entry', ['dataset', 'sequence'])
    op.create_table('audit_personal',
    sa.Column('sequence', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('field', sa.String(), nullable=False),
    sa.Column('person_pk', sa.Integer(), nullable=True),
    sa.Column('value', sa.Text(), nullable=False),
    sa.Column('salt', sa.String(), nullable=True),
    sa.CheckConstraint("field IN ('actor', 'subject', 'address')", name=op.f('ck_audit_personal_field')),
    sa.ForeignKeyConstraint(['sequence'], ['audit_entry.sequence'], name=op.f('fk_audit_personal_sequence')),
    sa.ForeignKeyConstraint(['person_pk'], ['person.pk'], name=op.f('fk_audit_personal_person_pk')),
    sa.PrimaryKeyConstraint('sequence', 'field', name=op.f('pk_audit_personal'))
    )
    op.create_index(op.f('ix_audit_personal_person_pk'), 'audit_personal', ['person_pk'])
    if op.get_bind().dialect.name == 'sqlite':
        guard_sqlite()
    else:
        guard_postgresql()


MESSAGE = "audit_entry is append-only"
KEPT = "audit_personal: a value may be replaced only together with the removal of its salt"
REPLACED = "NEW.salt IS NOT NULL OR OLD.salt IS NULL OR NEW.sequence <> OLD.sequence OR NEW.field <> OLD.field"


def guard_sqlite() -> None:
    for verb in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_entry_no_{verb.lower()} BEFORE {verb} ON audit_entry "
            f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
        )
    op.execute(
        f"CREATE TRIGGER audit_personal_no_update BEFORE UPDATE ON audit_personal WHEN {REPLACED} "
        f"BEGIN SELECT RAISE(ABORT, '{KEPT}'); END"
    )


def guard_postgresql() -> None:
    for name, message in (("audit_entry_is_append_only", MESSAGE), ("audit_personal_is_kept", KEPT)):
        op.execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql "
            f"AS $$ BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = 'restrict_violation'; END $$"
        )
    for verb, level in (("UPDATE OR DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
        op.execute(
            f"CREATE TRIGGER audit_entry_no_{verb.split()[0].lower()} BEFORE {verb} ON audit_entry "
            f"FOR EACH {level} EXECUTE FUNCTION audit_entry_is_append_only()"
        )
    op.execute(
        f"CREATE TRIGGER audit_personal_no_update BEFORE UPDATE ON audit_personal FOR EACH ROW WHEN ({REPLACED}) "
        "EXECUTE FUNCTION audit_personal_is_kept()"
    )
