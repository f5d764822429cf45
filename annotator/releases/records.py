"""Records and versions of releases: gates, published qrels, differences between releases, and the trail of a qrel.

Annotators appear by storage keys, which mean nothing outside; releases give them pseudonyms. Records that a release makes by
the million are tuples, not dataclasses. A version is MAJOR.MINOR.PATCH (https://semver.org applied to a ground truth) and the
name of its folder; anything else is refused (a leading "v", leading zeros, pre-release suffixes), so it can never leave the
folder of its dataset.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from annotator.domain.ground_truth import NOTHING
from annotator.domain.messages import Message, join, say, say_n
from annotator.domain.settling import PairStatus

Advice = Literal["major", "minor", "patch", "none"]
STEPS: tuple[Advice, ...] = ("none", "patch", "minor", "major")  # from the smallest on
_MOVED = {str(kind): kind for kind in (say("changed"), say("added"), say("removed"), say("renamed"))}


def advise(
    counts: Mapping[str, int], *, queries: int, texts: int, scale_changed: bool, guideline_changed: bool
) -> tuple[Advice, str]:
    """Return the smallest step of a semantic version (https://semver.org) that these changes allow, and why.

    Another scale breaks every comparison: major. Another set of qrels or queries moves figures: minor. Texts and
    grounds move none: patch.
    """
    if scale_changed:
        return "major", say("the grade scale changed")
    moved = [say("{n:,} {kind}", n=counts[kind], kind=_MOVED[kind]) for kind in _MOVED if counts.get(kind)]
    if moved:
        return "minor", say("qrels changed ({moved})", moved=join(moved))
    if queries:
        return "minor", say("queries were added or removed")
    quiet = [say_n("{n:,} query text", "{n:,} query texts", texts)] if texts else []
    grounds = counts.get("grounds", 0)
    quiet += [say_n("the basis of {n:,} qrel", "the basis of {n:,} qrels", grounds)] if grounds else []
    quiet += [say("the guideline")] if guideline_changed else []
    if quiet:
        return "patch", say("no grades changed, only {changes}", changes=join(quiet))
    return "none", say("nothing changed")


def suggest_next(before: str | None, advice: Advice) -> str:
    """Return the version that follows `before` (MAJOR.MINOR.PATCH) at this step."""
    if before is None:
        return "1.0.0"
    major, minor, patch = (int(part) for part in before.split("."))
    if advice == "major":
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if advice == "minor" else f"{major}.{minor}.{patch + 1}"


def compare_versions(before: str, after: str) -> Advice | None:
    """Return the step from one version to another, None if it goes backwards."""
    old, new = ([int(part) for part in version.split(".")] for version in (before, after))
    if new <= old:
        return "none" if new == old else None
    steps: tuple[Advice, ...] = ("major", "minor", "patch")
    return next(step for step, a, b in zip(steps, old, new, strict=True) if a != b)


def suggest_version(published: Iterable[str]) -> str:
    """Return a version for the next release: 1.0.0, later the highest version with the next MINOR."""
    highest = max((tuple(int(part) for part in version.split(".")) for version in published), default=None)
    return "1.0.0" if highest is None else f"{highest[0]}.{highest[1] + 1}.0"


GATE_NAMES: dict[str, Message] = {
    "kappa": say("Cohen's κ"),
    "disagreements": say("disagreements"),
    "overlap": say("judgments per pair"),
    "quality_control": say("quality control"),
    "coverage": say("requirements"),
    "unjudged_queries": say("queries without a grade"),
    "relevant": say("queries without a relevant document"),
    "stale": say("outdated grades"),
    "ids": say("ids with white space"),
}
"""What each gate looks at, in a word or two. Files and commands keep the names on the left."""
DIGITS = 6

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GateOverride:
    """Why a release was published although a gate was not met."""

    reason: str
    by: str  # the lead's pseudonym


@dataclass(frozen=True, slots=True)
class ReleaseGate:
    """One gate: what a release needs, and what was measured."""

    name: str
    required: float
    measured: float | None  # None: undefined
    met: bool
    override: GateOverride | None = None
    why: str | None = None
    """Why it is undefined, or which work is missing: a Message, or the text of a manifest. Usually None when the gate is met."""
    examples: tuple[Names, ...] = ()
    """The first 20 of what is missing: (query_id, doc_id), (query_id,), or (requirement, required, measured). All ids of `ids`."""

    def as_json(self) -> dict[str, Any]:
        """Return the gate as a manifest stores it, without the examples."""
        return {name: value for name, value in asdict(self).items() if name != "examples"}


@dataclass(frozen=True, slots=True)
class ReleaseCheck:
    """The state of a dataset before a release."""

    version: None  # nothing is published yet
    gates: tuple[ReleaseGate, ...]
    statuses: Mapping[str, int]  # pairs by status
    suggested: str  # a version that it could have
    blind_pairs: int = 0  # judged pairs that the reader may still judge, and that count as not judged


@dataclass(frozen=True, slots=True)
class Release:
    """A published release, and the state of its folder on this machine."""

    dataset: str
    version: str
    created_at: datetime
    published_by: str  # the lead's pseudonym
    note: str
    previous: str | None
    qrels: int
    content_sha256: str
    path: Path
    folder: Literal["whole", "missing", "changed"]
    """"whole": every file is there in its size, and SHA256SUMS and manifest.json are as published; the other files are hashed
    when they are sent. "missing" also if it was published from another machine."""
    overridden: tuple[str, ...]  # names of gates
    files: tuple[str, ...]
    simulated: bool  # whether some of its judgments are simulated
    gates: tuple[ReleaseGate, ...] = ()  # as they stood when it was published
    signed: bool = False  # whether it has SHA256SUMS.sig


Kind = Literal["added", "removed", "changed", "renamed", "grounds"]
KINDS: tuple[Kind, ...] = ("changed", "added", "removed", "renamed", "grounds")
Reason = Literal["revision", "adjudication", "re-import", "remap", "further judgment"]


class PublishedQrel(NamedTuple):
    """A qrel of a release with the keys of what it rests on. A tuple, because millions of them are made."""

    query_id: str
    doc_id: str
    grade: int
    origin: str
    judgments: str | None = None  # keys in ascending order, separated by spaces; None in old releases
    adjudication_pk: int | None = None
    imported_qrel_pk: int | None = None


@dataclass(frozen=True, slots=True)
class QrelChange:
    """One pair that differs between two releases."""

    kind: Kind
    """"changed": another grade; "renamed": the same grade under another doc_id; "grounds": the same grade, on other judgments
    or another decision."""
    query_id: str
    doc_id: str
    old: int | None  # a grade, None: no qrel
    new: int | None
    reason: Reason | None = None  # None: the pair came or went by itself, or a release is too old to tell
    old_doc_id: str | None = None  # of a renamed document
    cause: str | None = None  # why annotators differed, by the lead whose decision changed the grade
    rationale: str | None = None  # of that decision


@dataclass(frozen=True, slots=True)
class Renames:
    """The changes of document ids by `remap` between two releases."""

    renamed: Mapping[str, str] = field(default_factory=dict)  # old doc_id to new, chains followed
    parted: Collection[str] = ()  # old ids that were split or merged
    joined: Collection[str] = ()  # the ids that took their place
    rows: tuple[tuple[str, str, str], ...] = ()  # (old, new, kind) as they were given


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """A release without its qrels."""

    dataset: str
    version: str | None  # None: the one that would be published now
    scale: Any  # as in the manifest
    guideline_version: int
    queries: Mapping[str, str | None]
    """Texts by query_id, in the release's order; a text is None in releases made before texts were recorded."""
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReleaseDiff:
    """Two releases compared."""

    dataset: str
    before: str | None  # None: there was none; then nothing is listed
    after: str | None
    queries_added: tuple[str, ...]
    queries_removed: tuple[str, ...]
    texts_changed: tuple[tuple[str, str, str], ...]  # (query_id, old, new)
    changes: tuple[QrelChange, ...]
    """In the order of the newer release's queries, then doc_id. Complete unless the caller asked to keep only some."""
    scale_changed: bool
    advice: Advice
    advice_why: str
    counts: Mapping[str, int] = field(default_factory=dict)  # changes by kind, always complete
    whole: Mapping[str, int] = field(
        default_factory=dict
    )  # qrels that came or went with their query, by query_id
    reasons: Mapping[str, int] = field(
        default_factory=dict
    )  # changed grades by reason, "" where none was recorded
    guideline: tuple[int | None, int | None] = (None, None)  # its version in both

    @property
    def next_version(self) -> str:
        """Return the version at the smallest step that the changes allow."""
        return suggest_next(self.before, self.advice)

    def describe_advice(self) -> str:
        """Return which step of a version the changes call for, and whether this one is large enough. Markdown."""
        if self.advice == "none":
            return "Version: nothing changed."
        advice = f"Version: at least a {self.advice} step is recommended, because {self.advice_why}."
        step = (
            None if self.before is None or self.after is None else compare_versions(self.before, self.after)
        )
        if step is None or STEPS.index(step) >= STEPS.index(self.advice):
            return advice
        return f"{advice} **{self.before} to {self.after} is only a {step} step.**"


@dataclass(frozen=True, slots=True)
class QrelRow:
    """A published qrel as a list shows it."""

    query_id: str
    query: str | None  # the text; None in releases made before texts were recorded
    doc_id: str
    grade: int
    origin: str
    previous: int | None = None  # its grade in the release compared with, if it was there
    title: str = (
        ""  # of the document as the dataset has it now; empty if it has none, or no such document any more
    )


@dataclass(frozen=True, slots=True)
class QrelPage:
    """Some of a release's qrels, in its order."""

    total: int  # that pass the filters
    rows: tuple[QrelRow, ...]
    withheld: int = 0  # pairs that the reader may still judge, and that the filters leave out


@dataclass(frozen=True, slots=True)
class TracedJudgment:
    """A judgment that a qrel rests on."""

    annotator: str  # the pseudonym
    outcome: str
    grade: int | None
    note: str | None
    judged_at: datetime | None  # None: it came with a file that does not say
    guideline_version: int | None  # None: it came with a file
    purpose: str
    simulated: bool


@dataclass(frozen=True, slots=True)
class TracedDecision:
    """The decision that a qrel rests on."""

    grade: int
    rationale: str
    reason: str | None
    lead: str  # the pseudonym
    decided_at: datetime
    guideline_version: int


@dataclass(frozen=True, slots=True)
class TracedImport:
    """The grade of an earlier ground truth that a qrel rests on."""

    grade: int
    source: Mapping[str, Any]  # path, format, checksum, origin
    note: str | None
    imported_at: datetime


@dataclass(frozen=True, slots=True)
class QrelTrace:
    """Everything behind one published grade."""

    dataset: str
    version: str
    query_id: str
    query: str | None  # the text; None in releases made before texts were recorded
    doc_id: str
    grade: int
    origin: str
    judgments: tuple[TracedJudgment, ...]
    adjudication: TracedDecision | None
    imported: TracedImport | None
    complete: bool
    """False: the release did not record what each qrel rests on; listed is what had been received until then."""


@dataclass(frozen=True, slots=True)
class Guideline:
    """A version of the guideline that annotators worked by."""

    version: int
    title: str
    guideline: str
    grades: tuple[Mapping[str, Any], ...]  # as the rubric lists them
    change: str  # "minor" or "semantic"
    created_at: datetime


class GivenJudgment(NamedTuple):
    """One annotator's current judgment, graded or unrateable, with everything that a release publishes of it."""

    key: int  # judgment_pk
    annotator: int  # person_pk
    outcome: str
    grade: int | None
    note: str | None
    purpose: str
    judged_at: str  # ISO 8601 in UTC, ended by Z; "" if the file that it came with does not say
    seconds: float | None
    guideline_version: int | None  # None: it came with a file
    imported: int | None = None  # import_pk; None: made in this program


class KeptGrade(NamedTuple):
    """The grade that a pair keeps from an earlier ground truth."""

    key: int  # imported_qrel_pk
    source_path: str = ""
    source_format: str = ""
    description: str | None = None
    note: str | None = None
    annotator_grades: tuple[tuple[str, int], ...] = ()  # as that file named its annotators
    metadata: Mapping[str, Any] = NOTHING
    imported: int | None = None  # import_pk; None before imports were recorded


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


class PoolSystem(NamedTuple):
    """A source of pairs in the pool: a run's system, "import" or "remap". Its ranks are None where it gave none."""

    system: str
    pairs: int
    best_rank: int | None = None
    worst_rank: int | None = None


class JudgmentCounts(NamedTuple):
    """The counts made while a release is written."""

    judgments: Mapping[tuple[int, str, int | None, int | None], int]
    """By annotator, outcome, guideline version and import_pk (None: made in this program)."""
    sources: Mapping[tuple[str, str, int | None], int]
    """Qrels kept from each earlier file, by its name, format and import_pk."""
