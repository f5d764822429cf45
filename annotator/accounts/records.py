"""What `accounts/service.py` returns about people, their roles and who is signed in. Frozen; no secrets in repr."""

from dataclasses import dataclass, field
from datetime import datetime

from annotator.domain.people import ROLES, Actor


@dataclass(frozen=True, slots=True)
class Membership:
    """A role on the dataset of that name; on every dataset when `dataset` is None."""

    dataset: str | None
    role: str


@dataclass(frozen=True, slots=True)
class Person:
    """A person as leads and admins see them. Without `can_sign_in`, somebody known from an imported file."""

    username: str
    name: str
    memberships: tuple[Membership, ...]
    can_sign_in: bool
    must_change_password: bool
    disabled: bool
    simulated: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class PersonChange:
    """A person after a change, and the one-time password if one was made: it is shown now and never again."""

    person: Person
    one_time_password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Who is signed in, with the roles held at this moment."""

    actor: Actor
    name: str
    memberships: tuple[Membership, ...]
    must_change_password: bool
    expires_at: datetime

    def role_on(self, dataset: str | None) -> str | None:
        """The strongest role on the dataset of that name; with None, the role everywhere."""
        held = [item.role for item in self.memberships if item.dataset in (None, dataset)]
        return max(held, key=ROLES.index) if held else None


@dataclass(frozen=True, slots=True)
class LoginSession:
    """A signed-in browser of a person; `current` is the one that asks."""

    created_at: datetime
    expires_at: datetime
    current: bool
