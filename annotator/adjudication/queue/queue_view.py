"""Make the records of the queue that a lead sees, from counts and rows that were read."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from annotator.adjudication.queue.queue_records import (
    Disagreement,
    OpenDisagreementCount,
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


def add_grades(
    disagreement: Disagreement, judgments: Sequence[IndependentJudgment], *, yours: bool
) -> Disagreement:
    """Return the disagreement with the grades of its judgments. `yours`: the lead who asks judged the pair."""
    return replace(
        disagreement,
        grades={judgment.annotator: judgment.grade for judgment in judgments if judgment.grade is not None},
        simulated=any(judgment.simulated for judgment in judgments),
        yours=yours,
        unrateable=tuple(judgment.annotator for judgment in judgments if judgment.outcome == "unrateable"),
    )
