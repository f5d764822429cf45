"""A file is held to its format's reader and to its JSON Schema, and every problem is named once."""

import json
from pathlib import Path

import pytest

from annotator.dataset.coverage_service import check_file
from annotator.dataset.schema_check import has_schema, join_problems, list_schema_problems, split_location
from annotator.domain.errors import FormatError, ValidationError
from annotator.formats.format import Format
from annotator.formats.registry import FORMATS, find_format
from annotator.formats.syntax.source import InputSource

SAMPLES = Path(__file__).parents[3] / "annotator" / "formats" / "samples"

BAD_LAW = """{"queries": [
 {"query_id": "Q1", "query_text": "検索", "ground_truth": {
    "가 to be 나": {"relevance": -1},
    "b": {"notes": 5},
    "c": 3}},
 {"query_id": "Q1", "query_text": 5, "category": 3},
 {"query_text": "y", "ground_truth": []}
]}"""


def list_places(problems: list[FormatError]) -> list[tuple[int | None, str | None]]:
    return [(problem.line, split_location(problem)[0]) for problem in problems]


def test_the_schema_names_place_line_expected_and_found() -> None:
    schema_problems = list_schema_problems(InputSource("bad.json", BAD_LAW.encode()), find_format("law"))
    assert list_places(schema_problems) == [
        (3, "queries[0].ground_truth['가 to be 나'].relevance"),
        (4, "queries[0].ground_truth.b.relevance"),
        (4, "queries[0].ground_truth.b.notes"),
        (5, "queries[0].ground_truth.c"),
        (6, "queries[1].query_text"),
        (6, "queries[1].category"),
        (7, "queries[2].query_id"),
        (7, "queries[2].ground_truth"),
    ]
    assert str(schema_problems[0]).endswith("relevance to be a whole number from 0 to 3, found -1")
    assert str(schema_problems[1]).endswith("relevance to be there, found nothing")
    assert str(schema_problems[5]).endswith("category to be a text or nothing, found 3")


def test_reader_and_schema_together_name_each_place_once() -> None:
    report = check_file(InputSource("bad.json", BAD_LAW.encode()), format_name="law")
    problem_lines = list_places(list(report.problems))
    assert len(problem_lines) == len(set(problem_lines)) == 9
    assert (6, "queries[1].query_id") in problem_lines  # only the reader knows that it was given before
    assert [line for line, _ in problem_lines] == sorted(line or 0 for line, _ in problem_lines)


def test_what_only_the_schema_finds_is_named_too() -> None:
    reader = [FormatError("f", 3, "a.b to be a text", "5")]
    schema = [
        FormatError("f", 3, "a.b to be a text or nothing", "5"),
        FormatError("f", 2, "a.c to be there", "nothing"),
    ]
    assert join_problems(reader, schema) == (schema[1], reader[0])


def test_what_stands_without_quotes_in_yaml_is_taken_either_way() -> None:
    text = "queries:\n  - {id: 007, query: no, expected_docs: [{doc_id: 1e3, relevance: 3, description: 2026-01-01}]}\n"
    text += "  - {id: 5, query: 12, category: true, metadata: ~}\n"
    source = InputSource("x.yaml", text.encode())
    assert list_schema_problems(source, find_format("nablarch")) == []
    assert check_file(source).valid


@pytest.mark.parametrize(
    "file_format", [item for item in FORMATS if has_schema(item)], ids=lambda item: item.name
)
def test_every_sample_is_as_its_schema_says(file_format: Format) -> None:
    for path in SAMPLES.glob(f"{file_format.name}.*"):
        assert check_file(InputSource(str(path)), format_name=file_format.name).problems == ()


def test_the_formats_with_a_schema_are_those_of_whole_files() -> None:
    assert [file_format.name for file_format in FORMATS if has_schema(file_format)] == [
        "nablarch", "law", "law-compact", "ranked", "assay", "assay-queries",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b'{"queries": [], "queries": []}',
        b'{"queries": [], "x": NaN}',
        b'{"queries": [], "x": "\\u0000"}',
    ],
)
def test_what_is_no_good_json_is_named_by_its_reader_alone(content: bytes) -> None:
    source = InputSource("x.json", content)
    assert list_schema_problems(source, find_format("law")) == []
    assert len(check_file(source, format_name="law").problems) == 1


def test_a_file_that_shows_no_format_is_invalid_and_one_that_cannot_be_read_refused(tmp_path: Path) -> None:
    report = check_file(InputSource("x.json", b"[1]"))
    assert (report.format, report.valid) == (None, False)
    assert "it could be law, law-compact, ranked" in str(report.problems[0])
    assert "an empty file" in str(check_file(InputSource("x.yaml", b"")).problems[0])
    with pytest.raises(ValidationError, match="No such file"):
        check_file(InputSource(str(tmp_path / "none")))


def test_a_file_of_a_thousand_problems_has_them_all() -> None:
    queries = [{"query_id": f"Q{number}", "query_text": 5} for number in range(1000)]
    report = check_file(InputSource("x.json", json.dumps({"queries": queries}).encode()), format_name="law")
    assert len(report.problems) == 1000


def test_a_document_that_is_listed_twice_is_reported_once() -> None:
    content = b'[{"query": "x", "relevant_documents": ["a", "b", "a"]}]'
    (problem,) = check_file(InputSource("x.json", content)).problems
    assert "[0].relevant_documents[2] to be given once in a query" in problem.expected


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("law.json", b'// by hand\n{"queries": []}', 1),
        ("law.json", b'\n\n/* by hand */ {"queries": []}', 3),
        ("law.json", b'{"queries": [{"query_id": "1",\n // the text\n "query_text": "t"}]}', 2),
        (
            "qrels.jsonl",
            b'{"query_id": "1", "doc_id": "d", "grade": 3}\n{"query_id": "1", "doc_id": "e", "grade": 3} // e\n',
            2,
        ),
    ],
)
def test_a_comment_in_json_is_named_as_one(name: str, content: bytes, line: int) -> None:
    form = "jsonl" if name.endswith("l") else None if content.lstrip()[:1] == b"/" else "law"
    (problem,) = check_file(InputSource(name, content), format_name=form).problems
    assert (problem.line, "no comments" in problem.expected, "a comment" in problem.found) == (
        line,
        True,
        True,
    )
