"""Read the text and tables of DOCX, PDF and XLSX files as pages, with python-docx, pypdf and openpyxl (extra
`documents`).

The text is plain: a table's row is a line with its cells separated by " | ". Headings are the heading styles
of a DOCX file, the pages of a PDF file (after a line "[page 3]") and the sheets of an XLSX file; so
`--sections` makes a document of each, with `page` or `sheet` as a field. Not read: pictures, headers,
footers, notes, formulas (their values are read). Refused: a password, a scanned PDF without text, an archive
that is broken or unpacks to too much, macros.
"""

import importlib.util
import io
import logging
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from annotator.domain.errors import BadInput, ValidationError, refuse
from annotator.domain.ground_truth import Document
from annotator.domain.messages import say
from annotator.importing.texts.sections import Heading, SectionedPage, cut_title

if TYPE_CHECKING:
    from docx.document import Document as WordDocument

MODULES = {".docx": "docx", ".pdf": "pypdf", ".xlsx": "openpyxl"}
"""The module that reads each kind of file, by its suffix."""
MACROS = {".docm": ".docx", ".xlsm": ".xlsx", ".dotm": ".docx", ".xltm": ".xlsx"}
"""Files with macros, and as what to save them."""
INSTALL = 'DOCX, PDF and XLSX are read by an extra: pip install "annotator[documents]"'
MOST_BYTES = 200_000_000
MOST_UNPACKED = 500_000_000
MOST_ENTRIES = 10_000
MOST_XML = 200_000_000
"""Bytes of the parts that are parsed as a whole: all XML of a DOCX file, and of an XLSX file all but its sheets."""
MOST_TAGS = 8_000_000
"""Tags in these parts. A parser needs about 100 bytes for each, however short it is."""
MOST_PAGES = 10_000
MOST_PDF_CONTENT = 200_000_000
"""Bytes of the pages' instructions after unpacking. A page of text has about 10,000."""
MOST_PDF_INSTRUCTIONS = 20_000_000
"""Instructions carried out on all pages, those of a form once for each call: about 12 µs each."""
MOST_ROWS = 1_048_576
MOST_CELLS = 20_000_000
"""Cells of all sheets, empty ones between others included: one cell in column XFD makes a row of 16,384."""
MOST_CHARACTERS = 32_000_000
BETWEEN_CELLS = " | "
_PIECE = 1_048_576
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PARAGRAPH, _TABLE, _RUN, _LINK = (f"{_WORD}{name}" for name in ("p", "tbl", "r", "hyperlink"))
_PIECES = tuple(f"{_WORD}{name}" for name in ("t", "tab", "br", "cr", "noBreakHyphen", "ptab"))
"""Of a run: what has a text."""
_HIDES_TAGS = re.compile(rb"""^.{0,200}encoding\s*=\s*["'][a-z0-9-]*utf-?7""", re.IGNORECASE | re.DOTALL)
"""XML in the one encoding that writes "<" in other bytes, and that the parser knows."""
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADING_STYLE = re.compile(r"(?:heading|제목|개요|見出し)\s*([1-9])", re.IGNORECASE)
_BROKEN = (
    AssertionError,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    RecursionError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What the libraries raise for a damaged file, beside their own errors."""


def is_readable(suffix: str) -> bool:
    """Return whether the library for files of this suffix is installed."""
    return importlib.util.find_spec(MODULES[suffix]) is not None


def require_readable(shown: str, suffix: str) -> None:
    """Raise ValidationError with what to install, if the library for files of this suffix is missing."""
    if not is_readable(suffix):
        raise ValidationError(f"cannot read {shown}: {INSTALL}")


def read_office_page(data: bytes, doc_id: str, shown: str) -> SectionedPage:
    """Return the page of a file's content. BadInput for an unreadable file; `shown`: its name in errors."""
    suffix = PurePosixPath(doc_id).suffix.lower()
    require_readable(shown, suffix)
    if len(data) > MOST_BYTES:
        raise _refuse(shown, say("a file of at most {n} bytes", n=MOST_BYTES), f"{len(data):,}")
    text = _PageText(shown)
    read: Callable[[bytes, _PageText], dict[str, Any]] = {
        ".docx": _read_docx,
        ".pdf": _read_pdf,
        ".xlsx": _read_xlsx,
    }[suffix]
    if suffix != ".pdf":
        _check_archive(data, shown, suffix)
    try:
        metadata = read(data, text)
    except BadInput:
        raise
    except _BROKEN as error:
        raise _refuse(
            shown, say("a {kind} file that can be read", kind=suffix[1:].upper()), _describe_error(error)
        ) from None
    if not text.content.strip():
        raise _refuse(shown, *_NO_TEXT[suffix])
    title = str(metadata.pop("title", "") or "").strip()
    if suffix == ".docx":
        title = next((heading.title for heading in text.headings if heading.title), title)
    document = Document(
        doc_id, cut_title(title or PurePosixPath(doc_id).name), text.content, None, "text/plain", metadata
    )
    return SectionedPage(document, tuple(text.headings))


_NO_TEXT = {
    ".docx": ("a DOCX file with text", "no text (pictures are not read)"),
    ".pdf": (
        say("a PDF file with text"),
        say("pictures of pages only: a scanned file needs text recognition first"),
    ),
    ".xlsx": ("an XLSX file with text", "empty sheets"),
}


class _PageText:
    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.headings: list[Heading] = []
        self._parts: list[str] = []
        self._length = 0

    @property
    def content(self) -> str:
        return "".join(self._parts)

    def add(self, text: str) -> None:
        """Append a text unchanged. BadInput if the file's text becomes too long."""
        text = text.replace("\x00", "")
        self.check_length(len(text))
        self._length += len(text)
        self._parts.append(text)

    def check_length(self, added: int) -> None:
        """Raise BadInput if this many more characters exceed the limit."""
        if self._length + added > MOST_CHARACTERS:
            raise _refuse(
                self.shown, say("a text of at most {n} characters", n=MOST_CHARACTERS), say("a longer one")
            )

    def begin(self, title: str, level: int, line: str, **fields: Any) -> None:
        """Begin a section with the line that names it."""
        start = self._length
        self.add(line)
        self.headings.append(Heading(start, self._length, level, title, fields))


def _refuse(shown: str, expected: str, actual: str) -> BadInput:
    return refuse(shown, None, expected, actual)


def _describe_error(error: Exception) -> str:
    words = " ".join(str(error).split())[:80]
    return say("a damaged one ({error})", error=words or type(error).__name__)


def _check_archive(data: bytes, shown: str, suffix: str) -> None:
    """Refuse a file that is no archive, is encrypted, holds macros, or unpacks to more than the limit."""
    kind = suffix[1:].upper()
    if data.startswith(_OLE):
        raise _refuse(
            shown,
            say("a {kind} file without a password", kind=kind),
            say("an encrypted one, or one of Office 2003"),
        )
    try:
        entries = zipfile.ZipFile(io.BytesIO(data)).infolist()
    except (zipfile.BadZipFile, *_BROKEN):
        raise _refuse(shown, say("a {kind} file", kind=kind), say("no archive, or a broken one")) from None
    if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
        raise _refuse(shown, say("a {kind} file", kind=kind), say("no archive, or a broken one"))
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > MOST_ENTRIES or unpacked > MOST_UNPACKED:
        limit = say(
            "a {kind} file that unpacks to at most {bytes} bytes in {n} parts",
            kind=kind,
            bytes=MOST_UNPACKED,
            n=MOST_ENTRIES,
        )
        raise _refuse(shown, limit, say("{n} bytes in {m}", n=unpacked, m=len(entries)))
    if any(entry.filename.lower().endswith("vbaproject.bin") for entry in entries):
        raise _refuse(shown, say("a {kind} file without macros", kind=kind), say("macros"))
    try:
        _check_xml(data, shown, suffix)
    except _BROKEN as error:
        raise _refuse(
            shown, say("a {kind} file that can be read", kind=kind), _describe_error(error)
        ) from None


def _check_xml(data: bytes, shown: str, suffix: str) -> None:
    """Refuse XML that needs much more memory than its size, before a parser builds its tree."""
    tags = size = 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            name = entry.filename.lower()
            if suffix == ".xlsx" and "worksheets/sheet" in name:  # read row by row
                continue
            is_named_xml = name.endswith((".xml", ".rels"))
            with archive.open(entry) as part:
                while piece := part.read(_PIECE):
                    if _HIDES_TAGS.search(piece):
                        raise ValueError("UTF-7")
                    tags += piece.count(b"<")
                    size += len(piece) if is_named_xml else 0
                    if size > MOST_XML or tags > MOST_TAGS:
                        limit = f"a {suffix[1:].upper()} file of at most {MOST_XML:,} bytes of XML with {MOST_TAGS:,} tags"
                        raise _refuse(shown, limit, "more")


def _read_docx(data: bytes, text: _PageText) -> dict[str, Any]:
    """Read paragraphs and tables in order; a paragraph with a heading style begins a section."""
    import docx
    from docx.opc.exceptions import OpcError

    try:
        document = docx.Document(io.BytesIO(data))
    except OpcError as error:
        raise _refuse(
            text.shown, say("a {kind} file that can be read", kind="DOCX"), _describe_error(error)
        ) from None
    _walk_docx(document, text)
    return {"title": document.core_properties.title}


def _walk_docx(document: "WordDocument", text: _PageText) -> None:
    styles = _name_styles(document)
    for block in _list_blocks(document.element.body):
        if block.tag == _TABLE:
            for row in _list_rows(block, text):
                text.add(f"{BETWEEN_CELLS.join(row)}\n")
            text.add("\n")
            continue
        words = _read_paragraph(block).strip()
        if not words:
            continue
        style = styles.get(block.style, styles[None])
        heading = _HEADING_STYLE.match(style)
        if heading or style == "Title":
            level = int(heading[1]) + 1 if heading else 1
            text.begin(words, level, f"{words}\n\n")
        else:
            text.add(f"{words}\n\n")


def _name_styles(document: "WordDocument") -> dict[str | None, str]:
    """Return {style id: name} of the paragraph styles; None is the key for paragraphs without a style.

    Read once, because python-docx searches all styles again for each paragraph.
    """
    from docx.enum.style import WD_STYLE_TYPE

    styles = [style for style in document.styles if style.type == WD_STYLE_TYPE.PARAGRAPH]
    default = document.styles.default(WD_STYLE_TYPE.PARAGRAPH)
    names: dict[str | None, str] = {None: (default.name or "") if default is not None else ""}
    for style in styles:
        names.setdefault(style.style_id, style.name or "")
    return names


def _list_blocks(parent: Any) -> Iterator[Any]:
    """Yield the paragraphs and tables (CT_P, CT_Tbl) of a body or a cell, in their order.

    Takes linear time, as `_read_paragraph` does. python-docx searches for several names at once, in quadratic time.
    """
    return iter(parent.iterchildren(_PARAGRAPH, _TABLE))


def _read_paragraph(paragraph: Any) -> str:
    """Return the text of a paragraph with its links; tabs and breaks as python-docx writes them."""
    return "".join(
        str(piece)
        for part in paragraph.iterchildren(_RUN, _LINK)
        for run in ([part] if part.tag == _RUN else part.iterchildren(_RUN))
        for piece in run.iterchildren(*_PIECES)
    )


def _list_rows(table: Any, text: _PageText) -> Iterator[list[str]]:
    """Yield the cells of each row. A cell over several columns or rows appears once per row.

    A span only advances the column. python-docx (`row.cells`) repeats the cell as often as the file says, and
    reads a merged cell again for each of its rows.
    """
    above: dict[int, str] = {}
    for row in table.tr_lst:
        column, cells = row.grid_before, {}
        for cell in row.tc_lst:
            continues = cell.vMerge == "continue" and column in above
            cells[column] = above[column] if continues else _read_cell(cell, text)
            column += max(cell.grid_span, 1)
        yield list(cells.values())
        above = cells


def _read_cell(cell: Any, text: _PageText) -> str:
    """Return the text of a cell. BadInput if it becomes too long: nested tables can multiply their texts."""
    words: list[str] = []
    length = 0
    for block in _list_blocks(cell):
        rows = _list_rows(block, text) if block.tag == _TABLE else [[_read_paragraph(block)]]
        for row in rows:
            length += sum(map(len, row)) + len(row)
            text.check_length(length)
            words += row
    return _join_words(words)


def _join_words(words: Iterable[str]) -> str:
    return " ".join(" ".join(words).split())


class _PdfInstructions:
    """Counts the instructions of a PDF file and the characters they show. A page can call one form thousands of times."""

    def __init__(self, text: _PageText) -> None:
        self._text = text
        self._number = self._characters = 0

    def count(self, _operator: object, operands: Iterable[object], *_matrices: object) -> None:
        """Count one instruction, before pypdf carries it out."""
        self._number += 1
        self._characters += sum(len(operand) for operand in operands if isinstance(operand, str | bytes))
        self.check()

    def check(self) -> None:
        """Raise BadInput if there are too many."""
        self._text.check_length(self._characters)
        if self._number > MOST_PDF_INSTRUCTIONS:
            limit = say("a PDF file with at most {n} instructions", n=MOST_PDF_INSTRUCTIONS)
            raise _refuse(self._text.shown, limit, say("more, with those of repeated forms"))


def _read_pdf(data: bytes, text: _PageText) -> dict[str, Any]:
    """Read all pages; count pages without text."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, LimitReachedError, PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns of every oddity that it repairs
    without_password = say("a {kind} file without a password", kind="PDF")
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise _refuse(text.shown, without_password, say("an encrypted one"))
        count = len(reader.pages)
        if count > MOST_PAGES:
            raise _refuse(text.shown, say("a PDF file of at most {n} pages", n=MOST_PAGES), f"{count:,}")
        blank = content = 0
        carried_out = _PdfInstructions(text)
        for number, page in enumerate(reader.pages, start=1):
            instructions = page.get_contents()
            content += len(instructions.get_data()) if instructions is not None else 0
            if content > MOST_PDF_CONTENT:
                limit = f"a PDF file of at most {MOST_PDF_CONTENT:,} bytes of page content after unpacking"
                raise _refuse(text.shown, limit, f"more on its first {number:,} pages")
            words = page.extract_text(visitor_operand_before=carried_out.count).strip()
            carried_out.check()  # pypdf goes on after an error inside a form
            if not words:
                blank += 1
                continue
            text.begin(f"page {number}", 1, f"[page {number}]\n", page=number)
            text.add(f"{words}\n\n")
        title = reader.metadata.title if reader.metadata is not None else ""
    except DependencyError:
        raise _refuse(text.shown, without_password, say("an encrypted one")) from None
    except LimitReachedError:
        raise _refuse(
            text.shown, say("a PDF file of ordinary size"), say("one that unpacks to too much")
        ) from None
    except PyPdfError as error:
        raise _refuse(
            text.shown, say("a {kind} file that can be read", kind="PDF"), _describe_error(error)
        ) from None
    return {"title": title, "pages": count, **({"pages_without_text": blank} if blank else {})}


def _read_xlsx(data: bytes, text: _PageText) -> dict[str, Any]:
    """Read all sheets, including hidden ones and the stored values of formulas."""
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        count = 0
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # the file may name a range of a million empty columns
            has_rows = False
            for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
                count += len(row) + 1
                if number > MOST_ROWS:
                    raise _refuse(text.shown, say("sheets of at most {n} rows", n=MOST_ROWS), "more")
                if count > MOST_CELLS:
                    limit = f"sheets of at most {MOST_CELLS:,} cells together, empty ones included"
                    raise _refuse(text.shown, limit, "more")
                cells = [_show_value(value) for value in row]
                while cells and not cells[-1]:
                    cells.pop()
                if any(cells):
                    if not has_rows:
                        text.begin(sheet.title, 1, f"[{sheet.title}]\n", sheet=sheet.title)
                        has_rows = True
                    text.add(f"{BETWEEN_CELLS.join(cells)}\n")
            if has_rows:
                text.add("\n")
        title = book.properties.title
    except InvalidFileException as error:
        raise _refuse(text.shown, say("an XLSX file that can be read"), _describe_error(error)) from None
    return {"title": title}


def _show_value(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())
