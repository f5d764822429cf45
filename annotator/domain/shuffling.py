"""Shuffle reproducibly, and replace names by letters.

Within one pair (its page, its history) a letter always means the same person; on another pair it means
another person. Pairs come query by query. The order of the queries, and of the documents of each, is seeded
per annotator. So annotators do not tire on the same documents, and the order says nothing about rank or
score.
"""

import hashlib
import json
from collections.abc import Collection, Iterable

Seed = int | str
"""A dataset's seed, or the seed mixed with a secret of the dataset."""


def mix_secret(seed: int, secret: str) -> Seed:
    """Combine seed and secret, so that nobody without the secret can repeat a draw."""
    return f"{secret}\x1f{seed}" if secret else seed


def give_letters(
    judged: Collection[str], others: Iterable[str] = (), *, seed: Seed, pair: str
) -> dict[str, str]:
    """Return {name: letter}: first the people who judged the pair, then the others."""
    not_judged = {name for name in others if name not in judged}
    ordered = [*shuffle(set(judged), seed=seed, pair=pair), *shuffle(not_judged, seed=seed, pair=pair)]
    return {name: name_letter(index) for index, name in enumerate(ordered)}


def shuffle(names: Iterable[str], *, seed: Seed, pair: str) -> list[str]:
    """Return the names in an order that is fixed for one pair and differs between pairs."""

    def hash_name(name: str) -> bytes:
        return hashlib.sha256(json.dumps([seed, pair, name]).encode()).digest()

    return sorted(names, key=hash_name)


def name_letter(index: int) -> str:
    """Return the letter of an index from 0: A, B, … Z, AA, AB, …"""
    rest, position = divmod(index, 26)
    return (name_letter(rest - 1) if rest else "") + chr(ord("A") + position)


def name_checker(username: str) -> str:
    """Return the name that a quality-control expert has in `give_letters`: not the annotator's name."""
    return f"quality {username}"


def order_key(seed: Seed, annotator: str, name: str) -> bytes:
    """Return 8 bytes by which to sort `name` (the id of a query or pair) in this annotator's own order."""
    drawn_for = f"{seed}\x1f{annotator}\x1f{name}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(drawn_for, digest_size=8).digest()
