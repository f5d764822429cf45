"""Two leads' changes in one: what only one changed is taken, what both changed is marked for a person to decide."""

from dataclasses import replace

from annotator.domain.grades import DEFAULT_RUBRIC
from annotator.guideline.merge import find_conflicts, merge_rubrics, merge_texts
from tests.unit.guideline.test_compare import change


def test_changes_of_different_fields_and_lines_are_both_taken() -> None:
    published = change(DEFAULT_RUBRIC, 0, name="무관")
    published = replace(published, guideline="前書き\n\n" + DEFAULT_RUBRIC.guideline)
    draft = change(DEFAULT_RUBRIC, 3, definition="これだけで足りる。", positive_examples=("例",))
    draft = replace(draft, guideline=DEFAULT_RUBRIC.guideline + "\n後書き")
    merged = merge_rubrics(DEFAULT_RUBRIC, published, draft)
    assert merged.conflicts == ()
    assert merged.rubric.grades[0].name == "무관"
    assert merged.rubric.grades[3] == draft.grades[3]
    assert merged.rubric.guideline == "前書き\n\n" + DEFAULT_RUBRIC.guideline + "\n後書き"


def test_what_both_changed_differently_is_marked_with_theirs_first_and_named() -> None:
    published = change(change(DEFAULT_RUBRIC, 1, name="少し"), 2, definition="甲")
    draft = change(change(DEFAULT_RUBRIC, 1, name="わずか"), 2, definition="乙")
    merged = merge_rubrics(DEFAULT_RUBRIC, replace(published, title="A"), replace(draft, title="B"))
    assert merged.conflicts == ("Title", "Grade 1: name", "Grade 2: definition")
    assert merged.rubric.title == "<<<<<<< A ======= B >>>>>>>"
    assert merged.rubric.grades[1].name == "<<<<<<< 少し ======= わずか >>>>>>>"
    assert merged.rubric.grades[2].definition == "<<<<<<<\n甲\n=======\n乙\n>>>>>>>"


def test_only_the_lines_that_contradict_are_marked() -> None:
    base = "一\n二\n三\n四\n五"
    assert merge_texts(base, "一\n弐\n三\n四\n五\n六", "一\n貳\n三\n四\n五") == (
        "一\n<<<<<<<\n弐\n=======\n貳\n>>>>>>>\n三\n四\n五\n六"
    )


def test_the_same_change_of_both_is_no_contradiction() -> None:
    both = change(DEFAULT_RUBRIC, 1, definition="同じ")
    assert merge_rubrics(DEFAULT_RUBRIC, both, both).conflicts == ()


def test_one_took_an_example_away_that_the_other_kept() -> None:
    base = change(DEFAULT_RUBRIC, 2, negative_examples=("a", "b", "c"))
    published = change(base, 2, negative_examples=("a", "c"))
    draft = change(base, 2, negative_examples=("a", "b", "c", "d"))
    assert merge_rubrics(base, published, draft).rubric.grades[2].negative_examples == ("a", "c", "d")


def test_a_standard_without_marks_has_no_conflicts() -> None:
    assert find_conflicts(replace(DEFAULT_RUBRIC, guideline="Heading\n=======\n\na << b")) == ()
