"""Check and clean typed texts: they have words, are not too long, and every character can be stored.

Also finds names and ids that people may take for the same one. Only comparisons use the normal form. Names and ids
are stored unchanged.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say

MAX_TEXT, MAX_OPTIONS = 10_000, 100_000
MOST_FIELDS = 1_000_000  # characters of all metadata of a query or document
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class TextFault(NamedTuple):
    """A fault of a text: `expected` and `found` for an error in a file, `message` for a page."""

    expected: str
    found: str
    message: Message


NO_WORDS = TextFault("some words", "nothing", say("expected some words, found nothing"))


def find_fault(text: str, *, empty: TextFault | None, most: int = MAX_TEXT) -> TextFault | None:
    """Return the fault of a text, or None.

    `empty`: the fault to return for a text without words; None allows it. `most`: the maximum number of
    characters.
    """
    stripped = text.strip()
    if not stripped:
        return empty
    if len(stripped) > most:
        length = len(stripped)
        message = say("expected at most {most:,} characters, found {found:,}", most=most, found=length)
        return TextFault(f"at most {most:,} characters", f"{length:,}", message)
    if holds_no_text(stripped):
        message = say("expected text, found a character that cannot be stored")
        return TextFault("text", "a character that cannot be stored", message)
    return None


def check_text(name: str, text: str, *, empty: TextFault | None, most: int = MAX_TEXT) -> str:
    """Return the text, cleaned and stripped. Raises ValidationError for a fault."""
    cleaned = clean_text(text)
    fault = find_fault(cleaned, empty=empty, most=most)
    if fault is not None:
        raise ValidationError(say("{field}: {fault}", field=name, fault=fault.message))
    return cleaned.strip()


def read_note(note: object) -> str | None:
    """Return the note that a browser sends, cleaned; None if it is empty. Raises ValidationError for a bad one."""
    if note is not None and not isinstance(note, str):
        raise ValidationError(f"note: expected a text, found {note!r:.80}")
    if note is None or not note.strip():
        return None
    if len(note) > MAX_TEXT:
        raise ValidationError(f"note: expected at most {MAX_TEXT:,} characters, found {len(note):,}")
    return clean_text(note)


def check_options(options: Mapping[str, Any]) -> None:
    """Raise ValidationError if the options of an import or a round are too long to be recorded."""
    length = len(json.dumps(options, ensure_ascii=False, default=str))
    if length > MAX_OPTIONS:
        fault = say("expected at most {most:,} characters, found {found:,}", most=MAX_OPTIONS, found=length)
        raise ValidationError(say("{field}: {fault}", field=say("options"), fault=fault))


def clean_text(text: str) -> str:
    """Replace each NUL and lone surrogate by U+FFFD: no database can store them.

    So a person loses neither the rest of a typed text nor the grade that comes with it.
    """
    return UNSTORABLE.sub("\ufffd", text)


def holds_no_text(text: str) -> bool:
    """Return whether the text has a NUL or a lone surrogate: no database and no UTF-8 file can store them."""
    return UNSTORABLE.search(text) is not None


_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")


def check_version(version: str) -> str:
    """Return the version. Raises ValidationError unless it is MAJOR.MINOR.PATCH."""
    if not _VERSION.fullmatch(version):
        raise ValidationError(
            say("Enter a version such as 1.0.0 (MAJOR.MINOR.PATCH), not {found!r}.", found=version)
        )
    return version


def choose_metadata(extra: Mapping[str, Any], shown: Sequence[str]) -> dict[str, str]:
    """Return the columns that the lead chose, as text; a list or object as JSON."""
    return {
        column: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for column in shown
        if (value := extra.get(column)) not in (None, "")
    }


def measure_metadata(metadata: Mapping[str, Any]) -> int:
    """Return about how many characters these fields have."""
    return sum(
        len(name) + (len(value) if isinstance(value, str) else len(repr(value)))
        for name, value in metadata.items()
    )


NO_FORM = {"Cf", "Co", "Cn", "Cs", "Cc", "Zl", "Zp"}
"""General categories without a visible form that is the same everywhere: format, private use, unassigned."""
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""The Default_Ignorable_Code_Point (DerivedCoreProperties.txt) outside these categories, and the blank braille pattern."""
_LEADING_ZEROS = re.compile("(?<![0-9.])0+(?=[0-9])")
_SCIENTIFIC = re.compile(r"([0-9])(?:\.([0-9]+))?e\+?([0-9]{1,3})")
_ROUNDED = (6, 15, 17)
"""The significant digits that spreadsheets and data frames keep of a long number."""


def is_invisible(character: str) -> bool:
    """Return whether the character has no visible form of its own."""
    return unicodedata.category(character) in NO_FORM or _BLANK.match(character) is not None


def remove_invisible(text: str) -> str:
    """Remove the characters without a visible form of their own."""
    return "".join(character for character in text if not is_invisible(character))


def clean(text: str) -> str:
    """Return the text in NFC, with single spaces and without invisible characters."""
    return unicodedata.normalize("NFC", " ".join(remove_invisible(" ".join(text.split())).split()))


def fold(text: str) -> str:
    """Return the normal form of a name: cleaned, in NFKC, case folded."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split()).lower()
    normal = " ".join(unicodedata.normalize("NFKC", clean(text)).split())
    return unicodedata.normalize("NFKC", normal.casefold())


def match_names(names: Iterable[str], existing: Iterable[str]) -> dict[str, str]:
    """Return {name: the name of the person that it means}.

    A name that exists in NFC means that person. Otherwise it means the one existing person with the same
    normal form; if two share it, neither. Otherwise the first new spelling of the normal form, cleaned, is
    the person's name.
    """
    taken = set(existing)
    counts = Counter(map(fold, taken))
    persons = {form: name for name in taken if counts[form := fold(name)] == 1}
    matched: dict[str, str] = {}
    for name in names:
        exact = unicodedata.normalize("NFC", name)
        matched[name] = exact if exact in taken else persons.setdefault(fold(name), clean(name))
    return matched


def find_near_ids(
    new_ids: Iterable[str], existing_ids: Iterable[str], *, among_new: bool = False
) -> dict[str, str]:
    """Return {new id: an existing id that it nearly equals}.

    `among_new`: compare new ids with earlier new ids too. Nearly equal ids differ in white space, case, width,
    NFC and NFD, invisible characters, leading zeros, or a spreadsheet's rounding.
    """
    written: dict[str, list[str]] = {}
    rounded: dict[str, list[str]] = {}
    for new_id in new_ids:
        for form in _list_forms(new_id):
            written.setdefault(form, []).append(new_id)
        for form in _list_roundings(new_id):
            rounded.setdefault(form, []).append(new_id)
    among: dict[str, str] = {}
    for form, same in written.items() if among_new else ():
        for new_id in (*same, *rounded.get(form, ())):
            if new_id != same[0]:
                among.setdefault(new_id, same[0])
    near: dict[str, str] = {}
    for existing in existing_ids if written else ():
        forms = tuple(_list_forms(existing))
        matches = [(written, form) for form in (*forms, *_list_roundings(existing))]
        for waiting, form in (*matches, *((rounded, form) for form in forms)):
            for new_id in waiting.get(form, ()):
                if new_id != existing:
                    near.setdefault(new_id, existing)
            if form in waiting:  # each new id is matched once: thousands of ids may share a form
                waiting[form] = [new_id for new_id in waiting[form] if new_id == existing]
    return {**near, **{new_id: other for new_id, other in among.items() if new_id not in near}}


def show_id(item_id: str) -> str:
    """Return an id in quotes, with invisible and look-alike characters escaped, cut to 80 characters."""
    plain = unicodedata.is_normalized("NFKC", item_id) and item_id.isprintable()
    shown = repr(item_id) if plain else ascii(item_id)
    return shown if len(shown) <= 80 else shown[:79] + "…"


def _list_forms(item_id: str) -> Iterator[str]:
    """Yield the normal form of an id, and the digits and exponent of a number in scientific notation."""
    form = _LEADING_ZEROS.sub("", fold(item_id).replace(" ", ""))
    number, dot, zeros = form.partition(".")
    yield number if dot and number.isdigit() and not zeros.strip("0") else form
    scientific = _SCIENTIFIC.fullmatch(form)
    if scientific is not None:
        first, rest, exponent = scientific.groups(default="")
        yield _name_number(first + rest, int(exponent))


def _list_roundings(item_id: str) -> Iterator[str]:
    """Yield a long number as spreadsheets round it, in scientific notation and with zeros. Other ids yield nothing."""
    if len(item_id) < 12 or not (item_id.isascii() and item_id.isdigit()):
        return
    digits = item_id.lstrip("0")
    for kept in _ROUNDED:
        if len(digits) > kept:
            number = str(round(int(digits), kept - len(digits)))
            yield _name_number(number, len(number) - 1)
            yield digits[:kept] + "0" * (len(digits) - kept)


def _name_number(digits: str, exponent: int) -> str:
    return f"{digits.rstrip('0') or '0'} e{exponent}"
