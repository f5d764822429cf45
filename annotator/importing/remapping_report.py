"""What a remap answers: which documents got new ids, and what became of the pairs they stand in."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from annotator.importing.carrying import Carrying
from annotator.importing.remap_file import RemapFile
from annotator.importing.remapping import RemapPlan


@dataclass(frozen=True, slots=True)
class RemapReport:
    """`read` counts the file's different links, `repeated` the lines that say one again, `applied` the old ids for
    which this file was applied before.

    `renamed`: new id by old id. `split`: new ids by old id. `merged`: old ids by new id. `pairs_carried` went along
    with renamed documents, `pairs_met` of them met a pair that was there. `pairs_retired` left the pool, `pairs_new`
    joined it, `suggestions` are the old grades noted for leads. `documents_new` are known by their id only;
    `documents_dropped` had left with nothing hanging on them. `unknown`: old ids that the dataset does not have.
    `left_over`: documents with pairs that the file does not name. With `dry_run` nothing was stored.
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


@dataclass(frozen=True, slots=True)
class Stored:
    """What was counted while it was stored."""

    pairs_carried: int
    pairs_new: int
    documents_new: int
    documents_dropped: int


def make_report(
    file: RemapFile,
    path: Path,
    plan: RemapPlan,
    carrying: Carrying,
    stored: Stored,
    *,
    applied: int,
    dry_run: bool,
) -> RemapReport:
    """Everything that was planned and stored, in figures and ids."""
    merged: dict[str, list[str]] = {}
    for old, new, kind in plan.list_links():
        if kind == "merged":
            merged.setdefault(new, []).append(old)
    return RemapReport(
        path=str(path),
        read=len(file.links),
        repeated=file.repeated,
        applied=applied,
        renamed=dict(plan.renamed),
        split={old: news for old, news in plan.leaving.items() if plan.kinds[old] == "split"},
        merged={new: tuple(olds) for new, olds in merged.items()},
        pairs_carried=stored.pairs_carried,
        pairs_met=len(carrying.met),
        pairs_retired=len(carrying.retired) + len(carrying.displaced),
        pairs_new=stored.pairs_new,
        suggestions=len(carrying.suggested),
        documents_new=stored.documents_new,
        documents_dropped=stored.documents_dropped,
        unknown=plan.unknown,
        left_over=plan.left_over,
        dry_run=dry_run,
    )
