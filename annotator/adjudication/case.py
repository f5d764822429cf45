"""A case as a lead sees it: the pair, its judgments anonymous and shuffled, what was decided and what else speaks of it.

Stands on the decision page. It holds no annotator's name and no rank, score or system, so that neither
sways the decision; and a digest of what was shown (`adjudication/seen.py`), so that a decision on something else is refused.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from annotator.adjudication.decisions import Decision
from annotator.adjudication.discussion import Turn
from annotator.adjudication.records import Answer
from annotator.domain.disputes import NOTHING, Reason, Stage
from annotator.domain.grades import Rubric
from annotator.domain.messages import Message
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
    turn: Turn | None = None


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
class Neighbour:
    """Another document of the query. `grade`: the settled one, 0-3. `near`: how alike the texts are (0-1), None below what
    is worth showing."""

    pair: str
    doc_id: str
    title: str
    grade: int | None
    status: Stage
    near: float | None


@dataclass(frozen=True, slots=True)
class Case:
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
    waiting: Reason = NOTHING
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
    neighbours: tuple[Neighbour, ...] = ()
    lacking: int = 0


@dataclass(frozen=True, slots=True)
class CaseBatch:
    """Cases that were handed out, and how many open disputes the filter lets through."""

    cases: tuple[Case, ...]
    left: int


@dataclass(frozen=True, slots=True)
class CaseOrigin:
    """Who judged a pair (letter, username, name), and who put it into the pool (system, rank, score); for leads who ask
    for it."""

    annotators: tuple[tuple[str, str, str], ...]
    systems: tuple[tuple[str, int | None, float | None], ...]


def name_answer(answer: Answer) -> str:
    """By what an answer has its letter: an expert of quality control has another than as an annotator."""
    return name_checker(answer.annotator) if answer.quality else answer.annotator


def list_letters(
    answers: Iterable[Answer], others: Iterable[str] = (), *, seed: int, pair: str
) -> dict[str, str]:
    """By name its letter, in their order: those who judged, then those who said something else."""
    return give_letters({name_answer(one) for one in answers}, others, seed=seed, pair=pair)


def hide_names(
    answers: Sequence[Answer], letters: Mapping[str, str], turns: Mapping[str, Turn]
) -> tuple[CaseJudgment, ...]:
    """The answers as a lead sees them: letters instead of names, in the letters' order. `turns`: by username."""
    by_name = {name_answer(one): one for one in answers}
    return tuple(
        CaseJudgment(
            letter, answer.outcome, answer.grade, answer.note, answer.guideline_version, answer.simulated,
            answer.quality, None if answer.quality else turns.get(answer.annotator),
        )
        for name, letter in letters.items()
        if (answer := by_name.get(name)) is not None
    )  # fmt: skip
