"""Plan the effect of new document ids (CSV, TSV or JSONL `old_doc_id,new_doc_id`) on documents and their
pairs.

One old id with its own new id is renamed; an old id with several is split; old ids that share one are merged,
even if the dataset lacks one of them. Bad lines: an empty or too long id, a missing column. Pairs move with a
renamed document. If two pairs meet, one stays, in this order: judged here, with an imported grade, already on
the new id. Pairs of a split or merged document leave the pool, and the new ids get pairs with the old grade
as a suggestion. No pair is deleted.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from annotator.formats.syntax.tables import open_table, take_id

RemapKind = Literal["renamed", "split", "merged"]


@dataclass(frozen=True, slots=True)
class RemapPlan:
    """The effect of a remap on the dataset's documents.

    `renamed`: {old id: new id}, if different. `leaving`: {split or merged old id: new ids}. `unknown`: old
    ids outside the dataset. `left_over`: documents with pairs that the file does not name.
    """

    renamed: Mapping[str, str]
    leaving: Mapping[str, tuple[str, ...]]
    kinds: Mapping[str, RemapKind]
    unknown: tuple[str, ...]
    left_over: tuple[str, ...]

    def list_links(self) -> list[tuple[str, str, RemapKind]]:
        """Return (old id, new id, kind) of every change."""
        renamed = [(old, new, self.kinds[old]) for old, new in self.renamed.items()]
        return renamed + [(old, new, self.kinds[old]) for old, news in self.leaving.items() for new in news]

    def list_moved(self, documents: Collection[str]) -> dict[str, str]:
        """Return the renamings whose new id is already taken, as {old id: new id}."""
        gone = self.renamed.keys() | self.leaving.keys()
        return {old: new for old, new in self.renamed.items() if new in documents and new not in gone}

    def list_targets(self) -> set[str]:
        """Return the new ids of all split and merged documents."""
        return {new for news in self.leaving.values() for new in news}


def plan_remap(
    links: Sequence[tuple[str, str]],
    documents: Collection[str],
    with_pairs: Collection[str],
    *,
    applied: Collection[str] = (),
) -> RemapPlan:
    """Return the plan for each document that the file names.

    `links`: (old id, new id). `documents`: every doc_id of the dataset; `with_pairs`: doc_ids with pairs.
    `applied`: old ids to which the file was already applied (see `find_applied`).
    """
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
    """Return the old ids to which this file was applied: a chain or a swap must not be applied again.

    `batches`: (old id, new id) of every remap so far, latest first. The file's own ones are the latest ones
    that contain only its links. An id that they gave to a document belongs to that document now and is no old
    id.
    """
    file_links = set(links)
    applied: set[str] = set()
    given: set[str] = set()
    for batch in batches:
        if not file_links.issuperset(batch):
            break
        applied.update(old for old, _ in batch)
        given.update(new for _, new in batch)
    return applied | {old for old, _ in file_links if old in given}


def name_retired(doc_id: str, taken: Collection[str], *, day: str) -> str:
    """Return the id of a document that lost its own: `a (retired 2026-01-31)`, with a number if taken."""
    name, number = f"{doc_id} (retired {day})", 1
    while name in taken:
        number += 1
        name = f"{doc_id} (retired {day}, {number})"
    return name


WEIGHTS = {"unjudged": 0, "imported": 1}
JUDGED = 2


@dataclass(frozen=True, slots=True)
class LivePair:
    """A pair of the pool with its settlement; `grade` is None without one."""

    pk: int
    key: str
    query_pk: int
    query_id: str
    doc_id: str
    status: str
    grade: int | None

    @property
    def weight(self) -> int:
        return WEIGHTS.get(self.status, JUDGED)


@dataclass(frozen=True, slots=True)
class SuggestedGrade:
    """The grade of a pair that leaves the pool, as a suggestion for its query's pair with document `doc_id`."""

    query_pk: int
    doc_id: str
    old: LivePair
    grade: int


@dataclass(slots=True)
class RemapMoves:
    """The moves of pairs whose documents get new ids.

    `moved`: {pair_pk: new doc_id}. `displaced`: the same for pairs already on that document that make room.
    `retired`: pairs that leave the pool under their old id. `merged_pairs`: (pair that left, pair that stays)
    where two met. `joining`: {(query_pk, query_id, new doc_id): old ids} of each new pair.
    """

    moved: dict[int, str] = field(default_factory=dict)
    displaced: dict[int, str] = field(default_factory=dict)
    retired: list[int] = field(default_factory=list)
    merged_pairs: list[tuple[int, int]] = field(default_factory=list)
    joining: dict[tuple[int, str, str], list[str]] = field(default_factory=dict)
    suggested: list[SuggestedGrade] = field(default_factory=list)


def carry_pairs(
    pairs: Sequence[LivePair], moved: Mapping[str, str], leaving: Mapping[str, tuple[str, ...]]
) -> RemapMoves:
    """Return the moves of the pairs of documents that move or leave.

    `pairs`: the pairs of documents in `moved` ({old id: new id}), in `leaving`, and of documents that already
    have the new ids.
    """
    moves = RemapMoves()
    there = {(pair.query_pk, pair.doc_id): pair for pair in pairs}
    for pair in pairs:
        if pair.doc_id in leaving:
            _leave(moves, pair, leaving[pair.doc_id])
        elif pair.doc_id in moved:
            _move(moves, pair, moved[pair.doc_id], there.get((pair.query_pk, moved[pair.doc_id])))
    # of several suggestions for a pair the latest is shown first: let that be the highest grade
    moves.suggested.sort(key=lambda item: item.grade)
    return moves


def _leave(moves: RemapMoves, pair: LivePair, new_ids: Iterable[str]) -> None:
    moves.retired.append(pair.pk)
    for new in new_ids:
        moves.joining.setdefault((pair.query_pk, pair.query_id, new), []).append(pair.doc_id)
        _suggest(moves, pair, new)


def _move(moves: RemapMoves, pair: LivePair, new: str, other: LivePair | None) -> None:
    if other is not None and other.weight >= pair.weight:
        moves.retired.append(pair.pk)
        moves.merged_pairs.append((pair.pk, other.pk))
        _suggest(moves, pair, new)
        return
    moves.moved[pair.pk] = new
    if other is not None:
        moves.displaced[other.pk] = new
        moves.merged_pairs.append((other.pk, pair.pk))
        _suggest(moves, other, new)


def _suggest(moves: RemapMoves, pair: LivePair, new: str) -> None:
    if pair.grade is not None:
        moves.suggested.append(SuggestedGrade(pair.query_pk, new, pair, pair.grade))


OLD, NEW = ("old_doc_id",), ("new_doc_id",)


@dataclass(frozen=True, slots=True)
class RemapFile:
    """A file of links (old_doc_id, new_doc_id), each once, in file order. `repeated`: the lines that repeat one."""

    path: str
    links: tuple[tuple[str, str], ...]
    repeated: int


def read_remap(data: bytes, path: str) -> RemapFile:
    """Return the links of a file. BadInput names every bad line."""
    table, problems = open_table(data, path, (OLD, NEW))
    links = []
    for row in table.rows:
        old, new = take_id(row, OLD, problems), take_id(row, NEW, problems)
        if old is not None and new is not None:
            links.append((old, new))
    problems.raise_if_any()
    once = tuple(dict.fromkeys(links))
    return RemapFile(path, once, len(links) - len(once))


@dataclass(frozen=True, slots=True)
class RemapReport:
    """The effect of a remap; with `dry_run`, the possible effect.

    `read`: different links of the file; `repeated`: lines that repeat one; `applied`: old ids to which this
    file was already applied. `renamed`: {old id: new id}. `split`: {old id: new ids}. `merged`: {new id: old
    ids}. `pairs_carried`: moved with renamed documents; `pairs_met`: met an existing pair. `pairs_retired`
    left the pool, `pairs_new` joined it, `suggestions`: old grades noted for leads. `documents_new` have an
    id only; `documents_dropped` lost their id, had no pair and no run result, and were deleted. `unknown`:
    old ids outside the dataset. `left_over`: documents with pairs that the file does not name.
    """

    path: str
    read: int
    repeated: int
    applied: int
    renamed: Mapping[str, str]
    split: Mapping[str, tuple[str, ...]]
    merged: Mapping[str, tuple[str, ...]]
    pairs_carried: int
    pairs_met: int
    pairs_retired: int
    pairs_new: int
    suggestions: int
    documents_new: int
    documents_dropped: int
    unknown: tuple[str, ...]
    left_over: tuple[str, ...]
    dry_run: bool


def make_report(
    file: RemapFile,
    plan: RemapPlan,
    moves: RemapMoves,
    stored: Mapping[str, int],
    *,
    applied: int,
    dry_run: bool,
) -> RemapReport:
    """Return the report of a remap from its plan and the numbers of stored rows (by the report's fields)."""
    merged: dict[str, list[str]] = {}
    for old, new, kind in plan.list_links():
        if kind == "merged":
            merged.setdefault(new, []).append(old)
    return RemapReport(
        path=file.path,
        read=len(file.links),
        repeated=file.repeated,
        applied=applied,
        renamed=dict(plan.renamed),
        split={old: news for old, news in plan.leaving.items() if plan.kinds[old] == "split"},
        merged={new: tuple(olds) for new, olds in merged.items()},
        pairs_met=len(moves.merged_pairs),
        pairs_retired=len(moves.retired) + len(moves.displaced),
        suggestions=len(moves.suggested),
        unknown=plan.unknown,
        left_over=plan.left_over,
        dry_run=dry_run,
        **stored,
    )
