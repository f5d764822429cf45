"""Write a release's folder under a hidden name, then rename it, so that a release is whole or absent.

(1) Files are written, hashed and synced in a hidden folder `.<version>.<random>.partial` beside the target; (2) the rows are
committed with the text of SHA256SUMS; (3) one rename puts the folder in place. Rows come first, because a folder without
rows is no release. Killed before (2), nothing is recorded; the next publish, release command or server start removes the
hidden folder (one with SHA256SUMS only after a day). Killed after (2), they find it by its SHA256SUMS (`find_whole_partial`)
and rename it once its place is free. A lock on the dataset's folder (`hold_folder`), which the system releases when the
process dies, keeps others from removing what is being written.

Open the files of a published release so that only the published bytes can be read from them. The database
keeps the text of SHA256SUMS from publishing. A file is opened once, hashed whole and in pieces, and sent from
the same descriptor with every piece hashed again, so neither replacing the file nor rewriting it in place
changes a download. The cost is hashing twice, 1.5 GB a second and core (`benchmarks/release_download.py`);
size and time of change prove nothing.
"""

import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from annotator.domain.errors import ConflictError, StateError
from annotator.domain.messages import say
from annotator.releases.verify.verify import find_faults
from annotator.releases.writing.files import SIGNATURE, SUMS, PartialFile, make_private_folder, sync_folder

STALE_AFTER = timedelta(days=1)
"""How old a hidden folder is before it counts as left behind, where the file system knows no locks or the folder is whole."""


def check_free(target: Path) -> None:
    """Raise ConflictError if something already exists at the release's path."""
    if os.path.lexists(target):
        raise ConflictError(
            say(
                "The folder {target} already exists, and a published folder is never overwritten.",
                target=target,
            )
        )


class PartialFolder:
    """The hidden folder of a release that is being written. Files are added one by one or side by side."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(f".{target.name}.{secrets.token_hex(6)}.partial")
        self.files: list[PartialFile] = []

    def open(self, name: str) -> PartialFile:
        """Open a new file, by its path within the folder."""
        file = PartialFile(self.path / name, name)
        self.files.append(file)
        return file

    def write(self, name: str, text: str) -> None:
        """Write a whole small file."""
        file = self.open(name)
        file.write(text)
        file.close()

    def seal(self) -> None:
        """Close what is open, and make the names durable."""
        for file in self.files:
            file.close()
        for folder in sorted({(self.path / file.name).parent for file in self.files} | {self.path}):
            sync_folder(folder)
        sync_folder(self.target.parent)

    def discard(self) -> None:
        """Remove the folder, as far as the disk allows."""
        for file in self.files:
            file.abandon()
        discard(self.path)


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Keep other processes from removing hidden folders in this folder. Several may hold it at once.

    Raises StateError if the folder cannot be made.
    """
    try:
        make_private_folder(folder)
    except OSError as error:
        raise StateError(
            say("The release cannot be written to {folder}: {why}", folder=folder, why=error.strerror)
        ) from None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks: `sweep` goes by age there
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def open_partial(target: Path) -> Iterator[PartialFolder]:
    """Open a hidden folder next to `target`; seal it if the block succeeds, remove it if the block fails.

    Raises StateError if the disk refuses (full, not writable).
    """
    folder = PartialFolder(target)
    try:
        make_private_folder(folder.path)
        yield folder
        folder.seal()
    except OSError as error:
        folder.discard()
        raise StateError(
            say("The release cannot be written to {folder}: {why}", folder=target.parent, why=error.strerror)
        ) from None
    except BaseException:
        folder.discard()
        raise


def put_in_place(partial: Path, target: Path) -> None:
    """Rename the hidden folder to the release's. It is fine if another process has just done so."""
    try:
        os.rename(partial, target)  # noqa: PTH104  (the one moment at which a release becomes visible)
        sync_folder(target.parent)
    except FileNotFoundError:
        if not target.is_dir():
            raise StateError(say("The files of {target} are missing.", target=target)) from None
    except OSError as error:
        raise StateError(
            say(
                "The release is recorded, but its folder cannot be created at {target}: {why}. Make room "
                "there, then open the page Releases.",
                target=target,
                why=error.strerror,
            )
        ) from None


def find_whole_partial(target: Path, sums: str) -> Path | None:
    """Return the complete hidden folder of this release, with these SHA256SUMS, or None."""
    for partial in sorted(target.parent.glob(f".{target.name}.*.partial")):
        if read_sums(partial) == sums and not find_faults(partial):
            return partial
    return None


def read_sums(folder: Path) -> str | None:
    """Return the text of the folder's SHA256SUMS, or None."""
    try:
        return (folder / SUMS).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def sweep(folder: Path, *, now: datetime, recorded: Collection[str] = ()) -> None:
    """Remove the hidden folders that killed publishes left behind, unless somebody publishes into this folder now.

    `recorded`: the texts of SHA256SUMS of the releases that the database knows. A folder with one of them stays: it is the
    only copy of its release. One with another is whole, and another database may know it: it goes by its age.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        nobody_writes = _try_lock(descriptor)
        for partial in folder.glob(".*.partial"):
            with contextlib.suppress(OSError):
                old = now.timestamp() - partial.stat().st_mtime > STALE_AFTER.total_seconds()
                sums = read_sums(partial)
                abandoned = old if nobody_writes is None or sums is not None else nobody_writes
                if nobody_writes is not False and abandoned and sums not in recorded:
                    discard(partial)
    finally:
        os.close(descriptor)


def is_abandoned(folder: Path, started_at: datetime, *, now: datetime) -> bool:
    """Return whether the publishing process has ended: nobody holds the folder, or it began long ago."""
    if now - started_at > STALE_AFTER:
        return True
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return False  # published from another folder of exports
    try:
        return _try_lock(descriptor) is True
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool | None:
    """Return whether nobody else holds the folder; None if the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def discard(partial: Path) -> None:
    """Remove a hidden folder, as far as the disk allows."""
    shutil.rmtree(partial, ignore_errors=True)


PIECE = 256 * 1024
_FLAGS = (
    os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
)


class VerifiedFile:
    """An open file that had the published bytes when it was opened. `size` is in bytes. Close it after use."""

    def __init__(self, name: str, file: BinaryIO, sha256: str) -> None:
        """Hash the file. Raises ConflictError if the hash differs from the expected one."""
        self.name, self.sha256 = name, sha256
        self._file = file
        self._pieces: list[bytes] = []
        whole, size = hashlib.sha256(), 0
        while piece := self._read_piece():
            whole.update(piece)
            self._pieces.append(hashlib.sha256(piece).digest())
            size += len(piece)
        self.size = size
        if whole.hexdigest() != sha256:
            raise refuse_file(name)

    def read(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` up to `stop` in pieces.

        Raises ConflictError if the file was rewritten since it was opened."""
        stop = self.size if stop is None else min(stop, self.size)
        for number in range(start // PIECE, -(-stop // PIECE)):
            begin = number * PIECE
            self._file.seek(begin)
            piece = self._read_piece()
            if hashlib.sha256(piece).digest() != self._pieces[number]:
                raise refuse_file(self.name)
            yield piece[max(start - begin, 0) : stop - begin]

    def _read_piece(self) -> bytes:
        """Return the next piece, whole except at the end of the file.

        One read may return less (a network file system, a signal).
        """
        read: list[bytes] = []
        missing = PIECE
        while missing and (some := self._file.read(missing)):
            read.append(some)
            missing -= len(some)
        return read[0] if len(read) == 1 else b"".join(read)

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self._file.close()


def open_verified(folder: Path, name: str, sha256: str) -> VerifiedFile:
    """Open the file of this name below the folder.

    Raises ConflictError if it is not a regular file or has another hash."""
    try:
        if not is_plain_below(folder, name):
            raise refuse_file(name)
        file = os.fdopen(os.open(folder / name, _FLAGS), "rb", buffering=0)
    except OSError:
        raise refuse_file(name) from None
    try:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise refuse_file(name)
        return VerifiedFile(name, file, sha256)
    except OSError:
        file.close()
        raise refuse_file(name) from None
    except BaseException:
        file.close()
        raise


def refuse_file(name: str) -> ConflictError:
    """Return the error for a file that differs from the published one.

    Bytes of its name that are not text are shown as numbers."""
    shown = name.encode("utf-8", "backslashreplace").decode()
    return ConflictError(say("The file {name} has changed since it was published.", name=shown))


def is_plain_below(folder: Path, name: str) -> bool:
    """Return whether the name leads to a regular file without a link below the folder."""
    path = folder
    for part in PurePosixPath(name).parts:
        path = path / part
        if path.is_symlink():
            return False
    return path.is_file()


def list_checksums(sums: str, signature: str | None = None) -> dict[str, str]:
    """Return the SHA-256 of every file, by path, from the stored texts of SHA256SUMS and of its signature."""
    listed = {path: sha256 for sha256, path in (line.split("  ", 1) for line in sums.splitlines())}
    beside = {SUMS: sums} if signature is None else {SUMS: sums, SIGNATURE: signature}
    return listed | {name: hashlib.sha256(text.encode()).hexdigest() for name, text in beside.items()}


def find_misplaced(folder: Path, sizes: Mapping[str, int | None]) -> list[str]:
    """Return the names of files that are missing, added, not regular, or of another size, without reading any file.

    `sizes`: bytes by path; None: any size.
    """
    stats: dict[str, os.stat_result] = {}
    for root, folders, files in os.walk(folder):
        for name in files + [name for name in folders if (Path(root) / name).is_symlink()]:
            path = Path(root) / name
            stats[path.relative_to(folder).as_posix()] = path.lstat()
    return sorted(
        name
        for name in {*stats, *sizes}
        if name not in stats
        or name not in sizes
        or not stat.S_ISREG(stats[name].st_mode)
        or sizes[name] not in (None, stats[name].st_size)
    )
