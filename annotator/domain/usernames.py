"""Decide which characters a username may have, and which usernames look alike (Unicode UTS 39).

The tables of scripts and of look-alike characters are those of the library confusable-homoglyphs. It is imported in the
functions, because only a new account needs it.
"""

import re
import unicodedata
from functools import cache, lru_cache

from annotator.domain.messages import Message, say

LONGEST_NAME = 200
_NO_FORM = {"Cf", "Co", "Cn", "Cs", "Cc", "Zl", "Zp"}
"""General categories without a visible form that is the same everywhere: format, private use, unassigned."""
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Default_Ignorable_Code_Point (DerivedCoreProperties.txt) outside these categories, and the blank braille pattern."""
_JOINERS = "\u200c\u200d"
_ANY_SCRIPT = {"COMMON", "INHERITED"}
_WRITTEN_TOGETHER = (
    {"LATIN", "HAN", "HIRAGANA", "KATAKANA"},
    {"LATIN", "HAN", "BOPOMOFO"},
    {"LATIN", "HAN", "HANGUL"},
)
"""The scripts that one name may mix: UTS 39, restriction level "Highly Restrictive"."""


TAKEN_OR_ALIKE = say("This username is taken or looks like one that is. Choose another.")
"""For people who may not learn which."""


def normalize_username(username: str) -> str:
    """Return the username as it is stored: in NFC."""
    return unicodedata.normalize("NFC", username)


def find_username_fault(username: str) -> Message | None:
    """Return why a new account must not have this username although it can be stored, or None."""
    for character in username:
        if _is_invisible(character):
            return say(
                "The username contains {character}, a character without a visible form of its own. Remove it.",
                character=f"U+{ord(character):04X}",
            )
    scripts = _list_scripts(username)
    if len(scripts) > 1 and not any(scripts <= together for together in _WRITTEN_TOGETHER):
        return say(
            "The username mixes letters of {scripts}, so it can look like another one. Use one script.",
            scripts=" + ".join(sorted(script.replace("_", " ").title() for script in scripts)),
        )
    return None


def remove_invisible(username: str) -> str:
    """Return the username without the characters that `find_username_fault` names."""
    return "".join(character for character in username if not _is_invisible(character))


@lru_cache(maxsize=20_000)
def list_looks(username: str) -> frozenset[str]:
    """Return the skeletons (UTS 39) of the username, as written and in lower case.

    Two usernames look alike if they share a member: "PauI" (with an i) and "paul", "ana" and "аna" (with a Cyrillic а).
    """
    normal = unicodedata.normalize("NFKC", remove_invisible(username))
    return frozenset({_make_skeleton(_make_skeleton(normal).casefold()), _make_skeleton(normal.casefold())})


def clean_name(name: str) -> str:
    """Return a name without the characters that turn or hide the text around it; "" if nothing visible is left.

    The joiners stay between two other characters, and so do variation selectors: names in Persian, Sinhala and Japanese
    are written with them.
    """
    kept = "".join(
        character
        for character in name
        if character in _JOINERS or unicodedata.category(character) not in ("Cf", "Zl", "Zp")
    ).strip(_JOINERS)
    return kept if any(not character.isspace() and not _is_invisible(character) for character in kept) else ""


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in _NO_FORM or _BLANK.match(character) is not None


def _list_scripts(username: str) -> set[str]:
    from confusable_homoglyphs.categories import unique_aliases

    return set(unique_aliases(username)) - _ANY_SCRIPT


def _make_skeleton(text: str) -> str:
    """Return the skeleton of UTS 39: equal for two texts that look the same."""
    mapped = unicodedata.normalize("NFD", text).translate(_read_prototypes())
    return unicodedata.normalize("NFD", mapped)


@cache
def _read_prototypes() -> dict[int, str]:
    """Return the character or characters that stand for each look-alike character, by its code point.

    confusables.txt maps every look-alike to one prototype. The library lists both directions: a prototype has all its
    look-alikes, a look-alike has its prototype alone. Of two characters that only have each other, either can be it.
    """
    from confusable_homoglyphs.confusables import confusables_data

    alike = {
        _drop_marks(character): {_drop_marks(other["c"]) for other in others}
        for character, others in confusables_data.items()
    }
    prototypes: dict[int, str] = {}
    for character, others in alike.items():
        other = next(iter(others))
        if len(character) == len(others) == 1 and (
            len(other) > 1 or len(alike[other]) > 1 or other < character
        ):
            prototypes[ord(character)] = other
    return prototypes


def _drop_marks(text: str) -> str:
    """Return the text without the left-to-right marks around characters that are written from right to left."""
    return text.replace("\u200e", "")
