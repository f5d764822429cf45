"""The trail behind a qrel: the pair, the judgments it rests on, and the decision, if there was one.

Who judged is named by a key of the storage, which means nothing outside; releases give it a pseudonym.
Tuples, not dataclasses: a release makes millions of them.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from annotator.domain.ground_truth import NOTHING
from annotator.domain.settling import PairStatus


class GivenJudgment(NamedTuple):
    """One annotator's current judgment, graded or unrateable, with everything a release publishes of it.

    `key` and `annotator` are the storage's keys. `judged_at`: ISO 8601 in UTC, ended by Z; "" where the file that it came
    with does not say. `guideline_version`: None where it came with a file. `imported`: the key of the import it came with
    (`domain/import_records.py`), None where it was made in this program.
    """

    key: int
    annotator: int
    outcome: str
    grade: int | None
    note: str | None
    purpose: str
    judged_at: str
    seconds: float | None
    guideline_version: int | None
    imported: int | None = None

    @property
    def is_independent_grade(self) -> bool:
        """Whether it is one of those that qrels are made of."""
        return self.grade is not None and self.purpose == "independent"


class KeptGrade(NamedTuple):
    """What an earlier ground truth said of a pair, where its grade is kept. `key` is the storage's.

    `annotator_grades`: as that file named its annotators. `source_path` and `source_format`: of that file. `imported`: the
    key of the import it came with, None before imports were recorded.
    """

    key: int
    source_path: str = ""
    source_format: str = ""
    description: str | None = None
    note: str | None = None
    annotator_grades: tuple[tuple[str, int], ...] = ()
    metadata: Mapping[str, Any] = NOTHING
    imported: int | None = None


class JudgedPair(NamedTuple):
    """A pair of the pool with its settlement (`status`, `grade`) and what led to it.

    `decided_by`, `rationale` and `decision` (the storage's key): of the decision that holds. `lead_place` and
    `imported_place`: where a lead, and an earlier ground truth, put the document in its query's list; None without one.
    `title` and `document_metadata` are the document's.
    """

    query_id: str
    doc_id: str
    status: PairStatus
    grade: int | None
    judgments: tuple[GivenJudgment, ...] = ()
    decided_by: int | None = None
    rationale: str | None = None
    lead_place: int | None = None
    imported_place: int | None = None
    title: str = ""
    document_metadata: Mapping[str, Any] = NOTHING
    decision: int | None = None
    kept: KeptGrade | None = None


class Participant(NamedTuple):
    """Somebody who judged, decided or publishes. `simulated`: not a person."""

    key: int
    username: str
    simulated: bool
