"""Records of judgments, decisions and proposals that pages, files and the audit log share."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from annotator.domain.errors import NotAllowed, ValidationError
from annotator.domain.messages import Message, say
from annotator.domain.settling import Decided, read_decision


@dataclass(frozen=True, slots=True)
class IndependentJudgment:
    """A current independent judgment of a pair, or a third expert's judgment of quality control."""

    event_id: str
    annotator: str  # the username; pages show a letter instead
    outcome: str  # "graded" or "unrateable"
    grade: int | None
    note: str | None
    judged_at: datetime
    document_sha256: str | None
    guideline_version: int
    simulated: bool  # the annotator is no person
    quality: bool = False  # made for quality control, after the pair was settled


Cause = Literal[
    "guideline_gap", "ambiguous_query", "misread_document", "missing_knowledge", "slip", "borderline"
]
CAUSES: tuple[str, ...] = get_args(Cause)
"""Why annotators differed: the codes in files, in exports and in the database."""
CAUSE_NAMES: Mapping[str, Message] = {
    "guideline_gap": say("guideline gap"),
    "ambiguous_query": say("ambiguous query"),
    "misread_document": say("misread document"),
    "missing_knowledge": say("knowledge gap"),
    "slip": say("simple mistake"),
    "borderline": say("borderline case"),
}
Outcome = Literal["graded", "unrateable", "withdrawn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionContent:
    """The content of a decision: a grade, “cannot rate”, or a withdrawal."""

    outcome: Outcome
    grade: int | None  # 0-3 if the outcome is "graded", else None
    rationale: str
    cause: str | None = None  # one of CAUSES
    reason: str | None = None  # why annotators differed, in other words than a cause; only files give one
    in_guideline: bool = False  # the guideline should say so
    seconds: float | None = None  # for which the lead had the pair open; None if unknown

    @property
    def decided(self) -> Decided | None:
        """Return the grade that the pair is settled as, or "unrateable"; None if a decision is withdrawn."""
        return read_decision(self.outcome, self.grade)

    def says_the_same(self, other: "DecisionContent") -> bool:
        """Return whether both have the same grade, texts and cause. The time spent does not matter."""
        return self._list_content() == other._list_content()

    def _list_content(self) -> tuple[object, ...]:
        return self.outcome, self.grade, self.rationale, self.cause, self.reason, self.in_guideline


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(DecisionContent):
    """A stored decision. The one with the highest revision holds, unless it withdrew the others."""

    pair: str  # the pair's key
    revision: int  # from 1
    decided_at: datetime
    lead_pk: int
    lead: str  # the username
    lead_name: str = field(default="", compare=False)  # as leads see it; empty where nobody is shown it


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionProposal(DecisionContent):
    """A decision that one lead proposes for a pair that needs two leads (`decision_check.py`)."""

    lead_pk: int
    lead: str  # the username
    lead_name: str = field(default="", compare=False)  # as leads see it; empty where nobody is shown it


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDecision(DecisionContent):
    """A decision to be stored, or a proposal if the pair needs two leads and this is the first."""

    pair_pk: int
    pair: str  # the pair's key
    batch_pk: int | None = None  # the batch, if a policy decides
    unlike: Sequence["UnlikeDocument"] = ()


@dataclass(frozen=True, slots=True)
class UnlikeDocument:
    """A near-duplicate that the lead was shown with another grade than the decision's, for the audit log."""

    doc_id: str
    grade: int
    near: float  # similarity of the texts, 0-1


class JudgedByLead(NotAllowed):
    """The lead judged the pair, so another lead must decide it."""


class RationaleRequired(ValidationError):
    """A decision without a rationale where one is required."""


def digest_seen_state(event_ids: Sequence[str], revision: int) -> str:
    """Return the digest of a pair as a lead saw it: "REVISION-…" with 32 hex digits.

    A decision must bring the present digest, so that nobody decides on anything but what they saw.
    `event_ids`: of the current judgments, in any order. `revision`: of the decision; 0 if undecided.
    """
    judgments = json.dumps(sorted(event_ids))
    return f"{revision}-{hashlib.sha256(judgments.encode()).hexdigest()[:32]}"


def read_revision(seen: str) -> int | None:
    """Return the revision in a digest of `digest_seen_state`; None if the text is no such digest."""
    number, dash, _ = seen.partition("-")
    return int(number) if dash and number.isascii() and number.isdigit() and len(number) < 10 else None
