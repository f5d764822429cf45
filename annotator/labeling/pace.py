"""How long pairs take: medians, and what is left at one's own pace. Pure rules; a median is never a rank."""

from collections.abc import Sequence
from statistics import median

from annotator.labeling.records import Median, Pace, Times

LEAST_TIMED = 10


def estimate_pace(done: int, left: int, seconds: Sequence[float]) -> Pace:
    """What is left, and about how long it takes at the median of these active times; not known below 10 of them."""
    if len(seconds) < LEAST_TIMED:
        return Pace(done, left, len(seconds), None, None)
    typical = median(seconds)
    return Pace(done, left, len(seconds), typical, typical * left)


def compute_medians(timed: Sequence[tuple[str, bool, str | None, float]]) -> Times:
    """From (annotator, simulated, category, active seconds): medians by category and by annotator, by name."""
    categories: dict[str, list[float]] = {}
    annotators: dict[str, list[float]] = {}
    for annotator, _simulated, category, seconds in timed:
        categories.setdefault(category or "", []).append(seconds)
        annotators.setdefault(annotator, []).append(seconds)
    return Times(
        len(timed),
        _median([seconds for *_names, seconds in timed]),
        {name: _median(categories[name]) for name in sorted(categories)},
        {name: _median(annotators[name]) for name in sorted(annotators)},
        frozenset(annotator for annotator, simulated, _category, _seconds in timed if simulated),
    )


def _median(seconds: Sequence[float]) -> Median:
    return Median(len(seconds), median(seconds) if seconds else None)
