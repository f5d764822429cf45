"""The registry: names, and what is said when the content does not tell the format."""

import gzip
from pathlib import Path

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.formats.registry import FORMATS, detect_format, find_format, list_formats, read_truth
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tables import read_rows
from tests.written_formats import write_files, write_table


def detect(data: bytes, path: str = "x") -> str:
    return detect_format(InputSource(path, data)).name


def test_names_are_unique_and_findable() -> None:
    assert [find_format(file_format.name) for file_format in FORMATS] == list(FORMATS)


def test_an_unknown_name_is_answered_with_the_table() -> None:
    with pytest.raises(ValidationError, match="no format named 'yaml'; there are:\n  nablarch") as caught:
        find_format("yaml")
    assert list_formats() in str(caught.value)


def test_content_that_does_not_tell_is_answered_with_the_candidates_of_its_suffix() -> None:
    with pytest.raises(ValidationError, match=r"x\.yaml: .* name it, one of: nablarch"):
        detect(b"a: 1\n", "x.yaml")
    with pytest.raises(ValidationError, match=r"one of: nablarch, law, .*trec"):
        detect(b"hello")


def test_grades_by_is_refused_for_a_format_with_grades() -> None:
    with pytest.raises(ValidationError, match="--grades-by is for files without grades; trec holds its own"):
        read_truth(InputSource("f", b"q 0 d 1\n"), grades_by="position")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="expected a file of the format law, found a folder"):
        read_truth(InputSource(str(tmp_path)), format_name="law")


def test_the_page_on_files_shows_the_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "files.md"
    assert f"\n\n{write_table()}\n" in page.read_text("utf-8")


def test_a_bar_in_the_table_does_not_end_its_cell() -> None:
    for row in write_table().splitlines():
        assert row.replace("\\|", "").count("|") == 6


def test_a_grade_that_a_format_cannot_hold_is_refused() -> None:
    truth = GroundTruth((Query("q", "検索"),), (Qrel("q", "d", 10),))
    with pytest.raises(ValidationError, match="law-compact holds grades 0 to 3, found 10 for 'q', 'd'"):
        write_files(find_format("law-compact"), truth)
    assert write_files(find_format("trec"), truth) == {"": b"q 0 d 10\n"}


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"queries:\n- id: 1\n", "nablarch"),
        (b"# 2026\n---\ndataset: {}\nqueries: # none\n  []\n", "nablarch"),
        (b'{"version": "1", "queries": [{"query_id": "Q", "query_text": "t"}]}', "law"),
        (b'{"queries": [{"query_text": "t", "ground_truth": {"a\\"b": 2}}]}', "law-compact"),
        (b'[{"query": "t", "relevant_documents": []}]', "ranked"),
        ("検索 Q0 doc 3".encode(), "trec"),
        (b"\n\nq\t0\td\t-1\r\n", "trec"),
    ],
)
def test_content_that_can_be_one_format_only_tells_it(data: bytes, name: str) -> None:
    assert detect(data) == name


@pytest.mark.parametrize(
    "data",
    [
        b"The number is 1\n",  # four fields, but no iteration
        b"version: of the 1\n",
        b'text,queries\n"a\nqueries:\n",b\n',  # a cell that looks like YAML
        b"[]",
        b"{}",
        b'{"queries": []}',
        b'{"query_text": "\\"queries\\": ["}',
        b'[{"query": "t"}]',
    ],
)
def test_content_that_may_be_something_else_is_asked_about(data: bytes) -> None:
    with pytest.raises(ValidationError, match="name it, one of"):
        detect(data)


def test_a_compressed_file_of_any_name_is_named_as_that() -> None:
    data = gzip.compress(b"q1 0 d1 2\n")
    with pytest.raises(BadInput, match=r"x\.gz: expected a text file, found a file compressed by gzip"):
        detect_format(InputSource("x.gz", data))
    with pytest.raises(BadInput, match=r"x\.gz: expected a text file, found a file compressed by gzip"):
        read_rows(data, "x.gz")
