"""Temporary files and folders that the next run removes if their process was killed.

A partial file is hidden in the folder of its target, named `.NAME.RANDOM.annotator-partial`. Its process
holds a lock on it (flock) while working. The kernel releases the lock when the process ends for any reason.
Before making a new partial file, a process removes all unlocked ones in that folder. Ages and process ids are
not compared: both are wrong after a container restart. Files whose name begins with the name of a partial
file (a journal of SQLite) belong to it.
"""

import contextlib
import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

SUFFIX = ".annotator-partial"
KEPT = "before"
"""An entry of a partial folder with what was at the target before. A folder that has it is never removed."""


def name_partial(target: Path) -> Path:
    """Return a new hidden name in the folder of the target."""
    path = target.absolute()
    shown = os.fsencode(path.name)[:150].decode("utf-8", "ignore")  # file systems allow names of 255 bytes
    return path.with_name(f".{shown}.{secrets.token_hex(6)}{SUFFIX}")


@contextmanager
def hold_partial(partial: Path, *, is_folder: bool = False, mode: int = 0o600) -> Iterator[Path]:
    """Make an empty file or folder under a name of `name_partial`, and lock it. It is removed at the end
    unless renamed.

    Abandoned ones in the same folder are removed first. A folder is readable by its owner only.
    """
    remove_abandoned(partial.parent)
    descriptor = _make(partial, is_folder, mode)
    try:
        yield partial
    finally:
        _remove(partial)
        os.close(descriptor)


@contextmanager
def hold_temporary_folder(name: str, parent: Path | None = None) -> Iterator[Path]:
    """Make a folder for temporary files, in the system's temporary folder or in `parent`."""
    with hold_partial(name_partial((parent or Path(tempfile.gettempdir())) / name), is_folder=True) as folder:
        yield folder


def replace_file(target: Path, pieces: Iterable[bytes], *, mode: int = 0o600) -> None:
    """Write a file under a hidden name, then rename it to the target. After an OSError an existing target is
    unchanged.

    A device or a pipe, such as /dev/stdout, is written to and never replaced.
    """
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            stream.writelines(pieces)
        return
    with hold_partial(name_partial(target), mode=mode) as partial:
        with partial.open("wb") as file:
            file.writelines(pieces)
        partial.replace(target)


def remove_abandoned(folder: Path) -> None:
    """Remove the unlocked partial files and folders in this folder. Ignores system errors."""
    with contextlib.suppress(OSError):
        names = {path.name for path in folder.iterdir() if path.name.startswith(".") and SUFFIX in path.name}
        for base in {name[: name.index(SUFFIX) + len(SUFFIX)] for name in names}:
            _remove_if_abandoned(folder / base)


def _remove_if_abandoned(partial: Path) -> None:
    with contextlib.suppress(OSError):
        try:
            descriptor = os.open(
                partial, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            )  # a FIFO does not block
        except FileNotFoundError:
            _remove(partial)  # only what belonged to it is left
            return
        try:
            if os.fstat(descriptor).st_uid != os.geteuid():
                return
            fcntl.flock(
                descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB
            )  # OSError: held, or a file system without locks
            _remove(partial)
        finally:
            os.close(descriptor)


def _make(partial: Path, is_folder: bool, mode: int) -> int:
    """Make it and return the descriptor that holds the lock. Retries if it was removed before that."""
    while True:
        if is_folder:
            partial.mkdir(mode=0o700)
            descriptor = os.open(partial, os.O_RDONLY)
        else:
            descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
        with contextlib.suppress(OSError):  # a file system without locks: nobody removes anything there
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), partial.stat()):
                return descriptor
        os.close(descriptor)


def _remove(partial: Path) -> None:
    with contextlib.suppress(OSError):
        for path in [path for path in partial.parent.iterdir() if path.name.startswith(partial.name)]:
            if path.is_dir() and not path.is_symlink():
                if not (path / KEPT).exists():
                    shutil.rmtree(path, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    path.unlink()
