"""A case as JSON for the decision panel: what the lead may see of the pair, in the reader's language where it is a sentence."""

from datetime import UTC, datetime
from typing import Any

from annotator.adjudication.decisions import Decision
from annotator.adjudication.queue_records import list_words
from annotator.adjudication.service import Case, CaseBatch, CaseJudgment, CaseOrigin
from annotator.web.kit.messages import tr


def show_batch(batch: CaseBatch, username: str) -> dict[str, Any]:
    """The cases that were handed out, and how many there are left. `username`: whom they are handed to."""
    return {"cases": [show_case(case, username) for case in batch.cases], "left": batch.left}


def show_case(case: Case, username: str) -> dict[str, Any]:
    """One case."""
    proposals = [
        {
            "outcome": one.outcome, "grade": one.grade, "rationale": one.rationale, "cause": one.cause,
            "by": one.by, "yours": one.by == username,
        }
        for one in case.proposals
    ]  # fmt: skip
    return {
        "pair": case.pair,
        "seen": case.seen,
        "status": case.status,
        "waiting": list_words(case.waiting),
        "distance": case.distance,
        "taste": case.taste,
        "since": _time(case.since),
        "held_by": case.held_by,
        "assigned_to": case.assigned_to,
        "barred": None if case.barred is None else tr(case.barred),
        "lacking": case.lacking,
        "contested_grade": case.contested_grade,
        "impact": None if case.impact is None else {
            "ndcg": case.impact.ndcg, "recall": case.impact.recall, "mrr": case.impact.mrr, "flips": case.impact.flips,
        },
        "query": {
            "query_id": case.query_id, "text": case.query, "narrative": case.narrative, "language": case.language,
            "category": case.category,
        },
        "document": {
            "doc_id": case.doc_id, "title": case.title, "url": case.url, "media_type": case.media_type,
            "text": case.document_text, "length": case.length, "sha256": case.sha256, "metadata": dict(case.metadata),
        },
        "text_changed": case.text_changed,
        "guideline_version": case.rubric_version,
        "judgments": [_show_judgment(one) for one in case.judgments],
        "decisions": [
            {**show_decision(one), "by": by, "yours": by == username}
            for one, by in zip(case.decisions, case.decided_by, strict=True)
        ],
        "proposal": next((one for one in proposals if not one["yours"]), proposals[0] if proposals else None),
        "proposals": proposals,
        "needs_second": case.needs_second,
        "discussion": None if case.discussion is None else {
            "state": case.discussion.state, "asked_at": _time(case.discussion.asked_at),
            "waiting": [tr(one) for one in case.discussion.waiting],
        },
        **_show_voices(case),
    }  # fmt: skip


def show_decision(decision: Decision) -> dict[str, Any]:
    """One decision, without who made it."""
    return {
        "revision": decision.revision, "outcome": decision.outcome, "grade": decision.grade,
        "rationale": decision.rationale, "reason": decision.reason, "cause": decision.cause,
        "in_guideline": decision.in_guideline, "decided_at": _time(decision.decided_at),
    }  # fmt: skip


def show_origin(origin: CaseOrigin) -> dict[str, Any]:
    """Who judged the pair, and who put it into the pool."""
    return {
        "annotators": [
            {"letter": letter, "username": username, "name": name}
            for letter, username, name in origin.annotators
        ],
        "systems": [
            {"system": system, "rank": rank, "score": score} for system, rank, score in origin.systems
        ],
    }


def _show_voices(case: Case) -> dict[str, Any]:
    """What else speaks of the pair."""
    return {
        "objections": [
            {"letter": one.letter, "text": one.text, "objected_at": _time(one.objected_at)} for one in case.objections
        ],
        "questions": [
            {
                "number": one.number, "letter": one.letter, "text": one.text, "asked_at": _time(one.asked_at),
                "answer": one.answer,
            }
            for one in case.questions
        ],
        "neighbours": [
            {
                "pair": one.pair, "doc_id": one.doc_id, "title": one.title, "grade": one.grade, "status": one.status,
                "near": one.near,
            }
            for one in case.neighbours
        ],
    }  # fmt: skip


def _show_judgment(judgment: CaseJudgment) -> dict[str, Any]:
    turn = judgment.turn
    return {
        "letter": judgment.letter, "outcome": judgment.outcome, "grade": judgment.grade, "note": judgment.note,
        "guideline_version": judgment.guideline_version, "simulated": judgment.simulated, "quality": judgment.quality,
        "turn": None if turn is None else {
            "outcome": turn.outcome, "grade": turn.grade, "note": turn.note, "revised": turn.revised,
        },
    }  # fmt: skip


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat()
