"""Write a backup as one zip, piece by piece, with a SHA-256 of every member; read it back and refuse
differences.

The file has a temporary name, readable by its owner only, until it is complete and on the disk. The next
backup into the same folder removes the rest of a killed backup (`formats/syntax/partial_files.py`). Published
releases are checked against their checksums while they are added.

PostgreSQL's own programs `pg_dump` and `pg_restore` must be at least as new as the server. They get the password in
the environment, never on the command line, which every user of the machine can read.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, Any, Self
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from annotator.domain.errors import BadInput, ConflictError, StateError, refuse
from annotator.formats.syntax.partial_files import hold_partial, name_partial
from annotator.installation.records import (
    SHORT_LIVED,
    BackupManifest,
    BackupMember,
    BackupReport,
    ReportProgress,
)

FORMAT = "annotator backup"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
DATABASE_MEMBER = {"sqlite": "database.sqlite", "postgresql": "database.pgdump"}
EXPORTS, FETCHED_RUNS = "exports", "fetched-runs"
PIECE = 1_024 * 1_024  # bytes
MOST_OF_A_MANIFEST = 200_000_000  # bytes
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # that a zip can name
_SUM = re.compile(r"([0-9a-f]{64}) [ *](.+)")
_DAMAGES = (BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError, ValueError, zlib.error)
"""What reading a damaged zip raises; OSError for a place before the file's beginning."""


class BackupWriter:
    """A backup being written."""

    def __init__(self, file: IO[bytes], created_at: datetime) -> None:
        self.members: list[BackupMember] = []
        self._moment = max(created_at.astimezone(UTC).timetuple()[:6], _EARLIEST)
        self._archive = ZipFile(file, "w", compresslevel=1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._archive.close()  # a second call does nothing

    def add(self, path: str, source: IO[bytes], *, compress: bool) -> BackupMember:
        """Add a member from an open file or pipe. Returns its size and SHA-256."""
        self._archive.compression = ZIP_DEFLATED if compress else ZIP_STORED
        digest, size = hashlib.sha256(), 0
        with self._archive.open(path, "w", force_zip64=True) as entry:
            while piece := source.read(PIECE):
                digest.update(piece)
                entry.write(piece)
                size += len(piece)
        self.members.append(BackupMember(path, size, digest.hexdigest()))
        return self.members[-1]

    def close(self, manifest: BackupManifest) -> None:
        """Write the manifest and the end of the zip."""
        shown = {"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(manifest)}
        shown["created_at"] = manifest.created_at.astimezone(UTC).isoformat()
        self._archive.writestr(
            ZipInfo(MANIFEST, self._moment), json.dumps(shown, ensure_ascii=False, indent=1), ZIP_DEFLATED
        )
        self._archive.close()


def check_free(path: Path) -> None:
    """Raise ConflictError if the path exists, StateError if its folder does not."""
    if os.path.lexists(path):
        raise ConflictError(f"{path} exists already, and nothing is written over; name another file")
    if not path.absolute().parent.is_dir():
        raise StateError(f"the folder of {path} does not exist")


@contextmanager
def open_partial_file(path: Path) -> Iterator[Path]:
    """Yield an empty file, readable by its owner only, and rename it. Raises ConflictError if the path exists."""
    check_free(path)
    with hold_partial(name_partial(path)) as partial:
        yield partial
        _sync(partial)
        _place(partial, path)
        _sync(path.absolute().parent)


def _place(partial: Path, path: Path) -> None:
    """Rename the file, unless the path exists by now."""
    try:
        os.link(partial, path)  # unlike a rename, never over another file
    except FileExistsError:
        check_free(path)
    except OSError:  # a file system without links
        check_free(path)
        partial.rename(path)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def report_backup(path: Path, partial: Path, manifest: BackupManifest) -> BackupReport:
    """Return the report of a written file, with the hash of the whole file."""
    with partial.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return BackupReport(path, partial.stat().st_size, digest, manifest)


def add_release(writer: BackupWriter, folder: Path, name: str, sums: str) -> list[str]:
    """Add the folder of a release. Returns differences from its checksums, one sentence per file.

    `name`: `dataset/version`. `sums`: the text of SHA256SUMS as the database recorded it; empty for older
    releases, which are compared with their own SHA256SUMS.
    """
    if not folder.is_dir() or folder.is_symlink():
        return [f"release {name}: its folder is missing ({folder})"]
    files = _list_files(folder)
    own_sums = folder / "SHA256SUMS"
    expected = _read_sums(sums or (own_sums.read_text("utf-8", "replace") if own_sums.is_file() else ""))
    problems = [f"release {name}: {path} is missing" for path in expected if path not in files]
    for path in files:
        with (folder / path).open("rb") as file:
            added = writer.add(f"{EXPORTS}/{name}/{path}", file, compress=True)
        if path == "SHA256SUMS":
            if sums and added.sha256 != hashlib.sha256(sums.encode()).hexdigest():
                problems.append(f"release {name}: SHA256SUMS is not the one that was published")
        elif path in expected and added.sha256 != expected[path]:
            problems.append(f"release {name}: {path} is not the file that was published")
        elif path not in expected and path != "SHA256SUMS.sig":
            problems.append(f"release {name}: {path} was not published with it")
    return problems


def add_folder(writer: BackupWriter, folder: Path, name: str) -> None:
    """Add every file of a folder except hidden ones. A file that disappears meanwhile is left out."""
    for path in _list_files(folder):
        if not any(part.startswith(".") for part in PurePosixPath(path).parts):
            with suppress(FileNotFoundError), (folder / path).open("rb") as file:
                writer.add(f"{name}/{path}", file, compress=True)


def _list_files(folder: Path) -> list[str]:
    """Return the paths of the plain files below the folder, sorted. Links are not followed."""
    if not folder.is_dir():
        return []
    paths = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(path.relative_to(folder).as_posix() for path in paths)


def _read_sums(sums: str) -> dict[str, str]:
    matches = (_SUM.fullmatch(line) for line in sums.splitlines())
    return {match[2]: match[1] for match in matches if match}


class BackupReader:
    """An open backup. Everything read is compared with the checksums of its manifest."""

    def __init__(self, path: Path, archive: ZipFile) -> None:
        self.path, self._archive = path, archive
        self.manifest = self._read_manifest()
        names = [name for name in archive.namelist() if name != MANIFEST]
        listed = [member.path for member in self.manifest.members]
        if sorted(names) != sorted(listed) or len(set(names)) != len(names):
            strange = sorted(set(names) ^ set(listed))[:3]
            raise self._refuse("the members of its manifest", f"others ({', '.join(strange)})")
        for name in listed:
            if not is_safe_path(name):
                raise self._refuse("paths below the folders that it restores", name)
        if any(entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for entry in archive.infolist()):
            raise self._refuse("members that are stored or deflated", "another compression")

    def copy_member(self, member: BackupMember, target: IO[bytes]) -> None:
        """Write a member to an open file or pipe. Raises BadInput if its bytes differ from the saved ones."""
        digest, size = hashlib.sha256(), 0
        for piece in self._read_pieces(member):
            digest.update(piece)
            size += len(piece)
            target.write(piece)
        if (size, digest.hexdigest()) != (member.bytes, member.sha256):
            raise self._refuse(
                f"{member.path} with the SHA-256 {member.sha256}", f"another ({digest.hexdigest()})"
            )

    def _read_pieces(self, member: BackupMember) -> Iterator[bytes]:
        try:
            with self._archive.open(member.path) as entry:
                while piece := entry.read(PIECE):
                    yield piece
        except _DAMAGES as error:
            raise self._refuse(f"{member.path} as it was saved", f"damaged bytes ({error})") from None

    def check_members(self, members: list[BackupMember], progress: ReportProgress) -> None:
        """Read the members and compare them with their checksums."""
        whole, done = sum(member.bytes for member in members), 0
        with Path(os.devnull).open("wb") as nowhere:
            for member in members:
                self.copy_member(member, nowhere)
                done += member.bytes
                progress("checked", done, whole)

    def find_database(self) -> BackupMember:
        """Return the member with the database."""
        name = DATABASE_MEMBER[self.manifest.database]
        return next(member for member in self.manifest.members if member.path == name)

    def list_members(self, path: str) -> list[BackupMember]:
        """Return the member with this path, and all members below it."""
        return [
            member
            for member in self.manifest.members
            if member.path == path or member.path.startswith(f"{path}/")
        ]

    def _read_manifest(self) -> BackupManifest:
        try:
            if self._archive.getinfo(MANIFEST).file_size > MOST_OF_A_MANIFEST:
                raise ValueError
            shown = json.loads(self._archive.read(MANIFEST))
            kind = (shown["format"], shown["format_version"])
            manifest = _to_manifest(shown)
        except (*_DAMAGES, AttributeError, KeyError, OverflowError, TypeError):
            raise self._refuse(f"a backup with {MANIFEST}", "another zip") from None
        if kind != (FORMAT, FORMAT_VERSION):
            raise self._refuse(f"{FORMAT}, version {FORMAT_VERSION}", f"{kind[0]}, version {kind[1]}")
        name = DATABASE_MEMBER.get(manifest.database)
        if name not in [member.path for member in manifest.members]:
            raise self._refuse("a backup with its database", "none")
        return manifest

    def _refuse(self, expected: str, found: str) -> BadInput:
        return refuse(str(self.path), None, expected, found)


def _to_manifest(shown: dict[str, Any]) -> BackupManifest:
    return BackupManifest(
        program=str(shown["program"]),
        schema=str(shown["schema"]),
        database=str(shown["database"]),
        created_at=datetime.fromisoformat(shown["created_at"]),
        tables={str(name): int(rows) for name, rows in shown["tables"].items()},
        members=tuple(
            BackupMember(str(item["path"]), int(item["bytes"]), str(item["sha256"]))
            for item in shown["members"]
        ),
        releases=int(shown["releases"]),
        problems=tuple(str(problem) for problem in shown["problems"]),
    )


def is_safe_path(path: str) -> bool:
    """Check that a member's path stays below its target folder, on every operating system."""
    parts = PurePosixPath(path).parts
    return bool(parts) and "\\" not in path and not path.startswith("/") and ".." not in parts


@contextmanager
def open_backup(path: Path) -> Iterator[BackupReader]:
    """Open a backup. Raises BadInput if it is not one, StateError if the file does not exist."""
    if not path.is_file():
        raise StateError(f"expected a file made by annotator backup, found none at {path}")
    try:
        archive = ZipFile(path)
    except _DAMAGES as error:
        raise refuse(str(path), None, "a whole file made by annotator backup", str(error)) from None
    with archive:
        yield BackupReader(path, archive)


DEBIAN = Path("/usr/lib/postgresql")  # where Debian and Ubuntu keep the versions side by side
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")


def find_program(name: str, server_version: int, folder: Path | None) -> Path:
    """Return a program that fits the server, from `folder`, or else the PATH and Debian's folders. Or StateError."""
    if folder is not None:
        candidates = [folder / name]
    else:
        on_path = shutil.which(name)
        candidates = [Path(on_path)] if on_path else []
        candidates += sorted(DEBIAN.glob(f"*/bin/{name}"), reverse=True)
    seen = []
    for candidate in candidates:
        version = read_version(candidate)
        if version is not None and version >= server_version:
            return candidate
        if version is not None:
            seen.append(f"{candidate} is of version {version}")
    found = "; ".join(dict.fromkeys(seen)) or (f"none in {folder}" if folder else "none on the PATH")
    raise StateError(
        f"expected {name} of PostgreSQL {server_version} or newer, as the server is, found {found}. Install it (Debian and "
        f"Ubuntu: postgresql-client-{server_version}), or name its folder: --pg-bin DIR or ANNOTATOR_PG_BIN"
    )


def read_version(program: Path) -> int | None:
    """Return the major version of a program; None if it cannot be run."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    match = _VERSION.search(done.stdout)
    return int(match[1]) if match else None


@contextmanager
def dump_database(program: Path, url: str, secrets: Mapping[str, str], snapshot: str) -> Iterator[IO[bytes]]:
    """Yield a pipe with the dump of a database, in pg_dump's custom format, from the exported snapshot.

    `url`: without its password; `secrets`: environment variables. Raises StateError at the end if pg_dump
    failed.
    """
    left_out = [f"--exclude-table-data=*.{table}" for table in SHORT_LIVED]
    options = ["--format=custom", "--compress=1", "--no-owner", "--no-privileges", "--lock-wait-timeout=30s"]
    command = [str(program), *options, *left_out, f"--snapshot={snapshot}", f"--dbname={url}"]
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=messages, env={**os.environ, **secrets}
        )
        try:
            if process.stdout is not None:
                yield process.stdout
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
        _raise_if_failed(process, messages, "pg_dump")


@contextmanager
def restore_database(program: Path, url: str, secrets: Mapping[str, str]) -> Iterator[IO[bytes]]:
    """Yield a pipe that restores a dump in one transaction. Raises StateError at the end if it failed."""
    options = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"]
    command = [str(program), *options, f"--dbname={url}"]
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=messages, stderr=messages, env={**os.environ, **secrets}
        )
        try:
            if process.stdin is not None:
                yield process.stdin
                process.stdin.close()
        except BrokenPipeError:
            pass  # it has ended, and its messages say why
        except BaseException:
            process.kill()  # before the pipe is closed, so that half a dump is not taken for a whole one
            raise
        finally:
            process.wait()
        _raise_if_failed(process, messages, "pg_restore")


def _raise_if_failed(process: subprocess.Popen[bytes], messages: IO[bytes], name: str) -> None:
    if process.returncode:
        messages.seek(0)
        lines = messages.read(20_000).decode("utf-8", "replace").split("\n")
        said = next((line for line in lines if "error:" in line), lines[0]).strip()
        raise StateError(f"{name} failed, so nothing was kept: {said}")
