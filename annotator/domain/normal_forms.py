"""Find names and ids that people may take for the same one.

Only comparisons use the normal form. Names and ids are stored unchanged.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator

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
