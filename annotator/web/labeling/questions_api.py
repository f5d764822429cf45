"""REST for asking the leads about the pair on the screen. Stands between the panel's dialog and `labeling/questions_service.py`."""

from datetime import UTC, datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator.domain.errors import AnnotatorError
from annotator.labeling.questions_service import ask_question
from annotator.storage.database import Database
from annotator.web.json_body import read_json_object, require_text
from annotator.web.labeling.api import refuse
from annotator.web.session import require_same_origin, require_signed_in


def routes(database: Database) -> list[Route]:
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
