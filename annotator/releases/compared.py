"""What a comparison of two releases is made of and what it says: published qrels, changes, the whole difference."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from annotator.releases.versions import Advice

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
class Change:
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
    changes: tuple[Change, ...]
    scale_changed: bool
    advice: Advice
    advice_why: str
    counts: Mapping[str, int] = field(default_factory=dict)
    whole: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    guideline: tuple[int | None, int | None] = (None, None)
