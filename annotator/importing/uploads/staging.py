"""Store uploaded files in their own folder for the readers, and unpack zip archives.

Nothing is written outside the folder, and never more than the limits. Refused, with the file's name: a name
that leads out of the folder, is absolute, too long or not text; two files with the same name; an archive that
is encrypted, broken, holds links or devices, or unpacks to too much. Archives within archives stay packed.
Hidden files and `__MACOSX` are left out. The encoding of a text that is not UTF-8 is guessed (Japanese, Korean, or
UTF-16 by its byte order mark); the importing person sees the text in it and decides.
"""

import codecs
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say, say_n
from annotator.domain.texts import holds_no_text

ENCODINGS: Mapping[str, str] = {
    "utf-8": "UTF-8",
    "cp932": "Shift_JIS (cp932)",
    "euc-jp": "EUC-JP",
    "iso-2022-jp": "ISO-2022-JP",
    "cp949": "EUC-KR (cp949)",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252",
}
"""The encodings that are offered, with their names."""
_KANA = re.compile("[ぁ-んァ-ヶー、。]")
_KANJI = re.compile("[一-龠]")
_HANGUL = re.compile("[가-힣]")
_ODD = re.compile("[\uff61-\uff9f\ue000-\uf8ff\u0400-\u04ff\u0370-\u03ff]")


def guess_encoding(data: bytes, *, whole: bool = True) -> str | None:
    """Return the best key of ENCODINGS; None for UTF-8 or if nothing fits. `whole`: False if the last character may be cut."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\x1b$" in data and _decode(data, "iso-2022-jp", whole=whole) is not None:
        return "iso-2022-jp"
    if _decode(data, "utf-8", whole=whole) is not None:
        return None
    scores = {name: _score(_decode(data, name, whole=whole)) for name in ("cp932", "euc-jp", "cp949")}
    best = max(scores, key=scores.__getitem__)
    if scores[best] > 0.5:
        return best
    return "cp1252" if _decode(data, "cp1252", whole=whole) is not None else None


def _decode(data: bytes, name: str, *, whole: bool) -> str | None:
    decoder = codecs.getincrementaldecoder(name)()
    try:
        text = decoder.decode(data, final=whole)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _score(text: str | None) -> float:
    """Return the share of non-ASCII characters that are Japanese or Korean: kana and hangul count most."""
    if text is None:
        return 0
    others = sum(ord(character) > 127 for character in text)
    if not others:
        return 0
    kana, hangul = len(_KANA.findall(text)), len(_HANGUL.findall(text))
    kanji, odd = len(_KANJI.findall(text)), len(_ODD.findall(text))
    return (max(kana, hangul) + 0.6 * kanji - odd) / others


MB = 1024 * 1024
LOOSE = "documents"
"""The folder for text files that were not uploaded in one."""
LOOSE_SUFFIXES = (".md", ".rst", ".html", ".htm", ".docx", ".pdf", ".xlsx")
_LONGEST_PART = 200  # bytes of a folder's or file's name; file systems allow 255
_LONGEST_NAME = 900
_DEEPEST = 100  # folders and the file
_PIECE = 1024 * 1024
_ENTRY = b"PK\x01\x02"
_ENCRYPTED = 0x1
_UTF_8 = 0x800
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


@dataclass(frozen=True, slots=True)
class StagingLimits:
    """The maximum number of files, and of their bytes together after unpacking. Twice as many folders."""

    files: int = 20_000
    unpacked_mb: int = 1_000


LIMITS = StagingLimits()
MOST_ENTRIES = 4
"""Allowed entries for each allowed file. Folders, and entries of archives inside the archive, count too."""


def stage_files(
    uploads: Iterable[tuple[str, BinaryIO]], folder: Path, *, limits: StagingLimits = LIMITS
) -> int:
    """Store the uploads, (name, content), in the empty folder, or none of them; return the number of files."""
    stage = _Stage(folder, limits)
    every = list(uploads)
    loose = {name for name, _ in every if _is_loose(name)}
    for name, content in every:
        if name.lower().endswith(".zip"):
            stage.unpack(name, content)
        else:
            inner = f"{LOOSE}/{name}" if len(loose) > 1 and name in loose else name
            stage.write(check_name(inner), name, content)
    if not stage.files:
        raise ValidationError(say("There is no file to read in it."))
    return stage.files


def _is_loose(name: str) -> bool:
    return "/" not in name.strip("/") and name.lower().endswith(LOOSE_SUFFIXES)


def check_name(name: str) -> PurePosixPath:
    """Return a file's name as a path within the folder. ValidationError for every other name."""
    path = PurePosixPath(name.replace("\\", "/"))
    parts = path.parts
    windows = bool(parts) and len(parts[0]) > 1 and parts[0][1] == ":"
    if not parts or path.is_absolute() or ".." in parts or windows:
        raise ValidationError(
            say("The file name {name} is a path to another folder. Rename the file.", name=ascii(name)[:200])
        )
    if holds_no_text(name) or any(ord(character) < 32 for character in name):
        raise ValidationError(
            say(
                "The file name {name} contains characters that cannot be stored. Rename the file.",
                name=ascii(name)[:200],
            )
        )
    encoded = [part.encode("utf-8") for part in parts]
    is_long = any(len(part) > _LONGEST_PART for part in encoded) or sum(map(len, encoded)) > _LONGEST_NAME
    if is_long or len(parts) > _DEEPEST:
        raise ValidationError(
            say("The file name {name} is too long. Rename the file.", name=f"{name[:100]}…")
        )
    return path


class _Stage:
    def __init__(self, folder: Path, limits: StagingLimits) -> None:
        self.folder, self.limits = folder, limits
        self.files, self.bytes = 0, 0
        self.folders: set[PurePosixPath] = set()

    def write(self, inner: PurePosixPath, shown: str, content: BinaryIO) -> None:
        """Store one file, piece by piece, and stop at the limit."""
        if any(part.startswith(".") for part in inner.parts):
            return
        self.files += 1
        self.folders.update(inner.parents)
        if max(self.files, len(self.folders) // 2) > self.limits.files:  # a folder takes 4 kB of the disk
            self._refuse_number()
        target = self.folder / inner
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                while piece := content.read(_PIECE):
                    self.bytes += len(piece)
                    self._check_bytes(shown)
                    file.write(piece)
        except (FileExistsError, NotADirectoryError):
            raise ValidationError(
                say("Two files have the name {name}. Upload one of them.", name=str(inner))
            ) from None

    def _refuse_number(self) -> None:
        raise ValidationError(
            say_n(
                "More than {n:,} file. Upload them in several parts.",
                "More than {n:,} files. Upload them in several parts.",
                self.limits.files,
            )
        )

    def _check_bytes(self, shown: str) -> None:
        if self.bytes > self.limits.unpacked_mb * MB:
            raise ValidationError(
                say(
                    "{name}: more than {mb} MB after unpacking. Upload it in several parts.",
                    name=shown,
                    mb=self.limits.unpacked_mb,
                )
            )

    def unpack(self, name: str, content: BinaryIO) -> None:
        """Store the content of a zip archive, in its only folder, or else in a folder of the archive's name."""
        check_name(name)
        try:
            if _count_entries(content) > MOST_ENTRIES * self.limits.files:
                self._refuse_number()
            with zipfile.ZipFile(content) as archive:
                self._unpack(name, archive)
        except ValidationError:
            raise
        except _BROKEN:
            raise ValidationError(
                say("{name}: the archive is damaged, or it is not a zip file.", name=name)
            ) from None

    def _unpack(self, name: str, archive: zipfile.ZipFile) -> None:
        if not all(entry.filename for entry in archive.infolist()):
            raise zipfile.BadZipFile("an entry without a name")
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        if len(entries) > self.limits.files:
            self._refuse_number()
        if sum(entry.file_size for entry in entries) > self.limits.unpacked_mb * MB:
            self.bytes = self.limits.unpacked_mb * MB + 1
            self._check_bytes(name)
        names = _decode_names(entries)
        inner = [check_name(entry_name) for entry_name in names]
        for entry, path in zip(entries, inner, strict=True):
            _check_entry(entry, name, path)
        kept = {path for path in inner if path.parts[0] != "__MACOSX" and not path.name.startswith(".")}
        tops = {path.parts[0] if len(path.parts) > 1 else "" for path in kept}
        has_folder = len(tops) == 1 and "" not in tops
        root = PurePosixPath() if has_folder or len(kept) == 1 else PurePosixPath(PurePosixPath(name).stem)
        for entry, path in zip(entries, inner, strict=True):
            if path in kept:
                with archive.open(entry) as file:
                    self.write(root / path, name, file)  # type: ignore[arg-type]  # it is read as any other file


def _count_entries(content: BinaryIO) -> int:
    """Return an upper bound of the number of entries in an archive, without opening it.

    `ZipFile` makes an object for every entry: 100 MB of empty folders need a gigabyte and half a minute.
    """
    content.seek(0)
    count, before = 0, b""
    while piece := content.read(_PIECE):
        count += (before + piece).count(_ENTRY)
        before = piece[1 - len(_ENTRY) :]
    content.seek(0)
    return count


def _check_entry(entry: zipfile.ZipInfo, archive: str, path: PurePosixPath) -> None:
    if entry.flag_bits & _ENCRYPTED:
        raise ValidationError(
            say("{name}: the archive has a password. Unpack it and upload its files.", name=archive)
        )
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile("another compression, which may need gigabytes of memory")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise ValidationError(
            say("{name}: {entry} is a link or a device, not a file.", name=archive, entry=str(path))
        )


def _decode_names(entries: list[zipfile.ZipInfo]) -> list[str]:
    """Return the entries' names. Without the flag for UTF-8 they have the encoding of the packing system."""
    raw = [entry.filename.encode("cp437", "ignore") for entry in entries if not entry.flag_bits & _UTF_8]
    encoding = guess_encoding(b"\n".join(raw)) or "utf-8"
    names = []
    for entry in entries:
        if entry.flag_bits & _UTF_8:
            names.append(entry.filename)
            continue
        try:
            names.append(entry.filename.encode("cp437").decode(encoding))
        except UnicodeError:
            names.append(entry.filename)
    return names
