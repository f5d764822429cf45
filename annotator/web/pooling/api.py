"""REST for documents that the pool missed: search them as one types, read one, propose it with a first grade.

Stands between the panel's dialog and `pooling/proposals_service.py`. Nothing that goes out holds a rank, a score, a system or
anybody else's grade.
"""

from dataclasses import asdict
from datetime import UTC, datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator.domain.errors import AnnotatorError
from annotator.pooling.proposals_service import propose, read_document, search_documents
from annotator.storage.database import Database
from annotator.web.json_body import read_json_object, require_text
from annotator.web.labeling.api import refuse
from annotator.web.session import require_same_origin, require_signed_in

FOUND_AT_ONCE, MOST_TYPED = 12, 500


def routes(database: Database) -> list[Route]:
    """`GET /api/search`, `GET /api/document`, `POST /api/proposals`."""

    async def get_search(request: Request) -> Response:
        asked = request.query_params
        try:
            found = await run_in_threadpool(
                search_documents,
                database,
                require_signed_in(request).actor,
                asked.get("dataset", ""),
                asked.get("q", "")[:MOST_TYPED],
                query_id=asked.get("query", ""),
                limit=FOUND_AT_ONCE,
                now=datetime.now(UTC),
            )
        except AnnotatorError as error:
            return refuse(error)
        return JSONResponse(asdict(found))

    async def get_document(request: Request) -> Response:
        asked = request.query_params
        try:
            actor = require_signed_in(request).actor
            found = await run_in_threadpool(
                read_document, database, actor, asked.get("dataset", ""), doc_id=asked.get("doc_id", "")
            )
        except AnnotatorError as error:
            return refuse(error)
        return JSONResponse(asdict(found))

    async def post_proposals(request: Request) -> Response:
        try:
            require_same_origin(request)
            asked = await read_json_object(request)
            pair = await run_in_threadpool(
                propose,
                database,
                require_signed_in(request).actor,
                require_text(asked, "dataset"),
                query_id=require_text(asked, "query_id"),
                doc_id=require_text(asked, "doc_id"),
                event=asked,
                now=datetime.now(UTC),
            )
        except AnnotatorError as error:
            return refuse(error)
        return JSONResponse({"pair": pair})

    return [
        Route("/api/search", get_search, methods=["GET"]),
        Route("/api/document", get_document, methods=["GET"]),
        Route("/api/proposals", post_proposals, methods=["POST"]),
    ]
