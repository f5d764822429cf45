"""REST for the panel: the document of a pair as safe HTML (`rendering/`).

Fetched ahead by the panel. Refuses who has no role on the dataset, and keys that are not theirs. Only the beginning of
a very long document is read. It has few threads, and those of its own, so that judgments never wait for renderings.
"""

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator.domain.errors import AnnotatorError, NotFound
from annotator.domain.people import Actor
from annotator.people.service import require_role
from annotator.storage.database import Database
from annotator.storage.document_text import DocumentBeginning, find_shown
from annotator.storage.lookup import find_dataset, key_of
from annotator.web.labeling.api import refuse
from annotator.web.rendering.documents import LONGEST, RenderedDocument, render_document
from annotator.web.session import require_signed_in

THREADS = 4


def routes(database: Database) -> list[Route]:
    """The route, for `web/app.py`."""
    threads: list[CapacityLimiter] = []  # made when the event loop is there

    async def get_rendering(request: Request) -> Response:
        asked = request.query_params
        try:
            actor = require_signed_in(request).actor
            dataset, pair = asked.get("dataset", ""), asked.get("pair", "")
            if not threads:
                threads.append(CapacityLimiter(THREADS))
            rendered = await to_thread.run_sync(
                lambda: _render(database, actor, dataset, pair), limiter=threads[0]
            )
        except AnnotatorError as error:
            return refuse(error)
        return JSONResponse(
            {"html": rendered.html, "kind": rendered.kind, "blocked": rendered.blocked, "cut": rendered.cut}
        )

    return [Route("/api/rendering", get_rendering, methods=["GET"])]


def _render(database: Database, actor: Actor, dataset: str, pair: str) -> RenderedDocument:
    shown = _find(database, actor, dataset, pair)
    return render_document(shown.text, shown.media_type, doc_id=shown.doc_id)


def _find(database: Database, actor: Actor, dataset: str, pair: str) -> DocumentBeginning:
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "annotator")
        shown = find_shown(session, dataset_pk, actor.person_id, pair, most=LONGEST + 1)
    if shown is None:
        raise NotFound("there is no text for this pair")
    return shown
