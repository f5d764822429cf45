"""The open disputes added up from how many there are of each kind."""

from annotator.adjudication.queue_service import summarise_queue
from annotator.adjudication.queue_sql import OpenDisagreementCount
from annotator.domain.settling import QueueReason


def test_kinds_with_the_same_grades_and_reasons_are_added_up_and_a_dispute_counts_for_each_reason() -> None:
    both = int(QueueReason.DIFFER | QueueReason.QUESTION)
    kinds = [
        OpenDisagreementCount(both, 0, 1, taste=True, flips=False, disputes=3),
        OpenDisagreementCount(both, 0, 1, taste=False, flips=True, disputes=4),
        OpenDisagreementCount(int(QueueReason.UNRATEABLE), None, 2, taste=False, flips=False, disputes=5),
    ]
    found = summarise_queue(kinds, by_category={None: 12}, assigned={"lea": 2}, due=1)
    assert {reason: n for reason, n in found.by_reason.items() if n} == {
        QueueReason.DIFFER: 7,
        QueueReason.QUESTION: 7,
        QueueReason.UNRATEABLE: 5,
    }
    assert (found.by_grades, found.taste, found.flips) == ({(0, 1): 7}, 3, 4)
    assert (found.by_category, found.assigned, found.due) == ({None: 12}, {"lea": 2}, 1)
