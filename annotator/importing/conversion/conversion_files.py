"""Choose the target of a conversion, and write all its files or none.

The format is taken from the target's name if that is unambiguous: `qrels.trec.txt`, `law-compact.json`,
`x.jsonl`; `x.json` could be three formats. Refuses an existing target unless overwriting is allowed, and
never overwrites a folder that is not a BEIR folder. Files are written piece by piece under a hidden name in
the same folder and renamed in one step, so a failure changes nothing.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotator.domain.errors import ConflictError, ValidationError
from annotator.formats.format import Format
from annotator.formats.registry import FORMATS, find_format, list_formats
from annotator.formats.syntax.partial_files import KEPT, hold_partial, name_partial

FOLDER_FORMAT = "beir"
_BEIR_NAMES = frozenset({"queries.jsonl", "corpus.jsonl", "qrels"})


def choose_format(target: str, name: str | None) -> Format:
    """Return the named format, else the one that the target's name implies. ValidationError asks for `--to`."""
    if name is not None:
        return find_format(name)
    if target.endswith(("/", os.sep)) or Path(target).is_dir():
        return find_format(FOLDER_FORMAT)
    file = Path(target).name
    named = [file_format for file_format in FORMATS if file_format.name == file.split(".")[0]]
    if named:
        return named[0]
    likely = [
        file_format
        for file_format in FORMATS
        if file.lower().endswith(file_format.suffixes) and not is_folder(file_format)
    ]
    if len(likely) == 1:
        return likely[0]
    names = ", ".join(file_format.name for file_format in likely or FORMATS)
    raise ValidationError(
        f"{target}: the name does not say which format to write; say --to, one of: {names}\n"
        f"{list_formats(likely or FORMATS)}"
    )


def is_folder(file_format: Format) -> bool:
    """Check whether the format is a folder of files."""
    return any(writer.path for writer in file_format.files)


def check_target(target: Path, file_format: Format, *, overwrite: bool) -> None:
    """Raise ConflictError if the target must not be overwritten, ValidationError if it cannot exist."""
    if not target.absolute().parent.is_dir():
        raise ValidationError(f"{target}: expected its folder to be there, found none: {target.parent}")
    if not target.exists() and not target.is_symlink():
        return
    if not overwrite:
        raise ConflictError(f"{target} already exists; use --overwrite or choose another name")
    if is_folder(file_format):
        _check_folder(target, file_format)
    elif not target.is_file():
        raise ValidationError(
            f"{target}: expected a file to write {file_format.name} over, found a folder or something else"
        )


def _check_folder(target: Path, file_format: Format) -> None:
    if target.is_symlink() or not target.is_dir():
        raise ValidationError(
            f"{target}: expected a folder to write {file_format.name} over, found something else"
        )
    others = sorted({path.name for path in target.iterdir()} - _BEIR_NAMES)
    if others:
        raise ValidationError(
            f"{target}: expected a folder with nothing but {file_format.name} in it, found {others[0]} too; "
            "nothing is overwritten"
        )


ProgressCallback = Callable[[str], None]
_BUFFER = 1_000_000
_REPORT_EVERY = 20_000_000


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A written file with its size and SHA-256."""

    path: str
    bytes: int
    sha256: str


def write_target(
    target: Path, pieces: Iterable[tuple[str, str]], *, report_progress: ProgressCallback
) -> tuple[WrittenFile, ...]:
    """Write `(path, text)` pieces: path "" is the target itself, other paths are files in the target folder.

    ValidationError if the target cannot be written (no space, no permission); then nothing was written.
    """
    target = target.absolute()
    try:
        with hold_partial(name_partial(target), is_folder=True) as partial:
            written = _write_pieces(partial, pieces, report_progress)
            _move_to_target(partial, target, is_file=written[0].path == "")
    except OSError as error:
        raise ValidationError(f"cannot write {target}: {error.strerror or error}") from None
    return written


def _write_pieces(
    root: Path, pieces: Iterable[tuple[str, str]], report_progress: ProgressCallback
) -> tuple[WrittenFile, ...]:
    """Return the files written below root. The file with path "" is named `file`."""
    written: list[WrittenFile] = []
    current: str | None = None
    with _Output(report_progress) as output:
        for path, piece in pieces:
            if path != current:
                written.extend(output.close(current))
                output.open(root / "content" / path if path else root / "file")
                current = path
            output.add(piece)
        written.extend(output.close(current))
    return tuple(written)


class _Output:
    """The file being written, with its checksum."""

    def __init__(self, report_progress: ProgressCallback) -> None:
        self.report_progress = report_progress
        self.file: Any = None
        self.digest, self.size, self.unreported = hashlib.sha256(), 0, 0

    def __enter__(self) -> "_Output":
        return self

    def __exit__(self, *_: object) -> None:
        if self.file is not None:
            self.file.close()

    def open(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = path.open("wb", buffering=_BUFFER)
        self.digest, self.size = hashlib.sha256(), 0

    def add(self, piece: str) -> None:
        data = piece.encode("utf-8")
        self.file.write(data)
        self.digest.update(data)
        self.size += len(data)
        self.unreported += len(data)
        if self.unreported >= _REPORT_EVERY:
            self.report_progress(f"written {self.size / 1e6:,.0f} MB")
            self.unreported = 0

    def close(self, path: str | None) -> Iterator[WrittenFile]:
        if path is None:
            return
        self.file.close()
        self.file = None
        yield WrittenFile(path, self.size, self.digest.hexdigest())


def _move_to_target(partial: Path, target: Path, *, is_file: bool) -> None:
    if is_file and target.exists() and not target.is_file():  # a device or a pipe, such as /dev/stdout
        with (partial / "file").open("rb") as written, target.open("wb") as stream:
            shutil.copyfileobj(written, stream)
        return
    if is_file:
        (partial / "file").replace(target)
        return
    with _aside(target, partial / KEPT):
        (partial / "content").rename(target)


@contextmanager
def _aside(target: Path, backup: Path) -> Iterator[None]:
    """Move an existing folder out of the way, and back if the block fails."""
    if not target.exists():
        yield
        return
    target.rename(backup)
    try:
        yield
    except OSError:
        backup.rename(target)
        raise
    shutil.rmtree(backup, ignore_errors=True)
