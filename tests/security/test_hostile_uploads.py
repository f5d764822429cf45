"""No file that a lead uploads takes the memory or the time of the server: what the server itself does with it is bounded."""

import io
import struct
import time
import zipfile
from pathlib import Path

import pytest

from annotator.dataset.coverage_service import check_file
from annotator.domain import errors
from annotator.domain.errors import BadInput, Problems, ValidationError
from annotator.domain.ground_truth import Document, JudgmentLine, Query
from annotator.domain.judgments import MOST_ANSWERS
from annotator.formats.input_tables import DocumentLine, QueryLine, RelationLine, read_relation_table
from annotator.formats.registry import read_truth
from annotator.formats.syntax import tables
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.yaml_text import load_yaml
from annotator.importing import sources
from annotator.importing.judgments.judgment_plan import plan_events
from annotator.importing.sources import FileLayout, read_single_file
from annotator.importing.texts import law_relations
from annotator.importing.texts.law_relations import LawDocument, find_relations
from annotator.importing.texts.office_files import read_office_page
from annotator.importing.texts.sections import MOST_TITLE_CHARACTERS
from annotator.importing.texts.text_plan import plan_documents, plan_queries
from annotator.importing.uploads.staging import StagingLimits, stage_files
from annotator.pooling.proposals import search_index
from annotator.pooling.proposals.search_index import make_searchable
from annotator.pooling.suggestions.suggestion_rules import SuggestionRule, find_suggestions
from tests.integration.judged_world import NOW


def test_only_so_many_bad_places_of_a_file_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "MOST_PROBLEMS", 3)
    table = InputSource("r.csv", b"from,to,relation\n" + b"x\n" * 50)
    with pytest.raises(BadInput) as caught:
        read_relation_table(table)
    assert str(caught.value).splitlines() == [
        "r.csv: expected at most 3 bad places, found more, which are not listed",
        *(f"r.csv:{line}: expected 3 cells, found 1" for line in (2, 3, 4)),
    ]
    report = check_file(InputSource("t.json", b'{"queries": [1, 1, 1, 1, 1]}'), format_name="law")
    assert [problem.line for problem in report.problems] == [None, 1, 1, 1]


def test_problems_of_further_files_are_not_kept_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "MOST_PROBLEMS", 2)
    problems = Problems("a.csv")
    for number in range(5):
        problems.add(number + 1, "a", "b", path=f"{number}.csv")
    assert [error.path for error in problems.errors] == ["0.csv", "1.csv", "a.csv"]


def test_the_lines_of_many_problems_are_found_in_one_pass() -> None:
    text = b'{"queries": [\n' + b"1,\n" * 10_000 + b"1]}" + b" " * 10_000_000
    began = time.process_time()
    report = check_file(InputSource("t.json", text), format_name="law")
    assert report.problems[-1].line == 10_002
    assert time.process_time() - began < 30


def test_a_header_of_many_columns_is_read_in_time_that_grows_with_it() -> None:
    began = time.process_time()
    assert not check_file(InputSource("t.csv", b"1," * 60_000 + b"\n"), format_name="csv").valid
    assert time.process_time() - began < 10


def make_article(number: int, article: str, text: str = "") -> LawDocument:
    return LawDocument(f"d{number}", "law", "", article, "", text)


def test_parts_of_one_article_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(law_relations, "MOST_FOUND", 1_000)
    assert len(find_relations([make_article(number, "제1조") for number in range(40)]).relations) == 780
    with pytest.raises(ValidationError, match="more than 1,000 relations and references"):
        find_relations([make_article(number, "제1조") for number in range(60)])


def test_ranges_of_articles_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(law_relations, "MOST_FOUND", 1_000)
    articles = [make_article(number, f"제{number}조") for number in range(2, 200)]
    text = "제2조부터 제199조까지. "
    assert find_relations([make_article(1, "제1조", text), *articles]).relations
    with pytest.raises(ValidationError, match="more than 1,000 relations and references"):
        find_relations([make_article(1, "제1조", text * 10), *articles])


def test_siblings_of_many_documents_are_looked_up_when_they_are_needed() -> None:
    lines = [RelationLine(number, f"d{number}", "group", "part of") for number in range(1, 20_001)]
    rule = SuggestionRule("part of", "part of", "siblings", 1)
    began = time.process_time()
    suggestions = find_suggestions({"Q": ["d7"]}, lines, [rule])
    assert len(suggestions) == 19_999
    assert time.process_time() - began < 10


class LongTexts:
    """A source of texts of these lengths."""

    def __init__(self, *lengths: int) -> None:
        self.lengths = lengths

    def read_stamp(self) -> int:
        return 0

    def list_lengths(self) -> tuple[int, ...]:
        return self.lengths

    def read_texts(self, most_characters: int | None) -> list[tuple[int, str]]:
        return [(number, ("x" * length)[:most_characters]) for number, length in enumerate(self.lengths)]


def test_of_a_very_long_text_only_the_beginning_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "LONGEST_TEXT", 100)
    found = make_searchable(LongTexts(30, 5_000), room=1_000_000, report_progress=lambda _: None)
    assert found.most_characters == 100
    assert (
        make_searchable(LongTexts(30, 99), room=1_000, report_progress=lambda _: None).most_characters is None
    )


def make_directory(entries: int) -> bytes:
    """Make a zip archive that is only a directory of so many folders."""
    entry = (
        struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 0x21, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0) + b"a/"
    )
    directory = entry * entries
    long = struct.pack("<4sQHHLLQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, entries, entries, len(directory), 0)
    place = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(directory), 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return directory + long + place + end


def test_the_directory_of_an_archive_is_counted_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = make_directory(100_000)
    assert len(zipfile.ZipFile(io.BytesIO(data)).infolist()) == 100_000
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("reads the whole directory"))
    with pytest.raises(ValidationError, match="More than 20,000 files"):
        stage_files([("a.zip", io.BytesIO(data))], tmp_path)


def test_folders_of_an_archive_count_as_a_few_files(tmp_path: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(5):
            archive.mkdir(f"f{number}")
            archive.writestr(f"f{number}/a.md", "text")
    assert stage_files([("a.zip", file)], tmp_path, limits=StagingLimits(files=5)) == 5


# What an import does while nobody else can write (on SQLite) grows with the file, not with its square.


@pytest.mark.parametrize("depth", [20, 200])
def test_folders_in_folders_without_end_are_refused_before_they_fill_the_disk(
    tmp_path: Path, depth: int
) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for number in range(50):
            archive.writestr(f"{number}/{'a/' * depth}a.md", "a")
    with pytest.raises(ValidationError, match=r"More than 100 files|too long"):
        stage_files([("a.zip", content)], tmp_path, limits=StagingLimits(files=100))
    assert sum(path.is_dir() for path in tmp_path.rglob("*")) <= 200


def test_an_annotator_judges_a_pair_only_so_often_in_a_file() -> None:
    lines = [
        JudgmentLine(number, "Q1", "d", "hana", "graded", number % 2) for number in range(1, MOST_ANSWERS + 2)
    ]
    plan = plan_events(lines[:-1], "j.csv", now=NOW)
    assert (len(plan.events), plan.contradicting) == (200, 199)
    assert plan.events[-1].repetitions == 99
    with pytest.raises(
        BadInput, match=r"j.csv:201: expected at most 200 judgments of one annotator on one pair"
    ):
        plan_events(lines, "j.csv", now=NOW)


def test_repeated_lines_of_one_annotator_are_planned_in_time_that_grows_with_them() -> None:
    lines = [JudgmentLine(n, "Q1", f"d{n // 200}", "hana", "graded", n % 2) for n in range(100_000)]
    began = time.process_time()
    assert len(plan_events(lines, "j.csv", now=NOW).events) == 100_000
    assert time.process_time() - began < 8


# A small file does not multiply.


@pytest.mark.parametrize(
    ("name", "layout", "content"),
    [
        ("a.md", FileLayout(sections=True), "---\na: " + "x" * 90 + "\n---\n" + "# h\nx\n" * 20),
        ("a.md", FileLayout(cut="articles"), "---\na: " + "x" * 90 + "\n---\n" + "## 제1조(가)\nx\n" * 20),
        ("a.html", FileLayout(sections=True), f"<title>{'y' * 90}</title>" + "<h2>h</h2>x" * 20),
        ("a.rst", FileLayout(sections=True), f"{'t' * 90}\n{'=' * 90}\n\n" + "ab\n~~~~\n\nx\n\n" * 20),
    ],
)
def test_what_the_parts_of_a_file_repeat_is_limited(
    name: str, layout: FileLayout, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = InputSource(name, content.encode())
    read_single_file(source, layout=layout)
    monkeypatch.setattr(sources, "MOST_REPEATED", 1_000)
    with pytest.raises(BadInput, match="titles and fields of at most 1,000 characters in all parts together"):
        read_single_file(source, layout=layout)


def test_parts_of_a_file_repeat_a_title_only_so_far() -> None:
    source = InputSource("a.html", f"<h1>{'y' * 9_000}</h1>a<h2>{'z' * 9_000}</h2>b".encode())
    read = read_single_file(source, layout=FileLayout(sections=True)).documents
    assert [len(line.document.title) for line in read] == [MOST_TITLE_CHARACTERS] * 2


def test_aliases_of_a_long_text_count_by_its_length() -> None:
    aliases = ", ".join(["*x"] * 9_000)
    assert len(load_yaml(f"a: &x short\nb: [{aliases}]".encode(), "a").value["b"]) == 9_000
    with pytest.raises(BadInput, match="aliases of at most 10,000 values together"):
        load_yaml(f"a: &x {'y' * 20_000}\nb: [{aliases}]".encode(), "a")


def test_aliases_of_a_long_key_count_by_its_length() -> None:
    text = "- &a\n  ? {}\n  : x\n" + "- *a\n" * 20
    assert load_yaml(text.format("k" * 1_000).encode(), "x.yaml").value[1] == {"k" * 1_000: "x"}
    with pytest.raises(BadInput, match="aliases"):
        load_yaml(text.format("k" * 100_000).encode(), "x.yaml")


@pytest.mark.parametrize("name", ["x.csv", "x.tsv"])
def test_the_long_name_of_a_column_is_repeated_only_so_often(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MOST_OF_NAMES", 50_000)
    sign = "," if name == "x.csv" else "\t"

    def write(column: str, cell: str, rows: int = 100) -> bytes:
        lines = [sign.join(("query_id", "doc_id", "grade", "text", column))]
        lines += [sign.join((f"Q{number}", "d", "1", "t", cell)) for number in range(rows)]
        return "\n".join(lines).encode()

    def read(data: bytes) -> None:
        (tmp_path / name).write_bytes(data)
        tables.read_rows(data, name)
        read_truth(InputSource(str(tmp_path / name)), format_name="csv", grades_by=None)

    read(write("n" * 1_000, "x" * 1_000))  # as long as its cells
    read(write("n" * 1_000, "x", rows=40))
    read(write("n" * 1_000, ""))
    data = write("n" * 1_000, "x")
    with pytest.raises(BadInput, match="50,"):
        tables.read_rows(data, name)
    with pytest.raises(BadInput, match="50,"):
        read(data)


def test_xml_that_hides_its_tags_is_refused() -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("word/document.xml", b'<?xml version="1.0" encoding="UTF-7"?>+ADw-a/+AD4-')
    with pytest.raises(BadInput, match="UTF-7"):
        read_office_page(content.getvalue(), "x.docx", "x.docx")


def test_what_every_pair_is_handed_out_with_is_limited() -> None:
    long = "x" * 100_001
    for query in (
        Query("Q1", long),
        Query("Q1", "a", narrative=long),
        Query("Q1", "a", metadata={"m": long * 10}),
    ):
        with pytest.raises(
            BadInput, match=r"q.csv:2: expected (text|narrative|metadata) to be a text of at most"
        ):
            plan_queries({}, [QueryLine(2, query)], "q.csv")
    for document in (
        Document("d", long, "x"),
        Document("d", "t", "x", long),
        Document("d", metadata={"m": [long] * 10}),
    ):
        with pytest.raises(BadInput, match=r"d.csv:2: expected (title|url|metadata) to be a text of at most"):
            plan_documents({}, [DocumentLine("d.csv", 2, document)])
    whole = DocumentLine("d.csv", 2, Document("d", long[1:], long * 30, metadata={"m": long * 9}))
    assert len(plan_documents({}, [whole]).added) == 1


def test_an_archive_whose_compression_may_need_gigabytes_is_refused(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.md", b"a" * 10_000)
    for data in (
        packed.getvalue(),
        packed.getvalue().replace(b"\x09\x04\x05\x00", b"\x09\x04\x05\x00\xff\xff", 1),
    ):
        with pytest.raises(ValidationError, match="the archive is damaged"):
            stage_files([("a.zip", io.BytesIO(data))], tmp_path)
    with pytest.raises(BadInput, match="a DOCX file, found no archive"):
        read_office_page(packed.getvalue(), "a.docx", "a.docx")
    assert not list(tmp_path.iterdir())


def test_an_article_with_a_number_of_thousands_of_digits_is_none() -> None:
    content = f"## 제{'9' * 5_000}조(가)\nx\n## 제2조(나)\n{'九' * 5_000}、第{'九' * 5_000}条\n"
    source = InputSource("a.md", content.encode())
    read = read_single_file(source, layout=FileLayout(cut="items")).documents
    assert "a.md_제2조" in {line.document.doc_id for line in read}
