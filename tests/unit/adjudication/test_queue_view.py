"""What a lead sees of the queue: counts of open disagreements, and rows."""

from datetime import UTC, datetime

from annotator.adjudication.queue.queue_records import (
    Disagreement,
    OpenDisagreementCount,
    add_grades,
    summarize_counts,
)
from annotator.adjudication.records import IndependentJudgment
from annotator.domain.settling import QueueReason

SINCE = datetime(2026, 3, 4, 12, tzinfo=UTC)
ROW = Disagreement(
    pair_pk=7,
    pair="key",
    query_id="Q1",
    query="retry",
    category="how-to",
    doc_id="문서/1",
    title="RetryHandler",
    grades={},
    status="open",
    reopened=True,
    reasons=QueueReason.DIFFER | QueueReason.QUALITY,
    waiting=QueueReason.QUALITY,
    distance=3,
    since=SINCE,
    taste=False,
    impact=0.25,
    recall_impact=0.5,
    mrr_impact=1.0,
    flips=2,
    decided=None,
    held_by="leo",
    assigned_to="lea",
    put_off=True,
)


def judgment(annotator: str, grade: int | None, *, simulated: bool = False) -> IndependentJudgment:
    outcome = "unrateable" if grade is None else "graded"
    return IndependentJudgment(annotator, annotator, outcome, grade, None, SINCE, None, 1, simulated)


def test_counts_are_added_up_and_a_disagreement_counts_for_each_reason() -> None:
    both = QueueReason.DIFFER | QueueReason.QUESTION
    counts = [
        OpenDisagreementCount(both, 0, 1, taste=True, flips=False, pairs=3),
        OpenDisagreementCount(both, 0, 1, taste=False, flips=True, pairs=4),
        OpenDisagreementCount(QueueReason.UNRATEABLE, None, 2, taste=False, flips=False, pairs=5),
    ]
    summary = summarize_counts(counts, by_category={None: 12}, assigned={"lea": 2}, due=1)
    assert {reason: n for reason, n in summary.by_reason.items() if n} == {
        QueueReason.DIFFER: 7,
        QueueReason.QUESTION: 7,
        QueueReason.UNRATEABLE: 5,
    }
    assert (summary.by_grades, summary.taste, summary.flips) == ({(0, 1): 7}, 3, 4)
    assert (summary.by_category, summary.assigned, summary.due) == ({None: 12}, {"lea": 2}, 1)


def test_a_row_holds_the_grades_and_separately_who_could_not_rate_the_pair() -> None:
    judgments = [judgment("minjun", 0), judgment("hanako", 3), judgment("sam", None)]
    row = add_grades(ROW, judgments, yours=False)
    assert (row.grades, row.unrateable) == ({"minjun": 0, "hanako": 3}, ("sam",))
    assert (row.status, row.reopened, row.simulated, row.yours) == ("open", True, False, False)
    assert (row.held_by, row.assigned_to, row.put_off) == ("leo", "lea", True)


def test_one_simulated_grade_makes_the_row_simulated() -> None:
    assert add_grades(ROW, [judgment("minjun", 0), judgment("bot", 3, simulated=True)], yours=False).simulated


def test_a_row_says_whether_the_lead_who_asks_judged_the_pair() -> None:
    assert add_grades(ROW, [], yours=True).yours
