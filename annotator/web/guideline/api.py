"""REST routes of the guideline: the current version, and its changes since the annotator's own answer.

`GET /api/standard` updates an open panel, with the changes since the panel's version; `describe_rubric` also
fills the panel when it is mounted. Only the author of an answer gets these changes, without data of other
people (`guideline/service.py`). Changed lines are written as their records (`guideline/compare.py`).
"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator.dataset.service import read_current_rubric
from annotator.domain.errors import ValidationError
from annotator.domain.grades import GradeDefinition, Rubric, read_in_language
from annotator.guideline.service import explain_change, explain_versions_since
from annotator.storage.database import Database
from annotator.web.guideline.reading import describe_missing, describe_translated
from annotator.web.kit.messages import current_language
from annotator.web.kit.text import render_guideline
from annotator.web.session import require_signed_in

if TYPE_CHECKING:
    from annotator.guideline.compare import GradeChange
    from annotator.guideline.service import GuidelineChange


def routes(database: Database) -> list[Route]:
    async def get_rubric(request: Request) -> Response:
        actor, dataset = require_signed_in(request).actor, request.query_params.get("dataset", "")
        since = _read_since(request.query_params.get("since"))
        version, rubric = await run_in_threadpool(read_current_rubric, database, actor, dataset)
        described = describe_rubric(version, rubric)
        if since is not None and since < version:
            change = await run_in_threadpool(
                explain_versions_since, database, actor, dataset, since, language=current_language()
            )
            only_others_changed = change.comparison.is_empty and not change.shown_since_in
            if not only_others_changed:
                described["change"] = _describe_change(change)
        return JSONResponse(described)

    return [Route("/api/standard", get_rubric, methods=["GET"])]


def _read_since(given: str | None) -> int | None:
    if given is None:
        return None
    if not given.isascii() or not given.isdecimal() or not 1 <= int(given[:9]) < 10**9:
        raise ValidationError(f"since: expected a version from 1, found {given!r:.80}")
    return int(given[:9])


def describe_rubric(version: int, rubric: Rubric) -> dict[str, Any]:
    """Return the guideline as JSON for the panel, in the reader's language.

    `guideline_html` has no active content. `missing`: a sentence about missing translations, or "".
    """
    reading = read_in_language(rubric, current_language())
    texts, own = reading.rubric, rubric.language
    return {
        "version": version,
        "title": texts.title,
        "language": texts.language,
        "guideline_language": own if reading.missing == "guideline" else texts.language,
        "missing": describe_missing(reading, own),
        "grades": [asdict(definition) for definition in texts.grades],
        "guideline_html": render_guideline(texts.guideline),
    }


def change_routes(database: Database) -> list[Route]:
    """Return the route `GET /api/changes?dataset&pair`, for `web/app.py`."""

    async def get_changes(request: Request) -> Response:
        explanation = await run_in_threadpool(
            explain_change,
            database,
            require_signed_in(request).actor,
            request.query_params.get("dataset", ""),
            request.query_params.get("pair", ""),
            language=current_language(),
        )
        return JSONResponse(
            {
                "standard": _describe_change(explanation.guideline) if explanation.guideline else None,
                "text": asdict(explanation.text) if explanation.text else None,
            }
        )

    return [Route("/api/changes", get_changes, methods=["GET"])]


def _describe_change(change: "GuidelineChange") -> dict[str, Any]:
    return {
        "from": change.from_version,
        "to": change.to_version,
        "why": change.why,
        "translated": describe_translated(change.shown_since_in),
        "grades": [_grade(grade) for grade in change.comparison.grades],
        "guideline": [asdict(line) for line in change.comparison.guideline.lines],
    }


def _grade(change: "GradeChange") -> dict[str, Any]:
    """Return a changed grade as JSON, with its current name. `before` and `after` hold only differences."""
    return {
        "grade": change.grade,
        "name": change.after.name,
        "before": _only(change.before, change.after),
        "after": _only(change.after, change.before),
        "lines": [asdict(line) for line in change.lines],
    }


def _only(definition: GradeDefinition, other: GradeDefinition) -> str:
    lines = [definition.name] if definition.name != other.name else []
    lines += [definition.definition] if definition.definition != other.definition else []
    lines += [f"+ {item}" for item in definition.positive_examples if item not in other.positive_examples]
    lines += [f"− {item}" for item in definition.negative_examples if item not in other.negative_examples]
    return "\n".join(lines)
