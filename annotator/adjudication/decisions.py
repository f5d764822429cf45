"""What a lead decides on a pair, and the one rule about when words are owed for it.

Shared by the decision page, files of decisions, policies and the trail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from annotator.domain.messages import Message, say
from annotator.domain.settling import Decided, read_decision

Cause = Literal[
    "guideline_gap", "ambiguous_query", "misread_document", "missing_knowledge", "slip", "borderline"
]
CAUSES: tuple[str, ...] = get_args(Cause)
"""Why annotators differed; the codes of the decision page, of files and of exports."""
CAUSE_NAMES: Mapping[str, Message] = {
    "guideline_gap": say("guideline gap"), "ambiguous_query": say("ambiguous query"),
    "misread_document": say("misread document"), "missing_knowledge": say("missing knowledge"), "slip": say("slip"),
    "borderline": say("genuinely borderline"),
}  # fmt: skip
Outcome = Literal["graded", "unrateable", "withdrawn"]
WORDS_FROM = 2
"""From this distance on a decision says why."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A lead's decision on a pair. `revision` counts from 1; the highest holds, unless it withdrew what was decided.
    `grade`: 0-3, None otherwise. `cause`: one of CAUSES; `reason`: a reason in other words, from a file; `in_guideline`:
    the guideline should say so; `seconds`: how long the pair was open before the lead (s), where that is known."""

    pair: str
    revision: int
    outcome: Outcome
    grade: int | None
    rationale: str
    reason: str | None
    decided_at: datetime
    cause: str | None = None
    in_guideline: bool = False
    seconds: float | None = None

    @property
    def decided(self) -> Decided | None:
        """What the pair is settled as; None where the decision withdrew another."""
        return read_decision(self.outcome, self.grade)


def owes_words(decided: Decided, given: Sequence[Decided], distance: int) -> bool:
    """Whether a decision needs a rationale: where the answers lie far apart, or the lead agrees with none of them."""
    return distance >= WORDS_FROM or decided not in given
