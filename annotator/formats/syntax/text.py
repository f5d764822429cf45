"""Decode bytes to text, and check every text and id.

Text is UTF-8 (with or without BOM) unless another encoding is named; it is never normalized or trimmed.
Refused with the line: bytes not in the encoding, NUL, and lone surrogates (no database and no UTF-8 file can
hold them).
"""

import codecs
from collections.abc import Iterable, Iterator

from annotator.domain.errors import BadInput, FormatError, ValidationError, refuse
from annotator.domain.messages import say
from annotator.domain.texts import UNSTORABLE

MAX_ID = 1_000
MAX_ID_BYTES = 2_600  # PostgreSQL indexes no more
_BINARY = {
    b"\x1f\x8b": "a file compressed by gzip (unpack it first)",
    b"\x28\xb5\x2f\xfd": "a file compressed by zstd (unpack it first)",
    b"PK\x03\x04": "a zip file (unpack it first)",
    b"PAR1": "a Parquet file (write it as CSV or JSONL)",
}
ID_LIMIT = say("at most {n} characters ({m} bytes)", n=MAX_ID, m=MAX_ID_BYTES)


BOM_WITHIN = say("no byte order mark within the file"), "U+FEFF"
"""(expected, found) for a line that begins with a byte order mark: two files were joined, or a file has two."""


def note_marks(lines: Iterable[str], marks: set[int]) -> Iterator[str]:
    """Yield the lines. Adds to `marks` the number of every line after the first that begins with a BOM."""
    for number, line in enumerate(lines, 1):
        if number > 1 and line.startswith("\ufeff"):
            marks.add(number)
        yield line


def drop_mark(text: str, path: str) -> str:
    """Return the beginning of a file, or the whole, without its BOM. BadInput if a second BOM follows."""
    text = text.removeprefix("\ufeff")
    if text.startswith("\ufeff"):
        raise BadInput([FormatError(path, 1, *BOM_WITHIN)])
    return text


def read_text(data: bytes, path: str, *, encoding: str | None = None) -> str:
    """Return the text of a file's bytes without its BOM. BadInput names the line of the first offending byte."""
    try:
        text = drop_mark(data.decode(check_encoding(encoding) if encoding else "utf-8"), path)
    except UnicodeDecodeError as error:
        raise BadInput([_undecodable(error, data, path, encoding)]) from None
    if encoding is None and "\0" not in text:
        return text  # UTF-8 has no lone surrogates, and looking for one character takes no time
    match = UNSTORABLE.search(text)
    if match:
        line = text.count("\n", 0, match.start()) + 1
        expected = say("text without NUL characters or lone surrogates")
        raise refuse(path, line, expected, repr(match.group()))
    return text


def to_utf8(data: bytes, path: str, encoding: str | None) -> bytes:
    """Return the text in UTF-8, for readers that expect it; the same bytes if no encoding is named."""
    return read_text(data, path, encoding=encoding).encode("utf-8") if encoding else data


def check_encoding(name: str) -> str:
    """Return the codec of that name. ValidationError if Python knows no such text encoding."""
    try:
        "".encode(name)
        codecs.lookup(name)
    except (LookupError, ValueError):
        raise ValidationError(
            f"--encoding: expected an encoding such as cp932 or euc-kr, found {name!r}"
        ) from None
    return name


def is_too_long(text: str) -> bool:
    """Check whether an id is too long for an index of any database; see ID_LIMIT."""
    return len(text) * 4 > MAX_ID_BYTES and (
        len(text) > MAX_ID or len(text.encode("utf-8", "surrogatepass")) > MAX_ID_BYTES
    )


def describe(value: object) -> str:
    """Return a value in one short line, for error messages."""
    if value is None:
        return say("nothing")
    if isinstance(value, dict):
        return say("a mapping")
    if isinstance(value, list):
        return say("a list")
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(str(value)) if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else text[:79] + "…"


def describe_bytes(head: bytes) -> str | None:
    """Return the kind of binary file that begins with these bytes, with advice; None for other files."""
    return next((words for mark, words in _BINARY.items() if head.startswith(mark)), None)


def _undecodable(error: UnicodeDecodeError, data: bytes, path: str, encoding: str | None) -> FormatError:
    before = data[: error.start].decode(error.encoding, errors="replace")
    expected = (
        f"text in {encoding}"
        if encoding
        else say("UTF-8 text (save it as UTF-8, or name the file's encoding)")
    )
    binary = describe_bytes(data)
    if binary is not None:
        return FormatError(path, None, say("a text file"), binary)
    return FormatError(
        path, before.count("\n") + 1, expected, say("byte {byte}", byte=f"0x{data[error.start]:02x}")
    )
