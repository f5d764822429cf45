"""What becomes a qrel, in which order, under which hash."""

import hashlib

import pytest

from annotator.domain.errors import StateError
from annotator.domain.ground_truth import Qrel, hash_content, write_canonical
from annotator.releases.records import GivenJudgment, KeptGrade, ReleasePair
from annotator.releases.writing.files import (
    RankTies,
    count_content,
    list_keys,
    list_settled,
    sort_place,
    to_qrel,
)

NOON = "2026-01-02T12:00:00Z"
NUMBERS = {71: 2, 72: 10, 73: 1}


def given(
    annotator: int, grade: int | None, note: str | None = None, purpose: str = "independent"
) -> GivenJudgment:
    outcome = "unrateable" if grade is None else "graded"
    return GivenJudgment(annotator * 10, annotator, outcome, grade, note, purpose, NOON, None, 1)


def pair(doc_id: str, grade: int | None = 2, *judgments: GivenJudgment, **more) -> ReleasePair:
    status = more.pop("status", "unanimous" if grade is not None else "unjudged")
    return ReleasePair(more.pop("query_id", "Q1"), doc_id, status, grade, judgments, **more)


def test_a_qrel_carries_its_independent_grades_in_pseudonym_order() -> None:
    qrel = to_qrel(
        pair("d", 2, given(72, 2, "後"), given(71, 2), given(73, 2, "먼저"), given(70, 0, "qc", "qc")),
        NUMBERS | {70: 3},
    )
    assert qrel.annotator_grades == (("annotator_1", 2), ("annotator_2", 2), ("annotator_10", 2))
    assert (qrel.note, qrel.origin, qrel.grade) == ("먼저; 後", "unanimous", 2)


def test_an_unrateable_judgment_is_no_grade_of_a_qrel() -> None:
    qrel = to_qrel(pair("d", 2, given(71, 2), given(72, None, "읽을 수 없음"), status="single"), NUMBERS)
    assert (qrel.annotator_grades, qrel.note, qrel.origin) == ((("annotator_2", 2),), None, "single")


def test_a_decision_gives_the_note() -> None:
    qrel = to_qrel(pair("d", 1, given(71, 2, "n"), rationale="第17条", status="adjudicated"), NUMBERS)
    assert (qrel.note, qrel.origin) == ("第17条", "adjudicated")


def test_a_qrel_carries_the_documents_title_and_law_type_and_nothing_else_of_it() -> None:
    qrel = to_qrel(
        pair("d", 1, title="표제", document_metadata={"law_type": "시행령", "iteration": 7}), NUMBERS
    )
    assert (qrel.description, dict(qrel.metadata)) == ("표제", {"law_type": "시행령"})
    assert to_qrel(pair("d", 1), NUMBERS).description is None


def test_what_is_not_settled_is_no_qrel() -> None:
    with pytest.raises(StateError):
        to_qrel(pair("d", None), NUMBERS)


def test_a_kept_grade_brings_its_own_words_and_no_judgments() -> None:
    kept = KeptGrade(
        4, "old.json", "law", "説明", "옛 메모", (("annotator_1", 3),), {"law_type": "법률", "x": 1}
    )
    qrel = to_qrel(pair("d", 3, status="imported", title="title", kept=kept), NUMBERS)
    assert (qrel.origin, qrel.description, qrel.note) == ("imported", "説明", "옛 메모")
    assert (qrel.annotator_grades, dict(qrel.metadata)) == ((("annotator_1", 3),), {"law_type": "법률"})
    bare = to_qrel(pair("d", 1, status="imported", title="title", kept=KeptGrade(5)), NUMBERS)
    assert (bare.description, bare.note, bare.annotator_grades) == ("title", None, ())


def test_qrels_stand_by_grade_mean_a_leads_order_and_the_imported_place() -> None:
    pairs = [
        pair("nothing known", 2),
        pair("imported 9", 2, imported_place=9),
        pair("imported 1", 2, imported_place=1),
        pair("lead 2", 2, lead_place=2, imported_place=1),
        pair("lead 1", 2, lead_place=1),
        pair("higher mean", 2, given(71, 3), given(72, 2), lead_place=9, status="adjudicated"),
        pair("kept, 3 once", 2, status="imported", kept=KeptGrade(1, annotator_grades=(("a", 3),))),
        pair("best", 3),
        pair("zero", 0, lead_place=1),
        pair("unjudged", None),
    ]
    assert [settled.doc_id for settled in list_settled(pairs, seed=0)] == [
        "best", "kept, 3 once", "higher mean", "lead 1", "lead 2", "imported 1", "imported 9", "nothing known", "zero",
    ]  # fmt: skip
    assert sort_place(pair("d", 2, given(71, 1), given(72, 2)), 0)[1] == -1.5


def test_what_nothing_tells_apart_stands_in_an_order_of_the_seed_and_the_query_that_is_no_order_of_ids() -> (
    None
):
    ids = [f"{number:03}" for number in range(50)]

    def order(seed: int, query_id: str = "Q1") -> list[str]:
        return [
            settled.doc_id for settled in list_settled([pair(id, query_id=query_id) for id in ids], seed=seed)
        ]

    assert order(0) == order(0)
    assert sorted(order(0)) == ids
    assert ids not in (order(0), order(1))
    assert len({tuple(doc_ids) for doc_ids in (order(0), order(1), order(0, "Q2"))}) == 3


def test_ties_count_relevant_documents_that_only_the_hash_tells_apart() -> None:
    ties = RankTies()
    first = [pair("a", 3), pair("b", 3), pair("c", 3, lead_place=1), pair("d", 2), pair("e", 0), pair("f", 0)]
    ties.add(list_settled(first, seed=0))
    assert (ties.tied, ties.by_lead, ties.undecided, ties.queries_undecided) == (3, 1, 2, 1)
    second = [pair("a", 1, imported_place=1), pair("b", 1, imported_place=2), pair("c", 2, given(71, 2))]
    ties.add(list_settled(second, seed=0))
    assert (ties.tied, ties.by_earlier, ties.undecided, ties.queries_undecided) == (5, 2, 2, 1)


def test_every_pair_is_counted_once() -> None:
    statuses = {
        "unanimous": 2, "adjudicated": 1, "single": 1, "imported": 3, "disagreement": 1, "unrateable": 1,
        "unjudged": 1,
    }  # fmt: skip
    counts = count_content(queries=2, judged_queries=1, statuses=statuses, by_grade={0: 1, 1: 1, 3: 5})
    assert counts == {
        "queries": 2, "queries_without_qrels": 1, "pairs": 10, "qrels": 7,
        "by_grade": {"0": 1, "1": 1, "2": 0, "3": 5}, **statuses,
    }  # fmt: skip


def test_reopened_pairs_are_counted_where_there_are_any_and_are_no_qrels() -> None:
    counts = count_content(
        queries=1, judged_queries=1, statuses={"unanimous": 2, "reopened": 3}, by_grade={1: 2}
    )
    assert (counts["pairs"], counts["qrels"], counts["reopened"]) == (5, 2, 3)
    none = count_content(queries=1, judged_queries=1, statuses={"unanimous": 2}, by_grade={1: 2})
    assert "reopened" not in none


def test_what_a_qrel_rests_on_is_listed_by_number() -> None:
    assert list_keys(pair("d", 2, given(72, 2), given(71, None), given(9, 0, purpose="qc"))) == "90 710 720"
    assert list_keys(pair("d", 2)) == ""


def test_the_content_hash_is_that_of_the_documented_bytes() -> None:
    qrels = [Qrel("Q2", 'd"\t', 0), Qrel("Q1", "문서/é", 3, origin="single", note="n"), Qrel("Q1", "A", 1)]
    canonical = '["Q1","A",1]\n["Q1","문서/é",3]\n["Q2","d\\"\\t",0]\n'
    assert hash_content(qrels) == hashlib.sha256(canonical.encode()).hexdigest()
    assert hash_content(reversed(qrels)) == hash_content(qrels)
    assert hash_content([Qrel("Q1", "A", 2)]) != hash_content([Qrel("Q1", "A", 1)])
    assert hash_content([Qrel("Q1", "e\u0301", 2)]) != hash_content([Qrel("Q1", "\u00e9", 2)])


def test_canonical_lines_are_sorted_by_code_point_and_escaped_as_json() -> None:
    lines = write_canonical("Q\n", [("\U0001f3af", 3), ("\uff21", 0), ("a\u2028", 1)])
    assert lines.decode() == '["Q\\n","a\u2028",1]\n["Q\\n","\uff21",0]\n["Q\\n","\U0001f3af",3]\n'
