"""The records of releases: gates, published qrels, differences between releases, and the trail of a qrel.

Annotators appear by storage keys, which mean nothing outside; releases give them pseudonyms. Records that a release makes by
the million are tuples, not dataclasses.
"""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from annotator.domain.ground_truth import NOTHING
from annotator.domain.settling import PairStatus
from annotator.releases.versions import Advice

DIGITS = 6

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GateOverride:
    """Why a release went out although a gate was not met. `by` is the lead's pseudonym."""

    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class ReleaseGate:
    """One gate. `measured` is None when undefined; `why` says so, or which work is missing; None when met (a met
    `coverage` may say that nothing is required, a met `quality_control` what it rests on).

    `examples`: the first 20 of what is missing, as names: (query_id, doc_id), (query_id,), or
    (requirement, required, measured).
    """

    name: str
    required: float
    measured: float | None
    met: bool
    override: GateOverride | None = None
    why: str | None = None  # a Message; a text as it was published where a manifest tells of it
    examples: tuple[Names, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """What a manifest keeps: everything but the examples."""
        return {name: value for name, value in asdict(self).items() if name != "examples"}


Kind = Literal["added", "removed", "changed", "renamed", "grounds"]
KINDS: tuple[Kind, ...] = ("changed", "added", "removed", "renamed", "grounds")
Reason = Literal["revision", "adjudication", "re-import", "remap", "further judgment"]


class PublishedQrel(NamedTuple):
    """A qrel of a release with the keys of what it rests on. `judgments`: keys in ascending order, separated by
    spaces; None in releases made before they were recorded. A tuple, because millions of them are made."""

    query_id: str
    doc_id: str
    grade: int
    origin: str
    judgments: str | None = None
    adjudication_pk: int | None = None
    imported_qrel_pk: int | None = None


@dataclass(frozen=True, slots=True)
class QrelChange:
    """One pair that differs. `old` and `new` are grades, None where there is no qrel.

    `kind` "changed": another grade; "renamed": the same grade under another doc_id; "grounds": the same grade, on
    other judgments or another decision. `old_doc_id`: what a renamed document was called before. `reason` None:
    a pair that came or went by itself, or a release too old to tell. `cause`, `rationale`: what the lead said whose decision
    changed the grade, None where no decision did, or nothing was said.
    """

    kind: Kind
    query_id: str
    doc_id: str
    old: int | None
    new: int | None
    reason: Reason | None = None
    old_doc_id: str | None = None
    cause: str | None = None
    rationale: str | None = None


@dataclass(frozen=True, slots=True)
class Renames:
    """What `remap` did between two releases. `renamed`: old doc_id to new, chains followed; `parted`: old ids that
    were split or merged, `joined`: the ids that took their place; `rows`: (old, new, kind) as they were given."""

    renamed: Mapping[str, str] = field(default_factory=dict)
    parted: Collection[str] = ()
    joined: Collection[str] = ()
    rows: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """A release apart from its qrels. `version` None: the one that would be published now.

    `queries`: text by query_id, in the release's order; a text is None in releases made before texts were
    recorded. `scale`: as the manifest has it.
    """

    dataset: str
    version: str | None
    scale: Any
    guideline_version: int
    queries: Mapping[str, str | None]
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReleaseDiff:
    """Two releases compared. `before` None: there was none; then nothing is listed.

    `texts_changed`: (query_id, old, new). `changes`: in the order of the newer release's queries, then doc_id;
    complete unless it was asked to keep only some, `counts` (by kind) always is. `whole`: how many qrels by
    query_id came or went with their query. `reasons`: how many changed grades by reason, "" where none was
    recorded. `guideline`: its version in both.
    """

    dataset: str
    before: str | None
    after: str | None
    queries_added: tuple[str, ...]
    queries_removed: tuple[str, ...]
    texts_changed: tuple[tuple[str, str, str], ...]
    changes: tuple[QrelChange, ...]
    scale_changed: bool
    advice: Advice
    advice_why: str
    counts: Mapping[str, int] = field(default_factory=dict)
    whole: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    guideline: tuple[int | None, int | None] = (None, None)


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
class QrelTrace:
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


class ReleasePair(NamedTuple):
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
