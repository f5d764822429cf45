"""Check whether a password is among the commonest, which attackers guess first.

The list is `known_passwords.txt` in this folder: the 20,000 commonest of 10 characters or more, since shorter passwords are
refused. Its first lines name source and licence. It is read when the first password is chosen.
"""

import unicodedata
from functools import cache
from pathlib import Path

LIST = Path(__file__).with_suffix(".txt")


def is_common(password: str) -> bool:
    """Return whether the password is in the list, in any case and in any width of its characters."""
    return _fold(password) in _read_list()


def _fold(password: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", password).casefold())


@cache
def _read_list() -> frozenset[str]:
    _head, _, passwords = LIST.read_text(encoding="utf-8").partition("\n\n")
    return frozenset(passwords.split())
