"""What becomes of each document that a file of new ids names: renamed, split, merged, or not known at all.

A rule between the file and the database. One old id with one new id, which no other old id has, is renamed; an old id
with several new ones is split; old ids that share a new one are merged. Ids that the dataset does not know count here
too: a chunk made of two documents is another text than either, whichever of them was judged.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

RemapKind = Literal["renamed", "split", "merged"]


@dataclass(frozen=True, slots=True)
class RemapPlan:
    """`renamed`: new id by old id, where they differ. `leaving`: the new ids of each old one that is split or merged.

    `unknown`: old ids that the dataset does not have. `left_over`: documents with pairs that the file does not name.
    """

    renamed: Mapping[str, str]
    leaving: Mapping[str, tuple[str, ...]]
    kinds: Mapping[str, RemapKind]
    unknown: tuple[str, ...]
    left_over: tuple[str, ...]

    def list_links(self) -> list[tuple[str, str, RemapKind]]:
        """(old id, new id, kind) of everything that changes."""
        renamed = [(old, new, self.kinds[old]) for old, new in self.renamed.items()]
        return renamed + [(old, new, self.kinds[old]) for old, news in self.leaving.items() for new in news]

    def list_moved(self, documents: Collection[str]) -> dict[str, str]:
        """Of the renamed: those whose new id another document has already, which keeps it."""
        gone = self.renamed.keys() | self.leaving.keys()
        return {old: new for old, new in self.renamed.items() if new in documents and new not in gone}

    def list_targets(self) -> set[str]:
        """The new ids of everything that is split or merged."""
        return {new for news in self.leaving.values() for new in news}


def plan_remap(
    links: Sequence[tuple[str, str]],
    documents: Collection[str],
    with_pairs: Collection[str],
    *,
    applied: Collection[str] = (),
) -> RemapPlan:
    """`documents`: every doc_id of the dataset; `with_pairs`: those of them that stand in a pair. `applied`: the old
    ids that are done with (see `find_applied`)."""
    new_ids: dict[str, list[str]] = {}
    old_ids: dict[str, list[str]] = {}
    for old, new in links:
        new_ids.setdefault(old, []).append(new)
        old_ids.setdefault(new, []).append(old)
    renamed: dict[str, str] = {}
    leaving: dict[str, tuple[str, ...]] = {}
    kinds: dict[str, RemapKind] = {}
    for old, news in new_ids.items():
        if old not in documents or old in applied:
            continue
        if len(news) == 1 and len(old_ids[news[0]]) == 1:
            if news[0] != old:
                renamed[old], kinds[old] = news[0], "renamed"
            continue
        leaving[old], kinds[old] = tuple(news), "split" if len(news) > 1 else "merged"
    unknown = tuple(old for old in new_ids if old not in documents and old not in applied)
    left_over = tuple(
        sorted(doc_id for doc_id in with_pairs if doc_id not in new_ids and doc_id not in old_ids)
    )
    return RemapPlan(renamed, leaving, kinds, unknown, left_over)


def find_applied(
    batches: Iterable[Collection[tuple[str, str]]], links: Collection[tuple[str, str]]
) -> set[str]:
    """The old ids for which this file was applied already; without it, a chain or a swap would go round again.

    `batches`: the (old id, new id) of every remap so far, the latest first. Those of this file are the latest ones
    that say nothing else than it does. An id that they gave to a document is that document's now, not an old one.
    """
    said = set(links)
    applied: set[str] = set()
    given: set[str] = set()
    for batch in batches:
        if not said.issuperset(batch):
            break
        applied.update(old for old, _ in batch)
        given.update(new for _, new in batch)
    return applied | {old for old, _ in said if old in given}


def name_retired(doc_id: str, taken: Collection[str], *, day: str) -> str:
    """What a document is called after its id has gone to others: `a (retired 2026-01-31)`, numbered where needed."""
    name, number = f"{doc_id} (retired {day})", 1
    while name in taken:
        number += 1
        name = f"{doc_id} (retired {day}, {number})"
    return name
