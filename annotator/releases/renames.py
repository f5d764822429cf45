"""Follows documents through the remaps between two releases. Pure rules.

One `remap` renames everything it names in one go (a swap is two rows of the same moment); the next one starts from
what the one before has left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from annotator.releases.compared import Renames


@dataclass(frozen=True, slots=True)
class Remap:
    """One document that got another id. `kind`: "renamed", "split" or "merged"."""

    old_doc_id: str
    new_doc_id: str
    kind: str
    at: datetime


def follow(remaps: Sequence[Remap]) -> Renames:
    """What these remaps, in the order in which they were made, did altogether."""
    present: dict[str, str] = {}  # by the id at the beginning, the id now
    parted: set[str] = set()
    joined: set[str] = set()
    for _, rows in groupby(remaps, key=lambda row: row.at):
        step = list(rows)
        renamed = {row.old_doc_id: row.new_doc_id for row in step if row.kind == "renamed"}
        gone = {row.old_doc_id for row in step if row.kind != "renamed"}
        begun = {now: then for then, now in present.items()}
        present = {then: renamed.get(now, now) for then, now in present.items() if now not in gone}
        for old, new in renamed.items():
            if old not in begun and old not in present:
                present[old] = new
        parted |= {begun.get(old, old) for old in gone}
        joined = {renamed.get(doc_id, doc_id) for doc_id in joined}
        joined |= {row.new_doc_id for row in step if row.kind != "renamed"}
    renames = {then: now for then, now in present.items() if then != now}
    listed = tuple((row.old_doc_id, row.new_doc_id, row.kind) for row in remaps)
    return Renames(renames, frozenset(parted), frozenset(joined), listed)


def turn_round(renames: Renames) -> Renames:
    """The way back: from the ids afterwards to those before."""
    back = {now: then for then, now in renames.renamed.items()}
    return Renames(back, renames.joined, renames.parted, renames.rows)
