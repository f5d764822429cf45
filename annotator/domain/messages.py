"""Make sentences for people that can be translated later. `figures.py` shows the numbers in them.

A `Message` is a `str` that keeps its English template and its values. The command line, logs and releases
show it as it is; `web/kit/messages.py` translates it. Babel collects the templates from the calls of `say`
and `say_n`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotator.domain.figures import fill, show_number

NAMED = 10
LANGUAGES = ("en", "ja", "ko")  # of the web app and of guidelines


class Message(str):
    """An English sentence made of `template` and `values`. `plural` and `n`: only if it counts something."""

    template: str
    plural: str | None
    n: int
    values: Mapping[str, Any]

    def __new__(
        cls, template: str, values: Mapping[str, Any], *, plural: str | None = None, n: int = 1
    ) -> "Message":
        english = template if plural is None or n == 1 else plural
        made = super().__new__(cls, fill(english, values))
        made.template, made.plural, made.n, made.values = template, plural, n, values
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments for a copy (`dataclasses.asdict` makes one)."""
        return (self.template, self.values), {"plural": self.plural, "n": self.n}


def say(template: str, /, **values: Any) -> Message:
    """Fill the values into the sentence: `say("no dataset named {name}", name="law")`."""
    return Message(template, values)


def refuse_option(option: str, expected: str, found: str) -> Message:
    """Return the sentence that refuses the value of an option."""
    return say("{option}: expected {expected}, found {found}", option=option, expected=expected, found=found)


class LocalName(str):
    """A name that a dataset gives in several languages. Outside the web app, it is shown as it is."""

    by_language: Mapping[str, str]

    def __new__(cls, name: str, by_language: Mapping[str, str]) -> "LocalName":
        made = super().__new__(cls, name)
        made.by_language = by_language
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str, Mapping[str, str]], dict[str, Any]]:
        """Return the arguments for a copy."""
        return (str(self), self.by_language), {}


class CommandWords(str):
    """A part of a message that names an option or a command. Only the command line shows it.

    A page shows `on_page` instead. If that is None, the import page shows the form's field for the option, and
    other pages show nothing.
    """

    on_page: Message | None

    def __new__(cls, words: str, on_page: Message | None = None) -> "CommandWords":
        made = super().__new__(cls, words)
        made.on_page = on_page
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str, Message | None], dict[str, Any]]:
        """Return the arguments for a copy."""
        return (str(self), self.on_page), {}


def add_command(sentence: str, command: str) -> Message:
    """Add the command that helps, in brackets. Pages leave it out."""
    return say("{expected}{command}", expected=sentence, command=CommandWords(f" ({command})"))


def say_n(singular: str, plural: str, n: int, /, **values: Any) -> Message:
    """Fill the values into the singular or the plural: `say_n("{n} pair", "{n:,} pairs", 3)`."""
    return Message(singular, {"n": n, **values}, plural=plural, n=n)


def count_of(n: int, singular: str, plural: str | None = None) -> str:
    """Return the number with its noun, in English only: `count_of(1, "pair")` is "1 pair".

    `plural`: needed if it is irregular or contains a verb ("pair is left", "pairs are left").
    """
    if n == 1:
        return f"{show_number(n)} {singular}"
    if plural is None:
        plural = (
            f"{singular[:-1]}ies" if singular.endswith("y") and singular[-2] not in "aeo" else f"{singular}s"
        )
    return f"{show_number(n)} {plural}"


def begin(sentence: str) -> Message:
    """Return the English sentence with a capital at its start. A page capitalizes its own translation."""
    whole = sentence if isinstance(sentence, Message) else Message("{sentence}", {"sentence": sentence})
    made: Message = str.__new__(Message, f"{whole[:1].upper()}{whole[1:]}")
    made.template, made.plural, made.n, made.values = whole.template, whole.plural, whole.n, whole.values
    return made


def join(parts: Iterable[str], between: str = ", ") -> Message:
    """Join the parts. Parts that are messages stay translatable."""
    values = {f"part_{number}": part for number, part in enumerate(parts)}
    return Message(between.join(f"{{{name}}}" for name in values), values)


def join_first(names: Sequence[str], most: int = NAMED) -> Message:
    """Join the first `most` names, and say how many more there are."""
    more = len(names) - most
    shown = join(names[:most])
    return say("{names}, and {n:,} more", names=shown, n=more) if more > 0 else shown


def join_sentences(sentences: Iterable[str]) -> Message:
    """Join the sentences. A page puts no space between Japanese ones."""
    values = {f"sentence_{number}": sentence for number, sentence in enumerate(sentences)}
    return Message(" ".join(f"{{{name}}}" for name in values), values)


LANGUAGE_NAMES: Mapping[str, Message] = {"en": say("English"), "ja": say("Japanese"), "ko": say("Korean")}
