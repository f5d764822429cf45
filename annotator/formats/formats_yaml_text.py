"""Writes YAML the careful way: every text in double quotes, every character that some YAML reader trips over escaped.

Java's SnakeYAML, PyYAML (both YAML 1.1) and YAML 1.2 readers read back the same characters.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from annotator.domain.errors import ValidationError

LONGEST_KEY = 1_000  # a YAML 1.1 reader gives up on a key after 1,024 characters
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NOT_KEYS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_ESCAPE = re.compile('["\\\\\x00-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]')
_NAMED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quote(text: str) -> str:
    """The text as a YAML double-quoted scalar on one line."""
    return f'"{_ESCAPE.sub(_escape, text)}"'


def write_key(key: str) -> str:
    """A mapping's key: bare where every reader takes it for a text, else quoted."""
    written = key if _PLAIN_KEY.fullmatch(key) and key.lower() not in _NOT_KEYS else quote(key)
    if len(written) > LONGEST_KEY:
        raise ValidationError(
            f"expected keys of at most {LONGEST_KEY} characters in YAML, found {key[:60]!r}…"
        )
    return written


def write_entry(key: str, value: Any, indent: int) -> Iterator[str]:
    """The lines of `key: value` at this indentation, without line ends; nested values in block style."""
    yield from _lines(f"{' ' * indent}{write_key(key)}:", value, indent + 2)


def _lines(lead: str, value: Any, indent: int) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        yield lead
        for key, item in value.items():
            yield from write_entry(str(key), item, indent)
    elif isinstance(value, list | tuple) and value:
        yield lead
        for item in value:
            yield from _lines(f"{' ' * indent}-", item, indent + 2)
    else:
        yield f"{lead} {write_scalar(value)}"


def write_scalar(value: Any) -> str:
    """A text, number, bool, None, or an empty mapping or list. ValidationError for anything else."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return _write_float(value)
    if isinstance(value, Mapping | list | tuple) and not value:
        return "{}" if isinstance(value, Mapping) else "[]"
    raise ValidationError(f"expected a value that YAML can hold, found {value!r}")


def _write_float(value: float) -> str:
    """Always with a point, so that every reader sees a float: 1e+22 becomes 1.0e+22."""
    text = repr(value)
    digits, mark, exponent = text.partition("e")
    if not mark:
        return text
    sign = "" if exponent[0] in "+-" else "+"
    return f"{digits if '.' in digits else digits + '.0'}e{sign}{exponent}"


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}"
