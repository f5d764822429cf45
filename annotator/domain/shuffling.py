"""Shuffle reproducibly, and give letters in place of names.

Within one pair (its page, its history) a letter always means the same person; on another pair it means somebody else.
Pairs come query by query; the order of queries, and of documents within each, is seeded per annotator, so that no two
annotators tire on the same documents and the order says nothing about rank or score.
"""

import hashlib
import json
from collections.abc import Collection, Iterable

Seed = int | str
"""A dataset's seed, or the seed mixed with a secret of the dataset."""


def mix_secret(seed: int, secret: str) -> Seed:
    """Return a seed from which nobody can compute a draw without the secret; without a secret, the seed itself."""
    return f"{secret}\x1f{seed}" if secret else seed


def give_letters(
    judged: Collection[str], others: Iterable[str] = (), *, seed: Seed, pair: str
) -> dict[str, str]:
    """Return the letter of each name: first those who judged the pair, then those who took part in another way."""
    not_judged = {name for name in others if name not in judged}
    ordered = [*shuffle(set(judged), seed=seed, pair=pair), *shuffle(not_judged, seed=seed, pair=pair)]
    return {name: name_letter(index) for index, name in enumerate(ordered)}


def shuffle(names: Iterable[str], *, seed: Seed, pair: str) -> list[str]:
    """Return the names in an order that stays the same for a pair, and differs from pair to pair."""

    def hash_name(name: str) -> bytes:
        return hashlib.sha256(json.dumps([seed, pair, name]).encode()).digest()

    return sorted(names, key=hash_name)


def name_letter(index: int) -> str:
    """Return the letter of an index from 0: A, B, … Z, AA, AB, …"""
    rest, last = divmod(index, 26)
    return (name_letter(rest - 1) if rest else "") + chr(ord("A") + last)


def name_checker(username: str) -> str:
    """Return the name by which an expert of quality control gets a letter: another than as an annotator of the pair."""
    return f"quality {username}"


def order_key(seed: Seed, annotator: str, name: str) -> bytes:
    """Return 8 bytes that stand for `name` (a query's or a pair's id) in this annotator's own order: sort by them."""
    drawn_for = f"{seed}\x1f{annotator}\x1f{name}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(drawn_for, digest_size=8).digest()
