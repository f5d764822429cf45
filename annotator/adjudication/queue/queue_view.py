"""Decide what a lead sees of the queue: the counts of open disagreements, and each row.

Pure. Nothing is shown of a pair that the lead may still judge, not even which pair it is.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from annotator.adjudication.queue.queue_records import (
    Disagreement,
    OpenDisagreementCount,
    QueueRow,
    QueueSummary,
)
from annotator.adjudication.records import IndependentJudgment
from annotator.domain.settling import QueueReason


def summarize_counts(
    counts: Iterable[OpenDisagreementCount],
    *,
    by_category: Mapping[str | None, int],
    assigned: Mapping[str, int],
    due: int,
) -> QueueSummary:
    """Add up the counts of each kind. A disagreement counts once for each of its reasons."""
    by_reason: Counter[QueueReason] = Counter()
    by_grades: Counter[tuple[int, int]] = Counter()
    taste = flips = 0
    for count in counts:
        for reason in count.waiting:
            by_reason[reason] += count.pairs
        if count.low is not None and count.high is not None:
            by_grades[count.low, count.high] += count.pairs
        taste += count.pairs * bool(count.taste)
        flips += count.pairs * bool(count.flips)
    reasons = {reason: by_reason[reason] for reason in QueueReason}
    return QueueSummary(reasons, dict(by_grades), by_category, taste, flips, assigned, due)


def describe_row(row: QueueRow, judgments: Sequence[IndependentJudgment], *, yours: bool) -> Disagreement:
    """Return a row of the queue with its grades. `yours`: the lead who asks judged the pair."""
    return Disagreement(
        pair=row.pair,
        query_id=row.query_id,
        doc_id=row.doc_id,
        category=row.category,
        grades={judgment.annotator: judgment.grade for judgment in judgments if judgment.grade is not None},
        distance=row.distance,
        impact=row.impact,
        status="open" if row.open else "decided",
        since=row.since,
        simulated=any(judgment.simulated for judgment in judgments),
        yours=yours,
        reopened=QueueReason.QUALITY in row.waiting,
        unrateable=tuple(judgment.annotator for judgment in judgments if judgment.outcome == "unrateable"),
        reasons=row.reasons,
        waiting=row.waiting,
        recall_impact=row.recall_impact,
        mrr_impact=row.mrr_impact,
        flips=row.flips,
        taste=row.taste,
        decided=row.decided,
        held_by=row.held_by,
        assigned_to=row.assigned_to,
        put_off=row.put_off,
        query=row.query,
        title=row.title,
    )
