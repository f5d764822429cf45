"""The queue of disagreements: how far apart, how much it matters, since when, and in which order.

Stands after judging: a pair whose independent judgments differ waits here for a lead, and so does one that quality
control reopened. Pure rules; whether a pair is either is decided by `domain/settling.py`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from annotator.domain.errors import ValidationError

Sort = Literal["distance", "impact", "age"]
SORTS: tuple[str, ...] = get_args(Sort)
IMPACT_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair that needs, or had, a lead's decision.

    `pair`: the id the app uses. `grades`: by annotator's username, an expert's of quality control among them.
    `distance`: highest minus lowest grade, the one that was settled included while it is reopened,
    0-3 (0 when the annotators have come to agree since a decision). `impact`: see `compute_impact`.
    `since`: when the judgments began to differ (when it was decided, if they differ no more; when the expert's grade
    came, if that reopened it). `simulated`: whether some of the grades are nobody's. `yours`: whether the asking lead
    judged it, and so may not decide it. `reopened`: open because quality control contradicts its settled grade.
    """

    pair: str
    query_id: str
    doc_id: str
    category: str | None
    grades: Mapping[str, int]
    distance: int
    impact: float
    status: Literal["open", "decided"]
    since: datetime
    simulated: bool = False
    yours: bool = False
    reopened: bool = False

    def as_json(self) -> dict[str, Any]:
        """As the command line prints it: `reopened` only where it is so."""
        found = asdict(self)
        if not self.reopened:
            del found["reopened"]
        return found


def compute_distance(grades: Iterable[int]) -> int:
    """Highest minus lowest grade; 0 when there is none."""
    found = list(grades)
    return max(found) - min(found) if found else 0


def compute_impact(grades: Iterable[int], best_rank: int | None) -> float:
    """How much settling the pair could move its query's DCG: (2^max - 2^min) / log2(best_rank + 1).

    This is the difference between the exponential gains (2^grade - 1) of the highest and the lowest grade
    given, discounted at the best rank at which any system proposed the pair, so 0 to 7. A pair of unknown
    rank counts as rank 1 (the most it could matter), and so does a rank of 0 from a run that counts from 0.
    Rounded to four digits. Gain and discount: Järvelin & Kekäläinen 2002; Burges et al. 2005 for 2^grade - 1.
    """
    found = list(grades)
    if not found:
        return 0.0
    gain = float((1 << max(found)) - (1 << min(found)))
    return round(gain / math.log2(max(best_rank or 1, 1) + 1), IMPACT_DIGITS)


def find_since(gradings: Sequence[tuple[datetime, int]]) -> datetime | None:
    """The time of the first judgment that differs from an earlier one; None when none differs.

    `gradings`: (judged_at, grade) of the current judgments, in any order.
    """
    ordered = sorted(gradings)
    return next((at for at, grade in ordered if grade != ordered[0][1]), None)


def sort_disagreements(found: Iterable[Disagreement], sort: str) -> list[Disagreement]:
    """Open before decided; then furthest apart, largest impact, or oldest first; what is equal, oldest first.

    ValidationError for a sort that is not one of SORTS.
    """
    keys = {
        "distance": lambda item: (item.status != "open", -item.distance, item.since),
        "impact": lambda item: (item.status != "open", -item.impact, item.since),
        "age": lambda item: (item.status != "open", item.since),
    }
    if sort not in keys:
        raise ValidationError(f"sort: expected one of {', '.join(SORTS)}, found {sort!r}")
    return sorted(found, key=keys[sort])
