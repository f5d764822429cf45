"""A release's folder on the disk: written whole beside its place, then renamed into it.

How a publish stays whole, killed at any moment: (1) the files are written into a hidden folder
`.<version>.<random>.partial` beside the target, hashed while they are written, each synced to the disk; (2) the
release's rows are committed with the text of SHA256SUMS; (3) one rename puts the folder in its place. Killed
before (2), nothing is visible and nothing is recorded; the hidden folder is swept away a day later. Killed after
(2), the next release command or start of the server finds the hidden folder by its SHA256SUMS and renames it
(`find_whole_partial`). Rows first, because a folder without rows would be a release that nobody vouches for.
"""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from annotator.domain.errors import ConflictError, StateError
from annotator.domain.messages import say
from annotator.releases.files import SUMS
from annotator.releases.output import PartialFile, sync_folder
from annotator.releases.verification import find_faults

STALE_AFTER = timedelta(days=1)


def check_free(target: Path) -> None:
    """ConflictError when something stands where the release is to go."""
    if os.path.lexists(target):
        raise ConflictError(
            say("{target} exists already, and nothing rewrites a published folder", target=target)
        )


class PartialFolder:
    """The hidden folder of a release that is being written. Files are added one by one or side by side."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(f".{target.name}.{secrets.token_hex(6)}.partial")
        self.files: list[PartialFile] = []

    def open(self, name: str) -> PartialFile:
        """A new file, by its path within the folder."""
        file = PartialFile(self.path / name, name)
        self.files.append(file)
        return file

    def write(self, name: str, text: str) -> None:
        """A whole small file."""
        file = self.open(name)
        file.write(text)
        file.close()

    def list_files(self) -> list[PartialFile]:
        """The files so far, by path."""
        return sorted(self.files, key=lambda file: file.name)

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
def open_partial(target: Path) -> Iterator[PartialFolder]:
    """A hidden folder beside `target`, sealed when the block ends well; after any failure nothing is left of it.

    StateError when the disk refuses (full, not writable).
    """
    folder = PartialFolder(target)
    try:
        folder.path.mkdir(parents=True)
        yield folder
        folder.seal()
    except OSError as error:
        folder.discard()
        raise StateError(
            say("cannot write the release to {folder}: {why}", folder=target.parent, why=error.strerror)
        ) from None
    except BaseException:
        folder.discard()
        raise


def put_in_place(partial: Path, target: Path) -> None:
    """Rename the hidden folder to the release's. Somebody else's rename of the same folder is as good."""
    try:
        os.rename(partial, target)  # noqa: PTH104  (the one moment at which a release becomes visible)
        sync_folder(target.parent)
    except FileNotFoundError:
        if not target.is_dir():
            raise StateError(say("the files of {target} are gone", target=target)) from None
    except OSError as error:
        raise StateError(
            say(
                "the release is recorded, but its folder cannot be put at {target}: {why}. Make room there, then run: annotator release list",
                target=target,
                why=error.strerror,
            )
        ) from None


def find_whole_partial(target: Path, sums: str) -> Path | None:
    """The hidden folder of this release whose every file agrees with `sums`; None when there is none."""
    for partial in sorted(target.parent.glob(f".{target.name}.*.partial")):
        if read_sums(partial) == sums and not find_faults(partial):
            return partial
    return None


def read_sums(folder: Path) -> str | None:
    """The text of the folder's SHA256SUMS, None when there is none."""
    try:
        return (folder / SUMS).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def sweep(folder: Path, *, now: datetime) -> None:
    """Remove the hidden folders of publishes that died more than a day ago."""
    for partial in folder.glob(".*.partial"):
        with contextlib.suppress(OSError):
            if now.timestamp() - partial.stat().st_mtime > STALE_AFTER.total_seconds():
                discard(partial)


def discard(partial: Path) -> None:
    """Remove a hidden folder, as far as the disk allows."""
    shutil.rmtree(partial, ignore_errors=True)
