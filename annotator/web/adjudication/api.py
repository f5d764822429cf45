"""REST routes of the decision panel: disagreements out as JSON, decisions in.

Identifies the sender by the session cookie alone, and refuses requests from other origins, of another content
type, or too large. A decision is answered only after its transaction is committed; if the case has changed
meanwhile, the decision is refused and the answer is the case as it is now. A case holds only what the lead may
see of the pair; its sentences are in the reader's language.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator.adjudication.discussion_service import ask_to_discuss, close_discussion
from annotator.adjudication.history_service import read_timeline
from annotator.adjudication.queue_records import list_words
from annotator.adjudication.records import Decision
from annotator.adjudication.service import (
    CaseBatch,
    CaseJudgment,
    CaseOrigin,
    DisagreementView,
    JudgedByLead,
    RationaleRequired,
    adjudicate,
    assign_case,
    hand_out_cases,
    let_go_cases,
    list_case_leads,
    put_off_case,
    show_case,
    show_origin,
)
from annotator.domain.errors import (
    AnnotatorError,
    ConflictError,
    DatabaseUnavailable,
    StateError,
    ValidationError,
)
from annotator.domain.people import Actor
from annotator.domain.texts import holds_no_text
from annotator.labeling.questions_service import answer_question
from annotator.storage.database import Database
from annotator.web.adjudication.queue_url import NAMES, read_address
from annotator.web.json_body import read_json_object, require_text
from annotator.web.kit.messages import show_refusal, tr
from annotator.web.labeling.api import STATUSES
from annotator.web.session import require_same_origin, require_signed_in


def show_batch(batch: CaseBatch, username: str) -> dict[str, Any]:
    """The cases that were handed out, and how many there are left. `username`: whom they are handed to."""
    return {"cases": [write_case(case, username) for case in batch.cases], "left": batch.left}


def write_case(case: DisagreementView, username: str) -> dict[str, Any]:
    """One case."""
    proposals = [
        {
            "outcome": one.outcome,
            "grade": one.grade,
            "rationale": one.rationale,
            "cause": one.cause,
            "by": one.by,
            "yours": one.by == username,
        }
        for one in case.proposals
    ]
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
        "impact": None
        if case.impact is None
        else {
            "ndcg": case.impact.ndcg,
            "recall": case.impact.recall,
            "mrr": case.impact.mrr,
            "flips": case.impact.flips,
        },
        "query": {
            "query_id": case.query_id,
            "text": case.query,
            "narrative": case.narrative,
            "language": case.language,
            "category": case.category,
        },
        "document": {
            "doc_id": case.doc_id,
            "title": case.title,
            "url": case.url,
            "media_type": case.media_type,
            "text": case.document_text,
            "length": case.length,
            "sha256": case.sha256,
            "metadata": dict(case.metadata),
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
        "discussion": None
        if case.discussion is None
        else {
            "state": case.discussion.state,
            "asked_at": _time(case.discussion.asked_at),
            "waiting": [tr(one) for one in case.discussion.waiting],
        },
        **_show_voices(case),
    }


def show_decision(decision: Decision) -> dict[str, Any]:
    """One decision, without who made it."""
    return {
        "revision": decision.revision,
        "outcome": decision.outcome,
        "grade": decision.grade,
        "rationale": decision.rationale,
        "reason": decision.reason,
        "cause": decision.cause,
        "in_guideline": decision.in_guideline,
        "decided_at": _time(decision.decided_at),
    }


def write_origin(origin: CaseOrigin) -> dict[str, Any]:
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


def _show_voices(case: DisagreementView) -> dict[str, Any]:
    """What else speaks of the pair."""
    return {
        "objections": [
            {"letter": one.letter, "text": one.text, "objected_at": _time(one.objected_at)}
            for one in case.objections
        ],
        "questions": [
            {
                "number": one.number,
                "letter": one.letter,
                "text": one.text,
                "asked_at": _time(one.asked_at),
                "answer": one.answer,
            }
            for one in case.questions
        ],
        "neighbours": [
            {
                "pair": one.pair,
                "doc_id": one.doc_id,
                "title": one.title,
                "grade": one.grade,
                "status": one.status,
                "near": one.near,
            }
            for one in case.neighbours
        ],
    }


def _show_judgment(judgment: CaseJudgment) -> dict[str, Any]:
    turn = judgment.turn
    return {
        "letter": judgment.letter,
        "outcome": judgment.outcome,
        "grade": judgment.grade,
        "note": judgment.note,
        "guideline_version": judgment.guideline_version,
        "simulated": judgment.simulated,
        "quality": judgment.quality,
        "turn": None
        if turn is None
        else {
            "outcome": turn.outcome,
            "grade": turn.grade,
            "note": turn.note,
            "revised": turn.revised,
        },
    }


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat()


MOST_HAVE, LONGEST_TAB, MOST_WANT = 200, 64, 10
Given = Mapping[str, Any]
Does = Callable[[Actor, Given], Any]


def routes(database: Database) -> list[Route]:
    """The routes, for `web/app.py`."""
    posts: dict[str, Does] = {
        "/api/decisions": lambda actor, asked: _decide(database, actor, asked),
        "/api/cases/later": lambda actor, asked: put_off_case(database, actor, *_named(asked), now=_now()),
        "/api/cases/assign": lambda actor, asked: assign_case(
            database, actor, *_named(asked), to=_username(asked.get("to")), now=_now()
        ),
        "/api/cases/let-go": lambda actor, asked: let_go_cases(
            database, actor, _text(asked, "dataset"), _keys(asked, "pairs"), tab=_tab(asked), now=_now()
        ),
        "/api/cases/discuss": lambda actor, asked: (
            close_discussion if _flag(asked, "close") else ask_to_discuss
        )(database, actor, *_named(asked), now=_now()),
        "/api/cases/answer": lambda actor, asked: _answer(database, actor, asked),
    }
    gets: dict[str, Does] = {
        "/api/cases": lambda actor, asked: _hand_out(database, actor, asked),
        "/api/cases/origin": lambda actor, asked: write_origin(
            show_origin(database, actor, *_named(asked), now=_now())
        ),
        "/api/cases/trail": lambda actor, asked: _tell(database, actor, asked),
        "/api/cases/leads": lambda actor, asked: {
            "leads": [
                {"username": lead.username, "name": lead.name or lead.username}
                for lead in list_case_leads(database, actor, _text(asked, "dataset"), now=_now())
            ]
        },
    }
    return [
        *(Route(path, _post(does), methods=["POST"]) for path, does in posts.items()),
        *(Route(path, _get(does), methods=["GET"]) for path, does in gets.items()),
    ]


def _post(does: Does) -> Callable[[Request], Any]:
    async def post(request: Request) -> Response:
        try:
            require_same_origin(request)
            asked = await read_json_object(request)
            answer = await run_in_threadpool(does, require_signed_in(request).actor, asked)
        except AnnotatorError as error:
            return _refuse(error)
        return answer if isinstance(answer, Response) else JSONResponse(answer or {"ok": True})

    return post


def _get(does: Does) -> Callable[[Request], Any]:
    async def get(request: Request) -> Response:
        try:
            require_same_origin(request)
            asked = dict(request.query_params)
            return JSONResponse(await run_in_threadpool(does, require_signed_in(request).actor, asked))
        except AnnotatorError as error:
            return _refuse(error)

    return get


def _hand_out(database: Database, actor: Actor, asked: Given) -> dict[str, Any]:
    address, have = read_address(_words(asked)), asked.get("have", "")
    batch = hand_out_cases(
        database,
        actor,
        _text(asked, "dataset"),
        address.wanted,
        address.sort,
        pair=_text(asked, "pair") if "pair" in asked else None,
        have=_check_keys("have", [key for key in have.split(",") if key]),
        want=_want(asked.get("want", "1")),
        tab=_tab(asked),
        now=_now(),
    )
    return show_batch(batch, actor.username)


def _decide(database: Database, actor: Actor, asked: Given) -> Response | dict[str, Any]:
    """Store the decision, then hand out what is next: the answer is made when both are done."""
    dataset, pair = _named(asked)
    if asked.get("lead", actor.username) != actor.username:
        said = tr("Somebody else has signed in in this browser. Nothing was stored.")
        return JSONResponse({"error": said, "code": "other_person"}, 409)
    given = asked.get("filter", {})
    if not isinstance(given, dict):
        raise ValidationError(f"filter: expected an object, found {given!r:.80}")
    address, have, want, tab = (
        read_address(_words(given)),
        _keys(asked, "have"),
        _want(asked.get("want", 0)),
        _tab(asked),
    )
    try:
        decision = adjudicate(
            database,
            actor,
            dataset,
            pair,
            grade=_decided(asked.get("decided")),
            rationale=_text(asked, "rationale"),
            seen=_text(asked, "seen"),
            cause=None if asked.get("cause") is None else _text(asked, "cause"),
            in_guideline=_flag(asked, "in_guideline"),
            seconds=_seconds(asked.get("seconds")),
            now=_now(),
        )
    except ConflictError as error:
        case = write_case(show_case(database, actor, dataset, pair, now=_now()), actor.username)
        return JSONResponse({"error": show_refusal(error), "code": "changed", "case": case}, 409)
    batch = hand_out_cases(
        database, actor, dataset, address.wanted, address.sort, have=have, want=want, tab=tab, now=_now()
    )
    stored = None if decision is None else show_decision(decision)
    proposed = decision is None and asked.get("decided") != "withdrawn"
    return {"decision": stored, "proposed": proposed, **show_batch(batch, actor.username)}


def _answer(database: Database, actor: Actor, asked: Given) -> None:
    number, seen = asked.get("question"), asked.get("seen")
    if type(number) is not int or not 0 < number < 2**31:
        raise ValidationError(f"question: expected its number, found {number!r:.80}")
    answer_question(
        database,
        actor,
        _text(asked, "dataset"),
        number,
        _text(asked, "answer"),
        seen=seen if isinstance(seen, str) else None,
        in_guideline=_flag(asked, "in_guideline"),
        now=_now(),
    )


def _tell(database: Database, actor: Actor, asked: Given) -> dict[str, Any]:
    moments = read_timeline(database, actor, *_named(asked), now=_now())
    return {
        "events": [
            {
                "at": one.at.astimezone(UTC).isoformat(),
                "who": tr(one.who),
                "action": one.action,
                "said": tr(one.said),
            }
            for one in moments
        ]
    }


def _refuse(error: AnnotatorError) -> JSONResponse:
    """What was refused, of which kind it is, and its code where the panel acts by it. An outage is the gate's to answer."""
    if isinstance(error, DatabaseUnavailable):
        raise error
    status = next((number for kind, number in STATUSES.items() if isinstance(error, kind)), 400)
    told = {"error": show_refusal(error)}
    if status == 400:
        owed, state = isinstance(error, RationaleRequired), isinstance(error, StateError)
        told["code"] = "words_owed" if owed else "not_disputed" if state else "invalid"
    elif isinstance(error, JudgedByLead):
        told["code"] = "barred"
    return JSONResponse(told, status)


def _now() -> datetime:
    return datetime.now(UTC)


def _named(asked: Given) -> tuple[str, str]:
    return _text(asked, "dataset"), _text(asked, "pair")


def _text(asked: Given, key: str) -> str:
    return require_text(dict(asked), key)


def _words(asked: Given) -> dict[str, str]:
    """The words of a queue's address. ValidationError for what is no text."""
    return {name: _text(asked, name) for name in NAMES if asked.get(name) is not None}


def _keys(asked: Given, key: str) -> list[str]:
    found = asked.get(key, [])
    if not isinstance(found, list):
        raise ValidationError(f"{key}: expected a list of pair ids, found {found!r:.80}")
    return _check_keys(key, found)


def _check_keys(name: str, found: list[Any]) -> list[str]:
    if len(found) > MOST_HAVE or not all(isinstance(key, str) and not holds_no_text(key) for key in found):
        raise ValidationError(f"{name}: expected at most {MOST_HAVE} pair ids")
    return found


def _want(found: object) -> int:
    if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 4:
        found = int(found)
    if type(found) is not int or not 0 <= found <= MOST_WANT:
        raise ValidationError(f"want: expected 0 to {MOST_WANT}, found {found!r:.80}")
    return found


def _tab(asked: Given) -> str:
    tab = _text(asked, "tab") if "tab" in asked else ""
    if len(tab) > LONGEST_TAB:
        raise ValidationError(f"tab: expected at most {LONGEST_TAB} characters, found {len(tab):,}")
    return tab


def _username(found: object) -> str | None:
    return None if found is None else _text({"to": found}, "to")


def _flag(asked: Given, key: str) -> bool:
    found = asked.get(key, False)
    if not isinstance(found, bool):
        raise ValidationError(f"{key}: expected true or false, found {found!r:.80}")
    return found


def _decided(found: object) -> Any:
    if found in ("unrateable", "withdrawn") or (type(found) is int and 0 <= found <= 3):
        return found
    raise ValidationError(f'decided: expected 0, 1, 2, 3, "unrateable" or "withdrawn", found {found!r:.80}')


def _seconds(found: object) -> float | None:
    if found is None or type(found) in (int, float):
        return found  # type: ignore[return-value]
    raise ValidationError(f"seconds: expected a number, found {found!r:.80}")
