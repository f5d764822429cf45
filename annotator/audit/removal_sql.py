"""Find and remove what names a person, table by table."""

import json
from datetime import datetime

from sqlalchemy import CursorResult, Text, cast, delete, func, or_, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.audit import PERSONAL_FIELDS
from annotator.storage.tables.adjudication import AuditEventRow
from annotator.storage.tables.audit import AuditEntryRow, AuditPersonalRow
from annotator.storage.tables.central import ImportRecordRow
from annotator.storage.tables.releases import ReleaseRow
from annotator.storage.tables.sign_in import (
    HalfSignInRow,
    KnownDeviceRow,
    LoginAttemptRow,
    LoginSessionRow,
    OneTimeLinkRow,
    ProviderIdentityRow,
    RecoveryCodeRow,
    SecondFactorRow,
)

NAMES = [field for field in PERSONAL_FIELDS if field != "address"]


def remove_sign_in_data(session: Session, person_pk: int, username: str, *, now: datetime) -> dict[str, int]:
    """Delete the person's sessions, known browsers, identities and failed sign-ins. Returns {table: rows}.

    Also empties the notes of their invitations and revokes their links for choosing a password.
    """
    notes = (
        update(OneTimeLinkRow)
        .where(col(OneTimeLinkRow.user_pk) == person_pk, col(OneTimeLinkRow.note) != "")
        .values(note="")
    )
    session.execute(
        update(OneTimeLinkRow)
        .where(
            col(OneTimeLinkRow.person_pk) == person_pk,
            col(OneTimeLinkRow.used_at).is_(None),
            col(OneTimeLinkRow.revoked_at).is_(None),
        )
        .values(revoked_at=now)
    )
    statements = {
        "login_session": delete(LoginSessionRow).where(col(LoginSessionRow.person_pk) == person_pk),
        "known_device": delete(KnownDeviceRow).where(col(KnownDeviceRow.person_pk) == person_pk),
        "login_attempt": delete(LoginAttemptRow).where(
            col(LoginAttemptRow.username).in_((username, f"code/{username}"))
        ),
        "half_sign_in": delete(HalfSignInRow).where(col(HalfSignInRow.person_pk) == person_pk),
        "recovery_code": delete(RecoveryCodeRow).where(col(RecoveryCodeRow.person_pk) == person_pk),
        "second_factor": delete(SecondFactorRow).where(col(SecondFactorRow.person_pk) == person_pk),
        "provider_identity": delete(ProviderIdentityRow).where(
            col(ProviderIdentityRow.person_pk) == person_pk
        ),
        "one_time_link": notes,
    }
    return {name: _count(session.execute(statement)) for name, statement in statements.items()}


def detach_sessions(session: Session, person_pk: int) -> None:
    """Let sessions of others that one of the person's identities began name it no longer: they end too."""
    identities = select(col(ProviderIdentityRow.pk)).where(col(ProviderIdentityRow.person_pk) == person_pk)
    session.execute(delete(LoginSessionRow).where(col(LoginSessionRow.identity_pk).in_(identities)))


def replace_names(session: Session, person_pk: int, pseudonym: str) -> int:
    """Replace the person's usernames in the audit log by the pseudonym, and delete their addresses.

    Returns the number of removed values that the chain covers. Values replaced earlier are not counted again.
    """
    mine = col(AuditPersonalRow.person_pk) == person_pk
    is_salted = col(AuditPersonalRow.salt).is_not(None)
    replaced = session.execute(
        update(AuditPersonalRow)
        .where(mine, is_salted, col(AuditPersonalRow.field).in_(NAMES))
        .values(value=pseudonym, salt=None)
    )
    deleted = session.execute(delete(AuditPersonalRow).where(mine, col(AuditPersonalRow.field) == "address"))
    return _count(replaced) + _count(deleted)


def remove_personal_before(session: Session, before: datetime) -> int:
    """Delete usernames and addresses of all entries before a time. Returns the number of removed values in the chain."""
    old = select(col(AuditEntryRow.sequence)).where(col(AuditEntryRow.at) < before)
    of_old = col(AuditPersonalRow.sequence).in_(old)
    covered = col(AuditPersonalRow.salt).is_not(None)
    gone = _count(session.execute(delete(AuditPersonalRow).where(of_old, covered)))
    session.execute(delete(AuditPersonalRow).where(of_old))
    return gone


def count_kept_mentions(session: Session, username: str) -> dict[str, int]:
    """Count unchangeable rows that may name the person: their JSON contains the username."""
    written = json.dumps(username)
    if len(username) < 2:
        return {}
    columns = {
        "audit_event": (col(AuditEventRow.before), col(AuditEventRow.after)),
        "import_record": (col(ImportRecordRow.declared), col(ImportRecordRow.options)),
        "release": (col(ReleaseRow.manifest),),
    }
    counts = {}
    for name, searched in columns.items():
        mentions = or_(*(cast(column, Text).contains(written, autoescape=True) for column in searched))
        counts[name] = session.scalar(select(func.count()).where(mentions)) or 0
    return {name: rows for name, rows in counts.items() if rows}


def _count(result: object) -> int:
    return result.rowcount if isinstance(result, CursorResult) else 0
