"""How far a sign-in is that needs a second factor, and what a person sees of their own."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from annotator.domain.errors import NotAllowed, StateError
from annotator.domain.messages import say

Need = Literal["code", "set-up"]
"""What a sign-in lacks after the password: a code, or a second factor to be set up."""


@dataclass(frozen=True, slots=True)
class SignInStep:
    """A sign-in that was begun. `token`: of the session; if something is needed first, of the half sign-in."""

    token: str = field(repr=False)
    need: Need | None = None

    def require_session(self) -> str:
        """Return the session token. Raises SecondFactorNeeded if a code is still missing."""
        if self.need is not None:
            raise SecondFactorNeeded(self.token, self.need)
        return self.token


class SecondFactorNeeded(NotAllowed):
    """The password was right. `token` opens nothing but the page that asks for the second factor."""

    def __init__(self, token: str, need: Need) -> None:
        self.token, self.need = token, need
        super().__init__(say("this sign-in needs the second factor too"))


class SignInExpired(NotAllowed):
    """The half sign-in took too long, or it was ended by a change of the account."""

    def __init__(self) -> None:
        super().__init__(say("this sign-in took too long; begin again"))


class WrongCode(NotAllowed):
    """The code is wrong, too old, or was used before; the message never says which."""

    def __init__(self) -> None:
        super().__init__(say("the code is wrong or was used already; wait for the next one"))


class UnreadableSecret(StateError):
    """The key in the database was encrypted with a key that this server does not have."""

    def __init__(self) -> None:
        super().__init__(say("the server cannot check codes at the moment; tell your admin"))


@dataclass(frozen=True, slots=True)
class HalfSignIn:
    """A sign-in between the password and the second factor.

    `is_required`: the installation requires a second factor of this person. `removed_by`: the person who removed the last one
    ("": the operator), or None.
    """

    username: str
    need: Need
    is_required: bool
    removed_by: str | None


@dataclass(frozen=True, slots=True)
class SecondFactorState:
    """A person's own second factor: since when it is on (None: it is off), and how many recovery codes are left."""

    since: datetime | None
    recovery_codes: int
    is_required: bool


@dataclass(frozen=True, slots=True)
class NewSecondFactor:
    """A new second factor: the session token, and the recovery codes, which are shown only once."""

    token: str = field(repr=False)
    recovery_codes: tuple[str, ...] = field(repr=False)
