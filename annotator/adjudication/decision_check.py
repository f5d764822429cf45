"""What a lead says of a pair, as it came in: checked before anything is read. Refuses what no decision can hold."""

from dataclasses import dataclass
from typing import Any, Literal

from annotator.adjudication.decisions import CAUSES, Outcome
from annotator.domain.errors import NotAllowed, ValidationError
from annotator.domain.grades import check_grade
from annotator.domain.messages import say
from annotator.domain.settling import Decided
from annotator.domain.texts import check_text

LONGEST_SECONDS = 86_400


class Barred(NotAllowed):
    """The lead judged the pair."""


class WordsOwed(ValidationError):
    """A decision that says nothing where words are owed."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision, or taking one back ("withdrawn"). `seconds`: how long the pair was open before the lead."""

    outcome: Outcome
    grade: int | None
    rationale: str
    reason: str | None
    cause: str | None
    in_guideline: bool
    seconds: float | None

    def is_same(self, row: Any, *, reason: bool = True) -> bool:
        """Whether a stored decision (or a proposal, which knows no `reason`) says just this."""
        mine = (self.outcome, self.grade, self.rationale, self.cause, self.in_guideline)
        kept = (row.outcome, row.grade, row.rationale, row.cause, bool(row.in_guideline))
        return mine == kept and (not reason or self.reason == row.reason)


def check_ruling(
    decided: Decided | Literal["withdrawn"],
    rationale: str,
    reason: str | None,
    cause: str | None,
    *,
    in_guideline: bool,
    seconds: float | None,
) -> Ruling:
    """The ruling, its texts without the white space around them. ValidationError for what it cannot hold."""
    outcome: Outcome
    if decided == "unrateable" or decided == "withdrawn":
        outcome, grade = decided, None
    else:
        outcome, grade = "graded", check_grade(decided)
    if cause is not None and cause not in CAUSES:
        raise ValidationError(f"cause: expected one of {', '.join(CAUSES)}, found {cause!r:.80}")
    if seconds is not None and not 0 <= seconds <= LONGEST_SECONDS:
        raise ValidationError(f"seconds: expected 0 to {LONGEST_SECONDS:,}, found {seconds!r:.40}")
    return Ruling(
        outcome,
        grade,
        check_text(say("rationale"), rationale, empty=None),
        check_text(say("reason"), reason or "", empty=None) or None,
        cause,
        in_guideline,
        None if seconds is None else float(seconds),
    )
