"""Decide how many annotators judge a pair: the dataset's overlap and its exceptions.

`storage/judgments/missing_judgments.py` repeats `count_lacking` in SQL, for many pairs at once. Rules are
stored as JSON:

    {"category": {"howto": 2, "reference": 1},     exceptions by the query's category
     "share": {"share": 0.3, "overlap": 2},        30 % of the other pairs by 2, the rest by the dataset's overlap
     "cap": 3,                                     the maximum per pair, whatever the other rules say
     "conditional": 2}                             one more annotator when the first two differ by at least 2

A category's exception goes before the share. Only the seed and the pair's key decide whether a pair belongs
to the share. So adding pairs changes nothing, and a greater share contains every pair of a smaller one.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from annotator.domain.errors import ValidationError
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.messages import Message, join_sentences, say, say_n
from annotator.domain.shuffling import Seed

Rules = Mapping[str, Any]

MOST = 20
DISTANCES = (1, 2, 3)
_NAMES = ("category", "share", "cap", "conditional")


def find_overlap(overlap: int, rules: Rules | None, *, seed: Seed, key: str, category: str | None) -> int:
    """Return how many annotators (1-20) must judge the pair with this key, of a query of this category."""
    rules = rules or {}
    annotators: int | None = rules.get("category", {}).get(category)
    if annotators is None:
        shared = rules.get("share")
        is_shared = shared and is_in_share(shared["share"], seed=seed, key=key)
        annotators = shared["overlap"] if shared and is_shared else overlap
    return min(annotators, rules.get("cap") or MOST)


def is_in_share(share: float, *, seed: Seed, key: str) -> bool:
    """Return whether the seed draws the pair into this share (0-1) of all pairs."""
    drawn = hashlib.blake2b(f"overlap\x1f{seed}\x1f{key}".encode(), digest_size=8).digest()
    return int.from_bytes(drawn, "big") < share * 2**64


def find_uniform_overlap(overlap: int, rules: Rules | None) -> int | None:
    """Return how many annotators must judge each pair; None if that differs between pairs."""
    rules = rules or {}
    if rules.get("category") or rules.get("share"):
        return None
    return min(overlap, rules.get("cap") or MOST)


def find_largest_overlap(overlap: int, rules: Rules | None, category: str | None) -> int:
    """Return the most annotators that a pair of this category can need, including a further one."""
    rules = rules or {}
    shared = rules.get("share")
    exception = rules.get("category", {}).get(category)
    most = exception if exception is not None else max(overlap, shared["overlap"] if shared else 0)
    most = min(most, rules.get("cap") or MOST)
    return int(most) + (conditional_distance(rules) is not None and allows_further(rules, most))


def conditional_distance(rules: Rules | None) -> int | None:
    """Return the distance (1-3) of two grades from which one more annotator judges; None: never."""
    distance: int | None = (rules or {}).get("conditional")
    return distance


def allows_further(rules: Rules | None, overlap: int) -> bool:
    """Return whether the cap allows one more annotator on a pair with this overlap."""
    return overlap < ((rules or {}).get("cap") or MOST)


def count_lacking(
    overlap: int, judgments: Sequence[tuple[str, int | None]], *, further_from: int | None
) -> int:
    """Return how many judgments a pair still lacks.

    `judgments`: purpose and grade (None: unrateable) of its current judgments. `further_from`: the distance
    of two grades from which one more judgment is needed; None if none is, or if the cap does not allow one
    more.
    """
    grades = [grade for purpose, grade in judgments if purpose == COUNTED_PURPOSE and grade is not None]
    differ = further_from is not None and len(grades) > 1 and max(grades) - min(grades) >= further_from
    return max(0, overlap + differ - len(judgments))


def check_rules(overlap: int, rules: Rules | None) -> dict[str, Any] | None:
    """Return the rules without empty ones; None without any. Raises ValidationError for impossible rules."""
    given = {name: value for name, value in (rules or {}).items() if value not in (None, {})}
    unknown = sorted(given.keys() - set(_NAMES))
    if unknown:
        raise ValidationError(f"overlap rules: expected {', '.join(_NAMES)}, found {unknown[0]!r}")
    for category, number in given.get("category", {}).items():
        _check_number(say("overlap of the category {category}", category=category), number)
    if "share" in given:
        _check_share(given["share"])
    if "conditional" in given and given["conditional"] not in DISTANCES:
        raise ValidationError(
            say("third judgment: expected a distance 1-3, found {found!r}", found=given["conditional"])
        )
    if "cap" in given:
        _check_cap(overlap, given["cap"], conditional="conditional" in given)
    return given or None


def describe_overlap(overlap: int, rules: Rules | None) -> Message:
    """Return the rules in words."""
    rules = rules or {}
    sentences = [_describe_share(overlap, rules.get("share"))]
    if by_category := rules.get("category"):
        listed = ", ".join(f"{category}: {number}" for category, number in by_category.items())
        sentences.append(say("Exceptions by category: {listed}.", listed=listed))
    if cap := rules.get("cap"):
        sentences.append(say("No pair is judged by more than {cap}.", cap=cap))
    if distance := conditional_distance(rules):
        sentences.append(
            say("One more is asked when the first two differ by at least {distance}.", distance=distance)
        )
    return join_sentences(sentences)


def _describe_share(overlap: int, shared: Mapping[str, Any] | None) -> Message:
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


def _check_number(what: Message, number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MOST:
        raise ValidationError(
            say(
                "{what}: expected a whole number 1-{most}, found {found!r}",
                what=what,
                most=MOST,
                found=number,
            )
        )
    return number


def _check_share(rule: object) -> None:
    if not isinstance(rule, Mapping) or rule.keys() != {"share", "overlap"}:
        raise _refuse_share(rule)
    share = rule["share"]
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise _refuse_share(share)
    _check_number(say("overlap of the share"), rule["overlap"])


def _refuse_share(value: object) -> ValidationError:
    return ValidationError(
        say(
            "share of the pairs: expected a number between 0 and 1 with the overlap it gets, found {found!r}",
            found=value,
        )
    )


def _check_cap(overlap: int, value: object, *, conditional: bool) -> None:
    cap = _check_number(say("cap of the overlap"), value)
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
