"""The two files of the code-search evaluator: plain paths, what is kept at every level, and every bad place."""

import pytest
import yaml

from annotator.domain.errors import BadInput, ValidationError
from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.formats.registry import detect_format, find_format, read_truth
from annotator.formats.syntax.source import InputSource
from tests.written_formats import write_files

BAD = """\
expected:
  - id: q1
    reference:
      paths:
        - a.ts
        - {path: a.ts, relevance: 2}
        - {path: b.ts}
        - [c.ts]
        - ""
        - ~
        - {path: null, relevance: 3}
  - id: q1
    reference: {paths: {a.ts: 3}}
  - id: q3
    category: [a]
    reference: a.ts
  - q4
  - id: q5
    reference: {symbols: [a]}
"""


def test_every_bad_place_is_named_with_its_line() -> None:
    with pytest.raises(BadInput) as caught:
        read_truth(InputSource("e.yaml", BAD.encode()), format_name="assay")
    assert [str(problem).removeprefix("e.yaml:") for problem in caught.value.problems] == [
        "6: expected expected[0].reference.paths[1].path to be given once in a query, found 'a.ts'",
        "7: expected expected[0].reference.paths[2].relevance to be a grade 0, 1, 2 or 3, found nothing",
        "8: expected expected[0].reference.paths[3] to be a path, or a mapping with path and relevance, found a list",
        "9: expected expected[0].reference.paths[4] to be an id: a text that is not empty, found ''",
        "10: expected expected[0].reference.paths[5] to be an id: a text that is not empty, found nothing",
        "11: expected expected[0].reference.paths[6].path to be an id: a text that is not empty, found nothing",
        "12: expected expected[1].id to be given once, found 'q1'",
        "13: expected expected[1].reference.paths to be a list, found a mapping",
        "15: expected expected[2].category to be a text, found a list",
        "16: expected expected[2].reference to be a mapping, found 'a.ts'",
        "17: expected expected[3] to be a mapping with id and reference, found 'q4'",
        "19: expected expected[4].reference.paths to be a list, found nothing",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("assay", "expected:\n- id: q\n  reference:\n    paths: [src/a.ts, {path: b.ts, relevance: 3}]\n"),
        ("assay-queries", "- id: q\n  text: 없음\n  expected: [src/a.ts, {path: b.ts, relevance: 3}]\n"),
    ],
)
def test_a_plain_path_is_relevance_1(name: str, text: str) -> None:
    file_format, truth = read_truth(InputSource("x", text.encode()))
    assert file_format.name == name
    assert [(qrel.doc_id, qrel.grade) for qrel in truth.qrels] == [("src/a.ts", 1), ("b.ts", 3)]


def test_keys_of_the_reference_go_back_where_they_were() -> None:
    text = "suite: s\nexpected:\n- id: q\n  owner: [あ]\n  reference:\n    symbols: [f]\n    paths: []\n"
    file_format, truth = read_truth(InputSource("x", text.encode()))
    assert truth.metadata == {"suite": "s"}
    assert truth.queries[0].metadata == {"owner": ["あ"], "(reference)": {"symbols": ["f"]}}
    assert yaml.safe_load(write_files(file_format, truth)[""]) == yaml.safe_load(text)


@pytest.mark.parametrize("name", ["assay", "assay-queries"])
def test_a_key_whose_place_is_taken_comes_back_too(name: str) -> None:
    file_format = find_format(name)
    query = Query(
        "q", "" if name == "assay" else "t", category="c", metadata={"id": "other", "category": "x"}
    )
    qrel = Qrel("q", "p", 2, description="d", metadata={"path": "old", "relevance": "high"})
    truth = GroundTruth((query,), (qrel,))
    written = write_files(file_format, truth)
    (item,) = yaml.safe_load(written[""])["expected"] if name == "assay" else yaml.safe_load(written[""])
    assert item["id"] == "q"
    assert file_format.read(InputSource("f", written[""])) == truth


@pytest.mark.parametrize("name", ["assay", "assay-queries"])
def test_a_grade_above_3_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="holds grades 0 to 3, found 4"):
        write_files(find_format(name), GroundTruth((Query("q", "t"),), (Qrel("q", "d", 4),)))


@pytest.mark.parametrize(
    "text",
    [
        "queries: []\nexpected: []\n",  # two formats at once
        "# - id: q\nname: x\n",
        "- id: q\n  text: expected: nothing\n",
        "-id: q\n",
    ],
)
def test_other_yaml_is_not_taken_for_these(text: str) -> None:
    with pytest.raises(ValidationError, match="does not say which format"):
        detect_format(InputSource("x.yaml", text.encode()))
