"""Opens a file that the user named: a regular one, and nothing that only looks like a file.

A device may have no end, a named pipe waits for somebody who writes, and what stands under /proc and /sys is the kernel's: reading
it can fail half way or never end. All of them are refused before the first byte, as is a folder. Every reader of a named file
begins here.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from annotator.domain.errors import BadInput, FormatError, ValidationError

_KERNEL = ("/proc/", "/sys/")
_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_PIECE = 1_048_576


def open_regular(path: str | Path) -> BinaryIO:
    """Open the file for reading. BadInput when it is no regular file; ValidationError when it is a folder or cannot be opened."""
    try:
        _check(Path(path).stat().st_mode, path)  # first: to open a pipe would wait for somebody who writes
        file = Path(path).open("rb")  # noqa: SIM115  # the caller closes it
    except OSError as error:
        raise ValidationError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:  # a NUL in the name
        raise ValidationError(f"cannot read {str(path)!r}: no file can have this name") from None
    try:
        _check(
            os.fstat(file.fileno()).st_mode, path
        )  # what was opened, should it have been exchanged meanwhile
    except BaseException:
        file.close()
        raise
    return file


def read_regular(path: str | Path, *, longest_line: int | None = None) -> bytes:
    """Read a whole regular file, as `open_regular` opens it. With `longest_line` BadInput names a line of more bytes, which is not
    read to its end."""
    with open_regular(path) as file, named_errors(path):
        if longest_line is None:
            return file.read()
        return read_lines_up_to(file, str(path), longest_line)


def read_lines_up_to(file: BinaryIO, path: str, longest_line: int) -> bytes:
    """Read a whole file. BadInput as soon as a line has more bytes than that."""
    pieces: list[bytes] = []
    line, length = 1, 0
    while piece := file.read(_PIECE):
        first, last = piece.find(b"\n"), piece.rfind(b"\n")
        if length + (len(piece) if first < 0 else first) > longest_line:
            limit = f"lines of at most {longest_line // 1_000_000} MB"
            raise BadInput([FormatError(path, line, limit, "a longer one")])
        length = length + len(piece) if last < 0 else len(piece) - last - 1
        line += piece.count(b"\n")
        pieces.append(piece)
    return b"".join(pieces)


@contextmanager
def named_errors(path: str | Path) -> Iterator[None]:
    """Turn what the system says while a file is read into ValidationError with its name."""
    try:
        yield
    except OSError as error:
        raise ValidationError(f"cannot read {path}: {error.strerror}") from None


def _check(mode: int, path: str | Path) -> None:
    if stat.S_ISDIR(mode):
        raise ValidationError(f"{path}: expected a file, found a folder")
    found = next((name for is_kind, name in _KINDS if is_kind(mode)), None)
    if found is None and os.path.realpath(path).startswith(_KERNEL):
        found = "a file of the kernel"
    if found is None and not stat.S_ISREG(mode):
        found = "something else"
    if found is not None:
        raise BadInput([FormatError(str(path), None, "a regular file", found)])
