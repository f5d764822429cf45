"""Records of near duplicates that were left out of a pool: the judged document, the others, and their grades."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

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
