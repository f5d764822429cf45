"""The roles in the reader's language."""

from annotator.domain.accounts import Membership
from annotator.domain.people import ROLE_NAMES
from annotator.web.kit.messages import tr


def name_role(role: str) -> str:
    """The role's name; what is none comes back as it is."""
    return tr(ROLE_NAMES[role]) if role in ROLE_NAMES else role


def say_membership(held: Membership) -> str:
    """A role and where it holds."""
    role = name_role(held.role)
    if held.dataset is None:
        return tr("{role} on every dataset", role=role)
    return tr("{role} on {dataset}", role=role, dataset=held.dataset)
