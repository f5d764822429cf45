"""Check usernames, names and passwords, hash passwords, and make one-time passwords.

Passwords are kept as argon2id (RFC 9106) hashes. They are normalized to Unicode NFC first, as RFC 8265's OpaqueString
profile asks, so that every keyboard gives the same password. Usernames and names are stored in NFC too.
Refuses passwords that are too short, too long, the username, one character repeated, or among the commonest.
"""

import hashlib
import secrets
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.domain.usernames import LONGEST_NAME, clean_name, find_username_fault, normalize_username

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST = 10
LONGEST = 1_000
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that is read as something else
NOBODYS_HASH = (
    "$argon2id$v=19$m=32768,t=3,p=1$DGtZ1GxrjAFjX5dGy/q4HA$/lqLLcPDVH8t7EhmjOL9WcgsHWqqxGAy5FE/KBvmEX4"
)
"""The hash of a random password that nobody knows. A sign-in with an unknown name is checked against it, so that it takes
as long as with a known one."""


@cache
def _make_hasher() -> "PasswordHasher":
    """Return the hasher: about 65 ms and 32 MiB for a password. Imports its library, which most commands do not need."""
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=3, memory_cost=32 * 1024, parallelism=1)


def check_new_password(password: str, *, username: str) -> None:
    """Raise ValidationError if this password is not allowed. Length counts characters."""
    normal = unicodedata.normalize("NFC", password)
    if len(normal) < SHORTEST:
        raise ValidationError(
            say(
                "expected a password of at least {least} characters, found {found}",
                least=SHORTEST,
                found=len(normal),
            )
        )
    if len(normal) > LONGEST:
        raise ValidationError(say("expected a password of at most {most:,} characters", most=LONGEST))
    if normal.casefold() == username.casefold() or len(set(normal)) == 1:
        raise ValidationError(
            say("expected a password that is not the username and not one character repeated")
        )
    if is_common(normal):
        raise ValidationError(
            say("this password is one of the commonest, which are guessed first; choose another")
        )


def hash_password(password: str) -> str:
    """Return the argon2id hash to store."""
    return _make_hasher().hash(_encode(password))


def is_password(password: str, stored_hash: str) -> bool:
    """Return whether the hash is this password's. Slow by intent; never raises for a wrong or odd password."""
    if len(password) > LONGEST:
        return False
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return _make_hasher().verify(stored_hash, _encode(password))
    except (VerificationError, InvalidHashError):
        return False


def is_outdated(stored_hash: str) -> bool:
    """Return whether the hash was made with weaker parameters than today's."""
    return _make_hasher().check_needs_rehash(stored_hash)


def make_one_time_password() -> str:
    """Return sixteen random letters and digits in groups of four, about 79 bits; easy to read out and to type."""
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(4)) for _ in range(4))


def digest_token(token: str) -> str:
    """Return the hash to store of a token or a code."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _encode(password: str) -> bytes:
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")


LONGEST_USERNAME = 100


def check_username(username: str) -> str:
    """Return the username of a new account in NFC.

    Raises ValidationError if `read_username` refuses it, if it contains an invisible character, or if it mixes scripts and
    could look like another username.
    """
    normal = read_username(username)
    fault = find_username_fault(normal)
    if fault is not None:
        raise ValidationError(fault)
    return normal


def read_username(username: str) -> str:
    """Return the typed username in NFC. Older accounts may have names that a new account cannot have.

    Raises ValidationError if it is empty or too long, contains white space, a control character or "/", or starts with "-"
    (a command line would take it for an option).
    """
    normal = normalize_username(username)
    bad = any(character.isspace() or _is_control(character) or character == "/" for character in normal)
    if not normal or len(normal) > LONGEST_USERNAME or bad or normal.startswith("-"):
        raise ValidationError(
            say(
                "expected a username without white space, '/' or a leading '-', up to {most} characters, found {found!r}",
                most=LONGEST_USERNAME,
                found=username[:LONGEST_USERNAME],
            )
        )
    return normal


def check_name(name: str) -> str:
    """Return a person's name in NFC, without invisible characters and surrounding white space.

    Raises ValidationError for more than one line.
    """
    normal = clean_name(unicodedata.normalize("NFC", name)).strip()
    if len(normal) > LONGEST_NAME or any(_is_control(character) for character in normal):
        raise ValidationError(say("expected a name of one line, up to {most} characters", most=LONGEST_NAME))
    return normal


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs")


KNOWN_PASSWORDS = Path(__file__).with_name("known_passwords.txt")


def is_common(password: str) -> bool:
    """Return whether the password is in the list, in any case and in any width of its characters."""
    return _fold_password(password) in _read_known_passwords()


def _fold_password(password: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", password).casefold())


@cache
def _read_known_passwords() -> frozenset[str]:
    _head, _, passwords = KNOWN_PASSWORDS.read_text(encoding="utf-8").partition("\n\n")
    return frozenset(passwords.split())


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
