"""What a lead does about disputes: look at one, decide it. Many at once: `bulk/`.

A decision is append-only: deciding again adds a revision. Refuses whoever is not a lead, a lead who judged the pair,
a blank rationale, a pair that nobody disagrees on, and a decision on judgments that have changed since they were seen.
A pair that quality control reopened is decided in the same way, and its expert is one of those who judged it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.accounts.service import require_person, require_role
from annotator.adjudication.case import Case, hide_names
from annotator.datasets.service import to_rubric
from annotator.domain.answers import Answer
from annotator.domain.decisions import CAUSES, Decision, owes_words
from annotator.domain.disputes import Reason
from annotator.domain.errors import (
    ConflictError,
    NotAllowed,
    NotFound,
    StateError,
    ValidationError,
)
from annotator.domain.grades import check_grade
from annotator.domain.messages import Message, say
from annotator.domain.people import Actor
from annotator.domain.seen import digest_seen, read_revision
from annotator.domain.settling import Decided
from annotator.domain.texts import check_text
from annotator.storage.cases import (
    add_decisions,
    find_text,
    list_answers,
    list_decisions,
    list_judged_by,
)
from annotator.storage.database import Database, lock_dataset
from annotator.storage.disclosing import note_seen
from annotator.storage.dispute_tables import AdjudicationRow
from annotator.storage.disputes import list_disputes
from annotator.storage.find import find_dataset, find_rubric, key_of
from annotator.storage.pairs import PairState, list_pair_states
from annotator.storage.tables import DocumentRow, PairRow, QueryRow

BARRED = say("you judged this pair yourself; another lead must decide it")


def show_case(
    database: Database, actor: Actor, dataset: str, pair: str, *, seed: int | None = None, now: datetime
) -> Case:
    """One pair as a lead decides on it: anonymous, shuffled by `seed` (None: the dataset's own) and pair.

    The same on every look, until a judgment or a decision changes. Who has looked can no longer judge it. For leads.
    """
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        state = _find_state(session, key_of(row.pk), pair)
        dispute = list_disputes(session, [state.pair_pk]).get(state.pair_pk)
        query = session.get_one(QueryRow, state.query_pk)
        document = session.get_one(DocumentRow, state.document_pk)
        answers = list_answers(session, [state.pair_pk]).get(state.pair_pk, [])
        decisions = _to_decisions(state, list_decisions(session, state.pair_pk))
        rubric = find_rubric(session, key_of(row.pk))
        case = Case(
            pair=state.key,
            query_id=state.query_id,
            query=query.text,
            narrative=query.narrative,
            category=query.category,
            doc_id=state.doc_id,
            title=document.title,
            url=document.url,
            media_type=document.media_type,
            document_text=find_text(session, document),
            text_changed=any(answer.document_sha256 != document.text_sha256 for answer in answers),
            status=state.settlement.status,
            judgments=hide_names(answers, seed=row.seed if seed is None else seed, pair=state.key),
            decisions=decisions,
            rubric_version=rubric.version,
            rubric=to_rubric(rubric),
            seen=_digest(answers, decisions),
            barred=BARRED if list_judged_by(session, actor.person_id, [state.pair_pk]) else None,
            contested_grade=state.contested_grade,
            waiting=Reason(dispute.waiting) if dispute else Reason(0),
            distance=dispute.distance if dispute else 0,
        )
    note_seen(database, state.pair_pk, actor.person_id, now=now)
    return case


def adjudicate(
    database: Database,
    actor: Actor,
    dataset: str,
    pair: str,
    *,
    grade: Decided,
    rationale: str,
    seen: str,
    now: datetime,
    reason: str | None = None,
    cause: str | None = None,
    in_guideline: bool = False,
    seconds: float | None = None,
) -> Decision:
    """Settle a dispute, or decide it anew: append a revision and return it. `grade`: 0-3, or "unrateable".

    `seen` is the case's digest. ConflictError, saying what changed, when the judgments or the decision changed since; of two
    leads who decide at once, one gets it. The same decision sent twice is one. NotAllowed for anybody but a lead who did not
    judge the pair; StateError when nothing is disputed; ValidationError for the grade, the cause or the texts, and where
    words are owed (`domain/decisions.py`). `seconds`: how long the pair was open before the lead.
    """
    lead_pk = require_person(actor)
    outcome, number = ("unrateable", None) if grade == "unrateable" else ("graded", check_grade(grade))
    if cause is not None and cause not in CAUSES:
        raise ValidationError(f"cause: expected one of {', '.join(CAUSES)}, found {cause!r}")
    rationale = check_text(say("rationale"), rationale, empty=None)
    reason = check_text(say("reason"), reason or "", empty=None) or None
    content = (lead_pk, outcome, number, rationale, reason, cause, in_guideline)
    with database.write() as session:
        dataset_pk = _lock_for_lead(session, actor, dataset)
        state = _find_state(session, dataset_pk, pair)
        if list_judged_by(session, lead_pk, [state.pair_pk]):
            raise NotAllowed(BARRED)
        rows = list_decisions(session, state.pair_pk)
        decisions = _to_decisions(state, rows)
        answers = list_answers(session, [state.pair_pk]).get(state.pair_pk, [])
        if _digest(answers, decisions) != seen:
            if rows and _digest(answers, decisions[:-1]) == seen and _content(rows[-1]) == content:
                return decisions[-1]
            raise ConflictError(_say_changed(seen, decisions))
        dispute = list_disputes(session, [state.pair_pk]).get(state.pair_pk)
        if dispute is None:
            raise StateError(say("the judgments of this pair do not differ, so there is nothing to decide"))
        if not rationale and owes_words(grade, _list_given(answers), dispute.distance):
            raise ValidationError(
                say(
                    "a decision says why where the grades are two or more apart, or where nobody gave the one you choose"
                )
            )
        made = Decision(
            state.key, len(rows) + 1, "unrateable" if number is None else "graded", number, rationale, reason, now,
            cause, in_guideline, seconds,
        )  # fmt: skip
        _add(session, dataset_pk, lead_pk, [(state.pair_pk, made)])
        return made


def _lock_for_lead(session: Session, actor: Actor, dataset: str) -> int:
    dataset_pk = key_of(find_dataset(session, dataset).pk)
    require_role(session, actor, dataset_pk, "lead")
    lock_dataset(session, dataset_pk)
    return dataset_pk


def _find_state(session: Session, dataset_pk: int, pair: str) -> PairState:
    of_dataset = (col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None))
    pk = session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == pair, *of_dataset))
    if pk is None:
        raise NotFound(say("no pair {pair!r} in this dataset", pair=pair))
    return list_pair_states(session, dataset_pk, [pk])[0]


def _to_decisions(state: PairState, rows: Sequence[AdjudicationRow]) -> tuple[Decision, ...]:
    return tuple(_decision(state.key, row) for row in rows)


def _decision(pair: str, row: Any) -> Decision:
    return Decision(
        pair, row.revision, row.outcome, row.grade, row.rationale, row.reason, row.decided_at, row.cause,
        row.in_guideline, row.seconds,
    )  # fmt: skip


def _digest(answers: Sequence[Answer], decisions: Sequence[Decision]) -> str:
    return digest_seen([answer.event_id for answer in answers], len(decisions))


def _list_given(answers: Sequence[Answer]) -> list[Decided]:
    return ["unrateable" if answer.grade is None else answer.grade for answer in answers]


def _say_changed(seen: str, decisions: Sequence[Decision]) -> Message:
    """What has changed since this was seen: somebody decided, or else a judgment came or was revised."""
    if not decisions or read_revision(seen) == len(decisions):
        return say("a judgment of this pair came or was changed meanwhile; look at it again")
    last = decisions[-1]
    if last.outcome == "withdrawn":
        return say("a lead took the decision on this pair back meanwhile; look at it again")
    if last.grade is None:
        return say("another lead decided meanwhile that this pair cannot be rated; look at it again")
    return say("another lead decided this pair meanwhile, at {grade}; look at it again", grade=last.grade)


def _content(row: AdjudicationRow) -> tuple[Any, ...]:
    return row.lead_pk, row.outcome, row.grade, row.rationale, row.reason, row.cause, row.in_guideline


def _add(session: Session, dataset_pk: int, lead_pk: int, made: Sequence[tuple[int, Decision]]) -> None:
    rubric_pk = key_of(find_rubric(session, dataset_pk).pk)
    rows = [
        {
            "pair_pk": pair_pk, "lead_pk": lead_pk, "rubric_pk": rubric_pk,
            "revision": decision.revision, "outcome": decision.outcome, "grade": decision.grade,
            "rationale": decision.rationale, "reason": decision.reason, "decided_at": decision.decided_at,
            "cause": decision.cause, "in_guideline": decision.in_guideline, "seconds": decision.seconds,
        }
        for pair_pk, decision in made
    ]  # fmt: skip
    if rows:
        add_decisions(session, dataset_pk, rows)
