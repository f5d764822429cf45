"""A rubric's file is read, or refused with its place."""

import pytest

from annotator.datasets.rubric_file import read_rubric
from annotator.domain.errors import BadInput

GRADES = "grades:\n" + "".join(f"  - {{grade: {n}, name: n{n}, definition: d{n}}}\n" for n in range(4))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('grades:\n  - grade: 0\n    definition: "a" b"\n', "rubric.yaml:3: expected YAML"),
        ("grades: [\n", "rubric.yaml:2: expected YAML"),
        ("a: &x [1]\nb: *x\n", "expected YAML without aliases"),
        ("title: 2026-13-45\n" + GRADES, "expected YAML, found month must be in 1..12"),
        ("? [a]\n: b\n", "rubric.yaml:1: expected YAML"),
        ("\x01", "expected YAML"),
        ("[" * 3000, "expected YAML"),
        ("- 1\n", "rubric.yaml:1: expected a mapping with 'grades'"),
        ("grades: 3\n", "expected a list 'grades', found int"),
    ],
)
def test_what_is_no_rubric_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_rubric(text.encode(), "rubric.yaml")
    assert said in str(refused.value)


def test_a_rubric_is_read_with_its_grades_in_order() -> None:
    rubric = read_rubric(("guideline: 기준\n" + GRADES).encode(), "rubric.yaml")
    assert [(one.grade, one.name, one.definition) for one in rubric.grades] == [
        (n, f"n{n}", f"d{n}") for n in range(4)
    ]
    assert rubric.guideline == "기준"
