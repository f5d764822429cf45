"""A case as a lead sees it: the pair, its judgments anonymous and shuffled, and the decisions so far.

Stands on the adjudication page. It holds nobody's name and no rank, score or system, so that neither
sways the decision; and a digest of what was shown (`domain/seen.py`), so that a decision on something else is refused.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from annotator.domain.answers import Answer
from annotator.domain.decisions import Decision
from annotator.domain.disputes import NOTHING, Reason
from annotator.domain.grades import Rubric
from annotator.domain.settling import PairStatus


@dataclass(frozen=True, slots=True)
class CaseJudgment:
    """One annotator's current judgment. `letter` (A, B, …) is a place in this case, not a person.

    `simulated`: it is nobody's. `quality`: it is quality control's: given once the pair was settled, by somebody
    who knew nothing of that.
    """

    letter: str
    outcome: str
    grade: int | None
    note: str | None
    guideline_version: int
    simulated: bool
    quality: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """What a lead decides on. `document_text` is None when the document is known by its id only.

    `decisions`: oldest first. `seen`: hand it back to `adjudicate`. `barred`: why the asking person may
    not decide this case, None when they may. `text_changed`: a judgment was made on an older text.
    `contested_grade`: what is settled, or was until quality control reopened the pair (`status` "reopened").
    `waiting`: why the pair waits for a lead; `distance`: of its dispute, 0-3.
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
    status: PairStatus
    judgments: tuple[CaseJudgment, ...]
    decisions: tuple[Decision, ...]
    rubric_version: int
    rubric: Rubric
    seen: str
    barred: str | None
    contested_grade: int | None = None
    waiting: Reason = NOTHING
    distance: int = 0


def hide_names(answers: Iterable[Answer], *, seed: int, pair: str) -> tuple[CaseJudgment, ...]:
    """The answers as a lead sees them: letters instead of names, in the order of `shuffle`."""
    by_name = {f"quality {one.annotator}" if one.quality else one.annotator: one for one in answers}
    return tuple(
        CaseJudgment(
            name_letter(index), answer.outcome, answer.grade, answer.note,
            answer.guideline_version, answer.simulated, answer.quality,
        )
        for index, answer in enumerate(by_name[name] for name in shuffle(by_name, seed=seed, pair=pair))
    )  # fmt: skip


def shuffle(names: Iterable[str], *, seed: int, pair: str) -> list[str]:
    """The names in an order that stays the same for a pair, yet gives nobody a fixed place among pairs."""

    def place(name: str) -> bytes:
        return hashlib.sha256(json.dumps([seed, pair, name]).encode()).digest()

    return sorted(names, key=place)


def name_letter(index: int) -> str:
    """A, B, … Z, AA, AB, …: the index (from 0) as a letter."""
    rest, last = divmod(index, 26)
    return (name_letter(rest - 1) if rest else "") + chr(ord("A") + last)
