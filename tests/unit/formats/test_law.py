"""Law JSON: what is kept, what is counted anew, and every bad place with its line."""

import json

import pytest

from annotator.domain.errors import BadInput
from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.formats import law
from annotator.formats.syntax.source import InputSource
from tests.written_formats import write_files


def write(truth: GroundTruth, *, list_grade_0: bool = False) -> bytes:
    return write_files(law.FORMAT, truth, list_grade_0=list_grade_0)[""]


BAD = """\
{"queries": [
  {"query_id": "Q1", "query_text": "17조", "ground_truth": {
     "제17조": {"relevance": 4},
     "": {"relevance": 2},
     "제18조": {"relevance": "3", "annotator_1": 9},
     "제19조": 3,
     "제20조": {"relevance": true, "notes": 7}
  }},
  {"query_id": "Q1", "query_text": 7},
  {"query_id": 1.5, "difficulty": 3},
  "Q4"
]}
"""


def test_every_bad_place_is_named_with_its_line() -> None:
    with pytest.raises(BadInput) as caught:
        law.read(InputSource("q.json", BAD.encode()))
    assert [str(problem).removeprefix("q.json:") for problem in caught.value.problems] == [
        "3: expected queries[0].ground_truth.제17조.relevance to be a grade 0, 1, 2 or 3, found 4",
        "4: expected queries[0].ground_truth[''] to be an id: a text that is not empty, found ''",
        "5: expected queries[0].ground_truth.제18조.relevance to be a grade 0, 1, 2 or 3, found '3'",
        "5: expected queries[0].ground_truth.제18조.annotator_1 to be a grade 0, 1, 2, 3 or unrateable, found 9",
        "6: expected queries[0].ground_truth.제19조 to be a mapping with relevance, found 3",
        "7: expected queries[0].ground_truth.제20조.relevance to be a grade 0, 1, 2 or 3, found true",
        "7: expected queries[0].ground_truth.제20조.notes to be a text, found 7",
        "9: expected queries[1].query_text to be a text, found 7",
        "9: expected queries[1].query_id to be given once, found 'Q1'",
        "10: expected queries[2].query_id to be an id: a text that is not empty, found 1.5",
        "10: expected queries[2].query_text to be a text, found nothing",
        "10: expected queries[2].difficulty to be a text, found 3",
        "11: expected queries[3] to be a mapping with query_id and query_text, found 'Q4'",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "f:1: expected the file to be a mapping, found a list"),
        ("{}", "f:1: expected queries to be a list, found nothing"),
        ('{"queries": {"a": 1}}', "f:1: expected queries to be a list, found a mapping"),
        (
            '{"queries": [{"query_id": "Q", "query_text": "t",\n "ground_truth": {"d": {"relevance": 1},\n "d": {"relevance": 2}}}]}',
            "f:3: expected each key once, found 'd' again",
        ),
    ],
)
def test_a_file_of_another_shape_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        law.read(InputSource("f", text.encode()))
    assert str(caught.value) == message


def test_the_first_two_grades_by_pseudonym_order_are_written_and_total_relevant_is_counted() -> None:
    grades = (("annotator_2", 3), ("annotator_5", 1), ("annotator_7", 0))
    truth = GroundTruth(
        (Query("Q", "17조"),),
        (Qrel("Q", "a", 2, note="메모", annotator_grades=grades), Qrel("Q", "b", 0), Qrel("Q", "c", 1)),
    )
    query = json.loads(write(truth))["queries"][0]
    assert query["ground_truth"]["a"] == {"relevance": 2, "annotator_1": 3, "annotator_2": 1, "notes": "메모"}
    assert list(query["ground_truth"]) == ["a", "c"]
    assert query["total_relevant"] == 2
    assert list(json.loads(write(truth, list_grade_0=True))["queries"][0]["ground_truth"]) == [
        "a",
        "b",
        "c",
    ]


def test_the_second_annotators_grade_is_read_and_written_back_also_where_the_first_gave_none() -> None:
    judged = {
        "a": {"relevance": 1, "annotator_1": None, "annotator_2": 1},
        "b": {"relevance": 1, "annotator_2": 2},
        "c": {"relevance": 1, "annotator_1": 3, "annotator_2": None},
        "d": {"relevance": 1, "annotator_1": None, "annotator_2": None},
    }
    queries = [{"query_id": "Q", "query_text": "t", "ground_truth": judged}]
    truth = law.read(InputSource("f", json.dumps({"queries": queries}).encode()))
    assert [qrel.annotator_grades for qrel in truth.qrels] == [
        (("annotator_2", 1),),
        (("annotator_2", 2),),
        (("annotator_1", 3),),
        (),
    ]
    written = json.loads(write(truth))["queries"][0]["ground_truth"]
    assert written == judged
