"""Read and write second factors, recovery codes and half sign-ins."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import CursorResult, delete, func, or_, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.people.second_factor.codes import digest_recovery_code
from annotator.people.second_factor.records import Need
from annotator.storage.tables.central import PersonRow
from annotator.storage.tables.sign_in import HalfSignInRow, RecoveryCodeRow, SecondFactorRow


def find_factor(session: Session, person_pk: int) -> SecondFactorRow | None:
    """Return the person's second factor, or the note that it was removed, or None."""
    return session.get(SecondFactorRow, person_pk)


def use_step(session: Session, person_pk: int, step: int) -> bool:
    """Mark this step's code as used. Returns False if this or a later step was used before, here or on another server."""
    last = col(SecondFactorRow.last_step)
    statement = (
        update(SecondFactorRow)
        .where(col(SecondFactorRow.person_pk) == person_pk, or_(last.is_(None), last < step))
        .values(last_step=step)
    )
    return _changed_one(session.execute(statement))


def use_recovery_code(session: Session, person_pk: int, code: str) -> bool:
    """Delete this recovery code. Returns False if the person has no such code."""
    statement = delete(RecoveryCodeRow).where(
        col(RecoveryCodeRow.person_pk) == person_pk,
        col(RecoveryCodeRow.code_sha256) == digest_recovery_code(code),
    )
    return _changed_one(session.execute(statement))


def replace_factor(
    session: Session, person_pk: int, *, secret: str, step: int, recovery_codes: Iterable[str], now: datetime
) -> None:
    """Store a second factor and replace an older one. `secret`: sealed; `step`: of the code that confirmed it."""
    delete_factor(session, person_pk)
    values = {"person_pk": person_pk, "secret": secret, "confirmed_at": now, "last_step": step}
    session.add(SecondFactorRow.model_validate(values))
    session.add_all(
        RecoveryCodeRow(code_sha256=digest_recovery_code(code), person_pk=person_pk)
        for code in recovery_codes
    )
    session.flush()


def delete_factor(session: Session, person_pk: int) -> None:
    """Delete the person's second factor with its recovery codes, or the note that it was removed."""
    session.execute(delete(RecoveryCodeRow).where(col(RecoveryCodeRow.person_pk) == person_pk))
    session.execute(delete(SecondFactorRow).where(col(SecondFactorRow.person_pk) == person_pk))
    session.expire_all()


def note_removal(session: Session, person_pk: int, *, remover_pk: int | None, now: datetime) -> None:
    """Delete the second factor, and remember who removed it until the person has read so."""
    delete_factor(session, person_pk)
    values = {"person_pk": person_pk, "removed_at": now, "remover_pk": remover_pk}
    session.add(SecondFactorRow.model_validate(values))
    session.flush()


def count_recovery_codes(session: Session, person_pk: int) -> int:
    """Count the recovery codes that the person has not used."""
    statement = (
        select(func.count()).select_from(RecoveryCodeRow).where(col(RecoveryCodeRow.person_pk) == person_pk)
    )
    return session.scalar(statement) or 0


def list_enrolled(session: Session, person_pk: int | None = None) -> set[int]:
    """Return the person_pks with a second factor, of everybody or of this person."""
    statement = select(col(SecondFactorRow.person_pk)).where(col(SecondFactorRow.secret).is_not(None))
    if person_pk is not None:
        statement = statement.where(col(SecondFactorRow.person_pk) == person_pk)
    return set(session.scalars(statement))


def add_half_sign_in(
    session: Session, person_pk: int, *, token_sha256: str, need: Need, now: datetime, expires_at: datetime
) -> None:
    """Store a half sign-in, and delete expired ones."""
    session.execute(delete(HalfSignInRow).where(col(HalfSignInRow.expires_at) <= now))
    values = {"token_sha256": token_sha256, "person_pk": person_pk, "need": need, "expires_at": expires_at}
    session.add(HalfSignInRow.model_validate(values))


def find_half_sign_in(
    session: Session, token_sha256: str, *, now: datetime
) -> tuple[HalfSignInRow, PersonRow] | None:
    """Return (half sign-in, person), or None if it is unknown or expired, or the person is disabled."""
    statement = (
        select(HalfSignInRow, PersonRow)
        .join(PersonRow, col(PersonRow.pk) == col(HalfSignInRow.person_pk))
        .where(
            col(HalfSignInRow.token_sha256) == token_sha256,
            col(HalfSignInRow.expires_at) > now,
            col(PersonRow.disabled_at).is_(None),
        )
    )
    row = session.execute(statement).first()
    return None if row is None else (row[0], row[1])


def take_half_sign_in(session: Session, token_sha256: str) -> bool:
    """Delete the half sign-in, because it is used once. Returns False if it is gone already."""
    statement = delete(HalfSignInRow).where(col(HalfSignInRow.token_sha256) == token_sha256)
    return _changed_one(session.execute(statement))


def _changed_one(result: object) -> bool:
    return isinstance(result, CursorResult) and result.rowcount == 1
