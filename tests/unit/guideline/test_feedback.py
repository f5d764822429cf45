"""How decisions are summed up: what belongs together, what is claimed of it, and what comes first."""

from dataclasses import replace
from datetime import UTC, datetime

from annotator.guideline.feedback import LONG, make_worklist
from annotator.guideline.records import AskedQuestion, DecisionExample, find_answer

CASE = DecisionExample(
    "p0", 1, "Q1", "検索", "로그", "d1", "題", (1, 2), 1, "第17条", "guideline_gap", False, (1, 2), 0.1,
    datetime(2026, 3, 4, tzinfo=UTC),
)  # fmt: skip


def make(number: int, begin: int = 0, **changes: object) -> list[DecisionExample]:
    return [replace(CASE, pair=f"p{begin + n}", **changes) for n in range(number)]  # type: ignore[arg-type]


def test_each_decision_is_in_at_most_one_worklist_item() -> None:
    taught = [
        *make(3),
        *make(2, 10, category="法"),
        *make(2, 20, category=None),
        *make(1, 30, cause="slip"),
        *make(1, 40, cause=None, in_guideline=True),
        *make(1, 50, cause="borderline"),
        *make(2, 60, cause="misread_document"),
    ]
    items = make_worklist(taught).items
    assert [(item.kind, item.category, [decision.pair for decision in item.decisions]) for item in items] == [
        ("group", None, ["p10", "p11", "p20", "p21"]),
        ("group", "로그", ["p0", "p1", "p2"]),
        ("asked", None, ["p40"]),
        ("single", None, ["p50"]),
    ]
    assert items[0].sentence.startswith("4 of 4 decided disagreements in other categories are 1 against 2")
    assert items[1].sentence.startswith(
        "3 of 8 decided disagreements in 로그 are 1 against 2 because the guideline has no rule"
    )
    assert items[2].sentence == "1 more decision is marked for the guideline."


def test_two_of_a_kind_are_no_pattern_and_grades_do_not_matter_where_a_document_was_misread() -> None:
    assert [item.kind for item in make_worklist(make(2)).items] == ["single"]
    mixed = [*make(2, cause="misread_document"), *make(1, 5, cause="misread_document", apart=(0, 3))]
    (item,) = make_worklist(mixed).items
    assert (item.apart, len(item.decisions), item.waiting) == (None, 3, 0)


def test_what_would_have_prevented_most_disputes_comes_first_then_what_weighs_more() -> None:
    taught = [
        *make(3, impact=0.9),
        *make(4, 10, apart=(0, 3)),
        *make(3, 20, apart=(2, 3), impact=0.95),
        *make(9, 30, cause="missing_knowledge"),
    ]
    assert [item.apart or item.cause for item in make_worklist(taught).items] == [
        (0, 3), (2, 3), (1, 2), "missing_knowledge",
    ]  # fmt: skip


def test_a_worklist_item_is_answered_once_all_its_decisions_led_to_a_version_and_comes_last() -> None:
    taught = [*make(3, answered_in=2), replace(CASE, pair="p9", answered_in=4), *make(3, 20, apart=(0, 1))]
    first, last = make_worklist(taught).items
    assert (first.apart, first.answered_in, last.answered_in, last.open) == ((0, 1), (), (2, 4), 0)
    (partly,) = make_worklist([*make(3, answered_in=2), replace(CASE, pair="p9")]).items
    assert (partly.answered_in, partly.open, partly.decisions[0].pair) == ((), 1, "p9")


def test_questions_marked_for_the_guideline_wait_too() -> None:
    question = AskedQuestion(7, "p", "Q1", "検索", "d", "題", "どちら？", "2")
    worklist = make_worklist([], [question])
    assert (worklist.waiting, worklist.items[0].sentence) == (
        1,
        "1 answered question is marked for the guideline.",
    )


def test_misread_documents_are_called_long_only_where_that_is_sure() -> None:
    taught = [*make(6, cause="misread_document"), *make(10, 10, cause="slip")]
    lengths = {f"p{n}": LONG + 1 for n in range(5)} | {"p5": 3} | {f"p{10 + n}": 3 for n in range(10)}
    (item,) = make_worklist(taught, lengths=lengths).items
    assert item.sentence.endswith(
        "Documents longer than 20,000 characters: 5 of these 6, and 0 of 10 others."
    )
    for other in (lengths | {f"p{10 + n}": LONG + 1 for n in range(7)}, {"p0": LONG + 1}, {}):
        (item,) = make_worklist(taught, lengths=other).items
        assert "longer" not in item.sentence


def test_two_claims_about_misread_documents_must_each_be_surer_than_one() -> None:
    others = make(5, 20, cause="slip")
    lengths = {f"p{n}": LONG + 1 for n in range(3)} | {f"p{20 + n}": 3 for n in range(5)}
    misread = make(3, cause="misread_document")
    (item,) = make_worklist([*misread, *others], lengths=lengths).items
    assert "longer" in item.sentence
    lengths |= {f"p{10 + n}": LONG + 1 for n in range(3)}
    two = make_worklist(
        [*misread, *make(3, 10, cause="misread_document", category="法"), *others], lengths=lengths
    )
    assert len(two.items) == 2
    assert not any("longer" in item.sentence for item in two.items)


def test_decisions_of_queries_without_a_category_are_summed_up_with_those_of_the_others() -> None:
    (item,) = make_worklist([*make(3, category=None), *make(1, 10, category="法")]).items
    assert (len(item.decisions), item.category, item.of) == (4, None, 4)
    (item,) = make_worklist([*make(3, category=None), *make(2, 10, cause="slip")]).items
    assert item.sentence.startswith("3 of 5 decided disagreements are 1 against 2")


def test_a_version_answers_the_decisions_that_led_to_it_and_later_ones_that_do_not_ask_anew() -> None:
    assert find_answer(1, True, [(1, 2)]) == 2
    assert find_answer(2, False, [(1, 2)]) == 2
    assert find_answer(2, True, [(1, 2)]) is None
    assert find_answer(2, True, [(1, 2), (2, 5)]) == 5
    assert find_answer(1, False, []) is None


def test_a_worklist_item_keeps_its_key_while_its_decisions_change() -> None:
    assert make_worklist(make(3)).items[0].key == make_worklist(make(5, 3)).items[0].key
