"""Reads the JSON object that a browser posts. Refuses another content type, what is no object, and what is too large."""

import json
from typing import Any

from starlette.requests import Request

from annotator.domain.errors import ValidationError
from annotator.domain.texts import holds_no_text

MOST_BYTES = 100_000


async def read_json_object(request: Request, *, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """The object that was posted."""
    content_type = request.headers.get("content-type", "")
    if content_type.split(";")[0].strip().lower() != "application/json":
        raise ValidationError(f"expected the content type application/json, found {content_type!r:.80}")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > most_bytes:
            raise ValidationError(f"expected at most {most_bytes:,} bytes")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise ValidationError("expected a JSON object") from None
    if not isinstance(found, dict):
        raise ValidationError(f"expected a JSON object, found {type(found).__name__}")
    return found


def require_text(found: dict[str, Any], key: str) -> str:
    """The text of that name; ValidationError when it is none, or holds characters that are none."""
    text = found.get(key)
    if not isinstance(text, str) or holds_no_text(text):
        raise ValidationError(f"{key}: expected a text, found {text!r:.80}")
    return text
