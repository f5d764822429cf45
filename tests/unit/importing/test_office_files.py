"""DOCX, PDF and XLSX: text, tables, pages and sheets; and by name what cannot be read."""

import contextlib
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import openpyxl
import pypdf
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from annotator.domain.errors import BadInput, ValidationError
from annotator.domain.ground_truth import Document
from annotator.formats.syntax.source import InputSource
from annotator.importing.sources import FileLayout, read_folder, read_single_file
from annotator.importing.texts import office_files
from annotator.importing.texts.office_files import read_office_page
from annotator.importing.texts.sections import split_sections


def make_docx() -> bytes:
    document = docx.Document()
    document.add_heading("설문 조사", level=0)
    document.add_paragraph("응답자는 다음과 같다.")
    document.add_heading("대상", level=1)
    table = document.add_table(rows=2, cols=3)
    table.cell(0, 0).text = "이름"
    table.cell(0, 0).merge(table.cell(0, 1))
    table.cell(0, 2).text = "나이"
    for column, words in enumerate(("김", "철수", "30")):
        table.cell(1, column).text = words
    document.add_heading("방법", level=1)
    document.add_paragraph("전화로 묻는다.")
    return save(document.save)


def make_pdf(*pages: str, font: str = "Helvetica", title: str | None = None) -> bytes:
    content = io.BytesIO()
    canvas = Canvas(content, pagesize=A4)
    if title:
        canvas.setTitle(title)
    for words in pages:
        canvas.setFont(font, 12)
        canvas.drawString(72, 720, words)
        canvas.rect(72, 600, 20, 20)
        canvas.showPage()
    canvas.save()
    return content.getvalue()


def make_xlsx() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "料金"
    sheet.append(["区分", "円", None])
    sheet.append(["大人", 1200, None])
    sheet.append([])
    sheet.append(["合計", None, 3.5])
    book.create_sheet("空")
    book.create_sheet("備考").append(["注\n意"])
    return save(book.save)


def save(write: Callable[[io.BytesIO], object]) -> bytes:
    content = io.BytesIO()
    write(content)
    return content.getvalue()


def read(name: str, data: bytes) -> Document:
    return read_office_page(data, name, name).document


def split(name: str, data: bytes) -> list[Document]:
    return split_sections(read_office_page(data, name, name))


def refuse(name: str, data: bytes) -> str:
    with pytest.raises(BadInput) as refused:
        read_office_page(data, name, name)
    return str(refused.value)


def test_a_word_file_keeps_text_and_tables_in_their_order() -> None:
    document = read("a.docx", make_docx())
    assert (document.title, document.media_type) == ("설문 조사", "text/plain")
    assert document.text == (
        "설문 조사\n\n응답자는 다음과 같다.\n\n대상\n\n이름 | 나이\n김 | 철수 | 30\n\n방법\n\n전화로 묻는다.\n\n"
    )


def test_the_headings_of_a_word_file_are_its_sections() -> None:
    sections = {section.doc_id: section for section in split("forms/a.docx", make_docx())}
    assert list(sections) == ["forms/a.docx#설문-조사", "forms/a.docx#대상", "forms/a.docx#방법"]
    assert sections["forms/a.docx#방법"].title == "설문 조사 › 방법"
    assert "김 | 철수 | 30" in sections["forms/a.docx#대상"].text


def test_a_table_in_a_cell_is_read_too() -> None:
    document = docx.Document()
    cell = document.add_table(rows=1, cols=1).cell(0, 0)
    cell.text = "outer"
    cell.add_table(rows=1, cols=2).cell(0, 1).text = "inner"
    assert "outer inner" in read("a.docx", save(document.save)).text


def test_the_pages_of_a_pdf_are_numbered_in_the_text_and_as_sections() -> None:
    data = make_pdf("first words", "", "third words", title="A report")
    document = read("a.pdf", data)
    assert document.text == "[page 1]\nfirst words\n\n[page 3]\nthird words\n\n"
    assert (document.title, document.metadata) == ("A report", {"pages": 3, "pages_without_text": 1})
    pages = [(page.doc_id, page.title, page.metadata["page"]) for page in split("a.pdf", data)]
    assert pages == [("a.pdf#page-1", "A report › page 1", 1), ("a.pdf#page-3", "A report › page 3", 3)]


def test_a_japanese_pdf_is_read() -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    assert "農地の転用" in read("a.pdf", make_pdf("農地の転用", font="HeiseiMin-W3")).text


def test_the_sheets_of_a_workbook_are_sections_of_rows() -> None:
    data = make_xlsx()
    assert read("a.xlsx", data).text == "[料金]\n区分 | 円\n大人 | 1200\n合計 |  | 3.5\n\n[備考]\n注 意\n\n"
    sheets = [(sheet.doc_id, sheet.metadata) for sheet in split("a.xlsx", data)]
    assert sheets == [("a.xlsx#料金", {"sheet": "料金"}), ("a.xlsx#備考", {"sheet": "備考"})]


@pytest.mark.parametrize("range_of_cells", [b"A1:XFD1048576", b"A1:A1"])
def test_a_sheet_is_read_by_the_cells_it_has_whatever_range_it_claims(range_of_cells: bytes) -> None:
    claimed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(make_xlsx())) as good, zipfile.ZipFile(claimed, "w") as parts:
        for name in good.namelist():
            content = good.read(name)
            if name == "xl/worksheets/sheet1.xml":
                content = re.sub(
                    rb'<dimension ref="[^"]*"', b'<dimension ref="' + range_of_cells + b'"', content
                )
                assert range_of_cells in content
            parts.writestr(name, content)
    text = read("a.xlsx", claimed.getvalue()).text
    assert "大人 | 1200\n合計 |  | 3.5\n\n[備考]" in text
    assert text == read("a.xlsx", make_xlsx()).text


def lock(data: bytes, password: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="RC4-128")
    return save(writer.write)


def test_a_pdf_with_a_password_is_refused_and_one_that_opens_without_is_read() -> None:
    assert refuse("a.pdf", lock(make_pdf("words"), "secret")) == (
        "a.pdf: expected a PDF file without a password, found an encrypted one"
    )
    assert "words" in read("a.pdf", lock(make_pdf("words"), "")).text


def test_a_scanned_pdf_is_refused_with_what_it_needs() -> None:
    assert "pictures of pages only: a scanned file needs text recognition first" in refuse(
        "a.pdf", make_pdf("", "")
    )


def test_empty_files_are_refused() -> None:
    assert "no text (pictures are not read)" in refuse("a.docx", save(docx.Document().save))
    assert "empty sheets" in refuse("a.xlsx", save(openpyxl.Workbook().save))
    assert "expected a PDF file that can be read" in refuse("a.pdf", b"")


@pytest.mark.parametrize("suffix", [".docx", ".xlsx"])
def test_a_broken_or_an_encrypted_archive_is_refused_by_name(suffix: str) -> None:
    data = make_docx() if suffix == ".docx" else make_xlsx()
    assert "no archive, or a broken one" in refuse(f"a{suffix}", data[: len(data) // 2])
    assert "no archive, or a broken one" in refuse(f"a{suffix}", b"hello")
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512)
    assert "without a password, found an encrypted one, or one of Office 2003" in refuse(f"a{suffix}", ole)


@pytest.mark.parametrize("suffix", [".docx", ".xlsx"])
def test_an_archive_of_something_else_and_damaged_parts_are_refused(suffix: str) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as parts:
        parts.writestr("hello.txt", "hello")
    assert f"a {suffix[1:].upper()} file that can be read" in refuse(f"a{suffix}", archive.getvalue())
    damaged = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(make_docx() if suffix == ".docx" else make_xlsx())) as good,
        zipfile.ZipFile(damaged, "w") as parts,
    ):
        for name in good.namelist():
            is_main = name in ("word/document.xml", "xl/workbook.xml")
            parts.writestr(name, b"<broken" if is_main else good.read(name))
    assert "a damaged one" in refuse(f"a{suffix}", damaged.getvalue())


def test_an_archive_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert office_files.MOST_UNPACKED == 500_000_000
    monkeypatch.setattr(office_files, "MOST_UNPACKED", 5_000_000)
    archive = io.BytesIO(make_docx())
    with (
        zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as parts,
        parts.open("word/bomb.xml", "w") as bomb,
    ):
        for _ in range(6):
            bomb.write(bytes(1_000_000))
    assert "unpacks to at most 5,000,000 bytes" in refuse("a.docx", archive.getvalue())


def test_macros_are_refused_also_under_another_name(tmp_path: Path) -> None:
    archive = io.BytesIO(make_docx())
    with zipfile.ZipFile(archive, "a") as parts:
        parts.writestr("word/vbaProject.bin", b"x")
    assert refuse("a.docx", archive.getvalue()) == "a.docx: expected a DOCX file without macros, found macros"
    (tmp_path / "a.docm").write_bytes(b"x")
    with pytest.raises(BadInput, match=r"a file without macros \(save it as \.docx\), found \.docm"):
        read_single_file(InputSource(str(tmp_path / "a.docm")), layout=FileLayout())


def test_an_entity_of_a_word_file_opens_no_other_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret words")
    hostile = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(make_docx())) as good, zipfile.ZipFile(hostile, "w") as parts:
        for name in good.namelist():
            content = good.read(name)
            if name == "word/document.xml":
                entity = f'<!DOCTYPE d [<!ENTITY e SYSTEM "file://{secret}">]>'.encode()
                content = content.replace(b"<w:document", entity + b"<w:document", 1)
                content = content.replace("전화로".encode(), b"&e;")
            parts.writestr(name, content)
    with contextlib.suppress(BadInput):
        assert "secret words" not in read("a.docx", hostile.getvalue()).text


ENTITIES = '<!DOCTYPE d [<!ENTITY a "0123456789">' + "".join(
    f'<!ENTITY {name} "{f"&{last};" * 20}">' for last, name in zip("abcdefg", "bcdefgh", strict=True)
)
"""The last entity stands for 12,800,000,000 characters."""


@pytest.mark.parametrize(
    ("name", "part", "root", "words"),
    [
        ("a.docx", "word/document.xml", b"<w:document", "전화로".encode()),
        ("a.xlsx", "xl/worksheets/sheet1.xml", b"<worksheet", "大人".encode("ascii", "xmlcharrefreplace")),
    ],
)
def test_entities_that_stand_for_gigabytes_are_refused(
    name: str, part: str, root: bytes, words: bytes
) -> None:
    hostile = io.BytesIO()
    made = make_docx() if name == "a.docx" else make_xlsx()
    with zipfile.ZipFile(io.BytesIO(made)) as good, zipfile.ZipFile(hostile, "w") as parts:
        for member in good.namelist():
            content = good.read(member)
            if member == part:
                assert words in content
                content = content.replace(root, f"{ENTITIES}]>".encode() + root, 1)
                content = content.replace(words, b"&h;", 1)
            parts.writestr(member, content)
    assert "amplification" in refuse(name, hostile.getvalue())


def test_a_text_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office_files, "MOST_CHARACTERS", 10)
    assert "a text of at most 10 characters" in refuse("a.docx", make_docx())


def test_office_files_of_a_folder_are_documents_beside_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(make_docx())
    (tmp_path / "b.PDF").write_bytes(make_pdf("words"))
    (tmp_path / "c.xlsx").write_bytes(make_xlsx())
    (tmp_path / "d.md").write_text("# Title\n")
    lines = read_folder(tmp_path, layout=FileLayout(), encoding=None).documents
    assert [line.document.doc_id for line in lines] == ["a.docx", "b.PDF", "c.xlsx", "d.md"]


def test_every_bad_file_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(b"hello")
    (tmp_path / "b.pdf").write_bytes(make_pdf(""))
    with pytest.raises(BadInput) as refused:
        read_folder(tmp_path, layout=FileLayout(), encoding=None)
    assert [Path(error.path).name for error in refused.value.problems] == ["a.docx", "b.pdf"]


def test_without_the_extra_a_file_says_what_to_install_and_a_folder_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(office_files.MODULES, ".pdf", "no_such_module")
    (tmp_path / "a.pdf").write_bytes(make_pdf("words"))
    (tmp_path / "b.md").write_text("# Title\n")
    with pytest.raises(ValidationError, match=r'pip install "annotator\[documents\]"'):
        read_single_file(InputSource(str(tmp_path / "a.pdf")), layout=FileLayout())
    folder = read_folder(tmp_path, layout=FileLayout(), encoding=None)
    assert [line.document.doc_id for line in folder.documents] == ["b.md"]
    assert folder.notes == (f"1 file of .docx .pdf .xlsx skipped. {office_files.INSTALL}",)


@pytest.mark.parametrize("suffix", [".docx", ".pdf", ".xlsx"])
def test_a_damaged_file_is_read_or_refused_and_nothing_else(suffix: str) -> None:
    data = {".docx": make_docx(), ".pdf": make_pdf("words", "more"), ".xlsx": make_xlsx()}[suffix]
    for start in range(0, len(data), max(1, len(data) // 60)):
        for damaged in (data[:start] + b"\xff\x00<" + data[start + 3 :], data[:start] + data[start + 40 :]):
            try:
                read_office_page(damaged, f"a{suffix}", "a")
            except BadInput:
                continue


def test_a_page_that_calls_one_form_many_times_is_refused_by_what_it_carries_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = io.BytesIO()
    canvas = Canvas(content, pagesize=A4)
    canvas.beginForm("stamp")
    for line in range(20):
        canvas.drawString(72, 700 - line, "approved")
    canvas.endForm()
    for _call in range(50):
        canvas.doForm("stamp")
    canvas.showPage()
    canvas.save()
    read_office_page(content.getvalue(), "a.pdf", "a.pdf")
    monkeypatch.setattr(office_files, "MOST_PDF_INSTRUCTIONS", 2_000)
    with pytest.raises(
        BadInput, match="at most 2,000 instructions, found more, with those of repeated forms"
    ):
        read_office_page(content.getvalue(), "a.pdf", "a.pdf")
