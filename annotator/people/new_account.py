"""Check the form of a new account, and collect the problems by field."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.people.credentials import check_name, check_new_password, check_username


@dataclass(frozen=True, slots=True)
class NewAccount:
    """A name, a username and a password, as they were typed."""

    name: str
    username: str
    password: str = field(repr=False)


class AccountRefused(ValidationError):
    """Some fields of a new account are refused. `problems`: {field: message}."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        self.problems = dict(problems)
        super().__init__(next(iter(self.problems.values())))


def check_new_account(account: NewAccount) -> NewAccount:
    """Return the account with its name and username normalized. Raises AccountRefused with every problem."""
    problems: dict[str, str] = {}
    name, username = "", account.username.strip()
    try:
        name = check_name(account.name)
        if not name:
            problems["name"] = say("enter the name that others see")
    except ValidationError as error:
        problems["name"] = error.args[0]
    try:
        username = check_username(username)
    except ValidationError as error:
        problems["username"] = error.args[0]
    try:
        check_new_password(account.password, username=username)
    except ValidationError as error:
        problems["password"] = error.args[0]
    if problems:
        raise AccountRefused(problems)
    return replace(account, name=name, username=username)
