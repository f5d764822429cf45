"""Judgment lines: read strictly, and what is written reads back."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from annotator.domain.errors import BadInput
from annotator.domain.ground_truth import JudgmentLine
from annotator.formats.judgments import read_judgments, write_judgments
from annotator.formats.syntax.tree import MAX_TEXT


def test_every_bad_line_is_named() -> None:
    text = """\
query_id,doc_id,annotator,grade,judged_at,seconds
q,d,a,4,,
q,d,a,２,,
q,d,,1,,
q,d,a,-,,
q,d,a,1,yesterday,
q,d,a,1,,-1
q,d,a,1,,nan
q,d,a,1,,long
,d,a,Unrateable,,
"""
    with pytest.raises(BadInput) as caught:
        read_judgments(text.encode(), "j.csv")
    assert [str(problem).removeprefix("j.csv:") for problem in caught.value.problems] == [
        "2: expected a grade 0, 1, 2, 3 or unrateable, found '4'",
        "3: expected a grade 0, 1, 2, 3 or unrateable, found '２'",
        "4: expected annotator to be a text that is not empty, found nothing",
        "5: expected a grade 0, 1, 2, 3 or unrateable, found '-'",
        "6: expected judged_at to be an ISO 8601 time such as 2026-01-31T09:30:00Z, found 'yesterday'",
        "7: expected seconds to be a number from 0, found '-1'",
        "8: expected seconds to be a number from 0, found 'nan'",
        "9: expected seconds to be a number from 0, found 'long'",
        "10: expected query_id to be a text that is not empty, found nothing",
        "10: expected a grade 0, 1, 2, 3 or unrateable, found 'Unrateable'",
    ]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(
        BadInput, match=r"j\.csv:1: expected a column annotator, grade, found query_id, doc_id"
    ):
        read_judgments(b"query_id,doc_id\nq,d\n", "j.csv")


def test_times_are_utc_and_one_without_a_zone_is_taken_as_utc() -> None:
    text = "query_id,doc_id,annotator,grade,judged_at\nq,d,a,1,2026-01-01T09:00:00+09:00\nq,d,a,1,2026-01-01T09:00\n"
    assert [line.judged_at for line in read_judgments(text.encode(), "j.csv")] == [
        "2026-01-01T00:00:00+00:00",
        "2026-01-01T09:00:00+00:00",
    ]


def test_json_grades_are_numbers_and_not_texts() -> None:
    row = '{"query_id": 1, "doc_id": "d", "annotator": "田中", "grade": %s}\n'
    lines = read_judgments((row % 3 + row % '"unrateable"').encode(), "j.jsonl")
    assert lines[0] == JudgmentLine(1, "1", "d", "田中", "graded", 3)
    assert lines[1] == JudgmentLine(2, "1", "d", "田中", "unrateable", None)
    for wrong in ('"3"', "2.5", "true", "-1", "[1]"):
        with pytest.raises(BadInput, match=r"j\.jsonl:1: expected a grade"):
            read_judgments((row % wrong).encode(), "j.jsonl")


def test_what_is_written_reads_back() -> None:
    nasty = ' "q", \r\n\u2028 か\u3099 🔎 '
    tokyo = datetime(2026, 1, 1, 9, tzinfo=timezone(timedelta(hours=9)))
    rows = [
        {"query_id": nasty, "doc_id": "=1+1", "annotator": "annotator_1", "grade": 0, "note": nasty, "judged_at": tokyo, "seconds": 1.5},
        {"query_id": "q", "doc_id": "d\r", "annotator": "שרה", "grade": None, "outcome": "unrateable"},
    ]  # fmt: skip
    written = write_judgments(rows)
    assert written.startswith(b"query_id,doc_id,annotator,grade,note,judged_at,seconds\n")
    assert b",2026-01-01T00:00:00Z,1.5\n" in written
    at = datetime(2026, 1, 1, tzinfo=UTC).isoformat()
    first, second = read_judgments(written, "j.csv")
    assert first == JudgmentLine(2, nasty, "=1+1", "annotator_1", "graded", 0, nasty, at, 1.5)
    assert (second.doc_id, second.annotator, second.outcome, second.grade) == (
        "d\r",
        "שרה",
        "unrateable",
        None,
    )


def test_a_note_without_end_is_refused_with_its_line() -> None:
    line = {"query_id": "Q1", "doc_id": "D1", "annotator": "a", "grade": 1}
    lines = [json.dumps({**line, "note": "x" * length}) for length in (MAX_TEXT, MAX_TEXT + 1)]
    with pytest.raises(BadInput) as caught:
        read_judgments("\n".join(lines).encode(), "j.jsonl")
    assert [problem.line for problem in caught.value.problems] == [2]
    assert "1,000,001 characters" in str(caught.value)
