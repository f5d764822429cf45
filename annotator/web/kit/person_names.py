"""Show people by their display names in charts, tables and sentences.

URLs, files and the database keep usernames; `find_username` returns the username of a shown name.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from annotator.domain.messages import Message

PEOPLE = ("annotator", "than", "first", "second", "part_")
"""How the values of sentences that are usernames are called, or how that begins (`join` calls its values part_0, part_1 …)."""


class PersonName(str):
    """A person's name on the pages of a dataset, with the username."""

    username: str

    def __new__(cls, shown: str, username: str) -> "PersonName":
        made = super().__new__(cls, shown)
        made.username = username
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, Any]]:
        """Return the arguments for a copy."""
        return (str(self), self.username), {}


def find_username(name: str) -> str:
    """Return the username of a name on the page; any other text is returned unchanged."""
    return name.username if isinstance(name, PersonName) else name


def make_unique(names: Mapping[str, str]) -> dict[str, PersonName]:
    """Return {username: unique name}. `names`: {username: own name, or ""}.

    Equal names get their usernames too. So does a name that equals another person's username.
    """
    known = {username: name or username for username, name in names.items()}
    times = Counter(known.values())
    return {
        username: PersonName(
            f"{name} ({username})" if times[name] > 1 or (name != username and name in names) else name,
            username,
        )
        for username, name in known.items()
    }


def name_person(username: str, names: Mapping[str, PersonName]) -> PersonName:
    """Return a person's name; the username if the person has no role on the dataset any more."""
    return names.get(username) or PersonName(username, username)


def name_people_in(sentence: str, names: Mapping[str, PersonName]) -> str:
    """Return the sentence with names in place of usernames. Returns text that is no Message unchanged."""
    if not isinstance(sentence, Message):
        return sentence
    values = {
        key: name_people_in(value, names)
        if isinstance(value, Message)
        else names.get(value, value)
        if isinstance(value, str) and key.startswith(PEOPLE)
        else value
        for key, value in sentence.values.items()
    }
    return Message(sentence.template, values, plural=sentence.plural, n=sentence.n)
