"""REST routes of the labeling panel: judgments in, next pairs out, own answers again, questions to the leads.

Identifies the sender by the session cookie alone, and refuses requests from other origins, of another content
type, or too large. A judgment is acknowledged only after its transaction is committed. An answer that can no
longer be changed is refused with a code that the panel translates, like refused events.
"""

import asyncio
import time
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, TypeGuard

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from annotator.domain.errors import (
    ConflictError,
    ValidationError,
)
from annotator.domain.judgments import PairView
from annotator.domain.people import Actor
from annotator.domain.texts import holds_no_text
from annotator.labeling.my_work_service import CannotRevise, read_own_pair
from annotator.labeling.questions_service import ask_question
from annotator.labeling.records import IdleReason
from annotator.labeling.service import SubmitResponse, read_whole_text, submit_judgments
from annotator.overview.waiting_service import count_news
from annotator.storage.database import Database, Writable
from annotator.web.kit.messages import show_refusal
from annotator.web.server.budgets import keep_notes, measure_text
from annotator.web.server.figures import note_submission
from annotator.web.server.turns import Turns
from annotator.web.session import (
    read_json_object,
    require_same_origin,
    require_signed_in,
    require_text,
    require_words,
)

MAX_BODY = 2_000_000
EXCHANGE_VERSION = 1
"""The version of the messages between panel and server (`EXCHANGE_VERSION` in panel/exchange.js).

Raise it when a server of the previous version would refuse or misread a message of the new panel. A panel
that sends no version has version 1.
"""
OLDEST_EXCHANGE = 1
"""The oldest version that this server understands: a tab may stay open over any number of upgrades."""
UPGRADE_REQUIRED = 426
SUBMISSIONS_AT_A_TIME = 2
"""Of each dataset, in one process on PostgreSQL: while some wait for the database, another one computes.

More would make all other requests wait: with six at a time, `/healthz` took four times as long
(benchmarks/README.md).
"""
STEP_SECONDS = 0.05
"""Requests that can be repeated are answered at a multiple of this after they came.

The server takes longer for checks than for other pairs, and the mean of many times would tell them.
"""
SUBMISSIONS_TOGETHER = 16
"""The most waiting submissions that share one transaction on SQLite, which allows one writer at a time."""


def routes(database: Database) -> list[Route]:
    """Return the routes for judgments and whole texts, for `web/app.py`."""
    turns = _make_turns(database)

    async def post_judgments(request: Request) -> Response:
        began = time.monotonic()
        require_same_origin(request)
        content = await read_json_object(request, most_bytes=MAX_BODY)
        actor = require_signed_in(request).actor
        if not OLDEST_EXCHANGE <= _version(content.get("version", 1)) <= EXCHANGE_VERSION:
            return JSONResponse({"error": "this server has another version than the page"}, UPGRADE_REQUIRED)
        _require_same_person(content, actor)
        dataset = require_text(content, "dataset")
        have, want = _have(content.get("have", [])), _want(content.get("want", 0))
        tab = _tab(content.get("tab", ""))

        def submit(writable: Writable) -> SubmitResponse:
            return submit_judgments(
                writable,
                actor,
                dataset,
                events=content.get("events", []),
                have=have,
                want=want,
                tab=tab,
                whole=content.get("whole") is True,
                now=datetime.now(UTC),
            )

        context = copy_context()  # of this request, not of the one that it is done together with
        with keep_notes(request, _measure_notes(content.get("events"))):
            exchange = await turns.run(
                dataset, lambda writable: context.run(submit, writable), person=actor.person_id
            )
        note_submission(
            accepted=len(exchange.acknowledged) - len(exchange.surplus),
            refused=len(exchange.refused),
            surplus=len(exchange.surplus),
            handed_out=len(exchange.pairs),
        )
        if (have or content.get("events")) and not exchange.is_unrepeatable:
            await wait_for_step(began)
        return JSONResponse(_answer(exchange))

    async def get_text(request: Request) -> Response:
        text = await run_in_threadpool(
            read_whole_text,
            database,
            require_signed_in(request).actor,
            request.query_params.get("dataset", ""),
            request.query_params.get("pair", ""),
        )
        return PlainTextResponse(text)

    return [
        Route("/api/judgments", post_judgments, methods=["POST"]),
        Route("/api/text", get_text, methods=["GET"]),
    ]


async def wait_for_step(began: float) -> None:
    """Wait for the next multiple of STEP_SECONDS since `began` (monotonic)."""
    await asyncio.sleep((began - time.monotonic()) % STEP_SECONDS)


def _make_turns(database: Database) -> Turns[Callable[[Writable], SubmitResponse], SubmitResponse]:
    if database.is_sqlite:
        return Turns(database, database.write_together, most=1, together=SUBMISSIONS_TOGETHER)
    return Turns(database, database.write_together, most=SUBMISSIONS_AT_A_TIME)


def _measure_notes(events: object) -> int:
    notes = (
        (event.get("note") for event in events if isinstance(event, dict)) if isinstance(events, list) else ()
    )
    return sum(map(measure_text, notes))


def _require_same_person(content: dict[str, Any], actor: Actor) -> None:
    """Raise ConflictError if another person than the one who opened the page is signed in now."""
    if content.get("annotator", actor.username) != actor.username:
        raise ConflictError("somebody else has signed in in this browser")


def _have(keys: object) -> list[str]:
    if not isinstance(keys, list) or len(keys) > 200 or not all(_is_text(pair) for pair in keys):
        raise ValidationError("have: expected a list of at most 200 pair ids")
    return keys


def _want(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValidationError(f"want: expected a whole number from 0, found {value!r}")
    return value


def _version(value: object) -> int:
    if type(value) is not int or value < 1:
        raise ValidationError(f"version: expected a whole number from 1, found {value!r:.80}")
    return value


def _tab(value: object) -> str:
    if not _is_text(value) or len(value) > 64:
        raise ValidationError(f"tab: expected a text of at most 64 characters, found {value!r:.80}")
    return value


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and not holds_no_text(value)


def _answer(exchange: SubmitResponse) -> dict[str, Any]:
    return {
        "acknowledged": list(exchange.acknowledged),
        "refused": [
            {"id": refusal.event_id, "why": refusal.why, "code": refusal.code} for refusal in exchange.refused
        ],
        "pairs": [show_pair(handed) for handed in exchange.pairs],
        "judged": list(exchange.judged),
        "progress": {
            "done": exchange.done,
            "total": exchange.total,
            "added": exchange.added,
            "answered": exchange.answered,
        },
        "feedback": [
            {
                "id": feedback.event_id,
                "pair": feedback.pair,
                "grade": feedback.grade,
                "explanation": feedback.explanation,
            }
            for feedback in exchange.feedback
        ],
        "surplus": [],  # for older panels; naming late answers would show which pairs are checks
        "training": asdict(exchange.training) if exchange.training else None,
        **_describe_idle(exchange.idle),
    }


def _describe_idle(idle: IdleReason | None) -> dict[str, Any]:
    if idle is None:
        return {}
    until = idle.reserved_until and idle.reserved_until.isoformat()
    return {"idle": {"pool": idle.has_pool, "until": until}}


def show_pair(handed: PairView) -> dict[str, Any]:
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
        "position": list(handed.position) if handed.position else None,
    }


def own_work_routes(database: Database) -> list[Route]:
    async def get_pair(request: Request) -> Response:
        query = request.query_params
        try:
            pair = await run_in_threadpool(
                read_own_pair,
                database,
                require_signed_in(request).actor,
                query.get("dataset", ""),
                query.get("pair", ""),
                now=datetime.now(UTC),
            )
        except CannotRevise as error:
            return JSONResponse({"error": show_refusal(error), "code": error.code}, status_code=409)
        return JSONResponse(show_pair(pair))

    async def get_news(request: Request) -> Response:
        news = await run_in_threadpool(
            count_news,
            database,
            require_signed_in(request).actor,
            request.query_params.get("dataset", ""),
            now=datetime.now(UTC),
        )
        return JSONResponse({"news": news})

    return [
        Route("/api/pair", get_pair, methods=["GET"]),
        Route("/api/news", get_news, methods=["GET"]),
    ]


def question_routes(database: Database) -> list[Route]:
    async def post_questions(request: Request) -> Response:
        require_same_origin(request)
        content = await read_json_object(request)
        text = require_words(content, "text")
        with keep_notes(request, measure_text(text)):
            await run_in_threadpool(
                ask_question,
                database,
                require_signed_in(request).actor,
                require_text(content, "dataset"),
                pair=require_text(content, "pair"),
                text=text,
                event_id=require_text(content, "id"),
                now=datetime.now(UTC),
            )
        return JSONResponse({"ok": True})  # not its number, which counts the questions of all datasets

    return [Route("/api/questions", post_questions, methods=["POST"])]
