"""REST for going back: a pair that one has answered, with the answer, to be looked at and changed in the panel.

Stands between the panel and `labeling/my_work_service.py`. What cannot be changed any more is refused with a code that the panel
translates, as refused events are.
"""

from datetime import UTC, datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator.domain.errors import AnnotatorError
from annotator.labeling.my_work_service import CannotRevise, read_own_pair
from annotator.storage.database import Database
from annotator.web.kit.messages import show_refusal
from annotator.web.labeling.api import refuse, show_pair
from annotator.web.session import require_signed_in


def routes(database: Database) -> list[Route]:
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
