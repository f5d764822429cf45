"""Sentences for people that can be translated later, and figures formatted so that two can be told apart.

A `Message` is a `str` that remembers its English template and its values, so the command line, logs and releases just
show it. `web/kit/messages.py` translates it. Babel collects the templates from the calls of `say` and `say_n`.
"""

from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any

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
        made = super().__new__(cls, fill_english(chosen, values))
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


def fill_english(template: str, values: Mapping[str, Any]) -> str:
    """Return the English template with its values.

    A share (`{share:.0%}`) becomes "68 %", spaced as in "95 % interval".
    """
    return _SPACED.vformat(template, (), values) if "%}" in template else template.format(**values)


def show_percent(share: float, digits: int = 1) -> str:
    """Return a share in per cent, for texts that are not translated: "68.0 %"."""
    return f"{share * 100:.{digits}f} %"


def count_of(n: int, singular: str, plural: str | None = None) -> str:
    """Return the number with its noun, for texts that are not translated: `count_of(1, "pair")` is "1 pair".

    `many`: the plural, also of a noun with its verb ("pair is left", "pairs are left"); an s is added otherwise.
    """
    if n == 1:
        return f"{n:,} {singular}"
    if plural is None:
        plural = (
            f"{singular[:-1]}ies" if singular.endswith("y") and singular[-2] not in "aeo" else f"{singular}s"
        )
    return f"{n:,} {plural}"


def begin(sentence: str) -> Message:
    """Return the English with a capital at its start; a page capitalizes its own translation."""
    whole = sentence if isinstance(sentence, Message) else Message("{sentence}", {"sentence": sentence})
    made: Message = str.__new__(Message, f"{whole[:1].upper()}{whole[1:]}")
    made.template, made.plural, made.n, made.values = whole.template, whole.plural, whole.n, whole.values
    return made


class _SpacedPercent(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        shown = str(super().format_field(value, format_spec))
        return f"{shown[:-1]} %" if format_spec.endswith("%") else shown


_SPACED = _SpacedPercent()


def join(parts: Iterable[str], between: str = ", ") -> Message:
    """Return the parts joined; those that are messages stay translatable."""
    values = {f"part_{number}": part for number, part in enumerate(parts)}
    return Message(between.join(f"{{{name}}}" for name in values), values)


def join_sentences(sentences: Iterable[str]) -> Message:
    """Return the sentences joined; a page puts no space between Japanese ones."""
    values = {f"sentence_{number}": sentence for number, sentence in enumerate(sentences)}
    return Message(" ".join(f"{{{name}}}" for name in values), values)


def show_decimals(figure: float, digits: int = 2) -> str:
    """Return a figure with at most so many decimals, without zeros at its end: 6.5, 12, 0.07."""
    shown = f"{figure:,.{digits}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def show_figure(figure: float) -> str:
    """Return a figure for reading, with at most three significant digits: 0.0202, 0.747, 12.3, 1,200."""
    size = abs(figure)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    while digits < 6 and 0 < size < 10.0 ** (2 - digits):
        digits += 1
    return show_decimals(figure, digits)


def show_beside(measured: float, target: float) -> tuple[str, str]:
    """Return both figures with two digits, or with as many as it takes to tell them apart (six at most)."""
    for digits in range(2, 6):
        shown = f"{measured:.{digits}f}", f"{target:.{digits}f}"
        if shown[0] != shown[1] or measured == target:
            return shown
    return f"{measured:.6f}", f"{target:.6f}"


LANGUAGE_NAMES: Mapping[str, Message] = {"en": say("English"), "ja": say("Japanese"), "ko": say("Korean")}
