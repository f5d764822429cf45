"""REST routes for the panels: a document of a pair, or a document to propose, as safe HTML.

The panel fetches it in advance. Only the beginning of a very long document is read. Rendering has its own few
threads, so judgments never wait for it. Each person has one document rendered at a time: nobody takes every process.
"""

from dataclasses import replace

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator.domain.people import Actor
from annotator.labeling.service import read_document_beginning
from annotator.pooling.proposals.proposals_service import read_document
from annotator.storage.database import Database
from annotator.web.rendering.documents import LONGEST, RenderedDocument, render_document
from annotator.web.server.budgets import Places
from annotator.web.session import require_signed_in

THREADS = 4


def routes(database: Database) -> list[Route]:
    """Return the route `GET /api/rendering?dataset&pair`, or `&doc_id` for a document without a pair."""
    limiter, places = CapacityLimiter(THREADS), Places()

    async def get_rendering(request: Request) -> Response:
        actor, parameters = require_signed_in(request).actor, request.query_params
        dataset, pair = parameters.get("dataset", ""), parameters.get("pair", "")
        doc_id = parameters.get("doc_id")
        await places.take(actor.person_id, None, 1)
        try:
            rendered = await to_thread.run_sync(
                lambda: (
                    _render_pair(database, actor, dataset, pair)
                    if doc_id is None
                    else _render_proposed(database, actor, dataset, doc_id)
                ),
                limiter=limiter,
            )
        finally:
            places.free(actor.person_id)
        return JSONResponse(
            {"html": rendered.html, "kind": rendered.kind, "blocked": rendered.blocked, "cut": rendered.cut}
        )

    return [Route("/api/rendering", get_rendering, methods=["GET"])]


def _render_proposed(database: Database, actor: Actor, dataset: str, doc_id: str) -> RenderedDocument:
    document = read_document(database, actor, dataset, doc_id=doc_id)
    rendered = render_document(document.text or "", document.media_type, doc_id=document.doc_id)
    return replace(rendered, cut=rendered.cut or document.length > len(document.text or ""))


def _render_pair(database: Database, actor: Actor, dataset: str, pair: str) -> RenderedDocument:
    document = read_document_beginning(database, actor, dataset, pair, characters=LONGEST + 1)
    return render_document(document.text, document.media_type, doc_id=document.doc_id)
