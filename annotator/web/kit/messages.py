"""What the app says, in the reader's language.

The English sentence is the key. Its translations stand in `locale/<language>/*.po`, one file per area, and are
read when a language is first used. A sentence without a translation is shown in English; the tests allow none.
"""

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from annotator.domain.messages import Message, fill_english
from annotator.web.kit.korean_particles import choose_particles

LANGUAGES: Mapping[str, str] = {"en": "English", "ja": "日本語", "ko": "한국어"}
FOLDER = Path(__file__).parents[1] / "locale"

_language: ContextVar[str] = ContextVar("language", default="en")


def use_language(language: str) -> None:
    """Speak this language (a key of LANGUAGES; English for any other) from here on, in this run or request."""
    _language.set(language if language in LANGUAGES else "en")


def current_language() -> str:
    """The language in use, a key of LANGUAGES."""
    return _language.get()


def tr(text: str, /, **values: Any) -> str:
    """The sentence in the language in use, with its values filled in. Takes a template, or a Message as a service
    made it; other text (of users, of errors made elsewhere) comes back as it is."""
    if isinstance(text, Message):
        return _fill(text.template, text.plural, text.n, text.values)
    return _fill(text, None, 1, values) if values else _find(text, None, 1)


def tr_n(one: str, many: str, n: int, /, **values: Any) -> str:
    """The sentence for this number, in the language in use; `{n}` is the number."""
    return _fill(one, many, n, {"n": n, **values})


def join_sentences(said: Iterable[str]) -> str:
    """One after the other; Japanese sentences have no space between them."""
    return ("" if current_language() == "ja" else " ").join(said)


def show_refusal(error: Exception) -> str:
    """What an error says, in the language in use where whoever raised it said it translatably."""
    return tr(error.args[0]) if error.args and isinstance(error.args[0], Message) else str(error)


def _fill(template: str, plural: str | None, n: int, values: Mapping[str, Any]) -> str:
    told = {key: tr(value) if isinstance(value, Message) else value for key, value in values.items()}
    found = _find(template, plural, n)
    if current_language() == "ja" and template.startswith(("{sentence_0} ", "{part_0}, ")):
        found = found.replace("} {", "}{").replace("}, {", "}、{")  # what domain.messages has joined
    if current_language() == "en":
        return fill_english(found, told)
    text = found.format(**told)
    return choose_particles(text) if current_language() == "ko" else text


def _find(template: str, plural: str | None, n: int) -> str:
    found = read_catalog(current_language()).get(template)
    if found is not None:
        return found
    return template if plural is None or n == 1 else plural


@cache
def read_catalog(language: str) -> dict[str, str]:
    """The translations of a language by their English template. Japanese and Korean have one form for every number."""
    from babel.messages.pofile import read_po

    found: dict[str, str] = {}
    for path in sorted((FOLDER / language).glob("*.po")):
        with path.open("rb") as file:
            for message in read_po(file, locale=language):
                key = message.id if isinstance(message.id, str) else message.id[0]
                told = message.string or ""
                text = told if isinstance(told, str) else told[0]
                if key and text and not message.fuzzy:
                    found[key] = text
    return found
