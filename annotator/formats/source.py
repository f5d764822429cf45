"""What a reader reads from: one file, or the folder of a format that has several. Bytes, or lines as they come.

The first step of every ground-truth reader. Text is UTF-8 (a BOM is accepted) unless another encoding is named.
Refused with the line: bytes that are not in the encoding, NUL, lone surrogates, a line of more than 32 MB.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from annotator.domain.errors import ValidationError
from annotator.formats.grade_scale import GradeScale
from annotator.formats.regular_file import named_errors, open_regular, read_lines_up_to
from annotator.formats.text import read_text, to_utf8
from annotator.formats.tree import refuse

MAX_LINE = 32_000_000


@dataclass(frozen=True, slots=True)
class Source:
    """A file or a folder, as the user named it. `data` stands for the file's content where there is no file. `scale` says how
    its grades are read."""

    path: str
    data: bytes | None = field(default=None, repr=False)
    encoding: str | None = None
    scale: GradeScale = field(default_factory=GradeScale, repr=False, compare=False)

    @property
    def is_folder(self) -> bool:
        return self.data is None and Path(self.path).is_dir()

    def open(self) -> BinaryIO:
        """The content as it is stored. ValidationError when it cannot be read."""
        if self.data is not None:
            return io.BytesIO(self.data)
        return open_regular(self.path)

    def read_bytes(self, *, longest_line: int | None = None) -> bytes:
        """The whole content in UTF-8. With `longest_line` (in bytes, as stored) BadInput names a longer line, before the rest is
        read."""
        with self.open() as file, named_errors(self.path):
            data = file.read() if longest_line is None else read_lines_up_to(file, self.path, longest_line)
        return to_utf8(data, self.path, self.encoding)

    def read_text(self) -> str:
        """The whole content as text, without its BOM."""
        with self.open() as file, named_errors(self.path):
            return read_text(file.read(), self.path, encoding=self.encoding)

    def read_lines(self, *, keep_ends: bool = False) -> Iterator[tuple[int, str]]:
        """Each line with its number (from 1), one at a time; without its LF or CRLF unless `keep_ends`."""
        if self.encoding is not None:
            lines = self.read_text().split("\n")
            kept = (
                (line + "\n" for line in lines) if keep_ends else (line.removesuffix("\r") for line in lines)
            )
            yield from enumerate(kept, 1)
            return
        with self.open() as file, named_errors(self.path):
            number = 0
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise refuse(
                        self.path, number, f"lines of at most {MAX_LINE // 1_000_000} MB", "a longer one"
                    )
                text = _read_line(line, self.path, number)
                text = text if keep_ends else text.rstrip("\r\n")
                yield number, text.removeprefix("\ufeff") if number == 1 else text

    def child(self, name: str) -> "Source":
        """A file of the folder, by its path within; never one outside it. ValidationError for such a path."""
        inner = PurePosixPath(name)
        root = Path(self.path).resolve()
        if inner.is_absolute() or ".." in inner.parts or not (root / name).resolve().is_relative_to(root):
            raise ValidationError(f"{self.path}: expected files within the folder, found {name}")
        return Source(str(Path(self.path) / name), encoding=self.encoding, scale=self.scale)


def _read_line(line: bytes, path: str, number: int) -> str:
    try:
        text = line.decode("utf-8")
        if "\0" not in text:
            return text
    except UnicodeDecodeError as error:
        raise refuse(
            path,
            number,
            "UTF-8 text (for another encoding: --encoding NAME)",
            f"byte 0x{line[error.start]:02x}",
        ) from None
    raise refuse(path, number, "text without NUL characters", "one")
