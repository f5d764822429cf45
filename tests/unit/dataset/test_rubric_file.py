"""A rubric's file is read, or refused with its place."""

import textwrap

import pytest

from annotator.dataset.rubric_file import read_rubric
from annotator.domain.errors import BadInput

GRADES = "grades:\n" + "".join(f"  - {{grade: {n}, name: n{n}, definition: d{n}}}\n" for n in range(4))

TRANSLATED = (
    "language: ja\n"
    + GRADES
    + "translations:\n  ko:\n"
    + textwrap.indent(GRADES, "    ").replace("n1", "하나")
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('grades:\n  - grade: 0\n    definition: "a" b"\n', "rubric.yaml:3: expected YAML"),
        ("grades: [\n", "rubric.yaml:2: expected YAML"),
        ("grades: !!timestamp x\n", "rubric.yaml:1: expected YAML without tags"),
        ("? [a]\n: b\n", "rubric.yaml:1: expected a text as a key, found a list"),
        ("\x01", "expected YAML"),
        ("[" * 20_000, "rubric.yaml:1: expected nesting of at most 50 levels"),
        ("grades: " + "{a: " * 20_000, "rubric.yaml:1: expected nesting of at most 50 levels"),
        (
            "a: &x [1, 1, 1, 1, 1, 1, 1, 1]\n" + "b: [" + "*x, " * 2_000 + "]\n",
            "expected aliases of at most",
        ),
        (GRADES + "title: [1]\n", "rubric.yaml:6: expected title to be a text, found a list"),
        (
            GRADES.replace("name: n2", "name: ''"),
            "rubric.yaml:4: expected grades[2].name to be a text that is not empty",
        ),
        (GRADES.replace("grade: 2", "grade: 1"), "expected grades to be the grades 0, 1, 2, 3 once each"),
        (
            GRADES.replace("grade: 2", "grade: x"),
            "rubric.yaml:4: expected grades[2].grade to be a grade 0, 1, 2 or 3",
        ),
        ("- 1\n", "rubric.yaml:1: expected a mapping with 'grades'"),
        ("grades: 3\n", "rubric.yaml:1: expected grades to be a list, found '3'"),
        (
            "".join(line + "\n" for line in TRANSLATED.split("\n") if "하나" not in line),
            "rubric.yaml:10: expected translations.ko.grades to be the grades 0, 1, 2, 3 once each, found '[0, 2, 3]'",
        ),
        (
            TRANSLATED.replace("하나", "''"),
            "rubric.yaml:11: expected translations.ko.grades[1].name to be a text that is not empty, found ''",
        ),
        (
            TRANSLATED.replace("  ko:", "  kr:"),
            "rubric.yaml:9: expected translations.kr to be under the tag of a language: en, ja or ko, found 'kr'",
        ),
        (
            TRANSLATED.replace("language: ja", "language: jp"),
            "rubric.yaml:1: expected language to be en, ja or ko, found 'jp'",
        ),
        (
            TRANSLATED.replace("language: ja\n", ""),
            "rubric.yaml:1: expected language to be en, ja or ko, since there are translations: of the entries at the top",
        ),
        (
            TRANSLATED.replace("language: ja", "language: ko"),
            "rubric.yaml:9: expected translations.ko to be another language than that of the entries at the top",
        ),
        (
            TRANSLATED + "    translations: {}\n",
            "rubric.yaml:14: expected translations.ko.translations to be only at the top of the file",
        ),
        (
            TRANSLATED.replace("  ko:\n", "  ko: 1\n  en:\n"),
            "rubric.yaml:8: expected translations.ko to be a mapping",
        ),
        (TRANSLATED + "  ko: {}\n", "rubric.yaml:14: expected"),
        (
            "language: ja\ntranslations: [ko]\n" + GRADES,
            "rubric.yaml:2: expected translations to be a mapping, found a list",
        ),
    ],
)
def test_what_is_no_rubric_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_rubric(text.encode(), "rubric.yaml")
    assert message in str(refused.value)


def test_a_rubric_is_read_with_its_grades_in_order() -> None:
    rubric = read_rubric(("guideline: 기준\n" + GRADES).encode(), "rubric.yaml")
    assert [(grade.grade, grade.name, grade.definition) for grade in rubric.grades] == [
        (n, f"n{n}", f"d{n}") for n in range(4)
    ]
    assert rubric.guideline == "기준"


def test_what_is_written_without_quotes_is_taken_as_it_is_written() -> None:
    rubric = read_rubric(("title: 2026-13-45\n" + GRADES.replace("n1", "007")).encode(), "rubric.yaml")
    assert (rubric.title, rubric.grades[1].name) == ("2026-13-45", "007")


def test_a_rubric_is_read_in_each_of_its_languages() -> None:
    rubric = read_rubric(TRANSLATED.encode(), "rubric.yaml")
    assert rubric.languages == ("ja", "ko")
    (korean,) = rubric.translations
    assert [rubric.grades[1].name, korean.grades[1].name, korean.grades[2].name] == ["n1", "하나", "n2"]
    assert (korean.translations, korean.guideline) == ((), "")


def test_a_file_without_languages_is_read_as_before() -> None:
    rubric = read_rubric((GRADES + "translations: ~\n").encode(), "rubric.yaml")
    assert (rubric.language, rubric.translations, rubric.languages) == ("", (), ())
