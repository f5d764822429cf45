"""How decisions are summed up: what belongs together, what is claimed of it, and what comes first."""

from dataclasses import replace
from datetime import UTC, datetime

from annotator.guideline.feedback import LONG, sum_up
from annotator.guideline.records import AskedQuestion, DecisionExample, find_answer

CASE = DecisionExample(
    "p0", 1, "Q1", "検索", "로그", "d1", "題", (1, 2), 1, "第17条", "guideline_gap", False, (1, 2), 0.1,
    datetime(2026, 3, 4, tzinfo=UTC),
)  # fmt: skip


def make(number: int, begin: int = 0, **changes: object) -> list[DecisionExample]:
    return [replace(CASE, pair=f"p{begin + n}", **changes) for n in range(number)]  # type: ignore[arg-type]


def test_each_decision_stands_in_one_lesson_at_most() -> None:
    taught = [
        *make(3),
        *make(2, 10, category="法"),
        *make(2, 20, category=None),
        *make(1, 30, cause="slip"),
        *make(1, 40, cause=None, in_guideline=True),
        *make(1, 50, cause="borderline"),
        *make(2, 60, cause="misread_document"),
    ]
    found = sum_up(taught).lessons
    assert [(lesson.kind, lesson.category, [case.pair for case in lesson.cases]) for lesson in found] == [
        ("group", None, ["p10", "p11", "p20", "p21"]),
        ("group", "로그", ["p0", "p1", "p2"]),
        ("asked", None, ["p40"]),
        ("single", None, ["p50"]),
    ]
    assert found[0].sentence.startswith("4 of 4 decided disputes of the other categories are 1 against 2")
    assert found[1].sentence.startswith("3 of 8 decided disputes in 로그 are 1 against 2 for lack of a rule")
    assert found[2].sentence == "1 further decision asks the guideline to say so."


def test_two_of_a_kind_are_no_pattern_and_grades_do_not_matter_where_a_document_was_misread() -> None:
    assert [lesson.kind for lesson in sum_up(make(2)).lessons] == ["single"]
    mixed = [*make(2, cause="misread_document"), *make(1, 5, cause="misread_document", apart=(0, 3))]
    (lesson,) = sum_up(mixed).lessons
    assert (lesson.apart, len(lesson.cases), lesson.waiting) == (None, 3, 0)


def test_what_would_have_prevented_most_disputes_comes_first_then_what_weighs_more() -> None:
    taught = [
        *make(3, impact=0.9),
        *make(4, 10, apart=(0, 3)),
        *make(3, 20, apart=(2, 3), impact=0.95),
        *make(9, 30, cause="missing_knowledge"),
    ]
    assert [lesson.apart or lesson.cause for lesson in sum_up(taught).lessons] == [
        (0, 3), (2, 3), (1, 2), "missing_knowledge",
    ]  # fmt: skip


def test_a_lesson_is_answered_once_all_its_decisions_led_to_a_version_and_comes_last() -> None:
    taught = [*make(3, answered_in=2), replace(CASE, pair="p9", answered_in=4), *make(3, 20, apart=(0, 1))]
    first, last = sum_up(taught).lessons
    assert (first.apart, first.answered_in, last.answered_in, last.open) == ((0, 1), (), (2, 4), 0)
    (partly,) = sum_up([*make(3, answered_in=2), replace(CASE, pair="p9")]).lessons
    assert (partly.answered_in, partly.open, partly.cases[0].pair) == ((), 1, "p9")


def test_questions_marked_for_the_guideline_wait_too() -> None:
    asked = AskedQuestion(7, "p", "Q1", "検索", "d", "題", "どちら？", "2")
    found = sum_up([], [asked])
    assert (found.waiting, found.lessons[0].sentence) == (
        1,
        "1 answered question is marked for the guideline.",
    )


def test_misread_documents_are_called_long_only_where_that_is_sure() -> None:
    taught = [*make(6, cause="misread_document"), *make(10, 10, cause="slip")]
    lengths = {f"p{n}": LONG + 1 for n in range(5)} | {"p5": 3} | {f"p{10 + n}": 3 for n in range(10)}
    (lesson,) = sum_up(taught, characters=lengths).lessons
    assert lesson.sentence.endswith("5 of these 6 are longer than 20,000 characters; of 10 others, 0 are.")
    for other in (lengths | {f"p{10 + n}": LONG + 1 for n in range(7)}, {"p0": LONG + 1}, {}):
        (lesson,) = sum_up(taught, characters=other).lessons
        assert "longer" not in lesson.sentence


def test_two_lessons_of_misread_documents_must_each_be_surer_than_one() -> None:
    others = make(5, 20, cause="slip")
    lengths = {f"p{n}": LONG + 1 for n in range(3)} | {f"p{20 + n}": 3 for n in range(5)}
    one = make(3, cause="misread_document")
    (lesson,) = sum_up([*one, *others], characters=lengths).lessons
    assert "longer" in lesson.sentence
    lengths |= {f"p{10 + n}": LONG + 1 for n in range(3)}
    two = sum_up([*one, *make(3, 10, cause="misread_document", category="法"), *others], characters=lengths)
    assert len(two.lessons) == 2
    assert not any("longer" in lesson.sentence for lesson in two.lessons)


def test_decisions_of_queries_without_a_category_are_summed_up_with_those_of_the_others() -> None:
    (lesson,) = sum_up([*make(3, category=None), *make(1, 10, category="法")]).lessons
    assert (len(lesson.cases), lesson.category, lesson.of) == (4, None, 4)
    (lesson,) = sum_up([*make(3, category=None), *make(2, 10, cause="slip")]).lessons
    assert lesson.sentence.startswith("3 of 5 decided disputes are 1 against 2")


def test_a_version_answers_the_decisions_that_led_to_it_and_later_ones_that_do_not_ask_anew() -> None:
    assert find_answer(1, True, [(1, 2)]) == 2
    assert find_answer(2, False, [(1, 2)]) == 2
    assert find_answer(2, True, [(1, 2)]) is None
    assert find_answer(2, True, [(1, 2), (2, 5)]) == 5
    assert find_answer(1, False, []) is None


def test_a_lesson_keeps_its_name_while_its_decisions_change() -> None:
    assert sum_up(make(3)).lessons[0].key == sum_up(make(5, 3)).lessons[0].key
