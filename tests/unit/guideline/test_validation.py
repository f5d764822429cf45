"""What a standard must be before it is published."""

from dataclasses import replace

import pytest

from annotator.domain.errors import AnnotatorError, StateError, ValidationError
from annotator.domain.grades import DEFAULT_RUBRIC, Rubric
from annotator.guideline.validation import (
    check_change,
    check_rubric,
    clean_rubric,
    read_examples,
    write_examples,
)
from tests.unit.guideline.test_compare import change


def test_a_whole_standard_passes() -> None:
    check_rubric(DEFAULT_RUBRIC)
    check_rubric(change(DEFAULT_RUBRIC, 3, name="完璧 🌱", positive_examples=("مثال",)))


@pytest.mark.parametrize(
    ("rubric", "kind", "message"),
    [
        (change(DEFAULT_RUBRIC, 2, name=""), ValidationError, "Grade 2: name: enter 1 to 100 characters (now 0)"),
        (change(DEFAULT_RUBRIC, 0, definition=""), ValidationError, "Grade 0: definition"),
        (change(DEFAULT_RUBRIC, 0, definition="x" * 5_001), ValidationError, "now 5,001"),
        (change(DEFAULT_RUBRIC, 1, negative_examples=("x",) * 101), ValidationError, "at most 100 examples are allowed (now 101)"),
        (replace(DEFAULT_RUBRIC, guideline="x" * 200_001), ValidationError, "Guideline: enter 0 to 200,000"),
        (replace(DEFAULT_RUBRIC, guideline="a\0b"), ValidationError, "a character that cannot be stored"),
        (replace(DEFAULT_RUBRIC, title="a\ud800"), ValidationError, "Title"),
        (replace(DEFAULT_RUBRIC, guideline="a\n<<<<<<<\nb\n=======\nc\n>>>>>>>"), StateError, "conflict in: Guideline"),
        (change(DEFAULT_RUBRIC, 1, positive_examples=("<<<<<<<", "a")), StateError, "Grade 1: examples"),
    ],
)  # fmt: skip
def test_what_a_standard_may_not_be_is_refused_by_its_field(
    rubric: Rubric, kind: type[AnnotatorError], message: str
) -> None:
    with pytest.raises(kind) as refused:
        check_rubric(rubric)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("field", "longest"),
    [
        ("name", 100),
        ("definition", 5_000),
        ("positive_examples", 5_000),
        ("title", 200),
        ("guideline", 200_000),
    ],
)
def test_at_its_longest_a_field_passes_and_one_character_more_is_refused(field: str, longest: int) -> None:
    def make(length: int) -> Rubric:
        text = "語" * length
        if field == "title":
            return replace(DEFAULT_RUBRIC, title=text)
        if field == "guideline":
            return replace(DEFAULT_RUBRIC, guideline=text)
        return change(DEFAULT_RUBRIC, 3, **{field: (text,) if field == "positive_examples" else text})

    check_rubric(make(longest))
    with pytest.raises(ValidationError, match=f"to {longest:,} characters \\(now {longest + 1:,}"):
        check_rubric(make(longest + 1))


def test_a_grade_has_at_most_100_examples_of_both_kinds_together() -> None:
    half = ("x",) * 50
    check_rubric(change(DEFAULT_RUBRIC, 1, positive_examples=half, negative_examples=half))
    with pytest.raises(ValidationError, match="Grade 1: at most 100 examples are allowed"):
        check_rubric(change(DEFAULT_RUBRIC, 1, positive_examples=(*half, "y"), negative_examples=half))
    with pytest.raises(ValidationError, match="Grade 1: examples: enter 1 to 5,000 characters"):
        check_rubric(change(DEFAULT_RUBRIC, 1, negative_examples=("",)))


def test_a_reason_has_at_most_2000_characters() -> None:
    check_change("semantic", "x" * 2_000)
    with pytest.raises(ValidationError, match="why: enter 0 to 2,000 characters"):
        check_change("semantic", "x" * 2_001)


def test_a_change_of_meaning_says_why_and_one_of_wording_need_not() -> None:
    check_change("minor", "")
    check_change("semantic", "条文が改正された")
    for change_found, why in (("semantic", " "), ("major", "x"), ("minor", "x" * 2_001), ("minor", "\0")):
        with pytest.raises(ValidationError):
            check_change(change_found, why)


def test_spaces_that_nobody_sees_are_taken_away_but_not_those_that_markdown_reads() -> None:
    cleaned = clean_rubric(
        replace(
            change(DEFAULT_RUBRIC, 1, name=" a  b ", definition="x \r\ny\n", positive_examples=(" e ", " ")),
            guideline="a  \r\nb\n\n",
        )
    )
    assert (cleaned.grades[1].name, cleaned.grades[1].definition) == ("a b", "x\ny")
    assert cleaned.grades[1].positive_examples == ("e",)
    assert cleaned.guideline == "a  \nb"


def test_an_example_of_several_lines_is_typed_with_two_spaces() -> None:
    examples = ("一", "def f():\n    return 1", "셋")
    assert write_examples(examples) == "一\ndef f():\n      return 1\n셋"
    assert read_examples("一\r\n\r\ndef f():\n      return 1\n셋\n") == examples
