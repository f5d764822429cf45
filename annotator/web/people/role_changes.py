"""What a role lets its holder do, and what a change of role causes, in sentences that are shown before it is saved."""

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
    """Return what happens when somebody with the role `held` gets the role `chosen`; either may be NO_ROLE.

    `invitations`: how many open invitations that they made might end with the role.
    """
    if chosen == held:
        return []
    led, leads = _leads(held), _leads(chosen)
    consequences = [ROLE_EFFECTS[chosen]] if chosen in ROLE_EFFECTS else []
    if chosen == NO_ROLE:
        consequences.append(
            say(
                "They can do nothing there any more. Their judgments stay; pairs that they hold go to others."
            )
        )
    if leads and not led:
        consequences.append(say("A pair whose judgments they look at is no longer theirs to judge."))
    if led and not leads:
        consequences.append(
            say("They no longer see other people's judgments or settle disagreements. Their decisions stay.")
        )
    if invitations and (chosen == NO_ROLE or (held in ROLE_EFFECTS and not includes(chosen, held))):
        consequences.append(
            say_n(
                "{n:,} open invitation that they made stops working if the new role may not make it.",
                "{n:,} open invitations that they made stop working if the new role may not make them.",
                invitations,
            )
        )
    return consequences


def _leads(role: str) -> bool:
    return role in ROLE_EFFECTS and includes(role, "lead")
