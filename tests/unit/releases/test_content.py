"""What becomes a qrel, in which order, under which hash."""

import hashlib
from datetime import UTC, datetime

import pytest

from annotator.domain.errors import StateError
from annotator.domain.ground_truth import Qrel, Query
from annotator.domain.trail import GivenJudgment, JudgedPair
from annotator.releases.content import build_truth, count_content, hash_content, sort_place, to_qrel

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
NUMBERS = {71: 2, 72: 10, 73: 1}


def given(
    annotator: int, grade: int | None, note: str | None = None, purpose: str = "independent"
) -> GivenJudgment:
    outcome = "unrateable" if grade is None else "graded"
    return GivenJudgment(f"e{annotator}", annotator, outcome, grade, note, purpose, NOON, None, 1)


def pair(doc_id: str, grade: int | None = 2, *judgments: GivenJudgment, **more) -> JudgedPair:
    status = more.pop("status", "unanimous" if grade is not None else "unjudged")
    return JudgedPair(more.pop("query_id", "Q1"), doc_id, status, grade, judgments, **more)


def test_a_qrel_carries_its_independent_grades_in_pseudonym_order() -> None:
    found = to_qrel(
        pair("d", 2, given(72, 2, "後"), given(71, 2), given(73, 2, "먼저"), given(70, 0, "qc", "qc")),
        NUMBERS | {70: 3},
    )
    assert found.annotator_grades == (("annotator_1", 2), ("annotator_2", 2), ("annotator_10", 2))
    assert (found.note, found.origin, found.grade) == ("먼저; 後", "unanimous", 2)


def test_an_unrateable_judgment_is_no_grade_of_a_qrel() -> None:
    found = to_qrel(pair("d", 2, given(71, 2), given(72, None, "읽을 수 없음"), status="single"), NUMBERS)
    assert (found.annotator_grades, found.note, found.origin) == ((("annotator_2", 2),), None, "single")


def test_a_decision_gives_the_note() -> None:
    found = to_qrel(pair("d", 1, given(71, 2, "n"), rationale="第17条", status="adjudicated"), NUMBERS)
    assert (found.note, found.origin) == ("第17条", "adjudicated")


def test_a_qrel_carries_the_documents_title_and_law_type_and_nothing_else_of_it() -> None:
    found = to_qrel(
        pair("d", 1, title="표제", document_metadata={"law_type": "시행령", "iteration": 7}), NUMBERS
    )
    assert (found.description, dict(found.metadata)) == ("표제", {"law_type": "시행령"})
    assert to_qrel(pair("d", 1), NUMBERS).description is None


def test_what_is_not_settled_is_no_qrel() -> None:
    with pytest.raises(StateError):
        to_qrel(pair("d", None), NUMBERS)


def test_qrels_stand_by_query_grade_mean_rank_and_id() -> None:
    pairs = [
        pair("no rank b", 2),
        pair("no rank a", 2),
        pair("rank 9", 2, best_rank=9),
        pair("rank 1", 2, best_rank=1),
        pair("higher mean", 2, given(71, 3), given(72, 2), best_rank=50, status="adjudicated"),
        pair("best", 3),
        pair("zero", 0, best_rank=1),
        pair("unjudged", None),
        pair("elsewhere", 1, query_id="Q0"),
    ]
    queries = [Query("Q1", "一"), Query("Q0", "二")]
    truth = build_truth(queries, pairs, numbers=NUMBERS, metadata={"version": "1.0.0"})
    assert [qrel.doc_id for qrel in truth.qrels] == [
        "best", "higher mean", "rank 1", "rank 9", "no rank a", "no rank b", "zero", "elsewhere",
    ]  # fmt: skip
    assert [query.query_id for query in truth.queries] == ["Q1", "Q0"]
    assert sort_place(pair("d", 2, given(71, 1), given(72, 2)))[1] == -1.5


def test_every_pair_is_counted_once() -> None:
    statuses = ["unanimous", "unanimous", "adjudicated", "single", "disagreement", "unrateable", "unjudged"]
    grades = [0, 3, 3, 1, None, None, None]
    pairs = [
        pair(str(n), grade, status=status)
        for n, (status, grade) in enumerate(zip(statuses, grades, strict=True))
    ]
    assert count_content([Query("Q1", "x"), Query("Q2", "y")], pairs) == {
        "queries": 2, "queries_without_qrels": 1, "pairs": 7, "qrels": 4, "by_grade": {"0": 1, "1": 1, "2": 0, "3": 2},
        "unanimous": 2, "adjudicated": 1, "single": 1, "disagreement": 1, "unrateable": 1, "unjudged": 1,
    }  # fmt: skip


def test_the_content_hash_is_that_of_the_documented_bytes() -> None:
    qrels = [Qrel("Q2", 'd"\t', 0), Qrel("Q1", "문서/é", 3, origin="single", note="n"), Qrel("Q1", "A", 1)]
    canonical = '["Q1","A",1]\n["Q1","문서/é",3]\n["Q2","d\\"\\t",0]\n'
    assert hash_content(qrels) == hashlib.sha256(canonical.encode()).hexdigest()
    assert hash_content(reversed(qrels)) == hash_content(qrels)
    assert hash_content([Qrel("Q1", "A", 2)]) != hash_content([Qrel("Q1", "A", 1)])
    assert hash_content([Qrel("Q1", "e\u0301", 2)]) != hash_content([Qrel("Q1", "\u00e9", 2)])
