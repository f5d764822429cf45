"""No file that a user names stops a reader: what is no regular file, nested without end or too long is refused with its place."""

import io
import os
import re
import socket
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pytest
from reportlab.pdfgen.canvas import Canvas
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.cli.terminal import read_bytes
from annotator.dataset.coverage_service import check_file
from annotator.domain.errors import AnnotatorError, BadInput, ValidationError
from annotator.formats.judgments import read_judgments
from annotator.formats.registry import FORMATS, read_truth
from annotator.formats.syntax.source import MAX_LINE, InputSource
from annotator.formats.syntax.tables import MAX_CELL, read_rows
from annotator.importing.judgments.provenance import read_provenance
from annotator.importing.sources import FileLayout, read_folder, read_query_source
from annotator.importing.texts import office_files
from annotator.importing.texts.office_files import read_office_page
from tests.security.test_growth import check_growth

SMALL_CELL = 200_000
DEEP = {
    "law": '{"queries":' + '{"a":' * 3_000,
    "law-compact": "[" * 100_000,
    "ranked": '{"a":' * 3_000,
    "jsonl": '{"query_id":"a","doc_id":' + "[" * 100_000,
    "csv": '"' * 99_999,
    "nablarch": "queries: " + "[" * 20_000,
    "assay": "expected: " + "{a: " * 20_000,
    "assay-queries": "- " * 20_000,
    "trec": "Q 0 " * 20_000,
    "beir": "query-id\tcorpus-id\tscore\n" + '"' * 99_999,
}


@pytest.fixture
def small_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lower limit, reached sooner. At the limit itself, one test reads a cell."""
    for module in ("syntax.tables", "qrel_files"):
        monkeypatch.setattr(f"annotator.formats.{module}.MAX_CELL", SMALL_CELL)


def special_files(folder: Path) -> list[tuple[str, str]]:
    """What is no regular file, and what it is called."""
    pipe, socket_path = folder / "pipe.json", folder / "socket.json"
    os.mkfifo(pipe)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(socket_path))
    server.close()
    (folder / "link.json").symlink_to("/proc/self/mem")
    return [
        (str(pipe), "a named pipe"),
        (str(socket_path), "a socket"),
        ("/dev/zero", "a device"),
        ("/proc/self/mem", "a file of the kernel"),
        (str(folder / "link.json"), "a file of the kernel"),
    ]


def test_every_way_in_refuses_what_is_no_regular_file_before_it_is_read(tmp_path: Path) -> None:
    for path, kind in special_files(tmp_path):
        ways = (
            lambda path=path: check_file(InputSource(path)),
            lambda path=path: read_truth(InputSource(path), format_name="law"),
            lambda path=path: InputSource(path).read_bytes(),
            lambda path=path: read_query_source(InputSource(path), format_name=None),
            lambda path=path: read_bytes(Path(path)),
            lambda path=path: read_provenance(Path(path)),
        )
        for way in ways:
            with pytest.raises(BadInput) as caught:
                way()
            (problem,) = caught.value.problems
            assert (problem.path, problem.expected, problem.found) == (path, "a regular file", kind)


def test_a_folder_and_a_name_that_no_file_has_are_refused(tmp_path: Path) -> None:
    for path, message in ((str(tmp_path), "found a folder"), ("a\x00b", "no file can have this name")):
        with pytest.raises(ValidationError, match=message):
            read_bytes(Path(path))
        with pytest.raises(AnnotatorError):
            InputSource(path).read_bytes()


def test_a_pipe_in_a_folder_of_documents_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text", encoding="utf-8")
    os.mkfifo(tmp_path / "b.md")
    with pytest.raises(BadInput, match=r"b\.md: expected a regular file, found a named pipe"):
        read_folder(tmp_path, layout=FileLayout(), encoding=None)


@pytest.mark.parametrize("file_format", FORMATS, ids=lambda file_format: file_format.name)
def test_nesting_without_end_is_refused_with_its_line_by_name_and_by_content(
    file_format: object, tmp_path: Path
) -> None:
    name = file_format.name  # type: ignore[attr-defined]
    source = InputSource(str(tmp_path / "f"), DEEP[name].encode())
    with pytest.raises(BadInput) as caught:
        read_truth(source, format_name=name, grades_by="all=1" if name == "ranked" else None)
    assert caught.value.problems[0].line == (2 if name == "beir" else 1)
    assert not check_file(source).valid, "also when the format is to be found from the content"


def test_a_cell_over_the_limit_is_refused_with_its_line(is_long_run: bool) -> None:
    """In `make test` with one line: those of many lines have lower limits below."""
    one_line, many_lines = "x" * (MAX_CELL + 1), "x\n" * (MAX_CELL // 2 + 1)
    for cell in (one_line, many_lines) if is_long_run else (one_line,):
        data = f'query_id,doc_id,annotator,grade,note\nQ,d,a,1,"{cell}"\n'.encode()
        with pytest.raises(BadInput, match=r"j\.csv:2: expected cells of at most 32,000,000 characters"):
            read_judgments(data, "j.csv")


def test_a_line_over_the_limit_is_refused_before_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_bytes(b"query_id,text\nq1,t\nq2," + b"x" * (MAX_LINE + 1))
    with path.open("r+b") as file:
        file.truncate(50_000_000_000)  # sparse: reading all of it would end nowhere
    with pytest.raises(BadInput, match=r"q\.csv:3: expected lines of at most 32 MB, found a longer one"):
        read_query_source(InputSource(str(path)), format_name="csv")


@pytest.mark.usefixtures("small_cells")
@pytest.mark.parametrize("encoding", [None, "utf-16"])
def test_a_cell_of_many_lines_over_the_limit_is_refused_before_the_rest_is_read(
    tmp_path: Path, encoding: str | None
) -> None:
    path = tmp_path / "q.csv"
    stray, cell = 'q1,a 5" disk\n', "x\n" * (SMALL_CELL // 2 + 1)
    path.write_bytes(f'query_id,text\n{stray}q2,"{cell}'.encode(encoding or "utf-8"))
    with path.open("r+b") as file:
        file.truncate(50_000_000_000)  # sparse: reading all of it would end nowhere
    with pytest.raises(BadInput, match=r"q\.csv:3: expected cells of at most 32,000,000 characters, found a"):
        read_query_source(InputSource(str(path), encoding=encoding), format_name="csv")


@pytest.mark.usefixtures("small_cells")
def test_a_ground_truth_with_such_a_cell_is_told_of_in_the_same_words(tmp_path: Path) -> None:
    path = tmp_path / "qrels.csv"
    path.write_bytes(b'query_id,doc_id,grade,note\nq,d,1,"' + b"x\n" * (SMALL_CELL // 2 + 1))
    with path.open("r+b") as file:
        file.truncate(50_000_000_000)
    (problem,) = check_file(InputSource(str(path))).problems
    assert (problem.line, problem.expected) == (2, "cells of at most 32,000,000 characters")


@pytest.mark.usefixtures("small_cells")
@pytest.mark.parametrize("name", ["judgments", "pairs", "documents"])
def test_every_import_of_a_table_refuses_such_a_cell(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'query_id,doc_id,annotator,grade,note\nq,d,a,1,"' + b"x\n" * (SMALL_CELL // 2 + 1))
    with path.open("r+b") as file:
        file.truncate(50_000_000_000)
    url = f"sqlite:///{tmp_path / 'a.db'}"
    for words in (["dataset", "create", "d"], ["import", name, "d", str(path)]):
        done = CliRunner().invoke(app, [*words, "--database", url])
    assert isinstance(done.exception, BadInput)
    assert "t.csv:2: expected cells of at most 32,000,000 characters" in str(done.exception)


def test_a_large_table_without_such_a_cell_is_read(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    rows = (f'q{number},"{"x" * 1_000_000}"\n' for number in range(33))
    path.write_text("query_id,text\n" + "".join(rows))
    assert len(read_query_source(InputSource(str(path)), format_name="csv")[0]) == 33


def test_text_that_is_none_is_named_with_its_line_in_a_table_too() -> None:
    for data, message in ((b"query_id,text\nq,\xff\n", "byte 0xff"), (b"query_id,text\nq,a\x00b\n", "NUL")):
        with pytest.raises(BadInput, match=rf"q\.csv:2: expected .*{message}"):
            read_rows(data, "q.csv")


def test_the_command_line_answers_a_hostile_file_with_one_line(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text('{"a":' * 3_000, encoding="utf-8")
    for file in (str(path), "/proc/self/mem"):
        done = subprocess.run(
            [sys.executable, "-c", "from annotator.cli.main import run; run()", "check", file],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (1, "")
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith(f"{file}: expected ")


def save_office(document: object) -> bytes:
    file = io.BytesIO()
    document.save(file)  # type: ignore[attr-defined]
    return file.getvalue()


def _give(replacement: str, _match: re.Match[str]) -> str:
    return replacement


def change_parts(data: bytes, changes: Mapping[str, tuple[str, str]]) -> bytes:
    """Replace what a pattern finds in parts of an archive. Every pattern must be found."""
    changed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as good,
        zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as parts,
    ):
        for name in good.namelist():
            content = good.read(name).decode("utf-8", "surrogateescape")
            if name in changes:
                content, count = re.subn(changes[name][0], partial(_give, changes[name][1]), content)
                assert count
            parts.writestr(name, content.encode("utf-8", "surrogateescape"))
    return changed.getvalue()


def make_table(rows: int, columns: int) -> bytes:
    document = docx.Document()
    table = document.add_table(rows, columns)
    for number, row in enumerate(table.rows):
        row.cells[0].text = f"cell {number}"
    return save_office(document)


def read_office(data: bytes, name: str) -> str:
    return read_office_page(data, name, name).document.text


@pytest.mark.parametrize("tag", ["gridSpan", "gridBefore"])
def test_a_cell_over_a_trillion_columns_is_one_cell(tag: str) -> None:
    span = f'<w:{tag} w:val="1000000000000"/>'
    change = (
        ("<w:tcPr>", f"<w:tcPr>{span}") if tag == "gridSpan" else ("<w:tr>", f"<w:tr><w:trPr>{span}</w:trPr>")
    )
    data = change_parts(make_table(3, 2), {"word/document.xml": change})
    assert read_office(data, "a.docx") == "cell 0 | \ncell 1 | \ncell 2 | \n\n"


def test_a_merged_cell_is_read_once_for_all_of_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    read_cell = office_files._read_cell

    def count(cell: Any, text: Any) -> str:
        read.append(cell)
        return read_cell(cell, text)

    monkeypatch.setattr(office_files, "_read_cell", count)
    rows = 2_000  # python-docx goes up row by row, and gives up where that is too deep
    merged = '<w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr><w:p><w:r><w:t>top</w:t></w:r></w:p></w:tc></w:tr>'
    merged += "<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr>" * (rows - 1)
    data = change_parts(make_table(1, 1), {"word/document.xml": (r"(?s)<w:tr>.*</w:tr>", merged)})
    assert read_office(data, "a.docx") == "top\n" * rows + "\n"
    assert len(read) == 1


def test_tables_in_tables_that_multiply_a_text_are_refused() -> None:
    inner = "<w:p><w:r><w:t>words</w:t></w:r></w:p>"
    for _ in range(12):
        top = f'<w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>{inner}</w:tc></w:tr>'
        rows = "<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr>" * 9
        inner = f"<w:tbl><w:tblPr/><w:tblGrid/>{top}{rows}</w:tbl><w:p/>"
    data = change_parts(save_office(docx.Document()), {"word/document.xml": ("<w:body>", f"<w:body>{inner}")})
    with pytest.raises(BadInput, match="a text of at most 32,000,000 characters, found a longer one"):
        read_office(data, "a.docx")


def test_styles_are_looked_up_once_however_many_paragraphs_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    from docx.parts.document import DocumentPart

    monkeypatch.setattr(DocumentPart, "get_style", lambda *_: pytest.fail("searches every style each time"))
    document = docx.Document()
    document.add_heading("A heading", level=2)
    for _ in range(3):
        document.add_paragraph("words")
    page = read_office_page(save_office(document), "a.docx", "a.docx")
    assert [heading.level for heading in page.headings] == [3]


def test_tags_are_counted_before_a_parser_builds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office_files, "MOST_TAGS", 100_000)
    data = change_parts(
        save_office(docx.Document()), {"word/document.xml": ("<w:body>", "<w:body>" + "<w:p/>" * 100_000)}
    )
    assert len(data) < 100_000
    with pytest.raises(BadInput, match=r"a DOCX file of at most 200,000,000 bytes of XML with 100,000 tags"):
        read_office(data, "a.docx")


def test_the_empty_cells_between_two_cells_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office_files, "MOST_CELLS", 100_000)
    book = openpyxl.Workbook()
    book.active["A1"] = "words"  # type: ignore[index]
    rows = "".join(f'<row r="{row}"><c r="XFD{row}"><v>1</v></c></row>' for row in range(1, 20))
    data = change_parts(
        save_office(book),
        {"xl/worksheets/sheet1.xml": ("<sheetData>.*</sheetData>", f"<sheetData>{rows}</sheetData>")},
    )
    with pytest.raises(BadInput, match=r"sheets of at most 100,000 cells together, empty ones included"):
        read_office(data, "a.xlsx")
    far = '<sheetData><row r="9999999999"><c r="A9999999999"><v>1</v></c></row></sheetData>'
    data = change_parts(save_office(book), {"xl/worksheets/sheet1.xml": ("<sheetData>.*</sheetData>", far)})
    with pytest.raises(BadInput, match="sheets of at most 100,000 cells"):
        read_office(data, "a.xlsx")


def test_a_page_of_a_pdf_that_is_used_again_and_again_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office_files, "MOST_PDF_CONTENT", 10_000)
    file = io.BytesIO()
    canvas = Canvas(file)
    for _ in range(5):
        canvas.drawString(10, 10, "words " * 700)
        canvas.showPage()
    canvas.save()
    with pytest.raises(
        BadInput,
        match="at most 10,000 bytes of page content after unpacking, found more on its first 3 pages",
    ):
        read_office(file.getvalue(), "a.pdf")


@pytest.mark.parametrize(
    "unit", ["<w:tab/><w:br/>", "</w:r><w:r><w:t>a</w:t>", "</w:r></w:p><w:tbl/><w:p><w:r>"]
)
def test_a_docx_file_is_read_in_time_that_grows_with_its_parts(unit: str) -> None:
    empty = save_office(docx.Document())

    def read(text: str) -> None:
        body = f"<w:body><w:p><w:r>{text}<w:t>end</w:t></w:r></w:p>"
        read_office(change_parts(empty, {"word/document.xml": ("<w:body>", body)}), "a.docx")

    check_growth(read, unit, characters=8_000 * len(unit))
