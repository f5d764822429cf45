"""The roles in the reader's language."""

from annotator.domain.accounts import Membership
from annotator.domain.messages import say
from annotator.web.messages import tr

NAMES = {"annotator": say("annotator"), "lead": say("lead"), "admin": say("admin")}


def name_role(role: str) -> str:
    """The role's name; what is none comes back as it is."""
    return tr(NAMES[role]) if role in NAMES else role


def say_membership(held: Membership) -> str:
    """A role and where it holds."""
    role = name_role(held.role)
    if held.dataset is None:
        return tr("{role} on every dataset", role=role)
    return tr("{role} on {dataset}", role=role, dataset=held.dataset)
