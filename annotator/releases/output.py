"""What a release is written into: files hashed while they grow, and rows kept aside until they are recorded.

Memory stays small whatever the release's size. Errors of the disk come out as OSError: `folder.py` says them.
"""

import contextlib
import gc
import hashlib
import marshal
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

READ_ONLY = 0o400  # for its owner: a release holds what the documents hold
BUFFER = 1 << 18  # characters held back before they are written
ROWS = 5_000
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


@contextlib.contextmanager
def without_cycle_search() -> Iterator[None]:
    """Let Python's search for reference cycles rest: rows by the million make none, and it would take a third of
    the time. One of two that end at once wakes it early, which only costs time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class PartialFile:
    """One file on its way: `sha256` and `bytes` grow with it; read-only and synced to the disk once closed."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.bytes = 0
        self._digest = hashlib.sha256()
        self._waiting: list[str] = []
        self._length = 0
        make_private_folder(path.parent)
        self._path = path
        self._descriptor: int | None = os.open(path, _FLAGS, 0o600)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def write(self, text: str) -> None:
        """Add text, in UTF-8."""
        self._waiting.append(text)
        self._length += len(text)
        if self._length >= BUFFER:
            self._flush()

    def close(self) -> None:
        """Write the rest, make the file read-only and durable. A second call does nothing."""
        if self._descriptor is None:
            return
        self._flush()
        self._path.chmod(READ_ONLY)
        os.fsync(self._descriptor)
        self.abandon()

    def abandon(self) -> None:
        """Let go of the file as it is."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def _flush(self) -> None:
        data = "".join(self._waiting).encode("utf-8")
        self._waiting, self._length = [], 0
        self._digest.update(data)
        self.bytes += len(data)
        view = memoryview(data)
        while view and self._descriptor is not None:
            view = view[os.write(self._descriptor, view) :]


class Spool:
    """Rows (tuples of numbers and texts) in a nameless temporary file in `folder`, given back in chunks.

    Python's own marshal is fast, and safe here: nobody else can write to the file.
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  (closed by `close`)
        self._waiting: list[Sequence[Any]] = []
        self.rows = 0

    def add(self, rows: Sequence[Sequence[Any]]) -> None:
        """Keep these rows, after the ones before."""
        self._waiting.extend(rows)
        self.rows += len(rows)
        if len(self._waiting) >= ROWS:
            self._flush()

    def chunks(self) -> Iterator[list[Sequence[Any]]]:
        """The rows in their order, some thousands at a time."""
        self._flush()
        end = self._file.tell()
        self._file.seek(0)
        while self._file.tell() < end:
            yield marshal.load(self._file)

    def close(self) -> None:
        """Forget the rows."""
        self._file.close()

    def _flush(self) -> None:
        if self._waiting:
            self._file.write(marshal.dumps(self._waiting))
            self._waiting = []


class ContentDigest:
    """The content hash, from queries that come in any order: their canonical lines are kept aside and then hashed
    in the order of their ids (see `content.hash_content`)."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  (closed by `end`)
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0

    def add(self, query_id: str, lines: bytes) -> None:
        """A query's canonical lines; each query once."""
        self._file.write(lines)
        self._places[query_id] = (self._end, len(lines))
        self._end += len(lines)

    def end(self) -> str:
        """The hash, in hexadecimal."""
        digest = hashlib.sha256()
        for _, (start, length) in sorted(self._places.items()):
            self._file.seek(start)
            digest.update(self._file.read(length))
        self._file.close()
        return digest.hexdigest()


def make_private_folder(folder: Path) -> None:
    """Make the folder and those above it that are missing, each for its owner only; those that exist stay as they are."""
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def sync_folder(folder: Path) -> None:
    """Make names durable, where the system lets a folder be synced."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
