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
    """A file in a backup: its path in it, its size in bytes and its SHA-256."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """What a backup says about itself.

    `database`: "sqlite" or "postgresql". `tables`: the number of rows of every table in the backup. `problems`: what was wrong
    with the folders of releases when they were saved, a sentence each.
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
        """The size of all members."""
        return sum(member.bytes for member in self.members)


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A backup that was written. `sha256`: of the whole file."""

    path: Path
    bytes: int
    sha256: str
    manifest: BackupManifest


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """A backup that was restored. `migrated_to`: the schema that its database was brought to; None if it had it already.

    `withdrawn_links`: how many invitations and links for a new password, not used when the backup was made, are void now.
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
    """A table that was copied: its rows, and the hash of their content, the same on both databases."""

    name: str
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class CopyReport:
    """An installation that was copied. `changed`: tables whose number of rows changed in the source meanwhile."""

    source: str
    target: str
    tables: tuple[CopiedTable, ...]
    changed: tuple[str, ...]

    @property
    def rows(self) -> int:
        """The number of rows of all tables."""
        return sum(table.rows for table in self.tables)


@dataclass(frozen=True, slots=True)
class PendingMigration:
    """A migration that would run, what it does, and whether servers of the schema before may go on meanwhile."""

    revision: str
    summary: str
    rolls: bool


@dataclass(frozen=True, slots=True)
class UpgradeCheck:
    """What an upgrade of the database would do, and what speaks against it.

    `schema`: of the database; None if it is empty. `needed`: of this program. `refusals`: why the upgrade would fail. `bytes`: the
    size of the database; `free_bytes`: of its disk, None if this machine cannot see it. `rehearsed`: whether the migrations ran
    on a copy, or in a transaction that was rolled back. `backup_at`, `judgments_since`: of the backup that was named.
    `look_alikes`: sentences on people whose usernames look alike.
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
        """Whether replicas may be restarted with the new version one after the other; else all are stopped first."""
        return all(migration.rolls for migration in self.migrations)

    @property
    def is_ready(self) -> bool:
        """Whether nothing speaks against the upgrade."""
        return not self.refusals
