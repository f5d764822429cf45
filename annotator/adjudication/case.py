"""Describe one disagreement for a lead: the pair, its anonymous judgments, earlier decisions, near-duplicate documents.

A `Case` holds no annotator's name, and no rank, score or system, so that neither sways the decision. Only here do names
become letters. `Case.seen` is a digest of what was shown (`adjudication/records.py`): a decision on anything else is
refused.

Near duplicates are compared by runs of five characters, which works alike for English, Japanese, Korean and code. Each
text keeps its smallest hashes (a bottom-k sketch: Cohen and Kaplan, 2007), from which the Jaccard similarity is
estimated; it is exact where both texts have few runs. Width, case, white space and all after the first 50,000
characters are ignored.
"""

import hashlib
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from annotator.adjudication.records import (
    CaseFacts,
    Decision,
    DiscussionTurn,
    IndependentJudgment,
    JudgedNeighbour,
    PairStage,
    compute_case_version,
    list_visible,
    say_wait,
    takes_two,
)
from annotator.domain.grades import Rubric
from annotator.domain.messages import Message, say
from annotator.domain.settling import NOTHING, QueueReason, Stage
from annotator.domain.shuffling import give_letters, name_checker


@dataclass(frozen=True, slots=True)
class CaseJudgment:
    """One annotator's current judgment. `letter` (A, B, …) is a place in this case, not a person.

    `simulated`: it is nobody's. `quality`: it is quality control's: given once the pair was settled, by somebody
    who knew nothing of that. `turn`: what they said in the discussion.
    """

    letter: str
    outcome: str
    grade: int | None
    note: str | None
    guideline_version: int
    simulated: bool
    quality: bool = False
    turn: DiscussionTurn | None = None


@dataclass(frozen=True, slots=True)
class CaseProposal:
    """What a lead proposes on a pair that takes two. `by`: the lead's username."""

    by: str
    outcome: str
    grade: int | None
    rationale: str
    cause: str | None


@dataclass(frozen=True, slots=True)
class CaseImpact:
    """What the choice of the grade moves: the nDCG, recall and reciprocal rank of the system that it moves most, on the
    pair's query (0-1), and how many couples of systems can change places."""

    ndcg: float
    recall: float
    mrr: float
    flips: int


@dataclass(frozen=True, slots=True)
class CaseObjection:
    """What an annotator objects to the decision."""

    letter: str
    text: str
    objected_at: datetime


@dataclass(frozen=True, slots=True)
class CaseQuestion:
    """What an annotator asked about the pair."""

    number: int
    letter: str
    text: str
    asked_at: datetime
    answer: str | None


@dataclass(frozen=True, slots=True)
class CaseDiscussion:
    """`state`: "asked" until every annotator has spoken, then "answered"; "closed" by a lead. `waiting`: for whom, and why."""

    state: str
    asked_at: datetime
    waiting: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class NeighbourDocument:
    """Another document of the query. `grade`: the settled one, 0-3. `near`: how alike the texts are (0-1), None below what
    is worth showing."""

    pair: str
    doc_id: str
    title: str
    grade: int | None
    status: Stage
    near: float | None


@dataclass(frozen=True, slots=True)
class DisagreementView:
    """What a lead decides on. `document_text` is None when the document is known by its id only, and cut after `length` otherwise
    where that is more than is shown.

    `decisions`: oldest first, `decided_by`: the leads who made them, by username. `seen`: hand it back to `adjudicate`.
    `barred`: why the asking person may not decide this case, None when they may. `text_changed`: a judgment was made on an
    older text. `contested_grade`: what is settled, or was until the pair was reopened. `waiting`: why the pair waits for a
    lead; `distance`: of its dispute, 0-3. `held_by`: another lead who has it open. `proposals`: those that the asking person may
    see; `needs_second`: a decision takes two leads. `lacking`: how many judgments it still lacks.
    """

    pair: str
    query_id: str
    query: str
    narrative: str | None
    category: str | None
    doc_id: str
    title: str
    url: str | None
    media_type: str
    document_text: str | None
    text_changed: bool
    status: Stage
    judgments: tuple[CaseJudgment, ...]
    decisions: tuple[Decision, ...]
    rubric_version: int
    rubric: Rubric
    seen: str
    barred: str | None
    contested_grade: int | None = None
    waiting: QueueReason = NOTHING
    distance: int = 0
    decided_by: tuple[str, ...] = ()
    language: str | None = None
    length: int = 0
    sha256: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    taste: bool = False
    since: datetime | None = None
    held_by: str | None = None
    assigned_to: str | None = None
    impact: CaseImpact | None = None
    proposals: tuple[CaseProposal, ...] = ()
    needs_second: bool = False
    discussion: CaseDiscussion | None = None
    objections: tuple[CaseObjection, ...] = ()
    questions: tuple[CaseQuestion, ...] = ()
    neighbours: tuple[NeighbourDocument, ...] = ()
    lacking: int = 0


@dataclass(frozen=True, slots=True)
class CaseBatch:
    """Cases that were handed out, and how many open disputes the filter lets through."""

    cases: tuple[DisagreementView, ...]
    left: int


@dataclass(frozen=True, slots=True)
class CaseOrigin:
    """Who judged a pair (letter, username, name), and who put it into the pool (system, rank, score); for leads who ask
    for it."""

    annotators: tuple[tuple[str, str, str], ...]
    systems: tuple[tuple[str, int | None, float | None], ...]


def name_answer(answer: IndependentJudgment) -> str:
    """By what an answer has its letter: an expert of quality control has another than as an annotator."""
    return name_checker(answer.annotator) if answer.quality else answer.annotator


def list_letters(
    answers: Iterable[IndependentJudgment], others: Iterable[str] = (), *, seed: int, pair: str
) -> dict[str, str]:
    """By name its letter, in their order: those who judged, then those who said something else."""
    return give_letters({name_answer(one) for one in answers}, others, seed=seed, pair=pair)


def hide_names(
    answers: Sequence[IndependentJudgment], letters: Mapping[str, str], turns: Mapping[str, DiscussionTurn]
) -> tuple[CaseJudgment, ...]:
    """The answers as a lead sees them: letters instead of names, in the letters' order. `turns`: by username."""
    by_name = {name_answer(one): one for one in answers}
    return tuple(
        CaseJudgment(
            letter,
            answer.outcome,
            answer.grade,
            answer.note,
            answer.guideline_version,
            answer.simulated,
            answer.quality,
            None if answer.quality else turns.get(answer.annotator),
        )
        for name, letter in letters.items()
        if (answer := by_name.get(name)) is not None
    )


RUN = 5
KEPT = 512
MOST_CHARACTERS = 50_000
NEAR_FROM = 0.8
"""From here on two documents are shown as near-duplicates."""
WARN_FROM = 0.9
"""From here on another grade than the near-duplicate's is worth a warning, and stands in the trail."""
MOST_SKETCHES = 5_000
_ODD = 0x9E3779B97F4A7C15

Sketch = tuple[int, ...]


def make_sketch(text: str) -> Sketch:
    """The smallest hashes of the runs of a text, in ascending order; none of a text without words."""
    import numpy as np

    plain = " ".join(unicodedata.normalize("NFKC", text[:MOST_CHARACTERS]).casefold().split())
    if not plain:
        return ()
    if len(plain) <= RUN:
        return (int.from_bytes(hashlib.sha256(plain.encode("utf-8", "replace")).digest()[:8], "big"),)
    codes = np.frombuffer(plain.encode("utf-32-le", "replace"), dtype="<u4").astype(np.uint64)
    count = len(codes) - RUN + 1
    mixed = np.zeros(count, dtype=np.uint64)
    for place in range(RUN):
        mixed = (mixed ^ codes[place : place + count]) * np.uint64(_ODD)
        mixed ^= mixed >> np.uint64(29)
    return tuple(int(value) for value in np.unique(mixed)[:KEPT])


def compare_sketches(one: Sketch, other: Sketch) -> float:
    """The Jaccard similarity of two texts, 0 to 1; below 1 where the sketches differ."""
    if not one or not other:
        return 0.0
    if one == other:
        return 1.0
    first, second = set(one), set(other)
    size = KEPT if KEPT in (len(one), len(other)) else len(first | second)
    smallest = sorted(first | second)[:size]
    shared = sum(value in first and value in second for value in smallest)
    return min(shared / len(smallest), 0.99)


class TextSketches:
    """The sketches of the texts that were met last, by SHA-256: a text never changes under its hash."""

    def __init__(self, most: int = MOST_SKETCHES) -> None:
        self._most, self._kept, self._turn = most, OrderedDict[str, Sketch](), threading.Lock()

    def list_missing(self, hashes: Iterable[str]) -> set[str]:
        """Those of these texts that are to be read."""
        with self._turn:
            return {sha256 for sha256 in hashes if sha256 not in self._kept}

    def learn(self, texts: Mapping[str, str]) -> None:
        """Keep the sketches of these texts, by SHA-256."""
        made = {sha256: make_sketch(text) for sha256, text in texts.items()}
        with self._turn:
            self._kept.update(made)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def compare(self, one: str | None, other: str | None) -> float | None:
        """How alike two texts are; None below NEAR_FROM, and where one of them is not known."""
        if one is None or other is None:
            return None
        if one == other:
            return 1.0
        with self._turn:
            first, second = self._kept.get(one), self._kept.get(other)
        if first is None or second is None:
            return None
        found = compare_sketches(first, second)
        return round(found, 2) if found >= NEAR_FROM else None


BARRED = say("you judged this pair yourself; another lead must decide it")
MOST_NEIGHBOURS = 100


@dataclass(frozen=True, slots=True)
class CaseContext:
    """What the cases of one answer share. `reader_pk`: the lead who asks (None: the operator)."""

    reader_pk: int | None
    seed: int
    second_adjudicator: bool
    version: int
    rubric: Rubric


def describe_case(
    facts: CaseFacts, far: PairStage, neighbours: Sequence[NeighbourDocument], setting: CaseContext
) -> DisagreementView:
    """The case of one pair."""
    row = facts.row
    turns = facts.discussion.turns if facts.discussion else {}
    others = [one.by_name for one in (*facts.objections, *facts.questions)]
    letters = list_letters(facts.answers, others, seed=setting.seed, pair=row.key)
    decisions = list_decisions(facts)
    waiting = QueueReason(row.waiting)
    return DisagreementView(
        pair=row.key,
        query_id=row.query_id,
        query=row.query,
        narrative=row.narrative,
        category=row.category,
        doc_id=row.doc_id,
        title=row.title,
        url=row.url,
        media_type=row.media_type,
        document_text=row.text,
        text_changed=any(answer.document_sha256 != row.text_sha256 for answer in facts.answers),
        status=far.stage,
        judgments=hide_names(facts.answers, letters, turns),
        decisions=decisions,
        decided_by=tuple(one.by_name for one in facts.decisions),
        rubric_version=setting.version,
        rubric=setting.rubric,
        seen=digest_case(facts),
        barred=BARRED if row.judged else None,
        contested_grade=far.contested_grade,
        waiting=waiting,
        distance=row.distance,
        language=row.language,
        length=row.length or 0,
        sha256=row.text_sha256,
        metadata=facts.metadata,
        taste=bool(row.taste),
        since=read_moment(row.since),
        held_by=row.held_by if row.holder_pk != setting.reader_pk else None,
        assigned_to=row.assigned_to,
        impact=_find_impact(row),
        proposals=_list_proposals(facts, setting),
        needs_second=takes_two(setting.second_adjudicator, row.distance),
        discussion=_show_discussion(facts, letters),
        objections=tuple(
            CaseObjection(letters[one.by_name], one.text, read_moment(one.objected_at))
            for one in facts.objections
        ),
        questions=tuple(
            CaseQuestion(one.pk, letters[one.by_name], one.text, read_moment(one.asked_at), one.answer)
            for one in facts.questions
        ),
        neighbours=tuple(neighbours),
        lacking=row.lacking,
    )


def digest_case(facts: CaseFacts) -> str:
    """What is seen of the pair."""
    return compute_case_version([answer.event_id for answer in facts.answers], len(facts.decisions))


def list_decisions(facts: CaseFacts) -> tuple[Decision, ...]:
    """Every decision on the pair, the first one first."""
    return tuple(
        Decision(
            facts.row.key,
            one.revision,
            one.outcome,
            one.grade,
            one.rationale,
            one.reason,
            read_moment(one.decided_at),
            one.cause,
            bool(one.in_guideline),
            one.seconds,
        )
        for one in facts.decisions
    )


def find_neighbours(
    row: Any, known: Iterable[JudgedNeighbour], sketches: TextSketches
) -> list[NeighbourDocument]:
    """For a pair (`pk`, `query_pk`, `text_sha256`) the other judged documents of the pair's query: near-duplicates first, then those that are settled, as they come."""
    found = [
        NeighbourDocument(
            one.pair,
            one.doc_id,
            one.title,
            one.grade,
            one.stage,
            sketches.compare(row.text_sha256, one.sha256),
        )
        for one in known
        if one.query_pk == row.query_pk and one.pair_pk != row.pk
    ]
    found.sort(key=lambda one: (-(one.near or 0), one.grade is None))
    return found[:MOST_NEIGHBOURS]


def read_moment(found: Any) -> Any:
    """A time as the database gave it; None where there is none."""
    if found is None:
        return None
    time = datetime.fromisoformat(found) if isinstance(found, str) else found
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _show_discussion(facts: CaseFacts, letters: Mapping[str, str]) -> CaseDiscussion | None:
    found = facts.discussion
    if found is None:
        return None
    waiting = [say_wait(letters[name], facts.row.query_id, wait) for name, wait in found.waits.items()]
    return CaseDiscussion(found.state, found.asked_at, tuple(waiting))


def _find_impact(row: Any) -> CaseImpact | None:
    """None without runs: then there is nothing that a choice moves."""
    if row.recall_impact is None or row.mrr_impact is None:
        return None
    return CaseImpact(row.impact, row.recall_impact, row.mrr_impact, row.flips or 0)


def _list_proposals(facts: CaseFacts, setting: CaseContext) -> tuple[CaseProposal, ...]:
    by_lead = {one.lead_pk: one.decided for one in facts.proposals}
    visible = list_visible(setting.reader_pk, by_lead)
    return tuple(
        CaseProposal(one.by, one.outcome, one.grade, one.rationale, one.cause)
        for one in facts.proposals
        if one.lead_pk in visible
    )
