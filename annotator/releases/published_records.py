"""What the stage says about a release that is out: its qrels page by page, and the trail behind each of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class QrelRow:
    """A published qrel as a list shows it. `query`: its text, None in releases made before texts were recorded.
    `previous`: its grade in the release that was compared with, None when it was not there (or none was asked)."""

    query_id: str
    query: str | None
    doc_id: str
    grade: int
    origin: str
    previous: int | None = None


@dataclass(frozen=True, slots=True)
class QrelPage:
    """Some of a release's qrels, in its order; `total`: how many the filters leave."""

    total: int
    rows: tuple[QrelRow, ...]


@dataclass(frozen=True, slots=True)
class TracedJudgment:
    """A judgment that a qrel rests on. `annotator`: the pseudonym of the releases. `judged_at` and `guideline_version`:
    None where it came with a file that does not say."""

    annotator: str
    outcome: str
    grade: int | None
    note: str | None
    judged_at: datetime | None
    guideline_version: int | None
    purpose: str
    simulated: bool


@dataclass(frozen=True, slots=True)
class TracedDecision:
    """The adjudication that a qrel rests on. `lead`: the pseudonym of the releases;."""

    grade: int
    rationale: str
    reason: str | None
    lead: str
    decided_at: datetime
    guideline_version: int


@dataclass(frozen=True, slots=True)
class TracedImport:
    """The grade of an earlier ground truth that a qrel rests on. `source`: path, format, checksum, origin."""

    grade: int
    source: Mapping[str, Any]
    note: str | None
    imported_at: datetime


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything behind one published grade.

    `query` None: the release was made before texts were recorded. `complete` False: it was made before it was
    recorded what each qrel rests on; what is listed is what had been received until then.
    """

    dataset: str
    version: str
    query_id: str
    query: str | None
    doc_id: str
    grade: int
    origin: str
    judgments: tuple[TracedJudgment, ...]
    adjudication: TracedDecision | None
    imported: TracedImport | None
    complete: bool


@dataclass(frozen=True, slots=True)
class Guideline:
    """A version of what annotators worked by. `grades`: as the rubric lists them. `change`: "minor" or "semantic"."""

    version: int
    title: str
    guideline: str
    grades: tuple[Mapping[str, Any], ...]
    change: str
    created_at: datetime
