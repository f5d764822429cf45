"""Name roles, statuses, origins, fields, grades and people in the reader's language.

URLs, files and the database keep English words and usernames; only texts for people are translated.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from annotator.domain.messages import Message, say
from annotator.domain.people import ROLE_NAMES
from annotator.web.kit.messages import tr

NAMES = {
    str(word): word
    for word in (
        say("all"), say("nothing"), say("each other"),
        say("unjudged"), say("imported"), say("single"), say("unanimous"),
        say("disagreement"), say("reopened"), say("adjudicated"),
        say("complete"), say("begun"), say("untouched"),
        say("open"), say("decided"),
        say("distance"), say("impact"), say("age"),
        say("simulated"),
        say("independent"), say("conditional"), say("training"), say("gold"), say("repeat"),
        say("whole"), say("missing"), say("changed"),
        say("unweighted"), say("linear"), say("quadratic"), say("nominal"), say("ordinal"), say("interval"),
        say("annotator"), say("lead"), say("admin"),
        say("category"), say("language"), say("query_type"), say("difficulty"), say("primary_domain"),
        say("revision"), say("further judgment"), say("adjudication"), say("re-import"), say("remap"),
        say("patch"), say("minor"), say("major"),
        say("import"), say("proposed by an annotator"),
    )
} | {
    "quality": say("quality control"), "unrateable": say("cannot rate"), "present state": say("current grades"),
}  # fmt: skip


def name_word(word: str) -> str:
    """Return the word in the reader's language. Returns unknown words unchanged."""
    return tr(NAMES[word]) if word in NAMES else word


def name_role(role: str) -> str:
    """Return the role's name in the reader's language. Returns other texts unchanged."""
    return tr(ROLE_NAMES[role]) if role in ROLE_NAMES else role


def describe_role(role: str, dataset: str | None) -> str:
    """Return a role and its dataset (None: every dataset) in words."""
    if dataset is None:
        return tr("{role} on every dataset", role=name_role(role))
    return tr("{role} on {dataset}", role=name_role(role), dataset=dataset)


def name_field(by: str) -> str:
    """Return what pairs are grouped by, in the reader's language; for an attribute of documents "document: ATTRIBUTE"."""
    kind, colon, attribute = by.partition(":")
    if colon and kind == "document":
        return tr("document: {attribute}", attribute=attribute)
    named = {
        "guideline_version": tr("guideline version"),
        "week": tr("week"),
        "annotator": tr("annotator"),
        "annotators": tr("two annotators"),
    }
    return named.get(by) or name_word(by)


def name_grades(grade_names: Sequence[str]) -> list[str]:
    """Return each grade by number and name, e.g. "3 Perfect"."""
    return [f"{grade} {name}" for grade, name in enumerate(grade_names)]


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
