"""Translate what the app says, with the Korean particle that fits.

The English sentence is the key. Translations are in `locale/<language>/*.po`, one file per slice, read when a
language is first used. A sentence without a translation is shown in English, but tests require every
translation. Korean translations write both particles, as in "{name}이(가)"; filling in the sentence chooses the
right one ("75%가", "등급 3을"). If the sound is unknown (a Chinese character, an emoji), both particles stay,
which is normal in Korean.
"""

import re
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from annotator.domain.figures import fill
from annotator.domain.messages import CommandWords, LocalName, Message
from annotator.domain.people import SignedIn

_FORMS = {
    "이(가)": ("이", "가"),
    "은(는)": ("은", "는"),
    "을(를)": ("을", "를"),
    "와(과)": ("과", "와"),
    "과(와)": ("과", "와"),
    "(으)로": ("으로", "로"),
    "(이)라": ("이라", "라"),
}  # after a final consonant, after a vowel
_WRITTEN = re.compile("(" + "|".join(re.escape(form) for form in _FORMS) + ")")
_SYLLABLES = range(0xAC00, 0xD7A4)
_FINALS = 28
_RIEUL = 8  # the final ㄹ takes 로, as a vowel does
_DIGITS = {
    "0": 21,
    "1": _RIEUL,
    "2": 0,
    "3": 16,
    "4": 0,
    "5": 0,
    "6": 1,
    "7": _RIEUL,
    "8": _RIEUL,
    "9": 0,
}  # 영 일 이 …
_WORD = re.compile("[A-Za-z]+$")
_SPELLED = re.compile("[A-Z]+|[^aeiouyAEIOUY]+|.")  # read letter by letter: API, html, x
_LETTERS = {"l": _RIEUL, "m": 16, "n": 4, "r": _RIEUL}  # the names 엘, 엠, 엔, 알; all others end in a vowel
_SOUNDS: dict[str, int | None] = {"l": _RIEUL, "m": 16, "n": 4, "k": None, "p": None, "t": None}
# Of words: mark is 마크, jack 잭; park 박; all others end in a vowel (user is 유저, hans 한스).
_NG = 21  # the final ㅇ
_ROUND = re.compile(r"(?:^|[^0-9.,])[1-9][0-9]*?(0+)$")
_TENS = {1: 17, 2: 1, 3: 4, 4: 4}  # 십, 백, 천, 만
_PERCENT = "%％"
_NEGATIVE = re.compile(r"-\d[\d,]*\.\d+")


def choose_particles(text: str) -> str:
    """Return the text with every pair of particles, such as "이(가)", replaced by the right one."""
    if "(" not in text:
        return text
    parts = _WRITTEN.split(text)
    for at in range(1, len(parts), 2):
        final = find_final("".join(parts[:at]))
        if final is None:
            continue
        after_consonant, after_vowel = _FORMS[parts[at]]
        vowel = final == 0 or (final == _RIEUL and parts[at] == "(으)로")
        parts[at] = after_vowel if vowel else after_consonant
    return "".join(parts)


def find_final(text: str) -> int | None:
    """Return the final consonant of the text when read aloud, as its number in Unicode's syllables.

    0: ends in a vowel; None: unknown. Ignores closing quotes and brackets.
    """
    spoken = text.rstrip("\"'’”」』)]}>»… ")
    last = spoken[-1:].lower()
    if last in _PERCENT and last:
        return 0  # 퍼센트
    if last in _DIGITS:
        zeros = _ROUND.search(spoken.replace(",", ""))
        return _TENS.get(len(zeros[1]), 4) if zeros else _DIGITS[last]
    if word := _WORD.search(spoken):
        return _find_final_of_word(word[0])
    if last and ord(last) in _SYLLABLES:
        return (ord(last) - _SYLLABLES.start) % _FINALS
    return None


def _find_final_of_word(word: str) -> int | None:
    """Return the final consonant of a Latin word or abbreviation: hong ends as 홍 does, PNG as 피엔지."""
    last = word[-1].lower()
    if _SPELLED.fullmatch(word):
        return _LETTERS.get(last, 0)
    return _NG if word.lower().endswith("ng") else _SOUNDS.get(last, 0)


LANGUAGES: Mapping[str, str] = {"en": "English", "ja": "日本語", "ko": "한국어"}
FOLDER = Path(__file__).parents[1] / "locale"

_language: ContextVar[str] = ContextVar("language", default="en")


def use_language(language: str) -> None:
    _language.set(language if language in LANGUAGES else "en")


def current_language() -> str:
    return _language.get()


LONGEST = 500  # of an Accept-Language header


def find_language(person: SignedIn | None, accept_language: str) -> str:
    """Return the language for this person (None: not signed in) and the browser's Accept-Language."""
    if person is not None and person.language is not None and person.language in LANGUAGES:
        return person.language
    return choose_language(accept_language)


def choose_language(accept_language: str) -> str:
    """Return the browser's first preference among our languages, else English."""
    wanted: list[tuple[float, int, str]] = []
    for index, entry in enumerate(accept_language[:LONGEST].split(",")):
        tag, _, quality = entry.strip().partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=")) if quality else 1.0
        except ValueError:
            weight = 0.0
        if weight > 0:
            wanted.append((-weight, index, tag.strip().lower().split("-")[0]))
    return next((tag for _, _, tag in sorted(wanted) if tag in LANGUAGES), "en")


def tr(text: str, /, **values: Any) -> str:
    """Translate a template or a Message into the language in use, with its values filled in.

    For a LocalName, return its name in that language, if any. Returns other text unchanged.
    """
    if isinstance(text, Message):
        return _fill(text.template, text.plural, text.n, text.values)
    if isinstance(text, LocalName):
        return text.by_language.get(current_language(), str(text))
    return _fill(text, None, 1, values) if values else _find(text, None, 1)


def tr_n(singular: str, plural: str, n: int, /, **values: Any) -> str:
    """Translate the sentence for this number; `{n}` is the number."""
    return _fill(singular, plural, n, {"n": n, **values})


def join_sentences(sentences: Iterable[str]) -> str:
    """Join sentences; in Japanese without a space between them."""
    return ("" if current_language() == "ja" else " ").join(sentences)


def join_names(names: Iterable[str]) -> str:
    """Join names or words of a list, with the comma of the language in use."""
    return ("、" if current_language() == "ja" else ", ").join(names)


def show_refusal(error: Exception) -> str:
    """Return the error's message, translated if it is a Message."""
    return tr(error.args[0]) if error.args and isinstance(error.args[0], Message) else str(error)


def _fill(template: str, plural: str | None, n: int, values: Mapping[str, Any]) -> str:
    shown = {name: _show(value) for name, value in values.items()}
    translation = _find(template, plural, n)
    if current_language() == "ja" and template.startswith(("{sentence_0} ", "{part_0}, ")):
        translation = translation.replace("} {", "}{").replace("}, {", "}、{")  # joined by domain.messages
    if current_language() == "en":
        return fill(translation, shown, minus="−")
    text = fill(translation, shown, percent="%", minus="−")
    return choose_particles(text) if current_language() == "ko" else text


def _show(value: Any) -> Any:
    if isinstance(value, CommandWords):
        return "" if value.on_page is None else tr(value.on_page)
    if isinstance(value, str) and _NEGATIVE.fullmatch(value):
        return value.replace("-", "−")
    return tr(value) if isinstance(value, (Message, LocalName)) else value


def _find(template: str, plural: str | None, n: int) -> str:
    translation = read_catalog(current_language()).get(template)
    if translation is not None:
        return translation
    return template if plural is None or n == 1 else plural


@cache
def read_words(path: Path) -> Any:
    """Return the content of a file `*words.yaml`: all its values are English sentences, which `tr` translates."""
    import yaml

    return yaml.safe_load(path.read_text(encoding="utf-8"))


@cache
def read_catalog(language: str) -> dict[str, str]:
    """Return {English template: translation}. Japanese and Korean have no plural forms."""
    from babel.messages.pofile import read_po

    catalog: dict[str, str] = {}
    for path in sorted((FOLDER / language).glob("*.po")):
        with path.open("rb") as file:
            for message in read_po(file, locale=language):
                key = message.id if isinstance(message.id, str) else message.id[0]
                translation = message.string or ""
                text = translation if isinstance(translation, str) else translation[0]
                if key and text and not message.fuzzy:
                    catalog[key] = text
    return catalog
