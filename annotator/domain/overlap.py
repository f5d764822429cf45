"""Decide how many annotators judge a pair: the dataset's overlap and its exceptions. The only home of this rule.

Rules are plain JSON, as a dataset keeps them:

    {"category": {"howto": 2, "reference": 1},     exceptions by the query's category
     "share": {"share": 0.3, "overlap": 2},        30 % of the other pairs by 2, the rest by the dataset's overlap
     "cap": 3,                                     the maximum per pair, whatever the other rules say
     "conditional": 2}                             one more annotator when the first two differ by at least 2

A category's exception goes before the share. Which pairs belong to the share depends only on the seed and the pair's
key: it never changes when pairs are added, and a greater share contains every pair of a smaller one.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say, say_n

Rules = Mapping[str, Any]

MOST = 20
DISTANCES = (1, 2, 3)
_NAMES = ("category", "share", "cap", "conditional")


def wanted_for(overlap: int, rules: Rules | None, *, seed: int, key: str, category: str | None) -> int:
    """How many annotators shall judge the pair with this key, of a query of this category: 1-20."""
    rules = rules or {}
    wanted: int | None = rules.get("category", {}).get(category)
    if wanted is None:
        shared = rules.get("share")
        wanted = shared["overlap"] if shared and is_in_share(shared["share"], seed=seed, key=key) else overlap
    return min(wanted, rules.get("cap") or MOST)


def is_in_share(share: float, *, seed: int, key: str) -> bool:
    """Whether the pair belongs to that share (0-1) of all pairs that the seed draws."""
    drawn = hashlib.blake2b(f"overlap\x1f{seed}\x1f{key}".encode(), digest_size=8).digest()
    return int.from_bytes(drawn, "big") < share * 2**64


def wanted_everywhere(overlap: int, rules: Rules | None) -> int | None:
    """How many annotators shall judge each pair, where that is the same for all; None when it is not."""
    rules = rules or {}
    if rules.get("category") or rules.get("share"):
        return None
    return min(overlap, rules.get("cap") or MOST)


def most_for(overlap: int, rules: Rules | None, category: str | None) -> int:
    """The most annotators that a pair of a query of this category can come to need, a further one included."""
    rules = rules or {}
    shared = rules.get("share")
    named = rules.get("category", {}).get(category)
    most = named if named is not None else max(overlap, shared["overlap"] if shared else 0)
    most = min(most, rules.get("cap") or MOST)
    return int(most) + (conditional_distance(rules) is not None and allows_further(rules, most))


def conditional_distance(rules: Rules | None) -> int | None:
    """From which distance (1-3) of the first two on one more annotator is asked; None: never."""
    distance: int | None = (rules or {}).get("conditional")
    return distance


def allows_further(rules: Rules | None, wanted: int) -> bool:
    """Whether the cap leaves room for one more annotator on a pair that `wanted` shall judge."""
    return wanted < ((rules or {}).get("cap") or MOST)


def check_rules(overlap: int, rules: Rules | None) -> dict[str, Any] | None:
    """The rules, without those that say nothing; None when none is left. ValidationError for what makes no sense."""
    given = {name: value for name, value in (rules or {}).items() if value not in (None, {})}
    unknown = sorted(given.keys() - set(_NAMES))
    if unknown:
        raise ValidationError(f"overlap rules: expected {', '.join(_NAMES)}, found {unknown[0]!r}")
    for category, wanted in given.get("category", {}).items():
        _check_number(say("overlap of the category {category}", category=category), wanted)
    if "share" in given:
        _check_share(given["share"])
    if "conditional" in given and given["conditional"] not in DISTANCES:
        raise ValidationError(
            say("third judgment: expected a distance 1-3, found {found!r}", found=given["conditional"])
        )
    if "cap" in given:
        _check_cap(overlap, given["cap"], conditional="conditional" in given)
    return given or None


def say_overlap(overlap: int, rules: Rules | None) -> Message:
    """The rules in words."""
    rules = rules or {}
    said = _say_most(overlap, rules.get("share"))
    if by_category := rules.get("category"):
        listed = ", ".join(f"{category}: {wanted}" for category, wanted in by_category.items())
        said = _join(said, say("Exceptions by category: {listed}.", listed=listed))
    if cap := rules.get("cap"):
        said = _join(said, say("No pair is judged by more than {cap}.", cap=cap))
    if distance := conditional_distance(rules):
        asked = say("One more is asked when the first two differ by at least {distance}.", distance=distance)
        said = _join(said, asked)
    return said


def _say_most(overlap: int, shared: Mapping[str, Any] | None) -> Message:
    if not shared:
        return say_n(
            "Each pair is judged by {n} annotator.", "Each pair is judged by {n} annotators.", overlap
        )
    return say_n(
        "{share} % of the pairs are judged by {n} annotator, the others by {rest}.",
        "{share} % of the pairs are judged by {n} annotators, the others by {rest}.",
        shared["overlap"],
        share=f"{shared['share'] * 100:.4g}",
        rest=overlap,
    )


def _join(first: Message, second: Message) -> Message:
    return say("{first} {second}", first=first, second=second)


def _check_number(what: Message, found: object) -> int:
    if isinstance(found, bool) or not isinstance(found, int) or not 1 <= found <= MOST:
        raise ValidationError(
            say(
                "{what}: expected a whole number 1-{most}, found {found!r}", what=what, most=MOST, found=found
            )
        )
    return found


def _check_share(found: object) -> None:
    if not isinstance(found, Mapping) or found.keys() != {"share", "overlap"}:
        raise _refuse_share(found)
    share = found["share"]
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise _refuse_share(share)
    _check_number(say("overlap of the share"), found["overlap"])


def _refuse_share(found: object) -> ValidationError:
    return ValidationError(
        say(
            "share of the pairs: expected a number between 0 and 1 with the overlap it gets, found {found!r}",
            found=found,
        )
    )


def _check_cap(overlap: int, found: object, *, conditional: bool) -> None:
    cap = _check_number(say("cap of the overlap"), found)
    if cap < overlap:
        raise ValidationError(
            say(
                "cap of the overlap: expected at least the overlap ({overlap}), found {cap}",
                overlap=overlap,
                cap=cap,
            )
        )
    if conditional and cap < 3:
        raise ValidationError(
            say("cap of the overlap: expected at least 3, so that a third can be asked, found {cap}", cap=cap)
        )
