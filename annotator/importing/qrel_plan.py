"""What importing an earlier ground truth would change: which grades are new, which are kept, which are suggestions.

A rule between the reader and the database. A grade settles its pair as long as nobody has judged it here; where
somebody has, or where the lead wants the pair judged, it is a suggestion.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from annotator.domain.ground_truth import Qrel
from annotator.domain.messages import count_of
from annotator.importing.qrel_source import QrelFile


class Brought(Protocol):
    """What an earlier import brought for a pair; `keep`: to be kept, not to be judged."""

    @property
    def grade(self) -> int: ...
    @property
    def keep(self) -> bool: ...
    @property
    def description(self) -> str | None: ...
    @property
    def note(self) -> str | None: ...
    @property
    def annotator_grades(self) -> tuple[tuple[str, int], ...]: ...
    @property
    def extra(self) -> Mapping[str, Any]: ...
    @property
    def place(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class QrelPlan:
    """`rows`: (pair_pk, qrel, whether to keep it), each to be appended; what was there already is not among them.

    `added` of them are the first of their pair. `judged_here` counts the file's pairs that were judged or decided.
    `places`: by pair_pk, at which place of its query's list the file has the document, counted from 1; empty where the
    file's order says nothing.
    """

    rows: tuple[tuple[int, Qrel, bool], ...]
    added: int
    judged_here: int
    places: Mapping[int, int]


def plan_qrels(
    qrels: Iterable[tuple[int, Qrel]],
    known: Mapping[int, Brought],
    settled_here: Container[int],
    *,
    rejudge: bool,
    ordered: bool = False,
) -> QrelPlan:
    """Compare each pair's qrel with what an earlier import brought (`known`, by pair_pk).

    `settled_here`: the pairs that somebody has judged, or a lead decided. `qrels` come in the file's order; `ordered`: that
    order, within a query, is somebody's word on which document is better.
    """
    places: dict[int, int] = {}
    listed: Counter[str] = Counter()
    rows: list[tuple[int, Qrel, bool]] = []
    added = judged_here = 0
    for pair_pk, qrel in qrels:
        if ordered:
            listed[qrel.query_id] += 1
            places[pair_pk] = listed[qrel.query_id]
        judged = pair_pk in settled_here
        judged_here += judged
        keep = not rejudge and not judged
        before = known.get(pair_pk)
        moved = ordered and before is not None and before.place != places[pair_pk]
        if before is None or moved or not _is_same(before, qrel) or (before.keep != keep and not judged):
            rows.append((pair_pk, qrel, keep))
            added += before is None
    return QrelPlan(tuple(rows), added, judged_here, places)


def list_imports(
    plan: QrelPlan, file: QrelFile, *, now: datetime, import_record_pk: int
) -> list[dict[str, Any]]:
    """The grades as they are stored, with where they came from."""
    path = file.path.encode("utf-8", "replace").decode("utf-8")
    source = {"kind": "qrels", "path": path, "format": file.known.name, "sha256": file.sha256}
    return [
        {
            "pair_pk": pair_pk,
            "grade": qrel.grade,
            "keep": keep,
            "source": {**source, "origin": qrel.origin, **_say_place(plan.places.get(pair_pk))},
            "description": qrel.description,
            "note": qrel.note,
            "annotator_grades": [list(given) for given in qrel.annotator_grades],
            "extra": dict(qrel.metadata),
            "imported_at": now,
            "import_record_pk": import_record_pk,
        }
        for pair_pk, qrel, keep in plan.rows
    ]


def _say_place(place: int | None) -> dict[str, int]:
    return {} if place is None else {"place": place}


def note_plan(plan: QrelPlan) -> tuple[str, ...]:
    """Notes on what becomes of the grades."""
    kept = sum(keep for _, _, keep in plan.rows)
    notes = []
    if kept:
        notes.append(
            f"{count_of(kept, 'grade is', 'grades are')} kept; with --rejudge those pairs are judged instead"
        )
    if len(plan.rows) > kept:
        notes.append(
            f"{count_of(len(plan.rows) - kept, 'grade is a suggestion', 'grades are suggestions')}, which only leads see"
        )
    if plan.judged_here:
        notes.append(
            f"{count_of(plan.judged_here, 'pair was', 'pairs were')} judged here already: the judgments count"
        )
    return tuple(notes)


def _is_same(before: Brought, qrel: Qrel) -> bool:
    said = (before.grade, before.description, before.note, before.annotator_grades, before.extra)
    return said == (qrel.grade, qrel.description, qrel.note, qrel.annotator_grades, qrel.metadata)
