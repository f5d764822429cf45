"""REST routes of the guideline: the version in force, and what changed since the annotator's own answer.

`GET /api/standard` keeps an open panel up to date; `describe_standard` also fills the panel when it is mounted.
Changes are sent only to the author of the answer and hold nothing of anybody else's (`guideline/service.py`).
"""

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator.dataset.service import read_current_rubric
from annotator.domain.errors import AnnotatorError
from annotator.domain.grades import GradeDefinition, Rubric
from annotator.guideline.service import explain_change
from annotator.storage.database import Database
from annotator.web.kit.text import render_guideline
from annotator.web.labeling.api import refuse
from annotator.web.session import require_signed_in

if TYPE_CHECKING:
    from annotator.guideline.service import DiffLine, GradeChange, GuidelineChange, LineDiff


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


def change_routes(database: Database) -> list[Route]:
    """`GET /api/changes?dataset&pair`, for `web/app.py`."""

    async def get_changes(request: Request) -> Response:
        try:
            found = await run_in_threadpool(
                explain_change,
                database,
                require_signed_in(request).actor,
                request.query_params.get("dataset", ""),
                request.query_params.get("pair", ""),
            )
        except AnnotatorError as error:
            return refuse(error)
        return JSONResponse(
            {
                "standard": _standard(found.standard) if found.standard else None,
                "text": _diff(found.text) if found.text else None,
            }
        )

    return [Route("/api/changes", get_changes, methods=["GET"])]


def _standard(change: "GuidelineChange") -> dict[str, Any]:
    return {
        "from": change.from_version,
        "to": change.to_version,
        "why": change.why,
        "grades": [_grade(grade) for grade in change.comparison.grades],
        "guideline": [_line(line) for line in change.comparison.guideline.lines],
    }


def _grade(change: "GradeChange") -> dict[str, Any]:
    """A grade under its present name; `before` and `after` hold only what differs."""
    return {
        "grade": change.grade,
        "name": change.after.name,
        "before": _only(change.before, change.after),
        "after": _only(change.after, change.before),
        "lines": [_line(line) for line in change.lines],
    }


def _only(one: GradeDefinition, other: GradeDefinition) -> str:
    found = [one.name] if one.name != other.name else []
    found += [one.definition] if one.definition != other.definition else []
    found += [f"+ {item}" for item in one.positive_examples if item not in other.positive_examples]
    found += [f"− {item}" for item in one.negative_examples if item not in other.negative_examples]
    return "\n".join(found)


def _diff(diff: "LineDiff") -> dict[str, Any]:
    return {"lines": [_line(line) for line in diff.lines], "cut": diff.cut}


def _line(line: "DiffLine") -> dict[str, Any]:
    """`parts` (joined: the text) where the changed words are known; `skipped`: how many lines "…" stands for."""
    parts = [{"text": part.text, "changed": part.changed} for part in line.parts]
    return {"kind": line.kind, "text": line.text, "parts": parts, "skipped": line.skipped}
