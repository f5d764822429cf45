"""Queries come from any ground-truth format or from a table, and every one needs a text."""

import hashlib
from pathlib import Path

import pytest

from annotator.domain.errors import BadInput, ConflictError, ValidationError
from annotator.formats.input_tables import QueryLine
from annotator.formats.syntax.grade_scale import GradeScale
from annotator.formats.syntax.source import InputSource
from annotator.importing.sources import read_query_source

SAMPLES = Path(__file__).parents[3] / "annotator" / "formats" / "samples"


def read(
    path: Path, *, format_name: str | None = None, encoding: str | None = None
) -> tuple[list[QueryLine], tuple[str, ...]]:
    source = InputSource(str(path), encoding=encoding, scale=GradeScale(lenient=True))
    return read_query_source(source, format_name=format_name)


def write(folder: Path, text: str, name: str = "queries", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("name", ["nablarch.yaml", "law.json", "law-compact.json", "assay-queries.yaml"])
def test_queries_of_a_ground_truth_file_know_their_lines_and_its_judgments_are_left_alone(name: str) -> None:
    lines, (note,) = read(SAMPLES / name)
    assert [line.line for line in lines] == sorted({line.line or 0 for line in lines})
    assert note.endswith("judgments in the file are not imported")


def test_a_ranked_file_needs_no_word_on_grades_for_its_queries() -> None:
    ((line, query),), _ = read(SAMPLES / "ranked.json")
    assert (line, query.query_id, query.text) == (2, "q1", "顧客満足度の調査")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('queries:\n  - {id: a, query: ""}\n  - {id: b, query: 検索}\n  - {id: c, query: " "}\n', (2, 4)),
        (
            '{"queries": [\n{"query_id": "a", "query_text": ""},\n{"query_id": "b", "query_text": "x"},\n{"query_id": "c", "query_text": "　"}]}',
            (2, 4),
        ),
    ],
)
def test_every_query_without_a_text_is_refused_with_its_line(
    tmp_path: Path, text: str, lines: tuple[int, int]
) -> None:
    with pytest.raises(BadInput) as caught:
        read(write(tmp_path, text))
    problems = [(problem.line, problem.expected) for problem in caught.value.problems]
    expected = "the text of query {!r} to be a text that is not empty"
    assert problems == list(zip(lines, [expected.format("a"), expected.format("c")], strict=True))


def test_a_format_without_texts_is_refused_by_its_name() -> None:
    with pytest.raises(
        BadInput, match="expected queries with their texts, found trec, which holds query ids only"
    ):
        read(SAMPLES / "trec.nasty.txt")


@pytest.mark.parametrize("format_name", [None, "csv"])
def test_a_table_of_queries_is_no_table_of_qrels_and_either_is_read(
    tmp_path: Path, format_name: str | None
) -> None:
    table = write(tmp_path, "query_id,text,team\nQ1,検索,x\nQ2,검색,y\n", "a.csv")
    lines, notes = read(table, format_name=format_name)
    assert [(query.query_id, query.metadata) for _, query in lines] == [
        ("Q1", {"team": "x"}),
        ("Q2", {"team": "y"}),
    ]
    assert notes == ()
    qrels = write(tmp_path, "query_id,doc_id,grade,query\nQ1,a,3,検索\nQ1,b,0,検索\n", "b.csv")
    lines, notes = read(qrels, format_name=format_name)
    assert [(query.query_id, query.text) for _, query in lines] == [("Q1", "検索")]
    assert notes == ("2 judgments in the file are not imported",)


def test_another_encoding_is_read_when_it_is_named_and_asked_for_when_not(tmp_path: Path) -> None:
    path = write(tmp_path, "queries:\n  - {id: a, query: 検索}\n", encoding="cp932")
    ((_, query),), _ = read(path, encoding="cp932")
    assert query.text == "検索"
    with pytest.raises(BadInput, match="the file's encoding"):
        read(path)


def test_a_folder_is_read_as_beir_and_its_lines_are_those_of_its_queries() -> None:
    with pytest.raises(BadInput, match=r"beir\.nasty/queries\.jsonl:5: expected the text of query 'Q 4'"):
        read(SAMPLES / "beir.nasty")


def test_an_unknown_format_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="no format named 'xml'; there are: csv, tsv, jsonl, nablarch"):
        read(SAMPLES / "law.json", format_name="xml")
    with pytest.raises(ValidationError, match="cannot read"):
        read(tmp_path / "none.yaml")


def test_a_file_that_changes_between_two_readings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("query_id,text\nq1,a\n", encoding="utf-8")
    source = InputSource(str(path))
    for _ in range(2):
        source.read_bytes()
        assert [text for _, text in source.read_lines()] == ["query_id,text", "q1,a"]
    assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_text("query_id,text\nq1,b\n", encoding="utf-8")
    for read in (source.read_bytes, source.read_text, lambda: list(source.read_lines())):
        with pytest.raises(ConflictError, match=r"q\.csv was changed while it was read"):
            read()
