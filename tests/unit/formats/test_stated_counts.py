"""A count that a file states of itself wrongly is told with both numbers, and its line; the file stays valid."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotator.dataset.coverage_service import check_file
from annotator.formats.content_warnings import describe_wrong_counts
from annotator.formats.registry import read_truth
from annotator.formats.syntax.grade_scale import GradeScale
from annotator.formats.syntax.source import InputSource
from annotator.importing.conversion_service import prepare_conversion, write_conversion
from annotator.importing.judgments.qrel_plan import match_qrels, read_qrel_source
from annotator.importing.sources import read_query_source
from annotator.importing.texts.text_plan import QueryText

NABLARCH = b"""dataset:
  version: "1"
  total_queries: 50
queries:
  - id: Q1
    query: "\xe6\xa4\x9c\xe7\xb4\xa2"
    expected_docs: []
"""


def law(total: Any, **about: Any) -> bytes:
    truth = {"d1": {"relevance": 3}, "d2": {"relevance": 0}}
    query = {"query_id": "Q1", "query_text": "17조", "ground_truth": truth, "total_relevant": total}
    return json.dumps({**about, "queries": [query]}, indent=1).encode()


def compact(total: Any) -> bytes:
    query = {
        "query_id": "Q1",
        "query_text": "17조",
        "ground_truth": {"d1": 3, "d2": 0},
        "total_relevant": total,
    }
    return json.dumps({"queries": [query]}, indent=1).encode()


def find(content: bytes, name: str) -> list[tuple[int | None, str, str, int]]:
    _, truth = read_truth(InputSource("file", content), format_name=name)
    return [
        (wrong_count.line, wrong_count.place, wrong_count.stated, wrong_count.counted)
        for wrong_count in truth.wrong_counts
    ]


@pytest.mark.parametrize(
    ("content", "name", "wrong"),
    [
        (NABLARCH, "nablarch", [(3, "dataset.total_queries", "50", 1)]),
        (NABLARCH.replace(b"50", b"1"), "nablarch", []),
        (NABLARCH.replace(b"50", b"many"), "nablarch", [(3, "dataset.total_queries", "'many'", 1)]),
        (NABLARCH.replace(b"50", b"~"), "nablarch", []),
        (law(1), "law", []),
        (law(2), "law", [(14, "queries[0].total_relevant", "2", 1)]),
        (law(None), "law", []),
        (law(1, total_queries=30), "law", [(2, "total_queries", "30", 1)]),
        (law(True), "law", [(14, "queries[0].total_relevant", "true", 1)]),
        (compact(2), "law-compact", [(10, "queries[0].total_relevant", "2", 1)]),
    ],
)
def test_a_wrong_count_is_told_with_both_numbers_and_its_line(
    content: bytes, name: str, wrong: list[tuple[int | None, str, str, int]]
) -> None:
    assert find(content, name) == wrong


def test_check_leaves_the_file_valid_and_names_the_count() -> None:
    report = check_file(InputSource("file.yaml", NABLARCH), format_name="nablarch")
    assert report.valid
    assert list(map(str, report.wrong_counts)) == [
        "file.yaml:3: dataset.total_queries says 50, counted: 1 query"
    ]


def test_a_conversion_says_so_before_the_count_is_written_anew(tmp_path: Path) -> None:
    source = tmp_path / "in.yaml"
    source.write_bytes(NABLARCH)
    prepared = prepare_conversion(
        InputSource(str(source)), str(tmp_path / "out.yaml"), target_format="nablarch"
    )
    assert any("total_queries says 50, counted: 1 query" in note for note in prepared.notes)
    write_conversion(prepared)
    assert "total_queries: 1\n" in (tmp_path / "out.yaml").read_text("utf-8")


def test_an_import_of_queries_says_so(tmp_path: Path) -> None:
    source = tmp_path / "in.yaml"
    source.write_bytes(NABLARCH)
    _, notes = read_query_source(InputSource(str(source), scale=GradeScale(lenient=True)), format_name=None)
    assert [note.partition(": ")[2] for note in notes] == ["dataset.total_queries says 50, counted: 1 query"]


@pytest.mark.parametrize("content", [law(2), compact(2)])
def test_relevant_documents_are_not_counted_where_grades_of_another_scale_are_passed_over(
    content: bytes, tmp_path: Path
) -> None:
    source = tmp_path / "in.json"
    source.write_bytes(content)
    assert any(
        "says 2, counted: 1" in note
        for note in read_query_source(
            InputSource(str(source), scale=GradeScale(lenient=True)), format_name=None
        )[1]
    )
    source.write_bytes(content.replace(b'"d2": 0', b'"d2": 4').replace(b'"relevance": 0', b'"relevance": 4'))
    assert read_query_source(InputSource(str(source), scale=GradeScale(lenient=True)), format_name=None)[
        1
    ] == ("2 judgments in the file are not imported",)


def test_an_import_of_qrels_says_so(tmp_path: Path) -> None:
    source = tmp_path / "in.json"
    source.write_bytes(law(7))
    file = read_qrel_source(source, format_name=None, encoding=None, grades_by=None)
    _, notes = match_qrels(file, {"Q1": QueryText(1, "17조")}, command="")
    assert [note.partition(": ")[2] for note in notes] == [
        "queries[0].total_relevant says 7, counted: 1 document of grade 1-3"
    ]


def test_of_many_wrong_counts_the_first_are_named_and_the_others_counted() -> None:
    query = {"query_text": "x", "ground_truth": {"d": {"relevance": 1}}, "total_relevant": 9}
    queries = [{**query, "query_id": f"Q{number}"} for number in range(7)]
    _, truth = read_truth(InputSource("f", json.dumps({"queries": queries}).encode()), format_name="law")
    sentences = list(describe_wrong_counts(truth.wrong_counts))
    assert (len(sentences), sentences[-1]) == (6, "f: 2 more counts are wrong: annotator check lists all")
