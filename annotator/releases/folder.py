"""A release's folder on the disk: written whole beside its place, then renamed into it.

How a publish stays whole, killed at any moment: (1) the files are written into a hidden folder
`.<version>.<random>.partial` beside the target, each synced to the disk; (2) the release's rows are committed
with the text of SHA256SUMS; (3) one rename puts the folder in its place. Killed before (2), nothing is
visible and nothing is recorded; the hidden folder is swept away a day later. Killed after (2), the next
release command or start of the server finds the hidden folder by its SHA256SUMS and renames it (`find_whole_partial`).
Rows first, because a folder without rows would be a release that nobody vouches for.
"""

import contextlib
import os
import secrets
import shutil
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from annotator.domain.errors import ConflictError, StateError
from annotator.releases.files import SUMS
from annotator.releases.verification import find_faults

READ_ONLY = 0o444
STALE_AFTER = timedelta(days=1)


def check_free(target: Path) -> None:
    """ConflictError when something stands where the release is to go."""
    if os.path.lexists(target):
        raise ConflictError(f"{target} exists already, and nothing rewrites a published folder")


def write_partial(target: Path, files: Mapping[str, bytes]) -> Path:
    """Write the files, read-only and synced, into a hidden folder beside `target`; return that folder.

    StateError when the disk refuses (full, not writable); then nothing is left behind.
    """
    partial = target.with_name(f".{target.name}.{secrets.token_hex(6)}.partial")
    try:
        partial.mkdir(parents=True)
        for path, data in files.items():
            _write(partial / path, data)
        for folder in (partial, target.parent):
            _sync_folder(folder)
    except OSError as error:
        discard(partial)
        raise StateError(f"cannot write the release to {target.parent}: {error.strerror}") from None
    return partial


def put_in_place(partial: Path, target: Path) -> None:
    """Rename the hidden folder to the release's. Somebody else's rename of the same folder is as good."""
    try:
        os.rename(partial, target)  # noqa: PTH104  (the one moment at which a release becomes visible)
        _sync_folder(target.parent)
    except FileNotFoundError:
        if not target.is_dir():
            raise StateError(f"the files of {target} are gone") from None
    except OSError as error:
        raise StateError(
            f"the release is recorded, but its folder cannot be put at {target}: {error.strerror}. "
            "Make room there, then run: annotator release list"
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


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        path.chmod(READ_ONLY)
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make names durable, where the system lets a folder be synced."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
