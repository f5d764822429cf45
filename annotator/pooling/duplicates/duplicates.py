"""Decide which grades are offered to near duplicates, accepted, or out of date.

The grade of the judged document is offered to the others, and a lead accepts it for them. A document with an
own judgment, decision or imported grade takes none. A grade that was itself taken over is not passed on.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from annotator.domain.errors import NotFound, StateError
from annotator.domain.messages import say
from annotator.domain.settling import SETTLED

DuplicateState = Literal["waiting", "offered", "accepted", "out of date", "judged"]
"""The state of a document that was left out for a judged document.

- waiting: the judged document has no settled grade of its own to offer yet
- offered: a lead can accept the grade
- accepted: a lead accepted the grade, and the judged document still has it
- out of date: a lead accepted a grade, but the judged document now has another one, or none
- judged: the document was judged or imported itself, so it needs no grade
"""
DUPLICATE_STATES: tuple[DuplicateState, ...] = ("waiting", "offered", "accepted", "out of date", "judged")


@dataclass(frozen=True, slots=True)
class DuplicateDocument:
    """A document that was left out.

    `round`: of the pool. `grade`: its present grade, accepted or its own, or None. `accepted_at`: the time of
    a lead's acceptance, or None.
    """

    doc_id: str
    round: int
    rule: str
    state: DuplicateState
    grade: int | None
    accepted_at: datetime | None


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """A judged document of a query, and the documents that were left out because they say the same.

    `pair`: the id of the judged pair; None if it has left the pool. `grade`: the offered grade: its settled
    one, or None. A grade that was itself taken over (`is_taken_over`) is not offered.
    """

    query_id: str
    doc_id: str
    pair: str | None
    status: str | None
    grade: int | None
    is_taken_over: bool
    documents: tuple[DuplicateDocument, ...]


@dataclass(frozen=True, slots=True)
class DuplicateReport:
    """The near duplicates of a dataset's pool, by query and judged document, with the number of documents by state."""

    dataset: str
    groups: tuple[DuplicateGroup, ...]
    documents: int
    waiting: int
    offered: int
    accepted: int
    out_of_date: int
    judged: int


@dataclass(frozen=True, slots=True)
class DuplicatePage:
    """A part of the groups, with the counts of all `total` groups that the reader may see.

    `hidden`: the number of groups with a pair that the reader must still judge; they are not shown.
    `with_grades`: whether the page contains grades.
    """

    report: DuplicateReport
    total: int
    hidden: int
    with_grades: bool


@dataclass(frozen=True, slots=True)
class AcceptedDuplicates:
    """The result of accepting grades.

    `accepted`: documents that took over a grade; `renewed` of them had another one before, and `new_pairs` of
    them were no pairs. `judged`, `waiting`: documents of these groups that took none, because they have own
    judgments, or because no grade is offered.
    """

    groups: int
    accepted: int
    renewed: int
    new_pairs: int
    judged: int
    waiting: int
    dry_run: bool


OPEN_TO_GRADES: tuple[DuplicateState, ...] = ("offered", "out of date")


@dataclass(frozen=True, slots=True)
class LeftOutDuplicate:
    """A near duplicate that a round left out. The document `kept_pk` is judged instead."""

    query_pk: int
    query_id: str
    document_pk: int
    doc_id: str
    kept_pk: int
    kept_doc_id: str
    round: int
    rule: str


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """A pair of the pool. `taken_at`: when a lead accepted another document's grade for it; None for an own grade."""

    key: str
    status: str
    grade: int | None
    taken_at: datetime | None = None


def keep_latest(left_out: Iterable[LeftOutDuplicate]) -> list[LeftOutDuplicate]:
    """Return each near duplicate of a query once, as the latest round left it out."""
    latest: dict[tuple[int, int], LeftOutDuplicate] = {}
    for item in sorted(left_out, key=lambda item: item.round):
        latest[item.query_pk, item.document_pk] = item
    return list(latest.values())


def group_duplicates(
    left_out: Iterable[LeftOutDuplicate], pairs: Mapping[tuple[int, int], DuplicatePair]
) -> list[DuplicateGroup]:
    """Return the groups by query_id and judged document. `pairs`: the existing pairs by (query_pk, document_pk)."""
    members: dict[tuple[str, str], list[LeftOutDuplicate]] = {}
    for item in keep_latest(left_out):
        members.setdefault((item.query_id, item.kept_doc_id), []).append(item)
    groups = []
    for (query_id, doc_id), items in sorted(members.items()):
        kept = pairs.get((items[0].query_pk, items[0].kept_pk))
        is_taken_over = kept is not None and kept.taken_at is not None
        settled = kept is not None and kept.status in SETTLED and not is_taken_over
        grade = kept.grade if kept is not None and settled else None
        documents = [
            _describe(item, pairs.get((item.query_pk, item.document_pk)), grade)
            for item in sorted(items, key=lambda item: item.doc_id)
        ]
        groups.append(
            DuplicateGroup(
                query_id,
                doc_id,
                kept.key if kept else None,
                kept.status if kept else None,
                grade,
                is_taken_over,
                tuple(documents),
            )
        )
    return groups


def hide_grades(group: DuplicateGroup) -> DuplicateGroup:
    """Return the group without any grade."""
    documents = tuple(replace(document, grade=None) for document in group.documents)
    return replace(group, grade=None, documents=documents)


def report_duplicates(dataset: str, groups: Sequence[DuplicateGroup]) -> DuplicateReport:
    """Return the groups with the number of documents in each state."""
    states = Counter(document.state for group in groups for document in group.documents)
    return DuplicateReport(
        dataset, tuple(groups), states.total(), *(states[state] for state in DUPLICATE_STATES)
    )


def choose_groups(
    dataset: str, groups: Sequence[DuplicateGroup], chosen: Collection[str]
) -> list[DuplicateGroup]:
    """Return the groups of these judged pairs; without any, all groups with an open offer.

    Raises NotFound for a pair without a group, and StateError if a named group, or every group, has nothing
    to accept.
    """
    by_pair = {group.pair: group for group in groups if group.pair is not None}
    for pair in dict.fromkeys(chosen):
        if pair not in by_pair:
            raise NotFound(say("no group of near duplicates has the judged pair {pair}", pair=pair))
        refusal = _find_refusal(by_pair[pair])
        if refusal is not None:
            raise StateError(refusal)
    wanted = [by_pair[pair] for pair in dict.fromkeys(chosen)] if chosen else groups
    usable = [group for group in wanted if _find_refusal(group) is None]
    if not usable:
        raise StateError(
            say("{dataset} has no near duplicate to which a settled grade is offered", dataset=dataset)
        )
    return usable


def _describe(item: LeftOutDuplicate, pair: DuplicatePair | None, grade: int | None) -> DuplicateDocument:
    state: DuplicateState
    if pair is not None and pair.taken_at is not None:
        state = "accepted" if pair.grade == grade else "out of date"
    elif pair is not None and pair.status != "unjudged":
        state = "judged"
    else:
        state = "waiting" if grade is None else "offered"
    return DuplicateDocument(
        item.doc_id,
        item.round,
        item.rule,
        state,
        pair.grade if pair else None,
        pair.taken_at if pair else None,
    )


def _find_refusal(group: DuplicateGroup) -> str | None:
    names = {"query_id": group.query_id, "doc_id": group.doc_id}
    if group.is_taken_over:
        return say(
            "{query_id} {doc_id}: its grade comes from another document and cannot be passed on: judge it first",
            **names,
        )
    if group.grade is None:
        return say("{query_id} {doc_id}: it has no settled grade to pass on yet", **names)
    states = {document.state for document in group.documents}
    if states == {"judged"}:
        return say("{query_id} {doc_id}: all its near duplicates have been judged", **names)
    if not states & set(OPEN_TO_GRADES):
        return say("{query_id} {doc_id}: its near duplicates have its grade already", **names)
    return None
