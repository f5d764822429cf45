"""Describe the permissions of a role and the consequences of a change, shown before it is saved."""

from annotator.domain.messages import Message, say, say_n
from annotator.domain.people import includes

NO_ROLE = "no role"
ROLE_EFFECTS = {
    "annotator": say("Judges pairs, without seeing the judgments of others."),
    "lead": say(
        "Imports, pools, assigns work, settles disagreements, publishes. Sees everybody's judgments."
    ),
    "admin": say("Does what a lead does, and manages people, roles and settings."),
}


def list_consequences(held: str, chosen: str, *, invitations: int) -> list[Message]:
    """Return the consequences of changing the role `held` to `chosen`; either may be NO_ROLE.

    `invitations`: number of open invitations by this person that might become invalid.
    """
    if chosen == held:
        return []
    led, leads = _leads(held), _leads(chosen)
    consequences = [ROLE_EFFECTS[chosen]] if chosen in ROLE_EFFECTS else []
    if chosen == NO_ROLE:
        consequences.append(
            say("They lose access. Their judgments stay; their pairs in progress go to others.")
        )
    if leads and not led:
        consequences.append(say("They can no longer judge a pair once they have seen its judgments."))
    if led and not leads:
        consequences.append(
            say("They no longer see other people's judgments or settle disagreements. Their decisions stay.")
        )
    if invitations and (chosen == NO_ROLE or (held in ROLE_EFFECTS and not includes(chosen, held))):
        consequences.append(
            say_n(
                "{n:,} open invitation made by them stops working if the new role does not allow it.",
                "{n:,} open invitations made by them stop working if the new role does not allow them.",
                invitations,
            )
        )
    return consequences


def _leads(role: str) -> bool:
    return role in ROLE_EFFECTS and includes(role, "lead")
