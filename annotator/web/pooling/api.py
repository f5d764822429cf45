"""Answer the panel's requests to search documents, read one, and propose it with a first grade.

Answers contain no rank, score, system or other person's grade. For leads, `GET /api/pool/left-out?dataset=…`
is a file of the candidates that rounds left out by rule.
"""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from anyio import CapacityLimiter
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from annotator.domain.people import Actor
from annotator.formats.syntax.spreadsheet import write_sheet
from annotator.pooling.proposals.proposals_service import propose, read_document, search_documents
from annotator.storage.database import Database
from annotator.web.downloads import make_json_route, name_as
from annotator.web.server.budgets import keep_notes, measure_text
from annotator.web.session import read_json_object, require_same_origin, require_signed_in, require_text

FOUND_AT_ONCE, MOST_TYPED = 12, 500
SEARCHES_AT_A_TIME = 2  # in one process, so that they do not slow down judgments
LEFT_OUT = "/api/pool/left-out"
LEFT_OUT_COLUMNS = ("round", "rule", "query_id", "doc_id", "title", "kept_doc_id")


def routes(database: Database) -> list[Route]:
    """Return the routes `GET /api/pool/left-out`, `GET /api/search`, `GET /api/document` and `POST /api/proposals`."""

    def find_documents(actor: Actor, query: QueryParams) -> dict[str, Any]:
        results = search_documents(
            database,
            actor,
            query.get("dataset", ""),
            query.get("q", "")[:MOST_TYPED],
            query_id=query.get("query", ""),
            limit=FOUND_AT_ONCE,
            now=datetime.now(UTC),
        )
        return asdict(results)

    def find_document(actor: Actor, query: QueryParams) -> dict[str, Any]:
        return asdict(
            read_document(database, actor, query.get("dataset", ""), doc_id=query.get("doc_id", ""))
        )

    async def post_proposals(request: Request) -> Response:
        require_same_origin(request)
        body = await read_json_object(request)
        with keep_notes(request, measure_text(body.get("note"))):
            pair = await run_in_threadpool(
                propose,
                database,
                require_signed_in(request).actor,
                require_text(body, "dataset"),
                query_id=require_text(body, "query_id"),
                doc_id=require_text(body, "doc_id"),
                event=body,
                now=datetime.now(UTC),
            )
        return JSONResponse({"pair": pair})

    async def get_left_out(request: Request) -> Response:
        from annotator.pooling.analysis.pool_analysis_service import iterate_left_out

        actor, dataset = require_signed_in(request).actor, request.query_params.get("dataset", "")
        candidates = await run_in_threadpool(iterate_left_out, database, actor, dataset)
        rows = (
            (item.number, item.rule, item.query_id, item.doc_id, item.title, item.kept_doc_id)
            for item in candidates
        )
        return StreamingResponse(
            write_sheet(LEFT_OUT_COLUMNS, rows),
            media_type="text/csv",
            headers=name_as(f"{dataset}-left-out.csv"),
        )

    return [
        Route(LEFT_OUT, get_left_out, methods=["GET"]),
        make_json_route("/api/search", find_documents, limiter=CapacityLimiter(SEARCHES_AT_A_TIME)),
        make_json_route("/api/document", find_document),
        Route("/api/proposals", post_proposals, methods=["POST"]),
    ]
