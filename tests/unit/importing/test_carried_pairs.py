"""What becomes of the pairs of documents that got new ids."""

from annotator.importing.remapping.remapping import LivePair, carry_pairs


def pair(
    pk: int, doc_id: str, status: str = "unjudged", grade: int | None = None, query: int = 1
) -> LivePair:
    return LivePair(pk, f"key{pk}", query, f"質問{query}", doc_id, status, grade)


def test_pairs_of_a_moved_document_go_to_the_one_that_has_its_new_id() -> None:
    moves = carry_pairs([pair(1, "a", "single", 2), pair(2, "a", query=2)], {"a": "b"}, {})
    assert (moves.moved, moves.retired, moves.suggested) == ({1: "b", 2: "b"}, [], [])


def test_of_two_pairs_that_meet_the_one_that_was_judged_stays() -> None:
    moves = carry_pairs([pair(1, "a", "single", 2), pair(2, "b")], {"a": "b"}, {})
    assert (moves.moved, moves.displaced, moves.merged_pairs, moves.retired) == (
        {1: "b"},
        {2: "b"},
        [(2, 1)],
        [],
    )
    moves = carry_pairs([pair(1, "a"), pair(2, "b", "disagreement")], {"a": "b"}, {})
    assert (moves.moved, moves.displaced, moves.merged_pairs, moves.retired) == ({}, {}, [(1, 2)], [1])


def test_a_judgment_weighs_more_than_a_kept_grade_and_that_more_than_nothing() -> None:
    moves = carry_pairs([pair(1, "a", "single", 0), pair(2, "b", "imported", 3)], {"a": "b"}, {})
    assert (moves.moved, [item.old.pk for item in moves.suggested]) == ({1: "b"}, [2])
    moves = carry_pairs([pair(1, "a", "imported", 3), pair(2, "b", "unrateable")], {"a": "b"}, {})
    assert (moves.moved, [(item.old.pk, item.grade) for item in moves.suggested]) == ({}, [(1, 3)])


def test_where_both_were_judged_the_one_that_was_there_stays_and_the_other_grade_is_suggested() -> None:
    moves = carry_pairs([pair(1, "a", "single", 2), pair(2, "b", "single", 0)], {"a": "b"}, {})
    assert (moves.moved, moves.displaced, moves.retired) == ({}, {}, [1])
    assert [(item.query_pk, item.doc_id, item.grade) for item in moves.suggested] == [(1, "b", 2)]


def test_pairs_of_a_split_document_leave_and_each_part_gets_one_with_the_grade_suggested() -> None:
    moves = carry_pairs([pair(1, "a", "adjudicated", 3), pair(2, "a", query=2)], {}, {"a": ("a", "x")})
    assert moves.retired == [1, 2]
    assert moves.joining == {
        (1, "質問1", "a"): ["a"], (1, "質問1", "x"): ["a"], (2, "質問2", "a"): ["a"], (2, "質問2", "x"): ["a"],
    }  # fmt: skip
    assert [(item.doc_id, item.grade) for item in moves.suggested] == [("a", 3), ("x", 3)]


def test_of_several_suggestions_the_highest_grade_comes_last() -> None:
    moves = carry_pairs(
        [pair(1, "a", "single", 3), pair(2, "b", "single", 1)], {}, {"a": ("x",), "b": ("x",)}
    )
    assert [item.grade for item in moves.suggested] == [1, 3]
    assert moves.joining == {(1, "質問1", "x"): ["a", "b"]}


def test_what_has_no_grade_suggests_none() -> None:
    pairs = [pair(1, "a", "disagreement"), pair(2, "a", "unrateable", query=2), pair(3, "a", query=3)]
    assert carry_pairs(pairs, {}, {"a": ("x", "y")}).suggested == []
