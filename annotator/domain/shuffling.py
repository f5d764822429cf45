"""Letters in place of names: who said what about a pair, as a lead sees it before deciding.

The same letter means the same person wherever one pair is spoken of (its case, its trail), and somebody else on another pair.
"""

import hashlib
import json
from collections.abc import Collection, Iterable


def give_letters(
    judged: Collection[str], others: Iterable[str] = (), *, seed: int, pair: str
) -> dict[str, str]:
    """By name its letter: those who judged the pair first, those who said something else about it behind them."""
    behind = {name for name in others if name not in judged}
    ordered = [*shuffle(set(judged), seed=seed, pair=pair), *shuffle(behind, seed=seed, pair=pair)]
    return {name: name_letter(place) for place, name in enumerate(ordered)}


def shuffle(names: Iterable[str], *, seed: int, pair: str) -> list[str]:
    """The names in an order that stays the same for a pair, yet gives nobody a fixed place among pairs."""

    def place(name: str) -> bytes:
        return hashlib.sha256(json.dumps([seed, pair, name]).encode()).digest()

    return sorted(names, key=place)


def name_letter(index: int) -> str:
    """A, B, … Z, AA, AB, …: the index (from 0) as a letter."""
    rest, last = divmod(index, 26)
    return (name_letter(rest - 1) if rest else "") + chr(ord("A") + last)


def name_checker(username: str) -> str:
    """By what an expert of quality control has a letter: another than as an annotator of the pair."""
    return f"quality {username}"
