"""Records of backups, restores, copies and upgrades."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

SHORT_LIVED = (
    "login_session",
    "sign_in_request",
    "used_logout_token",
    "half_sign_in",
    "case_hold",
    "release_recording",
)
"""Tables whose rows no backup holds: who is signed in or about to be, and which release is being recorded at this moment."""
RECORDED_IN_PARTS = ("release_query", "release_qrel")
"""Tables with rows of releases that are not published yet: SQLite records a large one in parts (`release_recording`)."""

ReportProgress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done and how much there is; the unit is bytes or rows."""


@dataclass(frozen=True, slots=True)
class BackupMember:
    """A file in a backup: its path there, its size in bytes and its SHA-256."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """A backup's description of itself.

    `database`: "sqlite" or "postgresql". `tables`: {table: rows in the backup}. `problems`: faults in the
    folders of releases at backup time, one sentence each.
    """

    program: str
    schema: str
    database: str
    created_at: datetime
    tables: Mapping[str, int]
    members: tuple[BackupMember, ...]
    releases: int
    problems: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """Return the total size of all members."""
        return sum(member.bytes for member in self.members)


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A written backup. `sha256`: of the whole file."""

    path: Path
    bytes: int
    sha256: str
    manifest: BackupManifest


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """A restored backup. `migrated_to`: the new schema of its database; None if no migration was needed.

    `withdrawn_links`: the number of unused invitations and password links that are now void.
    """

    path: Path
    database: str
    manifest: BackupManifest
    releases: int
    fetched_runs: int
    migrated_to: str | None
    withdrawn_links: int


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A copied table: its row count, and the hash of its content, equal on both databases."""

    name: str
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class CopyReport:
    """A copied installation. `changed`: tables whose row count changed in the source during the copy."""

    source: str
    target: str
    tables: tuple[CopiedTable, ...]
    changed: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Return the total row count of all tables."""
        return sum(table.rows for table in self.tables)


@dataclass(frozen=True, slots=True)
class PendingMigration:
    """A migration that would run. `rolls`: servers with the earlier schema can continue meanwhile."""

    revision: str
    summary: str
    rolls: bool


@dataclass(frozen=True, slots=True)
class UpgradeCheck:
    """The effect of a database upgrade, and reasons against it.

    `schema`: of the database; None if it is empty. `needed`: of this program. `refusals`: why the upgrade
    would fail. `bytes`: the size of the database; `free_bytes`: free space of its disk, None if this machine
    cannot see it. `rehearsed`: whether the migrations ran on a copy, or in a transaction that was rolled
    back. `backup_at`, `judgments_since`: of the named backup. `look_alikes`: sentences about people with
    similar usernames.
    """

    database: str
    schema: str | None
    needed: str
    migrations: tuple[PendingMigration, ...]
    refusals: tuple[str, ...]
    bytes: int
    free_bytes: int | None
    rehearsed: bool
    backup_at: datetime | None
    judgments_since: int | None
    look_alikes: tuple[str, ...] = ()

    @property
    def rolls(self) -> bool:
        """Whether replicas can be restarted with the new version one by one; otherwise all must stop first."""
        return all(migration.rolls for migration in self.migrations)

    @property
    def is_ready(self) -> bool:
        """Whether there are no reasons against the upgrade."""
        return not self.refusals
