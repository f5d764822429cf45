"""Check a decision: its form, repetition, changes of the pair since the lead saw it, and a second lead's part.

`service.py` calls these checks in the transaction of the decision: if two leads decide at once, one decision
is stored. With two leads, the first makes a proposal, and the second decides without seeing it. If they agree,
the pair is decided. If they differ, each may change to the other's grade, or a third lead decides alone.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from annotator.adjudication.disagreement_records import DisagreementFacts
from annotator.adjudication.records import (
    CAUSES,
    Decision,
    DecisionContent,
    DecisionProposal,
    Outcome,
    RationaleRequired,
    digest_seen_state,
    read_revision,
)
from annotator.domain.errors import ConflictError, StateError, ValidationError
from annotator.domain.grades import check_grade
from annotator.domain.messages import Message, say
from annotator.domain.settling import Decided
from annotator.domain.texts import check_text

TWO_LEADS_FROM = 3
"""From this distance between the grades on, a decision needs two leads if the dataset asks for them."""
EXPORTED = say(
    "You downloaded the whole dataset while another lead's proposal for this pair was waiting, so a third lead must decide it."
)


def map_by_lead(proposals: Iterable[DecisionProposal]) -> dict[int, Decided]:
    """Return the proposed grades by lead_pk."""
    return {proposal.lead_pk: proposal.decided for proposal in proposals if proposal.decided is not None}


def needs_two_leads(second_adjudicator: bool, distance: int) -> bool:
    """Return whether a decision needs two leads. `second_adjudicator`: the dataset's setting."""
    return second_adjudicator and distance >= TWO_LEADS_FROM


def settles_pair(
    decided: Decided, lead_pk: int, proposals: Mapping[int, Decided], current: Decided | None
) -> bool:
    """Return whether this lead's grade decides a pair that needs two leads; else it is a proposal.

    `proposals`: by lead. `current`: the present decision, which a lead may confirm alone.
    """
    of_others = {proposed for lead, proposed in proposals.items() if lead != lead_pk}
    return decided == current or decided in of_others or len(of_others) > 1


def find_visible_proposals(lead_pk: int | None, proposals: Mapping[int, Decided]) -> Set[int]:
    """Return the leads with visible proposals: all, after the lead's own or if two differ; else none."""
    if lead_pk in proposals or len(set(proposals.values())) > 1:
        return set(proposals)
    return set()


LONGEST_SECONDS = 86_400
RATIONALE_FROM = 2
"""From this distance between the grades on, a decision needs a rationale."""


@dataclass(frozen=True, slots=True)
class RepeatedDecision:
    """The stored result of a request that was sent before. `decision`: None for a proposal."""

    decision: Decision | None


def check_decision(
    decided: Decided | Literal["withdrawn"],
    rationale: str,
    cause: str | None,
    *,
    in_guideline: bool,
    seconds: float | None,
) -> DecisionContent:
    """Return the decision with its texts stripped. ValidationError for an impossible value."""
    outcome: Outcome
    if decided == "unrateable" or decided == "withdrawn":
        outcome, grade = decided, None
    else:
        outcome, grade = "graded", check_grade(decided)
    if cause is not None and cause not in CAUSES:
        raise ValidationError(f"cause: expected one of {', '.join(CAUSES)}, found {cause!r:.80}")
    if seconds is not None and not 0 <= seconds <= LONGEST_SECONDS:
        raise ValidationError(f"seconds: expected 0 to {LONGEST_SECONDS:,}, found {seconds!r:.40}")
    return DecisionContent(
        outcome=outcome,
        grade=grade,
        rationale=check_text(say("rationale"), rationale, empty=None),
        cause=cause,
        in_guideline=in_guideline,
        seconds=None if seconds is None else float(seconds),
    )


def find_repeated_decision(
    facts: DisagreementFacts, content: DecisionContent, lead_pk: int, seen: str
) -> RepeatedDecision | None:
    """Return the stored result of the same decision of this lead; None if it was not sent before.

    `seen`: the digest of what the lead saw. ConflictError, saying what changed, if the pair is different now.
    """
    proposed = any(
        proposal.lead_pk == lead_pk and proposal.says_the_same(content) for proposal in facts.proposals
    )
    if facts.seen == seen:
        return RepeatedDecision(None) if proposed else None
    last = facts.decisions[-1] if facts.decisions else None
    event_ids = [judgment.event_id for judgment in facts.judgments]
    seen_before_last = digest_seen_state(event_ids, len(facts.decisions) - 1)
    if last is not None and last.lead_pk == lead_pk and seen_before_last == seen:
        if last.says_the_same(content):
            return RepeatedDecision(last)
        if proposed and last.outcome == "withdrawn":
            return RepeatedDecision(None)
    raise ConflictError(explain_changed_pair(seen, facts.decisions))


def check_state(facts: DisagreementFacts, content: DecisionContent, lead_pk: int) -> None:
    """Raise StateError if nothing can be decided or withdrawn, RationaleRequired without a rationale."""
    if content.outcome == "withdrawn":
        is_decided = bool(facts.decisions) and facts.decisions[-1].outcome != "withdrawn"
        if not is_decided and all(proposal.lead_pk != lead_pk for proposal in facts.proposals):
            raise StateError(say("This pair has no decision to undo."))
        return
    if facts.status.since is None:
        raise StateError(say("The judgments of this pair do not differ, so there is nothing to decide."))
    judged: list[Decided] = [
        "unrateable" if judgment.grade is None else judgment.grade for judgment in facts.judgments
    ]
    if (
        not content.rationale
        and content.decided is not None
        and (facts.status.distance >= RATIONALE_FROM or content.decided not in judged)
    ):
        raise RationaleRequired(
            say(
                "Give a rationale: the grades are two or more apart, or nobody gave the grade that you chose."
            )
        )


def explain_changed_pair(seen: str, decisions: Sequence[Decision]) -> Message:
    """Say what changed since the pair was seen: a decision, or else a judgment."""
    if not decisions or read_revision(seen) == len(decisions):
        return say("A judgment of this pair has been added or changed. Look at the pair again.")
    last = decisions[-1]
    if last.outcome == "withdrawn":
        return say("A lead has withdrawn the decision on this pair in the meantime. Look at the pair again.")
    if last.grade is None:
        return say(
            "Another lead has decided “cannot rate” for this pair in the meantime. Look at the pair again."
        )
    return say(
        "Another lead has decided {grade} for this pair in the meantime. Look at the pair again.",
        grade=last.grade,
    )
