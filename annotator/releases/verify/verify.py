"""Verify a release folder by itself, without a database, years later and on any machine.

Recomputes checksums, content hash and counts, looks for missing and added files, reads every file back (`read_back.py`),
recomputes from the judgments (`recompute.py`), and compares the manifest with itself (`stated_twice.py`). Names what was
changed and what it cannot prove: somebody who changes a file can remake checksums but not a signature (`signing.py`). The
words of the datasheet are covered by both, not read.
"""

import codecs
import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from annotator.domain.errors import ValidationError
from annotator.domain.grades import GRADES
from annotator.domain.ground_truth import Qrel, hash_content
from annotator.domain.messages import count_of
from annotator.domain.settling import PAIR_STATUSES
from annotator.formats.registry import find_unwritable
from annotator.releases.verify.read_back import (
    QRELS,
    ReadingBack,
    ReleaseFault,
    compare_probabilities,
    is_plain,
    list_left_out,
    read_qrels,
)
from annotator.releases.verify.recompute import (
    JudgmentKind,
    PairJudgments,
    list_judged,
    read_given,
    recompute,
    says_origins,
)
from annotator.releases.verify.signing import check_signature
from annotator.releases.verify.stated_twice import compare_manifest, compare_pictures, find_values
from annotator.releases.writing.files import JUDGMENTS, MANIFEST, SIGNATURE, SUMS

_BLOCK = 1 << 20
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
_OTHER_SHAPE = (
    AttributeError,
    KeyError,
    TypeError,
    ValueError,
    OverflowError,
)  # of a manifest that somebody wrote
STATED_ONCE = (
    "what only one file states was compared with nothing: texts of documents, notes, reasons, times and guideline versions of "
    "judgments, what decided the order of equal documents, agreement in groups (except the sum of their pairs), intervals of two "
    "annotators, warnings of few pairs, gates (except what other figures of the manifest and the qrels give), how many pairs "
    "and queries have no grade, the names and definitions of grades and their numbers in the scale, the name of the dataset, "
    "the guideline version and its languages, the previous version, the release's note, which version of the program wrote it, "
    "who published the release and when, and the datasheet"
)
_ORIGINS = ("unanimous", "adjudicated", "single", "imported")


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of verifying a release folder. It is whole if there is no fault."""

    path: str
    dataset: str | None
    version: str | None
    content_sha256: str | None
    files: int
    faults: tuple[ReleaseFault, ...]
    unproven: tuple[str, ...] = ()  # sentences about what no file of the release can prove
    signed_by: str | None = None  # whose valid signature was checked; None if none was required or present

    @property
    def whole(self) -> bool:
        return not self.faults


def verify_folder(folder: Path, *, signers: Path | None = None) -> Verification:
    """Verify the release in this folder. Raises ValidationError if it is no release folder at all.

    `signers`: a public key, or OpenSSH's file of allowed signers; the release must then have a signature of one of
    them.
    """
    if not folder.is_dir():
        raise ValidationError(f"expected a release folder, found none at {folder}")
    if not (folder / SUMS).is_file() and not (folder / MANIFEST).is_file():
        raise ValidationError(f"expected a release folder, found neither {SUMS} nor {MANIFEST} in {folder}")
    unread = list[ReleaseFault]()
    manifest = _read_manifest(folder, unread)
    stated = manifest or {}
    qrels = read_qrels(folder, stated, unread)
    unproven: list[str] = []
    with ReadingBack(folder, qrels or (), set() if qrels is None else _list_files(folder), stated) as reading:
        hashes = FileHashes()
        faults = [*find_faults(folder, hashes), *unread]
        content = None if qrels is None else hash_content(qrels)
        given, later = None, list[ReleaseFault]()  # `later`: reported after what files differ in
        people: Counter[JudgmentKind] = Counter()
        if manifest is not None:
            named = {fault.path for fault in faults}
            faults += [fault for fault in _compare_files(manifest, folder, hashes) if fault.path not in named]
            if qrels is not None:
                faults += _compare_qrels(manifest, qrels, content or "")
            _note(lambda: ([*compare_manifest(manifest)], []), faults, unproven)
            given = _read_given(folder, manifest, faults, unproven, people)
            if qrels is not None and given is not None:
                compared = partial(recompute, given, manifest, qrels, people)
                _note(compared, later, unproven)
        faults += reading.find_differences(None if given is None else list_judged(given))
    if qrels is not None:
        faults += compare_probabilities(folder, qrels)
        if manifest is not None:
            _note(lambda: compare_pictures(folder, manifest), later, unproven)
    faults += later
    faults += hashes.list_wrong_line_ends(folder, count_line_ends(folder / JUDGMENTS, hashes))
    signed_by, wrong, note = check_signature(folder, signers)
    faults += wrong
    unproven += note
    unproven.append(STATED_ONCE)
    return Verification(
        path=str(folder),
        dataset=stated.get("dataset"),
        version=stated.get("version"),
        content_sha256=content,
        files=len(_list_files(folder)),
        faults=tuple(faults),
        unproven=tuple(unproven),
        signed_by=signed_by,
    )


def _read_given(
    folder: Path,
    manifest: dict[str, Any],
    faults: list[ReleaseFault],
    unproven: list[str],
    people: Counter[JudgmentKind],
) -> dict[tuple[str, str], PairJudgments] | None:
    """Return the judgments; None after saying why none is compared. Counts all of them in `people`."""
    if not is_plain(folder / JUDGMENTS):
        unproven.append(f"there is no {JUDGMENTS}, so no grade was compared with judgments")
        return None
    if not says_origins(manifest):
        unproven.append(
            "the manifest does not say how grades were settled, so none was compared with judgments"
        )
        return None
    noted = len(faults)
    given = read_given(folder / JUDGMENTS, faults, people)
    return given if len(faults) == noted else None


def _note(
    compare: Callable[[], tuple[list[ReleaseFault], list[str]]],
    faults: list[ReleaseFault],
    unproven: list[str],
) -> None:
    """Add the faults of a comparison. A manifest with an unexpected structure is a fault of its own."""
    try:
        differing, notes = compare()
    except _OTHER_SHAPE as error:
        found = f"something else ({type(error).__name__}: {str(error)[:60]})"
        differing, notes = [ReleaseFault(MANIFEST, "figures as a release has them", found)], []
    faults += differing
    unproven += notes


@dataclass(slots=True)
class FileHashes:
    """The SHA-256 of each file that was read, and how many of its lines end with CRLF, or begin with a byte order mark."""

    sha256: dict[Path, str] = field(default_factory=dict)
    crlf: dict[Path, int] = field(default_factory=dict)
    marked: set[Path] = field(default_factory=set)

    def read(self, path: Path) -> str:
        """Return the SHA-256 of a plain file, which is read once."""
        if path not in self.sha256:
            digest, crlf, end = hashlib.sha256(), 0, b""
            with path.open("rb") as file:
                while block := file.read(_BLOCK):
                    if not end and block.startswith(codecs.BOM_UTF8):
                        self.marked.add(path)
                    crlf += block.count(b"\r\n") + (end == b"\r" and block[:1] == b"\n")
                    end = block[-1:]
                    digest.update(block)
            self.sha256[path], self.crlf[path] = digest.hexdigest(), crlf
        return self.sha256[path]

    def list_wrong_line_ends(self, folder: Path, within_cells: int) -> list[ReleaseFault]:
        """Return the files with CRLF or a byte order mark. `within_cells`: the CRLF in texts of judgments.csv."""
        allowed = {folder / JUDGMENTS: within_cells}
        named = [(path, path.relative_to(folder).as_posix()) for path in sorted(self.sha256)]
        faults = [
            ReleaseFault(name, "lines that end with LF", f"CRLF in {count_of(self.crlf[path], 'line')}")
            for path, name in named
            if self.crlf[path] > allowed.get(path, 0)
        ]
        return faults + [
            ReleaseFault(name, "UTF-8 without a byte order mark", "one")
            for path, name in named
            if path in self.marked
        ]


def count_line_ends(path: Path, hashes: FileHashes) -> int:
    """Return how many CRLF are inside the cells of a CSV file. It is read again only if it has any."""
    if not hashes.crlf.get(path):
        return 0
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return sum(cell.count("\r\n") for row in csv.reader(file) for cell in row)
    except (OSError, UnicodeDecodeError, csv.Error):
        return 0


def find_faults(folder: Path, hashes: FileHashes | None = None) -> list[ReleaseFault]:
    """Return where the folder's files differ from its SHA256SUMS: changed, missing, or not listed.

    `hashes`: keeps the SHA-256 of each file for the next comparison.
    """
    faults: list[ReleaseFault] = []
    hashes = FileHashes() if hashes is None else hashes
    listed = _read_sums(folder, faults)
    present = _list_files(folder)
    for path, sha256 in listed.items():
        if path not in present:
            faults.append(ReleaseFault(path, "the file", "none"))
        elif (actual := _hash_file(folder / path, hashes)) != sha256:
            faults.append(ReleaseFault(path, f"SHA-256 {sha256}", actual))
    faults += [
        ReleaseFault(path, f"only files listed in {SUMS}", "another")
        for path in present - set(listed) - {SUMS, SIGNATURE}
    ]
    return sorted(faults, key=lambda fault: fault.path)


def _read_sums(folder: Path, faults: list[ReleaseFault]) -> dict[str, str]:
    try:
        lines = _read_plain(folder / SUMS).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        faults.append(ReleaseFault(SUMS, "a list of checksums", type(error).__name__))
        return {}
    listed: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        path = PurePosixPath(match[2]) if match else None
        if match is None or path is None or path.is_absolute() or ".." in path.parts:
            faults.append(
                ReleaseFault(SUMS, "lines of checksum and file name", f"line {number}: {line[:80]}")
            )
        else:
            listed[str(path)] = match[1]
    return listed


def _list_files(folder: Path) -> set[str]:
    """Return the path of every file below the folder, including links."""
    paths = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return {path.relative_to(folder).as_posix() for path in paths}


def _read_plain(path: Path) -> bytes:
    """Return a file's bytes. OSError unless it is a plain file: a pipe never ends."""
    if not is_plain(path):
        raise FileNotFoundError(path)
    return path.read_bytes()


def _hash_file(path: Path, hashes: FileHashes) -> str:
    return hashes.read(path) if is_plain(path) else "something that is not a plain file"


def _read_manifest(folder: Path, faults: list[ReleaseFault]) -> dict[str, Any] | None:
    try:
        manifest = json.loads(_read_plain(folder / MANIFEST))
    except (OSError, ValueError, RecursionError) as error:
        faults.append(ReleaseFault(MANIFEST, "JSON", type(error).__name__))
        return None
    if not isinstance(manifest, dict):
        faults.append(ReleaseFault(MANIFEST, "a JSON object", type(manifest).__name__))
        return None
    return manifest


def _compare_files(manifest: dict[str, Any], folder: Path, hashes: FileHashes) -> list[ReleaseFault]:
    """Compare the manifest's list of files with the files. Also detects a remade SHA256SUMS."""
    listed = manifest.get("files")
    if not isinstance(listed, list):
        return [
            ReleaseFault(MANIFEST, "a list of files", "none" if listed is None else type(listed).__name__)
        ]
    stated = {
        str(entry.get("path")): (entry.get("sha256"), entry.get("bytes"))
        for entry in listed
        if isinstance(entry, dict)
    }
    present = _list_files(folder) - {SUMS, MANIFEST, SIGNATURE}
    faults = [
        ReleaseFault(MANIFEST, f"{path} among its files", "nothing") for path in sorted(present - set(stated))
    ]
    for path in sorted(present & set(stated)):
        actual = (_hash_file(folder / path, hashes), (folder / path).lstat().st_size)
        if actual != stated[path]:
            faults.append(
                ReleaseFault(
                    path,
                    f"SHA-256 {stated[path][0]} and {stated[path][1]} bytes as {MANIFEST} says",
                    str(actual),
                )
            )
    return faults


def _compare_qrels(manifest: dict[str, Any], qrels: tuple[Qrel, ...], content: str) -> list[ReleaseFault]:
    """Compare the manifest's counts and hash with the qrels."""
    counts = manifest.get("counts")
    stated = counts if isinstance(counts, dict) else {}
    by_grade = Counter(qrel.grade for qrel in qrels)
    compared: list[tuple[str, Any, Any]] = [
        ("content_sha256", content, manifest.get("content_sha256")),
        ("counts.qrels", len(qrels), stated.get("qrels")),
        ("counts.by_grade", {str(grade): by_grade[grade] for grade in GRADES}, stated.get("by_grade")),
    ]
    trec_holds = not list_left_out(manifest)  # then every id is free of white space: the file was read
    ids = set() if trec_holds else {name for qrel in qrels for name in (qrel.query_id, qrel.doc_id)}
    unwritable = {item_id for found in find_unwritable(ids).values() for item_id in found}
    compared += [
        ("gates.ids.measured", len(unwritable), value)
        for value in find_values(manifest, "gates.ids.measured")
    ]
    queries, without = stated.get("queries"), stated.get("queries_without_qrels")
    if isinstance(queries, int) and isinstance(without, int):
        judged = len({qrel.query_id for qrel in qrels})
        compared.append(("counts.queries without those without qrels", judged, queries - without))
    origins = [stated[origin] for origin in _ORIGINS if isinstance(stated.get(origin), int)]
    if origins:
        compared.append(("counts by origin", len(qrels), sum(origins)))
    faults = [
        ReleaseFault(MANIFEST, f"{name} {actual} as in {QRELS}", str(value))
        for name, actual, value in compared
        if value != actual
    ]
    pairs, statuses = stated.get("pairs"), [stated.get(status, 0) for status in PAIR_STATUSES]
    if (
        origins
        and isinstance(pairs, int)
        and all(isinstance(count, int) for count in statuses)
        and pairs != sum(statuses)
    ):
        expected = f"counts.pairs {sum(statuses)}, the sum of the pairs by status"
        faults.append(ReleaseFault(MANIFEST, expected, str(pairs)))
    return faults
