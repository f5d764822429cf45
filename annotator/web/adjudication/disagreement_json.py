"""Write disagreements, decisions and histories as the JSON that the decision panel reads.

The panel and its addresses call a disagreement a "case", and an undisputed pair "not_disputed". Only this
file and `web/adjudication/api.py` use these words. The JSON has only what the lead may see, which is all that
a `DisagreementView` has. Its sentences are in the reader's language.
"""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from annotator.adjudication.disagreement_records import (
    AnonymousJudgment,
    DisagreementBatch,
    DisagreementStatus,
    DisagreementView,
    DiscussionProgress,
    PairOrigin,
)
from annotator.adjudication.history.history import HistoryEntry
from annotator.adjudication.queue.queue_records import list_words
from annotator.adjudication.records import Decision, DecisionProposal
from annotator.web.kit.messages import tr


def write_batch(batch: DisagreementBatch, username: str) -> dict[str, Any]:
    """Return disagreements handed out to the lead `username`, and how many are left."""
    return {
        "cases": [write_disagreement(view, username) for view in batch.disagreements],
        "left": batch.left,
    }


def write_disagreement(view: DisagreementView, username: str) -> dict[str, Any]:
    proposals = [_write_proposal(proposal, username) for proposal in view.proposals]
    of_others = [proposal for proposal in proposals if not proposal["yours"]]
    return {
        "pair": view.pair,
        "seen": view.seen,
        **_write_status(view.status),
        "status": view.progress.stage,
        "contested_grade": view.progress.contested_grade,
        "barred": None if view.barred is None else tr(view.barred),
        "query": asdict(view.query),
        "document": asdict(view.document),
        "text_changed": view.text_changed,
        "guideline_version": view.guideline_version,
        "judgments": [_write_judgment(judgment) for judgment in view.judgments],
        "decisions": [_write_decision_with_lead(decision, username) for decision in view.decisions],
        "proposal": next(iter([*of_others, *proposals]), None),
        "proposals": proposals,
        "needs_second": view.needs_two_leads,
        "discussion": None if view.discussion is None else _write_discussion(view.discussion),
        **_write_remarks(view),
    }


def write_decision(decision: Decision) -> dict[str, Any]:
    """Return one decision, without the lead who made it."""
    return {
        "revision": decision.revision,
        "outcome": decision.outcome,
        "grade": decision.grade,
        "rationale": decision.rationale,
        "reason": decision.reason,
        "cause": decision.cause,
        "in_guideline": decision.in_guideline,
        "decided_at": _write_time(decision.decided_at),
    }


def write_origin(origin: PairOrigin) -> dict[str, Any]:
    """Return who judged a pair, and which systems put it into the pool."""
    return {
        "annotators": [judge._asdict() for judge in origin.annotators],
        "systems": [system._asdict() for system in origin.systems],
    }


def write_history(entries: Iterable[HistoryEntry]) -> dict[str, Any]:
    return {
        "events": [
            {
                "at": _write_time(entry.at),
                "who": tr(entry.who),
                "action": entry.action,
                "said": tr(entry.said),
            }
            for entry in entries
        ]
    }


def _write_status(status: DisagreementStatus) -> dict[str, Any]:
    return {
        "waiting": list_words(status.waiting),
        "distance": status.distance,
        "taste": status.taste,
        "since": None if status.since is None else _write_time(status.since),
        "held_by": status.held_by,
        "held_by_name": status.holder_name or status.held_by,
        "assigned_to": status.assigned_to,
        "assigned_to_name": status.assigned_name or status.assigned_to,
        "lacking": status.lacking,
        "impact": None if status.impact is None else status.impact._asdict(),
    }


def _write_judgment(judgment: AnonymousJudgment) -> dict[str, Any]:
    written = asdict(judgment)
    if judgment.turn is not None:
        del written["turn"]["said_at"]
    return written


def _write_decision_with_lead(decision: Decision, username: str) -> dict[str, Any]:
    return {
        **write_decision(decision),
        "by": decision.lead_name or decision.lead,
        "yours": decision.lead == username,
    }


def _write_proposal(proposal: DecisionProposal, username: str) -> dict[str, Any]:
    return {
        "outcome": proposal.outcome,
        "grade": proposal.grade,
        "rationale": proposal.rationale,
        "cause": proposal.cause,
        "by": proposal.lead_name or proposal.lead,
        "yours": proposal.lead == username,
    }


def _write_discussion(discussion: DiscussionProgress) -> dict[str, Any]:
    return {
        "state": discussion.state,
        "asked_at": _write_time(discussion.asked_at),
        "waiting": [tr(sentence) for sentence in discussion.waiting],
    }


def _write_remarks(view: DisagreementView) -> dict[str, Any]:
    return {
        "objections": [
            {**asdict(objection), "objected_at": _write_time(objection.objected_at)}
            for objection in view.objections
        ],
        "questions": [
            {**asdict(question), "asked_at": _write_time(question.asked_at)} for question in view.questions
        ],
        "neighbours": [
            {
                "pair": neighbour.pair,
                "doc_id": neighbour.doc_id,
                "title": neighbour.title,
                "grade": neighbour.grade,
                "status": neighbour.stage,
                "near": neighbour.near,
            }
            for neighbour in view.neighbours
        ],
    }


def _write_time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()
