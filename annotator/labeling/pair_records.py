"""Records of one pair in labeling: what decides about its annotator's answer, and how it is handed out."""

from dataclasses import dataclass
from typing import NamedTuple

from annotator.domain.judgments import AnsweredPair


@dataclass(frozen=True, slots=True)
class AnnotatorPairState:
    """The state of a pair for one annotator.

    It decides whether they may judge it, and the purpose of the answer.
    """

    pair_pk: int
    query_pk: int
    document_pk: int
    retired: bool  # it has left the pool
    kept: bool  # its grade comes from an earlier ground truth and has no newer judgment
    wanted: int  # how many annotators shall judge it
    lacking: int  # how many judgments it still lacks
    judged: int  # how many judgments of it count
    kind: str | None  # "training" or "gold" for a check, None for ordinary work
    settled: bool  # a lead has decided it; if it is `drawn`, after this annotator's answer
    disclosed: bool  # the annotator has seen others' judgments of it
    leased: bool  # handed to this annotator and not answered since
    held: bool  # ... and the lease still runs
    eligible: bool  # its query is the annotator's, by role and assignment
    outcome: (
        str | None
    )  # of the annotator's current judgment, None without one; `purpose` and `stale` likewise
    purpose: str | None
    stale: int  # 1: older guideline, 2: older text, 3: both, 0: neither
    repeat_pk: int | None = None  # the browser's key is that of this repeat
    tried: bool = False  # the annotator has answered it before as a check
    drawn: bool = False  # by quality control for this annotator
    freed: bool = False  # a lead took the lease from them: only handing the pair out begins another
    stored: AnsweredPair | None = None  # only of a pair that is being answered
    sent: int = 0  # answers that came earlier in the same request

    @property
    def answered(self) -> bool:
        """Return whether the annotator has a current judgment of it; "later" is none."""
        return self.outcome not in (None, "later")

    @property
    def has_own_answer(self) -> bool:
        """Return whether the annotator has answered the pair, as work or as a gold pair."""
        return self.answered or (self.tried and self.kind == "gold")

    @property
    def closed(self) -> bool:
        """Return whether this annotator can no longer judge the pair."""
        return self.retired or self.disclosed or (self.settled and self.kind is None)

    @property
    def revised(self) -> bool:
        """Return whether an answer under this key replaces one of the annotator's."""
        return self.tried if self.repeat_pk is not None else self.answered or (self.tried and not self.leased)


class StoredEvent(NamedTuple):
    """The judgment that is stored under an event id."""

    pair_pk: int
    annotator_pk: int
    outcome: str
    grade: int | None


@dataclass(frozen=True, slots=True)
class NextPair:
    """A pair to hand out."""

    pair_pk: int
    key: str | None = None  # of a repeat: the key for the browser, in place of the pair's own
    training: bool = False  # the right grade is shown after the answer


@dataclass(frozen=True, slots=True)
class RepeatTarget:
    """The pair behind the key of a repeat."""

    repeat_pk: int
    pair_pk: int
    document_pk: int
