"""REST routes of the guideline: the current version, and its changes since the annotator's own answer.

`GET /api/standard` updates an open panel, with the changes since the panel's version; `describe_rubric` also
fills the panel when it is mounted. Only the author of an answer gets these changes, without data of other
people (`guideline/service.py`). Changed lines are written as their records (`guideline/compare.py`).
"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from starlette.datastructures import QueryParams
from starlette.routing import Route

from annotator.dataset.service import read_current_rubric
from annotator.domain.errors import ValidationError
from annotator.domain.grades import GradeDefinition, Rubric, read_in_language
from annotator.domain.people import Actor
from annotator.guideline.service import explain_change, explain_versions_since
from annotator.storage.database import Database
from annotator.web.downloads import make_json_route
from annotator.web.guideline.reading import describe_missing, describe_translated
from annotator.web.kit.messages import current_language
from annotator.web.kit.text import render_guideline

if TYPE_CHECKING:
    from annotator.guideline.compare import GradeChange
    from annotator.guideline.service import GuidelineChange


def routes(database: Database) -> list[Route]:
    """Return the routes `GET /api/standard?dataset[&since]` and `GET /api/changes?dataset&pair`."""

    def find_rubric(actor: Actor, query: QueryParams) -> dict[str, Any]:
        dataset, since = query.get("dataset", ""), _read_since(query.get("since"))
        version, rubric = read_current_rubric(database, actor, dataset)
        described = describe_rubric(version, rubric)
        if since is not None and since < version:
            change = explain_versions_since(database, actor, dataset, since, language=current_language())
            only_others_changed = change.comparison.is_empty and not change.shown_since_in
            if not only_others_changed:
                described["change"] = _describe_change(change)
        return described

    def find_changes(actor: Actor, query: QueryParams) -> dict[str, Any]:
        dataset, pair = query.get("dataset", ""), query.get("pair", "")
        explanation = explain_change(database, actor, dataset, pair, language=current_language())
        return {
            "standard": _describe_change(explanation.guideline) if explanation.guideline else None,
            "text": asdict(explanation.text) if explanation.text else None,
        }

    return [make_json_route("/api/standard", find_rubric), make_json_route("/api/changes", find_changes)]


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
