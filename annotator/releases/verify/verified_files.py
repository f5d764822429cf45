"""Open the files of a published release so that only the published bytes can be read from them.

The database keeps the text of SHA256SUMS from publishing. A file is opened once, hashed whole and in pieces, and sent from the
same descriptor with every piece hashed again, so neither replacing the file nor rewriting it in place changes a download. The
cost is hashing twice, 1.5 GB a second and core (`benchmarks/release_download.py`); size and time of change prove nothing.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from annotator.domain.errors import ConflictError
from annotator.domain.messages import say
from annotator.releases.writing.files import SIGNATURE, SUMS

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
