"""Read the JSON object that a browser posts. Refuses other content types, other JSON values and large bodies."""

import json
from typing import Any

from starlette.requests import Request

from annotator.domain.errors import ValidationError
from annotator.domain.texts import clean_text, holds_no_text

MOST_BYTES = 100_000


async def read_json_object(request: Request, *, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """Return the posted object."""
    content_type = request.headers.get("content-type", "")
    if content_type.split(";")[0].strip().lower() != "application/json":
        raise ValidationError(f"expected the content type application/json, found {content_type!r:.80}")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > most_bytes:
            raise ValidationError(f"expected at most {most_bytes:,} bytes")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise ValidationError("expected a JSON object") from None
    if not isinstance(value, dict):
        raise ValidationError(f"expected a JSON object, found {type(value).__name__}")
    return value


def require_text(body: dict[str, Any], key: str) -> str:
    """Return the text under this key.

    Raises ValidationError for any other value and for characters that text cannot hold.
    """
    text = body.get(key)
    if not isinstance(text, str) or holds_no_text(text):
        raise ValidationError(f"{key}: expected a text, found {text!r:.80}")
    return text


def require_words(body: dict[str, Any], key: str) -> str:
    """Return what a person typed under this key, cleaned. Raises ValidationError for anything but text."""
    words = body.get(key)
    if not isinstance(words, str):
        raise ValidationError(f"{key}: expected a text, found {words!r:.80}")
    return clean_text(words)
