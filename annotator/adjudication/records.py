"""An answer that a lead's decision on a pair rests on: what the storage reads and adjudication shows without its name."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Answer:
    """A current independent judgment, graded or unrateable, with its annotator's username, and whether that is nobody.

    `quality`: it is a third expert's of quality control instead.
    """

    event_id: str
    annotator: str
    outcome: str
    grade: int | None
    note: str | None
    judged_at: datetime
    document_sha256: str | None
    guideline_version: int
    simulated: bool
    quality: bool = False
