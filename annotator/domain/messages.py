"""Sentences for people that can be translated later. `figures.py` shows the numbers in them.

A `Message` is a `str` that remembers its English template and its values, so the command line, logs and releases just
show it. `web/kit/messages.py` translates it. Babel collects the templates from the calls of `say` and `say_n`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotator.domain.figures import fill, show_number

NAMED = 10
LANGUAGES = ("en", "ja", "ko")  # that the web app speaks, and in which a guideline can be given


class Message(str):
    """An English sentence made of `template` and `values`; `plural` and `n` where it counts something."""

    template: str
    plural: str | None
    n: int
    values: Mapping[str, Any]

    def __new__(
        cls, template: str, values: Mapping[str, Any], *, plural: str | None = None, n: int = 1
    ) -> "Message":
        chosen = template if plural is None or n == 1 else plural
        made = super().__new__(cls, fill(chosen, values))
        made.template, made.plural, made.n, made.values = template, plural, n, values
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments for a copy (`dataclasses.asdict` makes one)."""
        return (self.template, self.values), {"plural": self.plural, "n": self.n}


def say(template: str, /, **values: Any) -> Message:
    """Return the sentence, with its values filled in: `say("no dataset named {name}", name="law")`."""
    return Message(template, values)


class LocalName(str):
    """A dataset's own name for something, in several languages. Shown as it is outside the web app."""

    by_language: Mapping[str, str]

    def __new__(cls, name: str, by_language: Mapping[str, str]) -> "LocalName":
        made = super().__new__(cls, name)
        made.by_language = by_language
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str, Mapping[str, str]], dict[str, Any]]:
        """Return the arguments for a copy."""
        return (str(self), self.by_language), {}


def say_n(singular: str, plural: str, n: int, /, **values: Any) -> Message:
    """Return the sentence in the singular or the plural; `{n}` is the number: `say_n("{n} pair", "{n:,} pairs", 3)`."""
    return Message(singular, {"n": n, **values}, plural=plural, n=n)


def count_of(n: int, singular: str, plural: str | None = None) -> str:
    """Return the number with its noun, for texts that are not translated: `count_of(1, "pair")` is "1 pair".

    `many`: the plural, also of a noun with its verb ("pair is left", "pairs are left"); an s is added otherwise.
    """
    if n == 1:
        return f"{show_number(n)} {singular}"
    if plural is None:
        plural = (
            f"{singular[:-1]}ies" if singular.endswith("y") and singular[-2] not in "aeo" else f"{singular}s"
        )
    return f"{show_number(n)} {plural}"


def begin(sentence: str) -> Message:
    """Return the English with a capital at its start; a page capitalizes its own translation."""
    whole = sentence if isinstance(sentence, Message) else Message("{sentence}", {"sentence": sentence})
    made: Message = str.__new__(Message, f"{whole[:1].upper()}{whole[1:]}")
    made.template, made.plural, made.n, made.values = whole.template, whole.plural, whole.n, whole.values
    return made


def join(parts: Iterable[str], between: str = ", ") -> Message:
    """Return the parts joined; those that are messages stay translatable."""
    values = {f"part_{number}": part for number, part in enumerate(parts)}
    return Message(between.join(f"{{{name}}}" for name in values), values)


def join_first(names: Sequence[str], most: int = NAMED) -> Message:
    """Return the first names of many, and how many more there are: a line is no list of 762 names."""
    more = len(names) - most
    shown = join(names[:most])
    return say("{names}, and {n:,} more", names=shown, n=more) if more > 0 else shown


def join_sentences(sentences: Iterable[str]) -> Message:
    """Return the sentences joined; a page puts no space between Japanese ones."""
    values = {f"sentence_{number}": sentence for number, sentence in enumerate(sentences)}
    return Message(" ".join(f"{{{name}}}" for name in values), values)


LANGUAGE_NAMES: Mapping[str, Message] = {"en": say("English"), "ja": say("Japanese"), "ko": say("Korean")}
