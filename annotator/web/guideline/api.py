"""REST: `GET /api/standard`, the definitions and the guideline in force, for a panel that is open while they change.

`describe_standard` is also what the panel is told when it is mounted.
"""

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator.dataset.service import read_current_rubric
from annotator.domain.errors import AnnotatorError
from annotator.domain.grades import Rubric
from annotator.storage.database import Database
from annotator.web.kit.markdown_text import render_guideline
from annotator.web.labeling.api import refuse
from annotator.web.session import require_signed_in


def routes(database: Database) -> list[Route]:
    """The route, for `web/app.py`."""

    async def get_standard(request: Request) -> Response:
        try:
            actor, dataset = require_signed_in(request).actor, request.query_params.get("dataset", "")
            version, rubric = await run_in_threadpool(read_current_rubric, database, actor, dataset)
        except AnnotatorError as error:
            return refuse(error)
        return JSONResponse(describe_standard(version, rubric))

    return [Route("/api/standard", get_standard, methods=["GET"])]


def describe_standard(version: int, rubric: Rubric) -> dict[str, Any]:
    """The standard as the panel reads it. `guideline_html` holds nothing active."""
    return {
        "version": version,
        "title": rubric.title,
        "grades": [
            {
                "grade": definition.grade,
                "name": definition.name,
                "definition": definition.definition,
                "positive_examples": list(definition.positive_examples),
                "negative_examples": list(definition.negative_examples),
            }
            for definition in rubric.grades
        ],
        "guideline_html": render_guideline(rubric.guideline),
    }
