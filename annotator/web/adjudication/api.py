"""REST routes of the decision panel: disagreements out as JSON, decisions in.

The session cookie alone identifies the sender. Requests from other origins, of another content type, or of
too many bytes are refused. A decision is answered after its transaction is committed. If the pair has changed
meanwhile, the decision is refused and the answer has the pair in its present state.

The panel and its addresses call a disagreement a "case", and an undisputed pair "not_disputed"; only this file uses these
words. The JSON has only what the lead may see, which is all that a `DisagreementView` has.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from math import ceil
from typing import Any, Literal

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator.adjudication.disagreement_records import (
    AnonymousJudgment,
    DisagreementBatch,
    DisagreementStatus,
    DisagreementView,
    DiscussionProgress,
    PairOrigin,
)
from annotator.adjudication.discussion.discussion_service import ask_to_discuss, close_discussion
from annotator.adjudication.history.history import HistoryEntry
from annotator.adjudication.history.history_service import read_pair_history
from annotator.adjudication.queue.queue_records import list_words
from annotator.adjudication.records import Decision, DecisionProposal, JudgedByLead, RationaleRequired
from annotator.adjudication.service import (
    adjudicate,
    assign_disagreement,
    hand_out_disagreements,
    let_go_disagreements,
    list_adjudicators,
    put_off_disagreement,
    show_disagreement,
    show_origin,
)
from annotator.domain.errors import (
    AnnotatorError,
    ConflictError,
    DatabaseUnavailable,
    StateError,
    TooManyRequests,
    ValidationError,
)
from annotator.domain.people import Actor
from annotator.domain.settling import Decided
from annotator.domain.texts import holds_no_text
from annotator.labeling.questions_service import answer_question
from annotator.storage.database import Database
from annotator.web.adjudication.queue_url import NAMES, read_address
from annotator.web.kit.messages import show_refusal, tr
from annotator.web.server.budgets import keep_notes, measure_text
from annotator.web.server.refusals import find_status, hide_dataset
from annotator.web.session import (
    read_json_object,
    require_same_origin,
    require_signed_in,
    require_text,
    require_words,
)

MOST_HAVE, LONGEST_TAB, MOST_WANT = 200, 64, 10
KEPT_TEXTS = ("rationale", "answer")  # of as many bytes as a person may send: `web/server/budgets.py`
Values = Mapping[str, Any]
Action = Callable[[Actor, Values], Any]


def routes(database: Database) -> list[Route]:
    posts: dict[str, Action] = {
        "/api/decisions": lambda actor, values: _decide(database, actor, values),
        "/api/cases/later": lambda actor, values: put_off_disagreement(
            database, actor, *_read_pair(values), now=_now()
        ),
        "/api/cases/assign": lambda actor, values: assign_disagreement(
            database, actor, *_read_pair(values), to=_read_username(values.get("to")), now=_now()
        ),
        "/api/cases/let-go": lambda actor, values: let_go_disagreements(
            database,
            actor,
            _read_text(values, "dataset"),
            _read_keys(values, "pairs"),
            tab=_read_tab(values),
            now=_now(),
        ),
        "/api/cases/discuss": lambda actor, values: (
            close_discussion if _read_flag(values, "close") else ask_to_discuss
        )(database, actor, *_read_pair(values), now=_now()),
        "/api/cases/answer": lambda actor, values: _answer(database, actor, values),
    }
    gets: dict[str, Action] = {
        "/api/cases": lambda actor, values: _hand_out(database, actor, values),
        "/api/cases/origin": lambda actor, values: write_origin(
            show_origin(database, actor, *_read_pair(values), now=_now())
        ),
        "/api/cases/trail": lambda actor, values: write_history(
            read_pair_history(database, actor, *_read_pair(values), now=_now())
        ),
        "/api/cases/leads": lambda actor, values: {
            "leads": [
                {"username": lead.username, "name": lead.name or lead.username}
                for lead in list_adjudicators(database, actor, _read_text(values, "dataset"), now=_now())
            ]
        },
    }
    return [
        *(Route(path, _post(action), methods=["POST"]) for path, action in posts.items()),
        *(Route(path, _get(action), methods=["GET"]) for path, action in gets.items()),
    ]


def _post(action: Action) -> Callable[[Request], Any]:
    async def post(request: Request) -> Response:
        try:
            require_same_origin(request)
            values = await read_json_object(request)
            with keep_notes(request, sum(measure_text(values.get(name)) for name in KEPT_TEXTS)):
                answer = await run_in_threadpool(action, require_signed_in(request).actor, values)
        except AnnotatorError as error:
            return _refuse(hide_dataset(request, error))
        return answer if isinstance(answer, Response) else JSONResponse(answer or {"ok": True})

    return post


def _get(action: Action) -> Callable[[Request], Any]:
    async def get(request: Request) -> Response:
        try:
            require_same_origin(request)
            values = dict(request.query_params)
            return JSONResponse(await run_in_threadpool(action, require_signed_in(request).actor, values))
        except AnnotatorError as error:
            return _refuse(hide_dataset(request, error))

    return get


def _hand_out(database: Database, actor: Actor, values: Values) -> dict[str, Any]:
    address, have = read_address(_read_address_words(values)), values.get("have", "")
    batch = hand_out_disagreements(
        database,
        actor,
        _read_text(values, "dataset"),
        address.wanted,
        address.sort,
        pair=_read_text(values, "pair") if "pair" in values else None,
        have=_check_keys("have", [key for key in have.split(",") if key]),
        want=_read_want(values.get("want", "1")),
        tab=_read_tab(values),
        now=_now(),
    )
    return write_batch(batch, actor.username)


def _decide(database: Database, actor: Actor, values: Values) -> Response | dict[str, Any]:
    """Store the decision, and return it with the next disagreements."""
    dataset, pair = _read_pair(values)
    if values.get("lead", actor.username) != actor.username:
        refusal = tr("Another person has signed in with this browser, so nothing was saved. Reload the page.")
        return JSONResponse({"error": refusal, "code": "other_person"}, 409)
    queue_filter = values.get("filter", {})
    if not isinstance(queue_filter, dict):
        raise ValidationError(f"filter: expected an object, found {queue_filter!r:.80}")
    address = read_address(_read_address_words(queue_filter))
    have, want, tab = _read_keys(values, "have"), _read_want(values.get("want", 0)), _read_tab(values)
    try:
        decision = adjudicate(
            database,
            actor,
            dataset,
            pair,
            grade=_read_decided(values.get("decided")),
            rationale=require_words(dict(values), "rationale"),
            seen=_read_text(values, "seen"),
            cause=None if values.get("cause") is None else _read_text(values, "cause"),
            in_guideline=_read_flag(values, "in_guideline"),
            seconds=_read_seconds(values.get("seconds")),
            now=_now(),
        )
    except ConflictError as error:
        view = show_disagreement(database, actor, dataset, pair, now=_now())
        disagreement = write_disagreement(view, actor.username)
        return JSONResponse({"error": show_refusal(error), "code": "changed", "case": disagreement}, 409)
    batch = hand_out_disagreements(
        database, actor, dataset, address.wanted, address.sort, have=have, want=want, tab=tab, now=_now()
    )
    return {
        "decision": None if decision is None else write_decision(decision),
        "proposed": decision is None and values.get("decided") != "withdrawn",
        **write_batch(batch, actor.username),
    }


def _answer(database: Database, actor: Actor, values: Values) -> None:
    number, seen = values.get("question"), values.get("seen")
    if type(number) is not int or not 0 < number < 2**31:
        raise ValidationError(f"question: expected its number, found {number!r:.80}")
    answer_question(
        database,
        actor,
        _read_text(values, "dataset"),
        number,
        require_words(dict(values), "answer"),
        seen=seen if isinstance(seen, str) else None,
        in_guideline=_read_flag(values, "in_guideline"),
        now=_now(),
    )


def _refuse(error: AnnotatorError) -> JSONResponse:
    """Return the refusal in words, with a code if the panel needs one. The gate answers an outage."""
    if isinstance(error, DatabaseUnavailable):
        raise error
    status = find_status(error)
    answer = {"error": show_refusal(error)}
    if isinstance(error, JudgedByLead):
        answer["code"] = "barred"
    elif isinstance(error, RationaleRequired):
        answer["code"] = "words_owed"
    elif status == 400:
        answer["code"] = "not_disputed" if isinstance(error, StateError) else "invalid"
    headers = {"Retry-After": str(ceil(error.seconds))} if isinstance(error, TooManyRequests) else None
    return JSONResponse(answer, status, headers)


def _now() -> datetime:
    return datetime.now(UTC)


def _read_pair(values: Values) -> tuple[str, str]:
    return _read_text(values, "dataset"), _read_text(values, "pair")


def _read_text(values: Values, name: str) -> str:
    return require_text(dict(values), name)


def _read_address_words(values: Values) -> dict[str, str]:
    return {name: _read_text(values, name) for name in NAMES if values.get(name) is not None}


def _read_keys(values: Values, name: str) -> list[str]:
    keys = values.get(name, [])
    if not isinstance(keys, list):
        raise ValidationError(f"{name}: expected a list of pair ids, found {keys!r:.80}")
    return _check_keys(name, keys)


def _check_keys(name: str, keys: list[Any]) -> list[str]:
    if len(keys) > MOST_HAVE or not all(isinstance(key, str) and not holds_no_text(key) for key in keys):
        raise ValidationError(f"{name}: expected at most {MOST_HAVE} pair ids")
    return keys


def _read_want(value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 4:
        value = int(value)
    if type(value) is not int or not 0 <= value <= MOST_WANT:
        raise ValidationError(f"want: expected 0 to {MOST_WANT}, found {value!r:.80}")
    return value


def _read_tab(values: Values) -> str:
    tab = _read_text(values, "tab") if "tab" in values else ""
    if len(tab) > LONGEST_TAB:
        raise ValidationError(f"tab: expected at most {LONGEST_TAB} characters, found {len(tab):,}")
    return tab


def _read_username(value: object) -> str | None:
    return None if value is None else _read_text({"to": value}, "to")


def _read_flag(values: Values, name: str) -> bool:
    value = values.get(name, False)
    if not isinstance(value, bool):
        raise ValidationError(f"{name}: expected true or false, found {value!r:.80}")
    return value


def _read_decided(value: object) -> Decided | Literal["withdrawn"]:
    if value == "unrateable" or value == "withdrawn":
        return value
    if type(value) is int and 0 <= value <= 3:
        return value
    raise ValidationError(f'decided: expected 0, 1, 2, 3, "unrateable" or "withdrawn", found {value!r:.80}')


def _read_seconds(value: object) -> float | None:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise ValidationError(f"seconds: expected a number, found {value!r:.80}")


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
