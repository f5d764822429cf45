"""Decide which characters a username may have, and which usernames look alike (Unicode UTS 39).

The library confusable-homoglyphs has the tables of scripts and of look-alike characters. It is imported in
the functions, because only a new account needs it.
"""

import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

from annotator.domain.messages import Message, say
from annotator.domain.texts import clean, is_invisible, show_id

LONGEST_NAME = 200
_JOINERS = "\u200c\u200d"
_ANY_SCRIPT = {"COMMON", "INHERITED"}
_WRITTEN_TOGETHER = (
    {"LATIN", "HAN", "HIRAGANA", "KATAKANA"},
    {"LATIN", "HAN", "BOPOMOFO"},
    {"LATIN", "HAN", "HANGUL"},
)
"""The scripts that one name may mix: UTS 39, restriction level "Highly Restrictive"."""


TAKEN_OR_ALIKE = say("This username is taken or looks like one that is. Choose another.")
"""For people who may not learn which usernames exist."""


def normalize_username(username: str) -> str:
    """Return the username as it is stored: in NFC."""
    return unicodedata.normalize("NFC", username)


def find_username_fault(username: str) -> Message | None:
    """Return why a new account must not have this username, or None. It could still be stored."""
    for character in username:
        if is_invisible(character):
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


@lru_cache(maxsize=20_000)
def list_looks(username: str) -> frozenset[str]:
    """Return the skeletons (UTS 39) of the username, as written and in lower case.

    Two usernames look alike if they share a member: "PauI" (with an i) and "paul", "ana" and "аna" (with a
    Cyrillic а).
    """
    normal = unicodedata.normalize("NFKC", clean(username))
    return frozenset({_make_skeleton(_make_skeleton(normal).casefold()), _make_skeleton(normal.casefold())})


def pair_look_alikes(usernames: Iterable[str], existing: Iterable[str] = ()) -> dict[str, str]:
    """Return {username: the existing or earlier username that it equals or looks like}."""
    taken: set[str] = set()
    username_by_look: dict[str, str] = {}
    for username in existing:
        taken.add(username)
        for look in list_looks(username):
            username_by_look.setdefault(look, username)
    look_alikes: dict[str, str] = {}
    for username in usernames:
        looks = list_looks(username)
        other = username if username in taken else next(filter(None, map(username_by_look.get, looks)), None)
        if other is not None:
            look_alikes[username] = other
        else:
            username_by_look.update(dict.fromkeys(looks, username))
    return look_alikes


def describe_look_alikes(usernames: Iterable[str]) -> tuple[str, ...]:
    """Warn of each username that looks like an earlier one in the list."""
    return tuple(
        f"{show_id(username)} looks like {show_id(other)}. If they are one person, each of their judgments counts twice."
        for username, other in pair_look_alikes(usernames).items()
    )


def clean_name(name: str) -> str:
    """Remove the characters that reverse or hide the text around them; "" if nothing visible remains.

    Joiners between two other characters and variation selectors stay: names in Persian, Sinhala and Japanese
    need them.
    """
    kept = "".join(
        character
        for character in name
        if character in _JOINERS or unicodedata.category(character) not in ("Cf", "Zl", "Zp")
    ).strip(_JOINERS)
    return kept if any(not character.isspace() and not is_invisible(character) for character in kept) else ""


def _list_scripts(username: str) -> set[str]:
    from confusable_homoglyphs.categories import unique_aliases

    return set(unique_aliases(username)) - _ANY_SCRIPT


def _make_skeleton(text: str) -> str:
    """Return the skeleton of UTS 39: equal for two texts that look the same."""
    mapped = unicodedata.normalize("NFD", text).translate(_read_prototypes())
    return unicodedata.normalize("NFD", mapped)


@cache
def _read_prototypes() -> dict[int, str]:
    """Return {code point of a look-alike character: its prototype (one or more characters)}.

    confusables.txt maps every look-alike to one prototype. The library lists both directions: a prototype has
    all its look-alikes, and a look-alike has only its prototype. If two characters only have each other, the
    lower one is used.
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
    """Remove the left-to-right marks around characters that are written from right to left."""
    return text.replace("\u200e", "")
