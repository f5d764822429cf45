"""Shuffle reproducibly, and give letters in place of names.

Within one pair (its page, its history) a letter always means the same person; on another pair it means somebody else.
Pairs come query by query; the order of queries, and of documents within each, is seeded per annotator, so that no two
annotators tire on the same documents and the order says nothing about rank or score.
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


def place(seed: int, annotator: str, name: str) -> bytes:
    """Where `name` (a query's or a pair's id) stands in this annotator's order: sort by it. 8 bytes."""
    told = f"{seed}\x1f{annotator}\x1f{name}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(told, digest_size=8).digest()
