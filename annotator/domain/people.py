"""Records of people: roles, invitations, the signed-in person, and the actor of a use case.

A person has a role on one dataset or on all. Each role includes the ones before it: an annotator labels
(TREC: assessor); a lead imports, pools, watches agreement, adjudicates and publishes; an admin also manages
people and settings. The operator of the command line acts without an account. `repr` shows no secrets, so
records may appear in logs and tracebacks.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, get_args

from annotator.domain.errors import DatasetNotOpen, NotAllowed, StateError
from annotator.domain.messages import Message, say, say_n

Role = Literal["annotator", "lead", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
ROLE_NAMES = {"annotator": say("annotator"), "lead": say("lead"), "admin": say("admin")}


def includes(role: str, needed: str) -> bool:
    """Return whether `role` has all rights of `needed`. Both are in ROLES."""
    return ROLES.index(role) >= ROLES.index(needed)


def name_annotator(number: int) -> str:
    """Return an annotator's pseudonym in releases."""
    return f"annotator_{number}"


def name_lead(number: int) -> str:
    """Return a lead's pseudonym in releases."""
    return f"lead_{number}"


@dataclass(frozen=True, slots=True)
class Actor:
    """The person or operator for whom a service works."""

    person_id: int | None  # None only for the operator, who owns the database file
    username: str

    @property
    def is_operator(self) -> bool:
        return self.person_id is None


OPERATOR = Actor(person_id=None, username="operator")


DEVICE_LIFETIME = timedelta(days=180)
"""A browser stays known for this time after its latest sign-in."""


@dataclass(frozen=True, slots=True)
class Membership:
    """A person's role on a dataset, and the queries that the person judges."""

    dataset: str | None  # its name; None: every dataset
    role: str
    categories: tuple[str, ...] | None = None  # of the queries to judge; None: all
    languages: tuple[str, ...] | None = None  # of the queries to judge; None: all


@dataclass(frozen=True, slots=True)
class Person:
    """A person as leads and admins see them."""

    username: str
    name: str
    memberships: tuple[Membership, ...]
    can_sign_in: bool  # also False for a person known only from an imported file
    must_change_password: bool
    disabled: bool
    simulated: bool
    created_at: datetime
    second_factor: bool = False  # whether signing in with a password also needs a code


@dataclass(frozen=True, slots=True)
class PersonChange:
    """A person after a change."""

    person: Person
    one_time_password: str | None = field(default=None, repr=False)  # a new one: shown now, never again


InvitationState = Literal["open", "used", "expired", "revoked"]


@dataclass(frozen=True, slots=True)
class Invitation:
    """A one-time link that gives a role, as leads see it: without its token."""

    number: int
    role: str
    dataset: str | None  # its name; None: every dataset
    note: str  # the author's words on whom it is for
    state: InvitationState
    author: str | None  # username; None: the operator
    created_at: datetime
    expires_at: datetime
    user: str | None = None  # the username that used it
    used_at: datetime | None = None
    revoker: str | None = None  # None also for the operator
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewInvitation:
    """An invitation with its token, which is shown now and never again."""

    invitation: Invitation
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class PasswordLink:
    """A link with which a person chooses a new password. Its token is shown now and never again."""

    username: str
    expires_at: datetime
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class LinkOffer:
    """The offer of a one-time link: a role, or a new password."""

    role: str | None  # None: a new password
    dataset: str | None = None  # its name; None: every dataset
    title: str | None = None  # of the dataset
    author: str | None = None  # the author's name; None: the operator
    username: str | None = None  # of the person who gets a new password


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A signed-in person with the present roles."""

    actor: Actor
    name: str
    memberships: tuple[Membership, ...]
    must_change_password: bool
    expires_at: datetime
    language: str | None = None  # the chosen one; None: the browser's
    by_provider: bool = False  # signed in by an OpenID Connect provider, not by a password

    def role_on(self, dataset: str | None) -> str | None:
        """Return the strongest role on the dataset of that name; for None, the role on every dataset."""
        roles = [item.role for item in self.memberships if item.dataset in (None, dataset)]
        return max(roles, key=ROLES.index) if roles else None


def describe_unknown_dataset(name: str) -> Message:
    """Say that the person has no such dataset. The sentence does not reveal whether the dataset exists."""
    return say("there is no dataset named {name!r}, or you have no role on it", name=name)


@dataclass(frozen=True, slots=True)
class LoginSession:
    """A signed-in browser of a person."""

    created_at: datetime
    expires_at: datetime
    current: bool  # the browser that asks


class WrongSignIn(NotAllowed):
    """The username or the password is wrong. The message never says which."""

    def __init__(self) -> None:
        super().__init__(say("the username or the password is wrong"))


SESSION_LIFETIME = timedelta(hours=12)
LocalAccounts = Literal["true", "false", "admins"]
"""Who may sign in with a password: everybody who has one, nobody, or admins of every dataset."""


SecondFactor = Literal["optional", "leads", "all"]
"""Who needs a second factor besides a password: nobody, leads and admins of any dataset, or everybody."""


@dataclass(frozen=True, slots=True)
class SignInTerms:
    """What the operator sets for signing in with a password: how long a session lasts, who may, and who needs a code."""

    lifetime: timedelta = SESSION_LIFETIME
    local_accounts: LocalAccounts = "true"
    required: SecondFactor = "optional"


def requires_second_factor(required: SecondFactor, roles: Iterable[str]) -> bool:
    """Return whether a person with these roles needs a second factor."""
    return required == "all" or (required == "leads" and any(includes(role, "lead") for role in roles))


class LocalAccountsOff(StateError):
    """The password is right, but here people sign in through their organisation."""

    def __init__(self) -> None:
        super().__init__(say("people sign in by their organisation here, not with a password"))


class LinkRefused(NotAllowed):
    """A one-time link is unknown, expired, used or revoked. The message gives advice."""


class TooManyAttempts(NotAllowed):
    """Too many recent failures. `seconds`: the time to wait before the next attempt."""

    def __init__(self, wait: timedelta) -> None:
        self.seconds = max(1, math.ceil(wait.total_seconds()))
        minutes = math.ceil(self.seconds / 60)
        super().__init__(
            say_n(
                "too many failed attempts; try again in {n} minute",
                "too many failed attempts; try again in {n} minutes",
                minutes,
            )
        )


@dataclass(frozen=True, slots=True)
class RoleScope:
    """A role on a dataset or everywhere, and the queries that it covers."""

    categories: tuple[str, ...] | None = None  # None: all
    languages: tuple[str, ...] | None = None  # None: all
    role: str = "annotator"

    def cover(self, category: str | None, language: str | None) -> bool:
        """Return whether the role covers a query of this category and language."""
        return (self.categories is None or category in self.categories) and (
            self.languages is None or language in self.languages
        )


@dataclass(frozen=True, slots=True)
class DatasetPerson:
    """A person with a role on the dataset or everywhere, or with judgments or assigned queries in it."""

    pk: int
    username: str
    name: str
    roles: tuple[RoleScope, ...]
    can_sign_in: bool
    disabled: bool = False
    active: bool = False  # has judgments or assigned queries in the dataset

    @property
    def works(self) -> bool:
        """Return whether the person can sign in, and labels or has judgments or queries here."""
        return self.can_sign_in and (self.active or any(scope.role == "annotator" for scope in self.roles))

    def knows(self, category: str | None, language: str | None) -> bool:
        """Return whether one of the person's roles covers such a query."""
        return any(scope.cover(category, language) for scope in self.roles)


@dataclass(frozen=True, slots=True)
class HeldRoles:
    """The roles that a person holds now."""

    everywhere: str | None = None  # the role on every dataset
    by_dataset: Mapping[int, str] = field(default_factory=dict)  # by dataset_pk

    def role_on(self, dataset_pk: int) -> str | None:
        """Return the stronger of the role on this dataset and the role everywhere."""
        here = self.by_dataset.get(dataset_pk)
        if here is None or self.everywhere is None:
            return here or self.everywhere
        return here if includes(here, self.everywhere) else self.everywhere


def require_held_role(roles: HeldRoles, dataset_pk: int, needed: str, *, dataset: str) -> None:
    """Raise NotAllowed unless one of these roles on the dataset includes `needed`, DatasetNotOpen without any role on it."""
    role = roles.role_on(dataset_pk)
    if role is None:
        raise DatasetNotOpen(describe_unknown_dataset(dataset))
    if not includes(role, needed):
        raise NotAllowed(
            say("this needs the role {role} on this dataset", role=ROLE_NAMES.get(needed, needed))
        )
