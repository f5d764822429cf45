"""Check a decision: its form, whether it was sent before, and whether the pair has changed since the lead saw it.

`service.py` checks the state within the decision's transaction: if two leads decide at once, only one decision is
stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from annotator.adjudication.case import digest_case, list_decisions
from annotator.adjudication.records import (
    CAUSES,
    CaseFacts,
    Decision,
    IndependentJudgment,
    Outcome,
    compute_case_version,
    owes_words,
    read_revision,
)
from annotator.domain.errors import ConflictError, NotAllowed, StateError, ValidationError
from annotator.domain.grades import check_grade
from annotator.domain.messages import Message, say
from annotator.domain.settling import Decided, read_decision
from annotator.domain.texts import check_text

LONGEST_SECONDS = 86_400


class JudgedByLead(NotAllowed):
    """The lead judged the pair."""


class RationaleRequired(ValidationError):
    """A decision that says nothing where words are owed."""


@dataclass(frozen=True, slots=True)
class DecisionRequest:
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


def check_decision_request(
    decided: Decided | Literal["withdrawn"],
    rationale: str,
    reason: str | None,
    cause: str | None,
    *,
    in_guideline: bool,
    seconds: float | None,
) -> DecisionRequest:
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
    return DecisionRequest(
        outcome,
        grade,
        check_text(say("rationale"), rationale, empty=None),
        check_text(say("reason"), reason or "", empty=None) or None,
        cause,
        in_guideline,
        None if seconds is None else float(seconds),
    )


class RepeatedRequest(NamedTuple):
    """The same ruling came before. `decision`: what became of it; None: a proposal."""

    decision: Decision | None


def find_repeated_request(
    facts: CaseFacts, ruling: DecisionRequest, lead_pk: int, seen: str
) -> RepeatedRequest | None:
    """What became of the very same ruling of this lead, had it come before; None where it is new. ConflictError, saying what
    changed, where the pair is not as it was seen."""
    decisions = list_decisions(facts)
    proposed = any(one.lead_pk == lead_pk and ruling.is_same(one, reason=False) for one in facts.proposals)
    if digest_case(facts) == seen:
        return RepeatedRequest(None) if proposed else None
    last = facts.decisions[-1] if facts.decisions else None
    before = compute_case_version([answer.event_id for answer in facts.answers], len(decisions) - 1)
    if last is not None and last.lead_pk == lead_pk and before == seen:
        if ruling.is_same(last):
            return RepeatedRequest(decisions[-1])
        if proposed and last.outcome == "withdrawn":
            return RepeatedRequest(None)
    raise ConflictError(say_changed(seen, decisions))


def check_state(facts: CaseFacts, ruling: DecisionRequest, lead_pk: int) -> None:
    """StateError where there is nothing to decide, or to take back; WordsOwed where a decision must say why."""
    if ruling.outcome == "withdrawn":
        holds = bool(facts.decisions) and facts.decisions[-1].outcome != "withdrawn"
        if not holds and all(one.lead_pk != lead_pk for one in facts.proposals):
            raise StateError(say("nothing is decided on this pair that could be taken back"))
        return
    if facts.row.since is None:
        raise StateError(say("the judgments of this pair do not differ, so there is nothing to decide"))
    decided, given = read_decision(ruling.outcome, ruling.grade), _list_given(facts.answers)
    if not ruling.rationale and decided is not None and owes_words(decided, given, facts.row.distance):
        raise RationaleRequired(
            say(
                "a decision says why where the grades are two or more apart, or where nobody gave the one you choose"
            )
        )


def say_changed(seen: str, decisions: Sequence[Decision]) -> Message:
    """What has changed since this was seen: somebody decided, or else a judgment came or was revised."""
    if not decisions or read_revision(seen) == len(decisions):
        return say("a judgment of this pair came or was changed meanwhile; look at it again")
    last = decisions[-1]
    if last.outcome == "withdrawn":
        return say("a lead took the decision on this pair back meanwhile; look at it again")
    if last.grade is None:
        return say("another lead decided meanwhile that this pair cannot be rated; look at it again")
    return say("another lead decided this pair meanwhile, at {grade}; look at it again", grade=last.grade)


def _list_given(answers: Sequence[IndependentJudgment]) -> list[Decided]:
    return ["unrateable" if answer.grade is None else answer.grade for answer in answers]
