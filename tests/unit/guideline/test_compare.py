"""What differs between two texts and two standards, and that large ones cost a bounded time and room."""

from dataclasses import replace

import pytest

from annotator.domain.grades import DEFAULT_RUBRIC, Rubric
from annotator.guideline.compare import (
    MOST_CHARACTERS,
    DiffLine,
    compare_lines,
    compare_rubrics,
    propose_change,
)


def change(rubric: Rubric, grade: int, **fields: object) -> Rubric:
    changed = replace(rubric.grades[grade], **fields)  # type: ignore[arg-type]
    grades = tuple(changed if definition.grade == grade else definition for definition in rubric.grades)
    return replace(rubric, grades=grades)


def marked(line: DiffLine) -> str:
    return "".join(f"[{part.text}]" if part.changed else part.text for part in line.parts) or line.text


def test_the_changed_words_of_a_line_are_marked() -> None:
    lines = compare_lines("第三条 届出は三日以内に行う。\nsame", "第三条 届出は十日以内に行う。\nsame")
    assert [(line.kind, marked(line)) for line in lines.lines] == [
        ("removed", "第三条 届出は[三]日以内に行う。"),
        ("added", "第三条 届出は[十]日以内に行う。"),
        ("same", "same"),
    ]


def test_words_and_not_letters_are_marked_where_words_are_separated() -> None:
    lines = compare_lines("토지 거래 허가 구역", "토지 이용 허가 구역")
    assert [marked(line) for line in lines.lines] == ["토지 [거래] 허가 구역", "토지 [이용] 허가 구역"]


def test_lines_that_have_little_in_common_are_not_marked_word_by_word() -> None:
    lines = compare_lines("alpha beta gamma", "全く別の文 beta")
    assert [line.parts for line in lines.lines] == [(), ()]


def test_three_lines_around_a_change_are_shown_and_the_rest_is_counted() -> None:
    lines = [f"line {number}" for number in range(100)]
    changed = [*lines[:50], "新しい", *lines[51:]]
    diff = compare_lines("\n".join(lines), "\n".join(changed)).lines
    assert [line.skipped for line in diff if line.skipped] == [47, 46]
    assert [line.text for line in diff if line.kind == "same" and not line.skipped] == [
        "line 47", "line 48", "line 49", "line 51", "line 52", "line 53",
    ]  # fmt: skip


def test_the_same_texts_have_no_lines() -> None:
    assert compare_lines("a\nb", "a\nb").lines == ()
    assert compare_lines("", "").lines == ()


def test_a_long_line_shows_the_place_that_changed() -> None:
    before = "あ" * 300_000 + " 三日 " + "い" * 300_000
    lines = compare_lines(before, before.replace("三日", "十日"))
    removed, added = lines.lines
    assert not lines.cut
    assert "[三]日" in marked(removed)
    assert "[十]日" in marked(added)
    assert len(removed.text) < 1_000


def test_texts_that_are_too_unlike_are_cut_and_say_so() -> None:
    before = "\n".join(f"old {number} {'x' * 80}" for number in range(5_000))
    after = "\n".join(f"new {number} {'y' * 80}" for number in range(5_000))
    lines = compare_lines(f"head\n{before}\ntail", f"head\n{after}\ntail")
    assert lines.cut
    assert lines.lines[0] == DiffLine("same", "head")
    skipped = {(line.kind, line.skipped) for line in lines.lines if line.skipped}
    assert skipped == {("removed", 4_800), ("added", 4_800)}
    assert sum(len(line.text) for line in lines.lines) <= MOST_CHARACTERS


def test_twenty_megabytes_with_one_changed_line_are_compared() -> None:
    lines = [f"行 {number} " + "文字" * 60 for number in range(50_000)]
    changed = [*lines[:40_000], "入れ替えた行", *lines[40_001:]]
    diff = compare_lines("\n".join(lines), "\n".join(changed))
    assert [line.kind for line in diff.lines].count("added") == 1
    assert not diff.cut


def test_standards_are_compared_grade_by_grade() -> None:
    after = change(DEFAULT_RUBRIC, 2, definition="答えの大半がある。", positive_examples=("手順書",))
    after = replace(after, guideline=DEFAULT_RUBRIC.guideline + "\n- 新しい", title="新")
    rubrics = compare_rubrics(DEFAULT_RUBRIC, after)
    assert [item.grade for item in rubrics.grades] == [2]
    assert ("added", "+ 手順書") in [(line.kind, line.text) for line in rubrics.grades[0].lines]
    assert ("added", "- 新しい") in [(line.kind, line.text) for line in rubrics.guideline.lines]
    assert rubrics.title == ("Graded relevance, 0 to 3", "新")
    assert compare_rubrics(after, after).is_empty


@pytest.mark.parametrize(
    ("after", "change_found"),
    [
        (replace(DEFAULT_RUBRIC, guideline="別"), "minor"),
        (change(DEFAULT_RUBRIC, 1, positive_examples=("例",)), "minor"),
        (change(DEFAULT_RUBRIC, 1, name="Marginal"), "minor"),
        (change(DEFAULT_RUBRIC, 1, definition=DEFAULT_RUBRIC.grades[1].definition + "\n"), "minor"),
        (change(DEFAULT_RUBRIC, 1, definition="Another meaning."), "semantic"),
        (change(change(DEFAULT_RUBRIC, 1, name="Perfect"), 3, name="Marginally relevant"), "semantic"),
    ],
)
def test_a_definition_or_a_name_of_another_grade_proposes_a_change_of_meaning(
    after: Rubric, change_found: str
) -> None:
    assert propose_change(DEFAULT_RUBRIC, after) == change_found
