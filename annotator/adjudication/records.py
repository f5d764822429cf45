"""Records and shared rules of adjudication: answers, decisions, proposals, discussions, objections, policies.

Pages, files, policies and the audit log share these rules: when a rationale is required; the digest of what a lead saw,
which must come back with the decision; when a decision takes two leads; which grade a policy chooses (neighbouring
grades on one side of relevance only). With two leads, the first makes a proposal that the second decides without
seeing. Two who agree have decided; two who differ may each change to the other's grade, or a third lead decides alone.
`CaseFacts` holds names; `case.py` hides them. Annotators appear as letters (`domain/shuffling.py`), and a turn never
counts.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say
from annotator.domain.settling import Decided, QueueReason, Stage, read_decision


@dataclass(frozen=True, slots=True)
class IndependentJudgment:
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


Cause = Literal[
    "guideline_gap", "ambiguous_query", "misread_document", "missing_knowledge", "slip", "borderline"
]
CAUSES: tuple[str, ...] = get_args(Cause)
"""Why annotators differed; the codes of the decision page, of files and of exports."""
CAUSE_NAMES: Mapping[str, Message] = {
    "guideline_gap": say("guideline gap"),
    "ambiguous_query": say("ambiguous query"),
    "misread_document": say("misread document"),
    "missing_knowledge": say("missing knowledge"),
    "slip": say("slip"),
    "borderline": say("genuinely borderline"),
}
Outcome = Literal["graded", "unrateable", "withdrawn"]
WORDS_FROM = 2
"""From this distance on a decision says why."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A lead's decision on a pair. `revision` counts from 1; the highest holds, unless it withdrew what was decided.
    `grade`: 0-3, None otherwise. `cause`: one of CAUSES; `reason`: a reason in other words, from a file; `in_guideline`:
    the guideline should say so; `seconds`: how long the pair was open before the lead (s), where that is known."""

    pair: str
    revision: int
    outcome: Outcome
    grade: int | None
    rationale: str
    reason: str | None
    decided_at: datetime
    cause: str | None = None
    in_guideline: bool = False
    seconds: float | None = None

    @property
    def decided(self) -> Decided | None:
        """What the pair is settled as; None where the decision withdrew another."""
        return read_decision(self.outcome, self.grade)


def owes_words(decided: Decided, given: Sequence[Decided], distance: int) -> bool:
    """Whether a decision needs a rationale: where the answers lie far apart, or the lead agrees with none of them."""
    return distance >= WORDS_FROM or decided not in given


def compute_case_version(event_ids: Sequence[str], revision: int) -> str:
    """What a lead saw: the revision (0: undecided) and the current judgments (in any order), as "2-…" with 32 hex digits."""
    named = json.dumps(sorted(event_ids))
    return f"{revision}-{hashlib.sha256(named.encode()).hexdigest()[:32]}"


def read_revision(seen: str) -> int | None:
    """The revision that a digest was made of; None where it is none of ours."""
    number, dash, _ = seen.partition("-")
    return int(number) if dash and number.isascii() and number.isdigit() and len(number) < 10 else None


TWO_FROM = 3
"""From this distance on a decision takes two leads, where the dataset asks for that."""


def takes_two(second_adjudicator: bool, distance: int) -> bool:
    """Whether a decision on a dispute takes two leads. `second_adjudicator`: whether the dataset asks for them."""
    return second_adjudicator and distance >= TWO_FROM


def is_decision(
    decided: Decided, lead_pk: int, proposals: Mapping[int, Decided], held: Decided | None
) -> bool:
    """Whether what this lead says on a pair that takes two decides it; a proposal otherwise. `proposals`: what leads propose,
    by lead; `held`: what is decided now: to say the same again, in other words, takes nobody else."""
    others = {outcome for lead, outcome in proposals.items() if lead != lead_pk}
    return decided == held or decided in others or len(others) > 1


def list_visible(lead_pk: int | None, proposals: Mapping[int, Decided]) -> Set[int]:
    """Whose proposals a lead may see: their own; others' once they have given one, or once two differ."""
    if lead_pk in proposals or len(set(proposals.values())) > 1:
        return set(proposals)
    return set()


State = Literal["asked", "answered", "closed"]
Wait = Literal["own_work", "answer", "gone"]
"""Why an annotator has not spoken: has open work on the query, has not answered yet, can no longer be asked."""


@dataclass(frozen=True, slots=True)
class DiscussionTurn:
    """What an annotator said after having seen the others' notes: `revised`, or stood by the judgment."""

    outcome: str
    grade: int | None
    note: str | None
    revised: bool
    said_at: datetime


@dataclass(frozen=True, slots=True)
class PairDiscussion:
    """How far a pair's discussion is. `by_itself`: the dataset's setting asked for it, no lead; `turns`, `waits`: by the
    username of those who judged the pair."""

    state: State
    asked_at: datetime
    by_itself: bool
    turns: Mapping[str, DiscussionTurn]
    waits: Mapping[str, Wait]


@dataclass(frozen=True, slots=True)
class DiscussionJudgment:
    """What one annotator judged, under a letter, and their turn where it may be seen."""

    letter: str
    outcome: str
    grade: int | None
    note: str | None
    turn: DiscussionTurn | None = None


@dataclass(frozen=True, slots=True)
class OwnDiscussion:
    """A discussion as one of its annotators sees it. `stage`: own_work (something of the query is still open to them),
    waiting (not looked at yet), open (looked at, nothing said), said. `others`: empty before they have looked; `seen`: to be
    handed back with the turn. `text_length`: of the document, 0 without its text."""

    pair: str
    query_id: str
    query: str
    narrative: str | None
    doc_id: str
    title: str
    text_length: int
    stage: Literal["own_work", "waiting", "open", "said"]
    own: DiscussionJudgment
    others: tuple[DiscussionJudgment, ...] = ()
    seen: str = ""


@dataclass(frozen=True, slots=True)
class OwnObjection:
    """An annotator's objection; `answered`: a lead has decided, or taken the decision back, since."""

    text: str
    objected_at: datetime
    answered: bool


@dataclass(frozen=True, slots=True)
class OwnDecision:
    """What a lead decided on a pair that the annotator judged, beside their own answer. `outcome`: graded, unrateable, or
    withdrawn where the decision they objected to was taken back. `guideline_since`: the version of the guideline that says
    so, None where none was made from it. `new`: they have not been shown it."""

    pair: str
    query_id: str
    query: str
    doc_id: str
    title: str
    own_outcome: str
    own_grade: int | None
    outcome: str
    grade: int | None
    rationale: str
    reason: str | None
    cause: str | None
    revision: int
    decided_at: datetime
    guideline_since: int | None = None
    objection: OwnObjection | None = None
    new: bool = False

    @property
    def differs(self) -> bool:
        """Whether the lead decided otherwise than the annotator had judged."""
        decided = (self.outcome, self.grade)
        return self.outcome != "withdrawn" and decided != (self.own_outcome, self.own_grade)


@dataclass(frozen=True, slots=True)
class OwnDecisions:
    """A page of decisions on one's own pairs, the latest first, of `total`; `differing` of all decided otherwise."""

    total: int
    differing: int
    decisions: tuple[OwnDecision, ...]


def say_wait(letter: str, query_id: str, wait: Wait) -> Message:
    """Why the annotator of this letter has not spoken yet, for a lead."""
    if wait == "own_work":
        return say("waits until {letter} has finished query {query_id}", letter=letter, query_id=query_id)
    if wait == "gone":
        return say("{letter} can no longer be asked", letter=letter)
    return say("waits for {letter}", letter=letter)


@dataclass(frozen=True, slots=True)
class DecisionProposal:
    """What one lead proposes on a pair that takes two (`records.py`). `by`: their username."""

    lead_pk: int
    by: str
    outcome: str
    grade: int | None
    rationale: str
    cause: str | None
    in_guideline: bool

    @property
    def decided(self) -> Decided:
        """What the pair would be settled as."""
        return "unrateable" if self.grade is None else self.grade


@dataclass(frozen=True, slots=True)
class JudgedNeighbour:
    """A judged document of a query. `grade`: the settled one, where it may be told."""

    pair_pk: int
    pair: str
    query_pk: int
    document_pk: int
    doc_id: str
    title: str
    sha256: str | None
    stage: Stage
    grade: int | None


@dataclass(frozen=True, slots=True)
class PairStage:
    """How far a pair has come. `contested_grade`: what is settled, or was until the pair was reopened."""

    stage: Stage
    grade: int | None
    contested_grade: int | None


@dataclass(slots=True)
class CaseFacts:
    """What is known of one pair. `row`, and what the lists hold: columns of `adjudication/case_sql.py`, in their order of time."""

    row: Any
    metadata: Mapping[str, str]
    answers: list[IndependentJudgment]
    proposals: tuple[DecisionProposal, ...]
    discussion: PairDiscussion | None = None
    decisions: list[Any] = field(default_factory=list)
    objections: list[Any] = field(default_factory=list)
    questions: list[Any] = field(default_factory=list)


Policy = Literal["median", "lower", "higher"]
POLICIES: tuple[str, ...] = get_args(Policy)
POLICY_NAMES: Mapping[str, Message] = {
    "median": say("the median (of an even number of grades, the lower of the middle two)"),
    "lower": say("the lower grade"),
    "higher": say("the higher grade"),
}


@dataclass(frozen=True, slots=True)
class PolicyCandidate:
    """An open dispute. `grades`: of its independent judgments; `seen`: its digest; `impact`: None without runs; the rest: what
    keeps this lead, or a policy, from deciding it."""

    pair_pk: int
    key: str
    waiting: QueueReason
    taste: bool
    grades: Sequence[int]
    seen: str
    impact: float | None
    flips: int
    second: bool = False
    judged: bool = False
    held: bool = False
    assigned: bool = False
    discussed: bool = False


def check_policy(policy: str) -> str:
    """The policy itself; ValidationError for one that is not among POLICIES."""
    if policy not in POLICIES:
        raise ValidationError(
            say(
                "policy: expected one of {policies}, found {found!r}",
                policies=", ".join(POLICIES),
                found=policy,
            )
        )
    return policy


def choose_grade(policy: str, grades: Sequence[int]) -> int:
    """The grade at which the policy settles a pair that was given these grades, in any order, at least one. The median of
    an even number is the lower of the middle two: a grade that somebody gave, and in doubt the more careful one."""
    ordered = sorted(grades)
    return ordered[{"lower": 0, "higher": -1}.get(policy, (len(ordered) - 1) // 2)]
