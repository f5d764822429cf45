"""Compact law JSON: a grade per document, and the law form told apart by it."""

import json

import pytest

from annotator.domain.errors import BadInput
from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.formats import law
from annotator.formats.registry import detect_format
from annotator.formats.syntax.source import InputSource
from tests.written_formats import write_files


def test_grades_stand_alone_and_grade_0_only_when_asked_for() -> None:
    truth = GroundTruth((Query("Q", "17조"),), (Qrel("Q", "제17조", 3, note="x"), Qrel("Q", "b", 0)))
    (query,) = json.loads(write_files(law.COMPACT, truth)[""])["queries"]
    assert query == {"query_id": "Q", "query_text": "17조", "ground_truth": {"제17조": 3}}
    (query,) = json.loads(write_files(law.COMPACT, truth, list_grade_0=True)[""])["queries"]
    assert query["ground_truth"] == {"제17조": 3, "b": 0}


def test_neither_form_is_read_as_the_other() -> None:
    truth = GroundTruth((Query("Q", "17조"),), (Qrel("Q", "a", 3),))
    full, compact = (write_files(file_format, truth)[""] for file_format in (law.FORMAT, law.COMPACT))
    assert detect_format(InputSource("f", full)) is law.FORMAT
    assert detect_format(InputSource("f", compact)) is law.COMPACT
    with pytest.raises(BadInput, match="a mapping with relevance, found 3"):
        law.read(InputSource("f", compact))
    with pytest.raises(BadInput, match="a grade 0, 1, 2 or 3, found a mapping"):
        law.read_compact(InputSource("f", full))


def test_a_total_of_the_file_s_own_is_kept() -> None:
    text = b'{"queries": [{"query_id": "Q", "query_text": "t", "ground_truth": {}, "total_relevant": 7}]}'
    assert law.read_compact(InputSource("f", text)).queries[0].metadata == {"total_relevant": 7}
