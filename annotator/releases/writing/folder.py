"""Write a release's folder under a hidden name, then rename it, so that a release is whole or absent.

(1) Files are written, hashed and synced in a hidden folder `.<version>.<random>.partial` beside the target; (2) the rows are
committed with the text of SHA256SUMS; (3) one rename puts the folder in place. Rows come first, because a folder without
rows is no release. Killed before (2), nothing is recorded; the next publish, release command or server start removes the
hidden folder (one with SHA256SUMS only after a day). Killed after (2), they find it by its SHA256SUMS (`find_whole_partial`)
and rename it once its place is free. A lock on the dataset's folder (`hold_folder`), which the system releases when the
process dies, keeps others from removing what is being written.
"""

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from annotator.domain.errors import ConflictError, StateError
from annotator.domain.messages import say
from annotator.releases.verify.verify import find_faults
from annotator.releases.writing.files import SUMS, PartialFile, make_private_folder, sync_folder

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
