"""Records of near duplicates that were left out of a pool: the judged document, the others, and what became of its grade."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

DuplicateState = Literal["waiting", "offered", "accepted", "out of date", "judged"]
"""What became of the judged document's grade for a document that was left out for it.

- waiting: there is nothing to offer, because the judged document has no settled grade of its own
- offered: a lead can accept the grade
- accepted: a lead accepted the grade, and it is still the judged document's
- out of date: a lead accepted a grade, and the judged document has another one now, or none
- judged: the document was judged or imported itself, so that nothing is offered
"""
DUPLICATE_STATES: tuple[DuplicateState, ...] = ("waiting", "offered", "accepted", "out of date", "judged")


@dataclass(frozen=True, slots=True)
class DuplicateDocument:
    """A document that was left out. `round`: of the pool. `grade`: that it has now, accepted or its own; None without one.

    `accepted_at`: when a lead accepted its grade; None if nobody did.
    """

    doc_id: str
    round: int
    rule: str
    state: DuplicateState
    grade: int | None
    accepted_at: datetime | None


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """A document of a query that is judged, and those that were left out because they say the same.

    `pair`: the id of the judged pair; None if it has left the pool. `grade`: its settled grade, which is offered; None if there is
    none, or if it was itself taken over (`is_taken_over`): a grade is never handed on twice.
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
    """The near duplicates of a dataset's pool, by query and judged document, and how many documents are in each state."""

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
    """A part of the groups, with the counts of all that the reader may see (`total` groups).

    `hidden`: groups that are not shown, because they hold a pair that the reader has still to judge. Grades are there only
    `with_grades`.
    """

    report: DuplicateReport
    total: int
    hidden: int
    with_grades: bool


@dataclass(frozen=True, slots=True)
class AcceptedDuplicates:
    """The result of accepting grades. `accepted`: documents that took over a grade, `renewed` of them another one than before.

    `new_pairs`: those that were no pairs. `judged`, `waiting`: documents of these groups that took none, because they have their
    own judgments, or because there is no grade to take.
    """

    groups: int
    accepted: int
    renewed: int
    new_pairs: int
    judged: int
    waiting: int
    dry_run: bool
