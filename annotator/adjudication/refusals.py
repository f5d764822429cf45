"""Why something is not to be said or asked (any more), in a sentence for whoever tried. Pure rules."""

from collections.abc import Collection

from annotator.adjudication.discussion import OwnDecision
from annotator.domain.messages import Message, say

NOT_JUDGED = say("you did not judge this pair")
NOT_DISCUSSED = say(
    "this pair is not discussed, or no longer: a lead has decided it or closed the discussion"
)
NOT_LOOKED = say("look at what the others said first")
SAID_ALREADY = say("you have said what you think of this pair already; that is done once")
OBJECTED_ALREADY = say("you have objected to what was decided on this pair; that is done once")
JUDGMENTS_CHANGED = say("somebody has changed or added a judgment of this pair meanwhile; look at it again")


def say_open_work(query_id: str) -> Message:
    """Why somebody is not shown a pair of this query yet."""
    return say(
        "first judge what is still open to you of query {query_id}: then this is shown", query_id=query_id
    )


def find_unaskable(judges: int, able: Collection[str], said: Collection[str]) -> Message | None:
    """Why there is nothing to ask for, None where there is. `judges`: how many judged the pair; `able`: those of them who
    can be asked, `said`: who has spoken (usernames)."""
    if judges < 2:
        return say("fewer than two annotators judged this pair, so there is nobody to discuss it with")
    if len(able) < 2:
        return say(
            "fewer than two of those who judged this pair can still be asked: the others are disabled, simulated or without a role"
        )
    if set(able) <= set(said):
        return say("everybody who can be asked has said what they think of this pair already")
    return None


def say_changed(decision: OwnDecision | None) -> Message:
    """What holds now in place of the decision that was objected to."""
    if decision is None or decision.outcome == "withdrawn":
        return say("the decision was taken back meanwhile; the pair waits for a lead again")
    if decision.grade is None:
        return say("a lead has decided anew meanwhile: this pair cannot be rated; read that decision first")
    return say(
        "a lead has decided anew meanwhile, at {grade}; read that decision first", grade=decision.grade
    )
