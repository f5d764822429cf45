"""Read the audit log and verify its chain, and remove personal data. For the operator and admins of every dataset.

Removal replaces a person's names by a pseudonym, or deletes names from old entries. Judgments, decisions and
releases stay. The chain stays valid: an entry records each removal. Rows that can never change (a release's
manifest, a dataset's activity log) are counted and reported.

Read the audit log in parts, so memory stays small with a million entries; remove what names a person.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import ColumnElement, CursorResult, Text, cast, delete, func, or_, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.audit.records import (
    REMOVED,
    AuditEntry,
    AuditFilter,
    AuditHead,
    AuditPage,
    AuditVerification,
    PersonalValue,
    verify_chain,
)
from annotator.domain.audit import PERSONAL_FIELDS, AuditAction, ChainedEntry, PersonalField, write_time
from annotator.domain.errors import StateError, ValidationError
from annotator.domain.people import Actor
from annotator.people.roles_service import keep_led, open_dataset, require_admin
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import note_act
from annotator.storage.lookup import end_leases, find_look_alikes, find_person, key_of
from annotator.storage.sql import execute_sql, prepare_sql
from annotator.storage.tables.adjudication import AuditEventRow
from annotator.storage.tables.audit import AuditEntryRow, AuditPersonalRow
from annotator.storage.tables.central import ImportRecordRow, PersonRow
from annotator.storage.tables.releases import ReleaseRow
from annotator.storage.tables.sign_in import (
    LoginSessionRow,
    ProviderIdentityRow,
)

AT_ONCE = 1_000
_COLUMNS = [column for column in AuditEntryRow.__table__.columns]  # type: ignore[attr-defined]  # noqa: C416


def find_head(session: Session) -> AuditHead | None:
    """Return the newest entry's sequence and hash, or None for an empty log."""
    statement = select(col(AuditEntryRow.sequence), col(AuditEntryRow.sha256))
    row = session.execute(statement.order_by(col(AuditEntryRow.sequence).desc()).limit(1)).first()
    return AuditHead(row.sequence, row.sha256) if row else None


def count_entries(session: Session, wanted: AuditFilter) -> int:
    """Count the entries that the filter wants."""
    statement = select(func.count()).select_from(AuditEntryRow).where(*_list_conditions(wanted))
    return session.scalar(statement) or 0


def list_newest(session: Session, wanted: AuditFilter, *, offset: int, limit: int) -> list[AuditEntry]:
    """Return entries, the newest first."""
    statement = select(*_COLUMNS).where(*_list_conditions(wanted))
    newest = statement.order_by(col(AuditEntryRow.sequence).desc()).offset(offset).limit(limit)
    return _to_entries(session, session.execute(newest).all())


def iterate_entries(
    session: Session, wanted: AuditFilter, *, limit: int | None = None
) -> Iterator[AuditEntry]:
    """Yield entries, the oldest first, at most `limit`. Reads AT_ONCE of them at a time."""
    statement = select(*_COLUMNS).where(*_list_conditions(wanted)).order_by(col(AuditEntryRow.sequence))
    after, left = 0, limit
    while left is None or left > 0:
        size = AT_ONCE if left is None else min(AT_ONCE, left)
        rows = session.execute(statement.where(col(AuditEntryRow.sequence) > after).limit(size)).all()
        yield from _to_entries(session, rows)
        if len(rows) < size:
            return
        after = rows[-1].sequence
        left = None if left is None else left - len(rows)


def list_people(session: Session) -> list[str]:
    """Return the usernames of everybody whom an entry names, in order."""
    named = select(col(AuditPersonalRow.person_pk)).where(col(AuditPersonalRow.person_pk).is_not(None))
    statement = select(col(PersonRow.username)).where(col(PersonRow.pk).in_(named))
    return list(session.scalars(statement.order_by(col(PersonRow.username))))


def list_datasets(session: Session) -> list[str]:
    """Return the sorted names of all datasets in the log, including removed datasets."""
    statement = select(col(AuditEntryRow.dataset)).where(col(AuditEntryRow.dataset).is_not(None)).distinct()
    return sorted(name for name in session.scalars(statement) if name)


def _list_conditions(wanted: AuditFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.dataset is not None:
        conditions.append(col(AuditEntryRow.dataset) == wanted.dataset)
    if wanted.action is not None:
        conditions.append(col(AuditEntryRow.action) == wanted.action)
    if wanted.since is not None:
        conditions.append(col(AuditEntryRow.at) >= wanted.since)
    if wanted.until is not None:
        conditions.append(col(AuditEntryRow.at) <= wanted.until)
    if wanted.after is not None:
        conditions.append(col(AuditEntryRow.sequence) > wanted.after)
    if wanted.person is not None:
        named = (
            select(col(AuditPersonalRow.sequence))
            .join(PersonRow, col(PersonRow.pk) == col(AuditPersonalRow.person_pk))
            .where(col(PersonRow.username) == wanted.person)
        )
        conditions.append(col(AuditEntryRow.sequence).in_(named))
    return conditions


def _to_entries(session: Session, rows: Sequence[object]) -> list[AuditEntry]:
    personal = _list_personal(session, [row.sequence for row in rows])  # type: ignore[attr-defined]
    return [_to_entry(row, personal.get(row.sequence, {})) for row in rows]  # type: ignore[attr-defined]


def _list_personal(
    session: Session, sequences: Sequence[int]
) -> dict[int, dict[PersonalField, PersonalValue]]:
    found: dict[int, dict[PersonalField, PersonalValue]] = {}
    if not sequences:
        return found
    columns = AuditPersonalRow.__table__.columns  # type: ignore[attr-defined]
    sequence = col(AuditPersonalRow.sequence)
    low, high = min(sequences), max(sequences)
    if high - low < 2 * len(sequences):
        statement = select(*columns).where(sequence >= low, sequence <= high)
    else:
        statement = select(*columns).where(sequence.in_(sequences))
    for row in session.execute(statement):
        value = PersonalValue(row.field, row.person_pk, row.value, row.salt)
        found.setdefault(row.sequence, {})[row.field] = value
    return found


def _to_entry(row: object, personal: dict[PersonalField, PersonalValue]) -> AuditEntry:
    values = dict(row._mapping)  # type: ignore[attr-defined]
    commitments: dict[PersonalField, str | None] = {field: values[field] for field in PERSONAL_FIELDS}
    kept = {name: value for name, value in values.items() if name not in (*PERSONAL_FIELDS, "sha256")}
    return AuditEntry(ChainedEntry(**kept, commitments=commitments), values["sha256"], personal)


NAMES = [field for field in PERSONAL_FIELDS if field != "address"]


_REVOKE_LINKS = prepare_sql(
    "UPDATE one_time_link SET revoked_at = :now WHERE person_pk = :person_pk AND used_at IS NULL AND revoked_at IS NULL"
)
_SIGN_IN_DATA = {
    **{
        table: prepare_sql(f"DELETE FROM {table} WHERE person_pk = :person_pk")
        for table in ("login_session", "known_device", "half_sign_in", "recovery_code", "second_factor")
    },
    "login_attempt": prepare_sql("DELETE FROM login_attempt WHERE username IN (:username, :of_codes)"),
    "provider_identity": prepare_sql("DELETE FROM provider_identity WHERE person_pk = :person_pk"),
    "one_time_link": prepare_sql(
        "UPDATE one_time_link SET note = '' WHERE user_pk = :person_pk AND note <> ''"
    ),
}


def remove_sign_in_data(session: Session, person_pk: int, username: str, *, now: datetime) -> dict[str, int]:
    """Delete the person's sessions, known browsers, identities and failed sign-ins. Returns {table: rows}.

    Also empties the notes of their invitations and revokes their links for choosing a password.
    """
    session.flush()
    execute_sql(session, _REVOKE_LINKS, {"person_pk": person_pk, "now": now})
    values = {"person_pk": person_pk, "username": username, "of_codes": f"code/{username}"}
    return {table: execute_sql(session, removal, values) for table, removal in _SIGN_IN_DATA.items()}


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


PAGE = 50
STEP = 1_000  # entries
AUDIT_LOG_FILE = "audit-log.jsonl"


def read_audit_page(
    database: Database, actor: Actor, wanted: AuditFilter, *, offset: int = 0, limit: int = PAGE
) -> AuditPage:
    """Return entries, the newest first."""
    _check_filter(wanted)
    with database.read() as session:
        require_admin(session, actor)
        entries = list_newest(session, wanted, offset=offset, limit=limit)
        return AuditPage(tuple(entries), count_entries(session, wanted))


def iterate_audit_log(
    database: Database, actor: Actor, wanted: AuditFilter, *, limit: int | None = None
) -> Iterator[AuditEntry]:
    """Yield entries, the oldest first, as they are at one moment; at most `limit`."""
    _check_filter(wanted)
    with database.read() as session:
        require_admin(session, actor)
        yield from iterate_entries(session, wanted, limit=limit)


def download_audit_log(
    database: Database, actor: Actor, wanted: AuditFilter, *, now: datetime
) -> Iterator[AuditEntry]:
    """Log the download, then return the parts of `iterate_audit_log` for the admin's file."""
    _check_filter(wanted)
    with database.write() as session:
        require_admin(session, actor)
        note_act(session, AuditAction.file_downloaded, actor, at=now, target=AUDIT_LOG_FILE)
    return iterate_audit_log(database, actor, wanted)


def note_download(database: Database, actor: Actor, dataset: str, file: str, *, now: datetime) -> None:
    """Log the download of a file with judgments of a dataset. For leads. `file`: its kind, without names of people."""
    with open_dataset(database, actor, dataset, "lead", writing=True) as (session, _, dataset_pk):
        note_act(session, AuditAction.file_downloaded, actor, at=now, dataset=dataset_pk, target=file)


def find_audit_head(database: Database, actor: Actor) -> AuditHead | None:
    """Return the newest entry's sequence and hash, or None for an empty log."""
    with database.read() as session:
        require_admin(session, actor)
        return find_head(session)


def verify_audit_log(
    database: Database,
    actor: Actor,
    *,
    head_was: AuditHead | None = None,
    report_progress: Callable[[int, int], None] | None = None,
) -> AuditVerification:
    """Compute the whole chain again. `head_was`: an earlier head, which must still be there.

    `report_progress`: called after every STEP entries with how many are done, and how many there are.
    """
    with database.read() as session:
        require_admin(session, actor)
        head = find_head(session)
        entries = iterate_entries(session, AuditFilter())
        if report_progress is not None and head is not None:
            entries = _report_each_step(entries, head.sequence, report_progress)
        return verify_chain(entries, head_was=head_was)


def _report_each_step(
    entries: Iterable[AuditEntry], total: int, report_progress: Callable[[int, int], None]
) -> Iterator[AuditEntry]:
    for done, entry in enumerate(entries):
        if done and done % STEP == 0:
            report_progress(done, total)
        yield entry


def list_audit_choices(database: Database, actor: Actor) -> tuple[list[str], list[str]]:
    """Return the usernames and the datasets that entries name, to filter by."""
    with database.read() as session:
        require_admin(session, actor)
        return list_people(session), list_datasets(session)


def _check_filter(wanted: AuditFilter) -> None:
    if wanted.action is not None and wanted.action not in list(AuditAction):
        raise ValidationError(f"expected an action among {', '.join(AuditAction)}, found {wanted.action!r}")


@dataclass(frozen=True, slots=True)
class RemovalReport:
    """Removed rows by table. `kept`: unchangeable rows that still name the person."""

    pseudonym: str
    removed: Mapping[str, int]
    kept: Mapping[str, int]
    dry_run: bool = False


def pseudonymise_person(
    database: Database, actor: Actor, username: str, *, now: datetime, dry_run: bool = False
) -> RemovalReport:
    """Replace everything that names the person by a pseudonym, end their sessions and disable the account, for ever.

    For the operator and admins of every dataset. Judgments and decisions stay, under the pseudonym. Raises StateError for the
    last admin, and for the last lead of a dataset with open disagreements.
    """
    with database.write() as session:
        with keep_led(session):
            report = _pseudonymise(session, actor, username, now=now)
        if dry_run:
            session.rollback()
    return replace(report, dry_run=dry_run)


def _pseudonymise(session: Session, actor: Actor, username: str, *, now: datetime) -> RemovalReport:
    require_admin(session, actor)
    row = find_person(session, username)
    if actor.person_id == row.pk:
        raise StateError("you cannot remove yourself; ask another admin")
    person_pk = key_of(row.pk)
    pseudonym = f"removed-{person_pk}"
    taken = find_look_alikes(session, [pseudonym])
    if username != pseudonym and taken:
        raise StateError(f"the username {taken[pseudonym]} is taken; change it first")
    kept = {} if username == pseudonym else count_kept_mentions(session, username)
    detach_sessions(session, person_pk)
    rows = {
        "person": int(username != pseudonym),
        **remove_sign_in_data(session, person_pk, username, now=now),
    }
    end_leases(session, person_pk, None, now=now)
    row.username, row.name, row.language = pseudonym, "", None
    row.password_hash, row.must_change_password = None, False
    row.disabled_at = row.disabled_at or now
    session.add(row)
    session.flush()
    rows["audit_personal"] = replace_names(session, person_pk, pseudonym)
    removed = {name: count for name, count in rows.items() if count}
    details = {REMOVED: rows["audit_personal"], "removed": removed, "kept": kept}
    note_act(session, AuditAction.account_pseudonymised, actor, at=now, subject=person_pk, details=details)
    return RemovalReport(pseudonym, removed, kept)


def remove_old_personal_data(database: Database, actor: Actor, *, before: datetime, now: datetime) -> int:
    """Remove the usernames and addresses from entries before a time. Returns how many; an entry says so.

    For the operator and admins of every dataset. The entries themselves stay.
    """
    if before > now:
        raise ValidationError("expected a time in the past")
    with database.write() as session:
        require_admin(session, actor)
        gone = remove_personal_before(session, before)
        if gone:
            details = {REMOVED: gone, "before": write_time(before)}
            note_act(session, AuditAction.personal_data_removed, actor, at=now, details=details)
        return gone
