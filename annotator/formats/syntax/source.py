"""Open the input of a reader: one regular file, or the folder of a format; as bytes or lines.

Every reader of a named file starts here. Text is UTF-8 (with or without BOM) unless another encoding is
named. Refused with the line: bytes not in the encoding, NUL, lone surrogates, a line of more than 32 MB.
Devices, named pipes and files under /proc and /sys are refused before the first byte, since reading them may
never end or may fail half way. A folder is refused if a file is expected. The bytes are hashed while they are
read, so an import's record has the hash of the imported bytes. A file may be read twice; it is refused if it
changed in between.
"""

import hashlib
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from annotator.domain.errors import ConflictError, ValidationError, refuse
from annotator.domain.messages import say
from annotator.formats.syntax.grade_scale import GradeScale
from annotator.formats.syntax.text import describe_bytes, drop_mark, read_text, to_utf8

_KERNEL = ("/proc/", "/sys/")
_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_PIECE = 1_048_576


def open_regular(path: str | Path) -> BinaryIO:
    """Open a file for reading. BadInput unless it is regular; ValidationError if it cannot be opened."""
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
    """Read a whole regular file. BadInput for a line of more than `longest_line` bytes, before its end."""
    return InputSource(str(path)).read_stored(longest_line=longest_line)


def read_lines_up_to(file: BinaryIO, path: str, longest_line: int) -> bytes:
    """Read a whole file. BadInput at the first line with more bytes than the limit."""
    pieces: list[bytes] = []
    line, length = 1, 0
    while piece := file.read(_PIECE):
        first, last = piece.find(b"\n"), piece.rfind(b"\n")
        if length + (len(piece) if first < 0 else first) > longest_line:
            limit = say("lines of at most {megabytes} MB", megabytes=longest_line // 1_000_000)
            raise refuse(path, line, limit, say("a longer one"))
        length = length + len(piece) if last < 0 else len(piece) - last - 1
        line += piece.count(b"\n")
        pieces.append(piece)
    return b"".join(pieces)


@contextmanager
def named_errors(path: str | Path) -> Iterator[None]:
    """Turn system errors while reading into ValidationError with the file's name."""
    try:
        yield
    except OSError as error:
        raise ValidationError(f"cannot read {path}: {error.strerror}") from None


def _check(mode: int, path: str | Path) -> None:
    if stat.S_ISDIR(mode):
        raise ValidationError(f"{path}: expected a file, found a folder")
    kind = next((name for is_kind, name in _KINDS if is_kind(mode)), None)
    if kind is None and os.path.realpath(path).startswith(_KERNEL):
        kind = "a file of the kernel"
    if kind is None and not stat.S_ISREG(mode):
        kind = say("something else")
    if kind is not None:
        raise refuse(str(path), None, say("a regular file"), kind)


MAX_LINE = 32_000_000


@dataclass(frozen=True, slots=True)
class InputSource:
    """A file or folder, as the user named it.

    `data`: the content, if there is no file. `scale`: how its grades are read. `hashes`: {path: SHA-256 of
    the stored bytes} of each file read to its end.
    """

    path: str
    data: bytes | None = field(default=None, repr=False)
    encoding: str | None = None
    scale: GradeScale = field(default_factory=GradeScale, repr=False, compare=False)
    hashes: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def sha256(self) -> str | None:
        """Return the hash of the file; None for a folder, or before the file was read to its end."""
        return self.hashes.get(self.path)

    @property
    def is_folder(self) -> bool:
        return self.data is None and Path(self.path).is_dir()

    def open(self) -> BinaryIO:
        """Return the stored content. ValidationError if it cannot be read."""
        if self.data is not None:
            return io.BytesIO(self.data)
        return open_regular(self.path)

    def read_stored(self, *, longest_line: int | None = None) -> bytes:
        """Return the whole stored content. BadInput for a line of more than `longest_line` bytes."""
        with self.open() as file, named_errors(self.path):
            data = file.read() if longest_line is None else read_lines_up_to(file, self.path, longest_line)
        self._note_hash(hashlib.sha256(data).hexdigest())
        return data

    def read_bytes(self, *, longest_line: int | None = None) -> bytes:
        """Return the whole content in UTF-8; see `read_stored`."""
        return to_utf8(self.read_stored(longest_line=longest_line), self.path, self.encoding)

    def read_text(self) -> str:
        """Return the whole content as text, without its BOM."""
        return read_text(self.read_stored(), self.path, encoding=self.encoding)

    def read_lines(self, *, keep_ends: bool = False) -> Iterator[tuple[int, str]]:
        """Yield (line number from 1, line), without LF or CRLF unless `keep_ends`."""
        if self.encoding is not None:
            lines = self.read_text().split("\n")
            kept = (
                (line + "\n" for line in lines) if keep_ends else (line.removesuffix("\r") for line in lines)
            )
            yield from enumerate(kept, 1)
            return
        with self.open() as file, named_errors(self.path):
            number, digest = 0, hashlib.sha256()
            while line := file.readline(MAX_LINE + 1):
                number += 1
                digest.update(line)
                if len(line) > MAX_LINE:
                    raise refuse(
                        self.path,
                        number,
                        say("lines of at most {megabytes} MB", megabytes=MAX_LINE // 1_000_000),
                        say("a longer one"),
                    )
                text = _read_line(line, self.path, number)
                text = text if keep_ends else text.rstrip("\r\n")
                yield number, drop_mark(text, self.path) if number == 1 else text
        self._note_hash(digest.hexdigest())

    def _note_hash(self, sha256: str) -> None:
        """Store the hash of the whole file. ConflictError if an earlier reading had other bytes."""
        if self.hashes.setdefault(self.path, sha256) != sha256:
            raise ConflictError(say("{path} was changed while it was read. Start again.", path=self.path))

    def child(self, name: str) -> "InputSource":
        """Return a file of the folder, by its path within. ValidationError for a path outside it."""
        inner = PurePosixPath(name)
        root = Path(self.path).resolve()
        if inner.is_absolute() or ".." in inner.parts or not (root / name).resolve().is_relative_to(root):
            raise ValidationError(f"{self.path}: expected files within the folder, found {name}")
        path = str(Path(self.path) / name)
        return InputSource(path, encoding=self.encoding, scale=self.scale, hashes=self.hashes)


def _read_line(line: bytes, path: str, number: int) -> str:
    try:
        text = line.decode("utf-8")
        if "\0" not in text:
            return text
    except UnicodeDecodeError as error:
        binary = describe_bytes(line) if number == 1 else None
        if binary is not None:
            raise refuse(path, None, say("a text file"), binary) from None
        raise refuse(
            path,
            number,
            say("UTF-8 text (save it as UTF-8, or name the file's encoding)"),
            say("byte {byte}", byte=f"0x{line[error.start]:02x}"),
        ) from None
    raise refuse(path, number, say("text without NUL characters"), "one")
