"""The file of the queue: what survives a spreadsheet, and what comes back."""

import csv
import io

import pytest

from annotator.adjudication.bulk.bulk_files import (
    QUEUE_COLUMNS,
    DecisionLine,
    QueueLine,
    check_origin,
    read_decisions,
    read_seen,
    write_queue,
)
from annotator.domain.errors import BadInput, Problems
from annotator.formats.syntax.spreadsheet import mark_cell, mark_id, unmark


def line(query_id: str = "Q1", doc_id: str = "d1", **cells: str) -> QueueLine:
    defaults = dict.fromkeys(("why", "apart", "impact", "grades", "decided", "notes", "query"), "")
    defaults |= dict.fromkeys(("title", "category", "since", "link"), "")
    return QueueLine(query_id=query_id, doc_id=doc_id, **({"seen": "ab:0-cd"} | defaults | cells))


def fill(data: bytes, decisions: dict[int, tuple[str, str, str]]) -> bytes:
    """The file with grade, rationale and reason of some of its rows, counted from 0."""
    header, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    for row_number, cells in decisions.items():
        rows[row_number][2:5] = cells
    made = io.StringIO()
    csv.writer(made).writerows([header, *rows])
    return ("\ufeff" + made.getvalue()).encode()


def read(data: bytes) -> list[DecisionLine]:
    problems = Problems("m.csv")
    decisions = read_decisions(data, "m.csv", problems)
    problems.raise_if_any()
    return decisions


def faults(data: bytes) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(data)
    return [str(problem) for problem in caught.value.problems]


def test_a_spreadsheet_is_told_by_a_byte_order_mark_and_finds_the_columns_to_fill_in_first() -> None:
    data = b"".join(write_queue([line(query="検索, 질의 🔎", notes='A: "a"\nB: b')]))
    assert data.startswith(b'\xef\xbb\xbf"query_id","doc_id","grade","rationale","reason","seen","why",')
    (row,) = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    assert tuple(row) == QUEUE_COLUMNS
    assert (row["query"], row["notes"], row["grade"]) == ("検索, 질의 🔎", 'A: "a"\nB: b', "")


@pytest.mark.parametrize(
    "text", ["=1+1", "+A1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠x", "'=1", "'"]
)
def test_a_cell_that_would_be_a_formula_is_made_harmless_and_comes_back(text: str) -> None:
    for marked in (mark_cell(text), mark_id(text)):
        assert marked == "'" + text
        assert unmark(marked) == text


@pytest.mark.parametrize(
    "text",
    [
        "007", "1e5", "3-4", "1/2", "12:30", "1234567890123456", "1.0", ".5", "５", "TRUE", "false", "MAR1", "sep-02", "Dec 3", "(5)",
        "$5", " a", "a ", "R3.1.1", "令和3年1月1日", "3月1日",
    ],
)  # fmt: skip
def test_an_id_that_a_spreadsheet_would_rewrite_is_kept_from_it(text: str) -> None:
    assert mark_id(text) == "'" + text
    assert mark_cell(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Q1",
        "0",
        "12",
        "123456789012345",
        "docs/law 17.md",
        "/a/b",
        "_x",
        "법령",
        "文書１",
        "decision-17",
        "march",
    ],
)
def test_an_ordinary_id_stays_as_it_is(text: str) -> None:
    assert mark_id(text) == text


def test_rows_without_a_decision_are_left_open_and_others_read_with_cause_or_reason() -> None:
    data = b"".join(write_queue([line("-1", "007"), line("Q1", "a"), line("Q1", "b"), line("Q1", "'c")]))
    filled = fill(
        data,
        {1: ("2", " 理由 ", "guideline_gap"), 2: ("unrateable", "見えない", "別の理由"), 3: ("0", "x", "")},
    )
    assert read(filled) == [
        DecisionLine(2, "-1", "007", None, "", None, None, "ab", "0-cd"),
        DecisionLine(3, "Q1", "a", 2, "理由", None, "guideline_gap", "ab", "0-cd"),
        DecisionLine(4, "Q1", "b", "unrateable", "見えない", "別の理由", None, "ab", "0-cd"),
        DecisionLine(5, "Q1", "'c", 0, "x", None, None, "ab", "0-cd"),
    ]


def test_a_row_that_is_half_filled_in_is_refused_and_so_is_one_whose_state_is_gone() -> None:
    data = b"".join(write_queue([line("Q1", name) for name in "abcd"] + [line("Q1", "e", seen="")]))
    filled = fill(
        data,
        {0: ("", "words", ""), 1: ("2", "", ""), 2: ("", "", "slip"), 3: ("5", "x", ""), 4: ("1", "x", "")},
    )
    assert faults(filled) == [
        "m.csv:2: expected a grade 0, 1, 2, 3 or unrateable, found ''",
        "m.csv:3: expected a rationale of some words, found nothing",
        "m.csv:4: expected a grade 0, 1, 2, 3 or unrateable, found ''",
        "m.csv:4: expected a rationale of some words, found nothing",
        "m.csv:5: expected a grade 0, 1, 2, 3 or unrateable, found '5'",
        "m.csv:6: expected `seen` as it was exported, found ''",
    ]


def test_a_plain_file_owes_a_grade_in_every_line_and_its_ids_are_left_alone() -> None:
    assert faults(b"query_id,doc_id,grade,rationale\nQ1,a,,\n") == [
        "m.csv:2: expected a grade 0, 1, 2, 3 or unrateable, found ''",
        "m.csv:2: expected a rationale of some words, found nothing",
    ]
    (decision,) = read(b"query_id,doc_id,grade,rationale,reason\nQ1,'a,3,x,slip\n")
    assert (decision.doc_id, decision.cause, decision.reason, decision.seen) == ("'a", "slip", None, None)


def test_rows_beside_another_pairs_state_are_named_and_a_file_of_another_dataset_as_a_whole() -> None:
    lines = [DecisionLine(n, "Q1", doc_id, 1, "x", None, None, key, "0-cd") for n, doc_id, key in (
        (2, "a", "ka"), (3, "b", "ka"), (4, "c", "kc"),
    )]  # fmt: skip
    problems = Problems("m.csv")
    check_origin(lines, {("Q1", "a"): "ka", ("Q1", "b"): "kb", ("Q1", "c"): "kc"}, "d", problems)
    assert [str(problem) for problem in problems.errors] == [
        "m.csv:3: expected the ids and `seen` as they were exported, found Q1 b beside another pair's"
    ]
    problems = Problems("m.csv")
    check_origin(lines, {("Q1", "a"): "other"}, "d", problems)
    assert [str(problem) for problem in problems.errors] == [
        "m.csv:1: expected an export of the queue of d, found one of another dataset, or with other ids"
    ]


def test_a_seen_that_is_none_of_ours_is_read_as_none() -> None:
    assert read_seen("ab:2-cd") == ("ab", "2-cd")
    assert read_seen("7") == ("7", "")
