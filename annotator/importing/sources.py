"""Open the user's file or folder, and find the reader for it: the first step of every import.

In a folder of .md .rst .txt .html .docx .pdf .xlsx files, a doc_id is the path relative to the folder. With
`sections` each file is split at its headings (`sections.py`), with `cut` into a law's articles
(`law_articles.py`); ids and titles may follow a pattern (`document_names.py`). Hidden files, links out of the
folder, other kinds and empty files are skipped and counted in a note. Refuses a missing path, a folder in
place of a file, an unknown format, a folder without documents, a file that is not text in its encoding, and
an id that is not text or longer than 1,000 characters.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotator.domain.errors import BadInput, Problems, ValidationError, refuse
from annotator.domain.ground_truth import Document, GroundTruth
from annotator.domain.messages import CommandWords, say, say_n
from annotator.domain.texts import holds_no_text, measure_metadata
from annotator.formats.content_warnings import (
    describe_repeated_texts,
    describe_wrong_counts,
    list_repeated_texts,
)
from annotator.formats.format import Format
from annotator.formats.input_tables import DocumentLine, QueryLine, read_documents, read_queries
from annotator.formats.registry import FORMATS, HEAD, detect_format, find_format, list_certain
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tables import (
    KINDS,
    ColumnNames,
    check_kind,
    detect_kind,
    kind_of_name,
    read_table,
)
from annotator.formats.syntax.text import ID_LIMIT, describe, is_too_long, read_text, to_utf8
from annotator.importing.texts.document_names import NamePattern, rename_pages
from annotator.importing.texts.law_articles import CUTS, Cut, cut_law
from annotator.importing.texts.office_files import (
    INSTALL,
    MACROS,
    MODULES,
    is_readable,
    read_office_page,
    require_readable,
)
from annotator.importing.texts.sections import SectionedPage, read_page, split_sections

MOST_REPEATED = 100_000_000
"""Characters: each part of a file has the file's fields and its title again, so a small file could fill a disk."""
MEDIA_TYPE_BY_SUFFIX = {
    ".md": "text/markdown",
    ".rst": "text/x-rst",
    ".txt": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
}


@dataclass(frozen=True, slots=True)
class DocumentFolder:
    """The documents of a folder, and notes for people on skipped files."""

    documents: tuple[DocumentLine, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileLayout:
    """How the text files of a folder are divided, and how their documents are named.

    `sections`: split at headings. `cut`: divide as a law text. Not both.
    """

    sections: bool = False
    cut: Cut | None = None
    doc_id: NamePattern | None = None
    title: NamePattern | None = None

    def __post_init__(self) -> None:
        if self.sections and self.cut is not None:
            raise ValidationError("--sections splits at headings, --cut at articles: give one of them")

    @property
    def is_plain(self) -> bool:
        return self == FileLayout()


def make_layout(*, sections: bool, cut: str | None, doc_id: str | None, title: str | None) -> FileLayout:
    """Return the layout of these options. ValidationError for an unknown cut or an invalid pattern."""
    chosen = next((name for name in CUTS if name == cut), None)
    if cut is not None and chosen is None:
        raise ValidationError(f"--cut: expected one of {', '.join(CUTS)}, found {cut!r:.80}")
    if doc_id is None and chosen is not None:
        doc_id = "{stem}"
    return FileLayout(
        sections,
        chosen,
        None if doc_id is None else NamePattern(CommandWords("--doc-id"), doc_id),
        None if title is None else NamePattern(CommandWords("--title"), title),
    )


def read_folder(
    folder: Path, *, layout: FileLayout, encoding: str | None, at_most: int | None = None
) -> DocumentFolder:
    """Return every document of a folder's first `at_most` files. BadInput names every unreadable file."""
    skipped: Counter[str] = Counter()
    problems = Problems(str(folder))
    pages: list[tuple[str, SectionedPage]] = []
    for relative in sorted(_walk(folder, skipped))[:at_most]:
        source = InputSource(str(folder / relative), encoding=encoding)
        pages += _read_file(source, relative, problems, skipped)
    documents = _divide(pages, layout, problems, skipped)
    if not documents and not problems:
        expected = f"at least one file of {' '.join((*MEDIA_TYPE_BY_SUFFIX, *MODULES))} with text in it"
        actual = ", ".join(_describe(skipped)) or "an empty folder"
        problems.add(None, expected, actual)
    problems.raise_if_any()
    return DocumentFolder(tuple(documents), tuple(_describe(skipped)))


def read_single_file(source: InputSource, *, layout: FileLayout) -> DocumentFolder:
    """Return one text file as a document or its parts. The doc_id is the file's name, or follows the layout."""
    path = Path(source.path)
    if path.suffix.lower() in MODULES:
        require_readable(source.path, path.suffix.lower())
    skipped: Counter[str] = Counter()
    problems = Problems(source.path)
    pages = list(_read_file(source, path.name, problems, skipped))
    documents = _divide(pages, layout, problems, skipped)
    if not documents and not problems:
        problems.add(None, say("a file with text in it"), say("an empty file"))
    problems.raise_if_any()
    return DocumentFolder(tuple(documents), tuple(_describe(skipped)))


def _divide(
    pages: Sequence[tuple[str, SectionedPage]],
    layout: FileLayout,
    problems: Problems,
    skipped: Counter[str],
) -> list[DocumentLine]:
    lines: list[DocumentLine] = []
    for shown, page in rename_pages(pages, doc_id=layout.doc_id, title=layout.title, problems=problems):
        documents = [page.document]
        if layout.sections:
            documents = split_sections(page)
            split = sum(document.doc_id != page.document.doc_id for document in documents)
            skipped["bare"] += len(page.headings) - split
        elif layout.cut is not None:
            law = cut_law(page, layout.cut)
            documents = list(law.documents)
            skipped["deleted"] += law.deleted
            skipped["whole"] += documents == [page.document]
        repeated = sum(len(document.title) + measure_metadata(document.metadata) for document in documents)
        if len(documents) > 1 and repeated > MOST_REPEATED:
            expected = say(
                "titles and fields of at most {n} characters in all parts together", n=f"{MOST_REPEATED:,}"
            )
            problems.add(None, expected, f"{repeated:,}", path=shown)
            continue
        lines += [
            DocumentLine(shown, None, document)
            for document in documents
            if _has_usable_id(document, shown, problems)
        ]
    return lines


def _walk(folder: Path, skipped: Counter[str]) -> Iterator[str]:
    """Yield the relative POSIX paths of the files to read; count skipped ones."""
    root = folder.resolve()
    for directory, folders, files in os.walk(folder):
        here = Path(directory)
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
            elif path.suffix.lower() in MODULES and not is_readable(path.suffix.lower()):
                skipped["uninstalled"] += 1
            elif path.suffix.lower() not in (*MEDIA_TYPE_BY_SUFFIX, *MODULES, *MACROS):
                skipped["other"] += 1
            elif path.is_symlink() and not path.resolve().is_relative_to(root):
                skipped["link"] += 1
            else:
                yield path.relative_to(folder).as_posix()


def _read_file(
    source: InputSource, doc_id: str, problems: Problems, skipped: Counter[str]
) -> Iterator[tuple[str, SectionedPage]]:
    """Yield a file's page with its path for errors; nothing for an empty file, or after noting a problem."""
    path = Path(source.path)
    shown = os.fsencode(path).decode("utf-8", errors="backslashreplace")
    if holds_no_text(doc_id):
        problems.add(None, say("a file name in UTF-8"), ascii(doc_id), path=shown)
        return
    if path.suffix.lower() in MACROS:
        better = MACROS[path.suffix.lower()]
        problems.add(
            None, say("a file without macros (save it as {suffix})", suffix=better), path.suffix, path=shown
        )
        return
    suffix = path.suffix.lower()
    try:
        data = source.read_stored()
        if suffix in MODULES:
            yield shown, read_office_page(data, doc_id, shown)
            return
        text = read_text(data, shown, encoding=source.encoding)
    except BadInput as error:
        problems.errors += error.problems
        return
    except ValidationError as error:
        problems.add(None, say("a file that can be read"), str(error).rpartition(": ")[2], path=shown)
        return
    if not text.strip():
        skipped["empty"] += 1
        return
    yield shown, read_page(doc_id, text, MEDIA_TYPE_BY_SUFFIX[suffix])


def _has_usable_id(document: Document, shown: str, problems: Problems) -> bool:
    if not is_too_long(document.doc_id):
        return True
    problems.add(None, say("a doc_id of {limit}", limit=ID_LIMIT), document.doc_id, path=shown)
    return False


def _describe(skipped: Counter[str]) -> list[str]:
    kinds = " ".join((*MEDIA_TYPE_BY_SUFFIX, *MODULES))
    words = {
        "hidden": say_n(
            "{n:,} hidden file or folder skipped", "{n:,} hidden files or folders skipped", skipped["hidden"]
        ),
        "link": say_n(
            "{n:,} link out of the folder, or to a folder, skipped",
            "{n:,} links out of the folder, or to folders, skipped",
            skipped["link"],
        ),
        "other": say_n(
            "{n:,} file of another kind than {kinds} skipped",
            "{n:,} files of other kinds than {kinds} skipped",
            skipped["other"],
            kinds=kinds,
        ),
        "uninstalled": say_n(
            "{n:,} file of {kinds} skipped. {install}",
            "{n:,} files of {kinds} skipped. {install}",
            skipped["uninstalled"],
            kinds=" ".join(MODULES),
            install=INSTALL,
        ),
        "empty": say_n(
            "{n:,} file without text skipped", "{n:,} files without text skipped", skipped["empty"]
        ),
        "bare": say_n(
            "{n:,} heading without text of its own: it appears in the titles of its sections",
            "{n:,} headings without text of their own: they appear in the titles of their sections",
            skipped["bare"],
        ),
        "deleted": say_n(
            "{n:,} deleted article, paragraph or item left out",
            "{n:,} deleted articles, paragraphs or items left out",
            skipped["deleted"],
        ),
        "whole": say_n(
            "{n:,} file without an article taken whole",
            "{n:,} files without an article taken whole",
            skipped["whole"],
        ),
    }
    return [sentence for name, sentence in words.items() if skipped[name] > 0]


def read_query_source(
    source: InputSource,
    *,
    format_name: str | None,
    header: bool = True,
    columns: ColumnNames | None = None,
) -> tuple[list[QueryLine], tuple[str, ...]]:
    """Return the queries of a table or of a ground-truth file, and notes on ignored grades.

    `source`: with a lenient scale, so that no grade is refused. `header`: False for a table without one.
    `columns`: {expected name: column of the table} (`rename_columns`).
    """
    file_format = None if columns else _find_query_format(source, format_name)
    if file_format is None:
        kind = format_name if format_name in KINDS else None
        data = read_table(source, kind=kind)
        return read_queries(data, source.path, kind=kind, header=header, names=columns), ()
    truth = (
        file_format.read(source)
        if file_format.read_graded is None
        else file_format.read_graded(source, "all=1")
    )
    others = source.scale.unknown.total()  # counted now: looking for lines reads the file again
    lines = _locate(file_format, source, truth)
    _check_texts(lines, source, file_format)
    repeated = describe_repeated_texts(source.path, list_repeated_texts(file_format, truth))
    notes = (*describe_wrong_counts(truth.wrong_counts), *repeated)
    count = len(truth.qrels) + others
    if not count:
        return lines, notes
    left = say_n(
        "{n:,} judgment in the file is not imported", "{n:,} judgments in the file are not imported", count
    )
    return lines, (*notes, left)


def read_document_source(
    source: InputSource,
    *,
    format_name: str | None,
    layout: FileLayout,
    columns: ColumnNames | None = None,
) -> DocumentFolder:
    """Return the documents of a table, of a folder, or of one text file. BadInput names every bad place."""
    path = Path(source.path)
    if source.is_folder:
        if format_name is not None:
            raise ValidationError(
                say(
                    "{option}: {path} is a folder, whose files say by their suffix what they are",
                    option=CommandWords("--format"),
                    path=path,
                )
            )
        return read_folder(path, layout=layout, encoding=source.encoding)
    suffix = path.suffix.lower()
    if format_name is None and suffix in (*MODULES, *MACROS) and path.is_file():
        return read_single_file(source, layout=layout)
    if format_name is None and suffix in MEDIA_TYPE_BY_SUFFIX and path.is_file():
        may_be_table = suffix == ".txt"
        if not may_be_table or detect_kind(source.read_bytes(), "") is None:
            return read_single_file(source, layout=layout)
    if not layout.is_plain:
        raise ValidationError(
            say(
                "{cut}, {names} are for files of text; a table's documents are taken as they are",
                cut=CommandWords("--sections, --cut"),
                names=CommandWords("--doc-id and --title"),
            )
        )
    kind = check_kind(format_name) if format_name else None
    data = read_table(source, kind=kind)
    documents = read_documents(data, source.path, kind=kind, names=columns)
    return DocumentFolder(tuple(documents), ())


def _find_query_format(source: InputSource, name: str | None) -> Format | None:
    """Return the ground-truth format; None for a table of queries. For CSV and JSONL the columns decide."""
    if name is not None and name not in KINDS:
        if name not in {file_format.name for file_format in FORMATS}:
            raise ValidationError(f"no format named {name!r}; there are: {', '.join(_list_names())}")
        return find_format(name)
    if source.is_folder:
        return detect_format(source)
    certain = [file_format for file_format in list_certain(source) if name in (None, file_format.name)]
    if len(certain) == 1:
        return certain[0]
    if name is not None or kind_of_name(source.path) is not None:
        return None
    with source.open() as file:
        head = file.read(HEAD)
    if detect_kind(to_utf8(head, source.path, source.encoding), source.path) is not None:
        return None
    return detect_format(source)


def _list_names() -> list[str]:
    return list(dict.fromkeys([*KINDS, *(file_format.name for file_format in FORMATS)]))


def _locate(file_format: Format, source: InputSource, truth: GroundTruth) -> list[QueryLine]:
    if file_format.find_query_lines is None:
        return [QueryLine(None, query) for query in truth.queries]
    lines = file_format.find_query_lines(source)
    return [QueryLine(line, query) for line, query in zip(lines, truth.queries, strict=True)]


def _check_texts(lines: list[QueryLine], source: InputSource, file_format: Format) -> None:
    """Raise BadInput for every query without a text: people cannot judge documents for it."""
    if lines and "query_texts" not in file_format.features:
        expected = "queries with their texts"
        raise refuse(
            source.path, None, expected, say("{format}, which holds query ids only", format=file_format.name)
        )
    within = (
        f"/{file_format.files[0].path}" if source.is_folder else ""
    )  # the first file of a folder holds its queries
    problems = Problems(f"{source.path}{within}")
    for line, query in lines:
        if not query.text.strip():
            name = f"the text of query {query.query_id!r}"
            problems.add(line, say("{name} to be a text that is not empty", name=name), describe(query.text))
    problems.raise_if_any()
