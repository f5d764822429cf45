"""A folder of .md .rst .txt .html files as documents: doc_id is the path relative to the folder, as on disk.

Files are taken in the order of their paths, at any depth. Hidden files, links that lead out of the folder,
files of other kinds and empty ones are skipped and counted in a note. With `sections` each file is split at
its headings (see `sections.py`). Refused: a folder without any such file, a file that is not text in the
encoding, an id longer than 1,000 characters or with bytes that are no text.
"""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annotator.domain.errors import BadInput, Problems, ValidationError
from annotator.domain.ground_truth import Document
from annotator.domain.texts import holds_no_text
from annotator.formats.documents import DocumentLine
from annotator.formats.regular_file import read_regular
from annotator.formats.text import ID_LIMIT, is_too_long, read_text
from annotator.importing.sections import read_page, split_sections

MEDIA_TYPE_BY_SUFFIX = {
    ".md": "text/markdown",
    ".rst": "text/x-rst",
    ".txt": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
}


@dataclass(frozen=True, slots=True)
class Folder:
    """The documents that were read, and notes for people on what was skipped."""

    documents: tuple[DocumentLine, ...]
    notes: tuple[str, ...]


def read_folder(folder: Path, *, sections: bool, encoding: str | None) -> Folder:
    """Every document below a folder. BadInput names every file that cannot be one."""
    skipped: Counter[str] = Counter()
    problems = Problems(str(folder))
    documents: list[DocumentLine] = []
    for relative in sorted(_walk(folder, skipped)):
        documents += _read_file(folder / relative, relative, sections, encoding, problems, skipped)
    if not documents and not problems:
        expected = f"at least one file of {' '.join(MEDIA_TYPE_BY_SUFFIX)} with text in it"
        found = ", ".join(_describe(skipped)) or "an empty folder"
        problems.add(None, expected, found)
    problems.raise_if_any()
    return Folder(tuple(documents), tuple(_describe(skipped)))


def read_one_file(path: Path, *, sections: bool, encoding: str | None) -> Folder:
    """One text file as a document (or as its sections); its doc_id is the file's name."""
    skipped: Counter[str] = Counter()
    problems = Problems(str(path))
    documents = _read_file(path, path.name, sections, encoding, problems, skipped)
    if not documents and not problems:
        problems.add(None, "a file with text in it", "an empty file")
    problems.raise_if_any()
    return Folder(tuple(documents), tuple(_describe(skipped)))


def _walk(folder: Path, skipped: Counter[str]) -> Iterator[str]:
    """The relative POSIX paths of the files to read; what is not read is counted."""
    root = folder.resolve()
    for place, folders, files in os.walk(folder):
        here = Path(place)
        for name in list(folders):
            if name.startswith("."):
                skipped["hidden"] += 1
                folders.remove(name)
            elif (here / name).is_symlink():
                skipped["link"] += 1
        for name in files:
            path = here / name
            if name.startswith("."):
                skipped["hidden"] += 1
            elif path.suffix.lower() not in MEDIA_TYPE_BY_SUFFIX:
                skipped["other"] += 1
            elif path.is_symlink() and not path.resolve().is_relative_to(root):
                skipped["link"] += 1
            else:
                yield path.relative_to(folder).as_posix()


def _read_file(
    path: Path,
    doc_id: str,
    sections: bool,
    encoding: str | None,
    problems: Problems,
    skipped: Counter[str],
) -> list[DocumentLine]:
    shown = os.fsencode(path).decode("utf-8", errors="backslashreplace")
    if holds_no_text(doc_id):
        problems.add(None, "a file name in UTF-8", ascii(doc_id), path=shown)
        return []
    try:
        text = read_text(read_regular(path), shown, encoding=encoding)
    except BadInput as error:
        problems.found += error.problems
        return []
    except ValidationError as error:
        problems.add(None, "a file that can be read", str(error).rpartition(": ")[2], path=shown)
        return []
    if not text.strip():
        skipped["empty"] += 1
        return []
    page = read_page(doc_id, text, MEDIA_TYPE_BY_SUFFIX[path.suffix.lower()])
    found = split_sections(page) if sections else [page.document]
    if sections:
        split = sum(document.doc_id != doc_id for document in found)
        skipped["bare"] += len(page.headings) - split
    return [
        DocumentLine(shown, None, document) for document in found if _has_usable_id(document, shown, problems)
    ]


def _has_usable_id(document: Document, shown: str, problems: Problems) -> bool:
    if not is_too_long(document.doc_id):
        return True
    problems.add(None, f"a doc_id of {ID_LIMIT}", document.doc_id, path=shown)
    return False


def _describe(skipped: Counter[str]) -> list[str]:
    words = {
        "hidden": "hidden files or folders skipped",
        "link": "links out of the folder, or to folders, skipped",
        "other": f"files other than {' '.join(MEDIA_TYPE_BY_SUFFIX)} skipped",
        "empty": "files without text skipped",
        "bare": "headings without text of their own: they stand in the titles of their sections",
    }
    return [f"{skipped[name]:,} {text}" for name, text in words.items() if skipped[name] > 0]
