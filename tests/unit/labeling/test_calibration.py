"""Marks in bulk: what the file may say, and every bad line of it."""

import pytest

from annotator.domain.errors import BadInput, Problems, ValidationError
from annotator.labeling.calibration_service import check_explanation, read_check_lines

HEADER = "query_id,doc_id,kind,grade,explanation\n"


def read(text: str) -> tuple[list[tuple[object, ...]], list[str]]:
    problems = Problems("m.csv")
    lines = read_check_lines(text.encode(), "m.csv", problems)
    rows: list[tuple[object, ...]] = [
        (line.query_id, line.doc_id, line.kind, line.grade, line.explanation) for line in lines
    ]
    return rows, [str(problem) for problem in problems.errors]


def test_checks_are_read_with_ids_as_they_are() -> None:
    text = HEADER + 'Q 1,文書/1,training,3," 질의에 답한다\n한 번에 "\nQ2,a.b.C#d,gold,0,\n'
    rows, problems = read(text)
    assert problems == []
    assert rows == [
        ("Q 1", "文書/1", "training", 3, "질의에 답한다\n한 번에"),
        ("Q2", "a.b.C#d", "gold", 0, ""),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Q1,d,silver,1,x", "a kind training or gold"),
        ("Q1,d,gold,4,x", "a grade 0, 1, 2 or 3"),
        ("Q1,d,gold,,x", "a grade 0, 1, 2 or 3"),
        ("Q1,d,training,1,  ", "an explanation of some words for a training pair"),
        (f"Q1,d,gold,1,{'x' * 10_001}", "an explanation of at most 10,000 characters"),
        ("Q1,,gold,1,x", "doc_id"),
    ],
)
def test_a_bad_line_is_named_with_what_was_expected(line: str, expected: str) -> None:
    rows, problems = read(HEADER + line + "\nQ2,d,gold,1,fine\n")
    assert [row[0] for row in rows] == ["Q2"]
    assert len(problems) == 1 and problems[0].startswith("m.csv:2: expected") and expected in problems[0]


def test_a_pair_twice_is_refused() -> None:
    _found, problems = read(HEADER + "Q1,d,gold,1,x\nQ1,d,training,1,x\n")
    assert problems == ["m.csv:3: expected each pair once, found the pair of line 2 again"]


def test_kinds_and_grades_may_have_spaces_around_them_and_an_explanation_10_000_characters() -> None:
    rows, problems = read(HEADER + f"Q1,d, gold , 3 ,  {'x' * 10_000} \n")
    assert (problems, rows) == ([], [("Q1", "d", "gold", 3, "x" * 10_000)])


def test_an_id_that_is_missing_is_told_once_and_the_line_is_left_out() -> None:
    rows, problems = read(HEADER + ",d,gold,1,x\nQ2,,gold,1,x\n")
    assert rows == []
    assert [problem.split(":")[1] for problem in problems] == ["2", "3"]


@pytest.mark.parametrize("header", ["query_id,doc_id,kind,grade\n", HEADER.strip() + ",colour\n"])
def test_other_columns_are_refused_at_once(header: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(header + "Q1,d,gold,1,x\n")
    assert "m.csv:1: expected" in str(refused.value)
    assert ("colour" in header) == ("found colour" in str(refused.value))


def test_a_single_check_is_held_to_the_same() -> None:
    assert check_explanation("gold", "  so ") == "so"
    for kind, explanation in (("silver", "x"), ("training", " "), ("gold", "x" * 10_001)):
        with pytest.raises(ValidationError):
            check_explanation(kind, explanation)
