"""Nablarch YAML: what is kept, what is counted anew, and every bad place with its line."""

import pytest
import yaml

from annotator.domain.errors import BadInput, ValidationError
from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.formats import nablarch
from annotator.formats.syntax.source import InputSource
from tests.written_formats import write_files


def write(truth: GroundTruth, *, list_grade_0: bool = False) -> bytes:
    return write_files(nablarch.FORMAT, truth, list_grade_0=list_grade_0)[""]


BAD = """\
dataset: {version: "1.0"}
queries:
  - id: "Q1"
    query: "検索"
    expected_docs:
      - doc_id: "d1"
        relevance: 4
      - doc_id: "d1"
        relevance: 2
      - doc_id: ""
        relevance: "3"
      - relevance: 2.5
      - d2
  - id: "Q1"
    query: [a]
  - query: "없음"
    category: [a]
  - id: {a: 1}
    query: "x"
    metadata: {difficulty: easy}
    difficulty: hard
  - 17
"""


def test_every_bad_place_is_named_with_its_line() -> None:
    with pytest.raises(BadInput) as caught:
        nablarch.read(InputSource("q.yaml", BAD.encode()))
    assert [str(problem).removeprefix("q.yaml:") for problem in caught.value.problems] == [
        "7: expected queries[0].expected_docs[0].relevance to be a grade 0, 1, 2 or 3, found '4'",
        "8: expected queries[0].expected_docs[1].doc_id to be given once in a query, found 'd1'",
        "10: expected queries[0].expected_docs[2].doc_id to be an id: a text that is not empty, found ''",
        "11: expected queries[0].expected_docs[2].relevance to be a grade 0, 1, 2 or 3, found '3'",
        "12: expected queries[0].expected_docs[3].doc_id to be an id: a text that is not empty, found nothing",
        "12: expected queries[0].expected_docs[3].relevance to be a grade 0, 1, 2 or 3, found '2.5'",
        "13: expected queries[0].expected_docs[4] to be a mapping with doc_id and relevance, found 'd2'",
        "14: expected queries[1].id to be given once, found 'Q1'",
        "15: expected queries[1].query to be a text, found a list",
        "16: expected queries[2].id to be an id: a text that is not empty, found nothing",
        "17: expected queries[2].category to be a text, found a list",
        "18: expected queries[3].id to be an id: a text that is not empty, found a mapping",
        "20: expected queries[3].metadata.difficulty to be the same as difficulty beside it (hard), found 'easy'",
        "22: expected queries[4] to be a mapping, found '17'",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "f:1: expected the file to be a mapping, found a list"),
        ("just words", "f:1: expected the file to be a mapping, found 'just words'"),
        ("dataset: {}", "f:1: expected queries to be a list, found nothing"),
        ("queries: {a: 1}", "f:1: expected queries to be a list, found a mapping"),
        ("queries: []\ndataset: 1", "f:2: expected dataset to be a mapping, found '1'"),
        ("queries:\n- {}", "f:2: expected queries[0] to be a query with id and query, found a mapping"),
    ],
)
def test_a_file_of_another_shape_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        nablarch.read(InputSource("f", text.encode()))
    assert str(caught.value) == message


def test_unquoted_ids_are_taken_as_they_are_written() -> None:
    text = b"queries:\n  - {id: 007, query: no, expected_docs: [{doc_id: 1e3, relevance: 3}]}"
    truth = nablarch.read(InputSource("f", text))
    assert [(query.query_id, query.text) for query in truth.queries] == [("007", "no")]
    assert truth.qrels[0].doc_id == "1e3"


def test_grade_0_is_left_out_unless_asked_for() -> None:
    truth = GroundTruth((Query("Q", "検索"),), (Qrel("Q", "a", 0), Qrel("Q", "b", 1)))
    assert b'"a"' not in write(truth)
    assert b'"a"' in write(truth, list_grade_0=True)


def test_a_qrel_of_no_query_and_a_query_twice_are_refused() -> None:
    with pytest.raises(ValidationError, match="found none for 'X'"):
        write(GroundTruth((Query("Q", "t"),), (Qrel("X", "d", 1),)))
    with pytest.raises(ValidationError, match="every query_id once"):
        write(GroundTruth((Query("Q", "t"), Query("Q", "u"))))


def test_an_ordinary_yaml_1_1_reader_loads_the_same_texts() -> None:
    odd = 'no\t"x" \u2028\x85\u00a0 # 🔎 か\u3099 \\ %'
    truth = GroundTruth(
        (Query(odd, odd, category=odd, metadata={odd: [odd, {"a": odd}], "no": 1, "y": 2}),),
        (Qrel(odd, odd, 3),),
    )
    loaded = yaml.safe_load(write(truth))
    query = loaded["queries"][0]
    assert (query["id"], query["query"], query["category"]) == (odd, odd, odd)
    assert query["expected_docs"] == [{"doc_id": odd, "relevance": 3}]
    assert query["metadata"] == {odd: [odd, {"a": odd}], "no": 1, "y": 2}


def test_what_yaml_cannot_hold_is_refused_before_anything_is_written() -> None:
    with pytest.raises(ValidationError, match="a value that YAML can hold"):
        write(GroundTruth((), metadata={"a": float("nan")}))
    with pytest.raises(ValidationError, match="keys of at most"):
        write(GroundTruth((), metadata={"a" * 2_000: 1}))
