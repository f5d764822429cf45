"""Writes JSON by hand where a file has a million entries: texts and values, indented as Python's `json` does it.

The same characters as `json.dumps(…, ensure_ascii=False, indent=2)`, whose encoder is slow when it indents.
"""

import json
from typing import Any

from annotator.domain.errors import ValidationError

quote = json.encoder.encode_basestring
STEP = "  "


def write_value(value: Any, indent: str) -> str:
    """A value as it stands after a key on a line of this indentation. ValidationError for what JSON cannot hold."""
    if isinstance(value, str):
        return quote(value)
    try:
        text = json.dumps(value, ensure_ascii=False, indent=len(STEP), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ValidationError(f"expected a value that JSON can hold, found {value!r}") from None
    return text.replace("\n", f"\n{indent}")


def write_entry(key: str, value: Any, indent: str) -> str:
    """`"key": value` at this indentation, without a comma or line end."""
    return f"{indent}{quote(key)}: {write_value(value, indent)}"
