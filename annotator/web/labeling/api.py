"""REST routes of the labeling panel: judgments in, next pairs out, own answers again, questions to the leads.

Identifies the sender by the session cookie alone, and refuses requests from other origins, of another content type, or
too large. A judgment is acknowledged only after its transaction is committed. An answer that can no longer be changed
is refused with a code that the panel translates, as refused events are.
"""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, TypeGuard

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from annotator.domain.errors import (
    AnnotatorError,
    ConflictError,
    DatabaseUnavailable,
    NotAllowed,
    NotFound,
    ValidationError,
)
from annotator.domain.judgments import PairView
from annotator.domain.people import Actor
from annotator.domain.texts import holds_no_text
from annotator.labeling.my_work_service import CannotRevise, read_own_pair
from annotator.labeling.questions_service import ask_question
from annotator.labeling.service import SubmitResponse, read_whole_text, submit_judgments
from annotator.storage.database import Database
from annotator.web.json_body import read_json_object, require_text
from annotator.web.kit.messages import show_refusal
from annotator.web.session import require_same_origin, require_signed_in

MAX_BODY = 2_000_000
STATUSES: dict[type[AnnotatorError], int] = {NotAllowed: 403, NotFound: 404, ConflictError: 409}


def routes(database: Database) -> list[Route]:
    """The API's routes, for `web/app.py`."""

    async def post_judgments(request: Request) -> Response:
        try:
            require_same_origin(request)
            asked = _read_body(await _read_bytes(request), request.headers.get("content-type", ""))
            actor = require_signed_in(request).actor
            _require_same_person(asked, actor)
            exchange = await run_in_threadpool(
                submit_judgments,
                database,
                actor,
                _text(asked, "dataset"),
                events=asked.get("events", []),
                have=_have(asked.get("have", [])),
                want=_want(asked.get("want", 0)),
                tab=_tab(asked.get("tab", "")),
                whole=asked.get("whole") is True,
                now=datetime.now(UTC),
            )
        except AnnotatorError as error:
            return refuse(error)
        return JSONResponse(_answer(exchange))

    async def get_text(request: Request) -> Response:
        try:
            text = await run_in_threadpool(
                read_whole_text,
                database,
                require_signed_in(request).actor,
                request.query_params.get("dataset", ""),
                request.query_params.get("pair", ""),
            )
        except AnnotatorError as error:
            return refuse(error)
        return PlainTextResponse(text)

    return [
        Route("/api/judgments", post_judgments, methods=["POST"]),
        Route("/api/text", get_text, methods=["GET"]),
    ]


async def _read_bytes(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise ValidationError(f"expected at most {MAX_BODY:,} bytes")
    return body


def _read_body(body: bytes, content_type: str) -> dict[str, Any]:
    if content_type.split(";")[0].strip().lower() != "application/json":
        raise ValidationError(f"expected the content type application/json, found {content_type!r}")
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise ValidationError("expected a JSON object") from None
    if not isinstance(asked, dict):
        raise ValidationError(f"expected a JSON object, found {type(asked).__name__}")
    return asked


def _require_same_person(asked: dict[str, Any], actor: Actor) -> None:
    """ConflictError when the page was opened by somebody else than who is signed in in this browser now."""
    if asked.get("annotator", actor.username) != actor.username:
        raise ConflictError("somebody else has signed in in this browser")


def _text(asked: dict[str, Any], key: str) -> str:
    found = asked.get(key)
    if not _is_text(found):
        raise ValidationError(f"{key}: expected a text, found {found!r:.80}")
    return found


def _have(found: object) -> list[str]:
    if not isinstance(found, list) or len(found) > 200 or not all(_is_text(pair) for pair in found):
        raise ValidationError("have: expected a list of at most 200 pair ids")
    return found


def _want(found: object) -> int:
    if type(found) is not int or found < 0:
        raise ValidationError(f"want: expected a whole number from 0, found {found!r}")
    return found


def _tab(found: object) -> str:
    if not _is_text(found) or len(found) > 64:
        raise ValidationError(f"tab: expected a text of at most 64 characters, found {found!r:.80}")
    return found


def _is_text(found: object) -> TypeGuard[str]:
    return isinstance(found, str) and not holds_no_text(found)


def _answer(exchange: SubmitResponse) -> dict[str, Any]:
    return {
        "acknowledged": list(exchange.acknowledged),
        "refused": [
            {"id": refusal.event_id, "why": refusal.why, "code": refusal.code} for refusal in exchange.refused
        ],
        "pairs": [show_pair(handed) for handed in exchange.pairs],
        "judged": list(exchange.judged),
        "progress": {"done": exchange.done, "total": exchange.total, "answered": exchange.answered},
        "feedback": [
            {"id": told.event_id, "pair": told.pair, "grade": told.grade, "explanation": told.explanation}
            for told in exchange.feedback
        ],
        "surplus": list(exchange.surplus),
        "training": asdict(exchange.training) if exchange.training else None,
    }


def show_pair(handed: PairView) -> dict[str, Any]:
    """A pair as the panel reads it."""
    return {
        "pair": handed.pair,
        "query": {
            "query_id": handed.query_id,
            "text": handed.query,
            "narrative": handed.narrative,
            "language": handed.language,
        },
        "document": {
            "doc_id": handed.doc_id,
            "title": handed.title,
            "url": handed.url,
            "media_type": handed.media_type,
            "text": handed.text,
            "length": handed.length,
            "sha256": handed.document_sha256,
            "metadata": dict(handed.metadata),
        },
        "guideline_version": handed.guideline_version,
        "training": handed.training,
        "answer": asdict(handed.answer) if handed.answer else None,
        "outdated": asdict(handed.outdated) if handed.outdated else None,
    }


def refuse(error: AnnotatorError) -> JSONResponse:
    """What was refused, with the status that says of which kind it is. An outage of the database is the gate's to answer."""
    if isinstance(error, DatabaseUnavailable):
        raise error
    status = next((number for kind, number in STATUSES.items() if isinstance(error, kind)), 400)
    return JSONResponse({"error": show_refusal(error)}, status_code=status)


def own_work_routes(database: Database) -> list[Route]:
    """`GET /api/pair?dataset&pair`."""

    async def get_pair(request: Request) -> Response:
        asked = request.query_params
        try:
            found = await run_in_threadpool(
                read_own_pair,
                database,
                require_signed_in(request).actor,
                asked.get("dataset", ""),
                asked.get("pair", ""),
                now=datetime.now(UTC),
            )
        except CannotRevise as error:
            return JSONResponse({"error": show_refusal(error), "code": error.code}, status_code=409)
        except AnnotatorError as error:
            return refuse(error)
        return JSONResponse(show_pair(found))

    return [Route("/api/pair", get_pair, methods=["GET"])]


def question_routes(database: Database) -> list[Route]:
    """`POST /api/questions`."""

    async def post_questions(request: Request) -> Response:
        try:
            require_same_origin(request)
            asked = await read_json_object(request)
            number = await run_in_threadpool(
                ask_question,
                database,
                require_signed_in(request).actor,
                require_text(asked, "dataset"),
                pair=require_text(asked, "pair"),
                text=require_text(asked, "text"),
                event_id=require_text(asked, "id"),
                now=datetime.now(UTC),
            )
        except AnnotatorError as error:
            return refuse(error)
        return JSONResponse({"question": number})

    return [Route("/api/questions", post_questions, methods=["POST"])]
