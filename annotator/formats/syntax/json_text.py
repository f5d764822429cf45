"""Read JSON into a Tree with line numbers, and write JSON piece by piece.

The standard library parses; our scanner finds line numbers, and runs only to report an error. Refused with
the line: invalid JSON (RFC 8259: no NaN, no Infinity), a repeated key in an object, nesting deeper than 50, a
number too large, escaped NUL characters or lone surrogates, more than 1 GB. Writes the same characters as
`json.dumps(…, ensure_ascii=False, indent=2)`, which is slow with indentation for files of a million entries.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from annotator.domain.errors import FormatError, Problems, ValidationError, refuse
from annotator.domain.messages import Message, say
from annotator.domain.texts import holds_no_text
from annotator.formats.syntax.text import BOM_WITHIN, describe, read_text
from annotator.formats.syntax.tree import MAX_DEPTH, Location, Tree, every_prefix

MAX_BYTES = 1_000_000_000
# possessive: a text of 100 MB must not be kept for backtracking
_TOKEN = re.compile(
    r'[ \t\r\n]*+(?:([{}\[\],:])|("[^"\\]*+(?:\\.[^"\\]*+)*+")|([^\s{}\[\],:"]++))', re.DOTALL
)

_COMMENT = re.compile(r"\s*+((?://|#)[^\n]*+|/\*.*?\*/)", re.DOTALL)
_COMMENT_FAULT = (say("JSON (which has no comments)"), say("a comment"))
_SPACE = re.compile(r"[ \t\r\n]*")
_SUSPECT = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class _RefusedJson(ValueError):
    """A text that Python's parser accepts and this program refuses."""


def load_json(data: bytes, path: str) -> Tree:
    """Return the tree of a JSON document. BadInput if it is invalid."""
    if len(data) > MAX_BYTES:
        raise refuse(
            path,
            None,
            say("JSON of at most {megabytes} MB", megabytes=MAX_BYTES // 1_000_000),
            say("{n} bytes", n=len(data)),
        )
    text = read_text(data, path)
    if not text.strip():
        raise refuse(path, None, say("a JSON document"), say("an empty file"))
    faults: tuple[FormatError, ...] = ()
    try:
        value = parse_json(text)
    except json.JSONDecodeError as error:
        raise refuse(path, error.lineno, *describe_fault(error)) from None
    except ValueError:
        value, faults = _explain(text, path)

    def locate(locations: Iterable[Location]) -> dict[Location, int]:
        lines: dict[Location, int] = {}
        wanted = every_prefix(locations)
        line, counted = 1, 0
        for location, offset, _ in _scan(text):
            if location in wanted:
                line += text.count("\n", counted, offset)
                counted = offset
                lines.setdefault(location, line)
        return lines

    return Tree(path, value, locate, faults)


def describe_fault(error: json.JSONDecodeError) -> tuple[str, str]:
    """Return (expected, found) for the place where a text stops being JSON. Recognizes comments."""
    if is_comment(error.doc[error.pos :]):
        return _COMMENT_FAULT
    return "JSON", error.msg


def parse_object(
    content: str, line: int, problems: Problems, *, path: str | None = None
) -> dict[str, Any] | None:
    """Return the object on a line of JSONL; None after noting anything else. `path`: see `Problems.add`."""
    try:
        value = parse_json(content)
    except json.JSONDecodeError as error:
        problems.add(line, *describe_line_fault(error), path=path)
        return None
    except ValueError as error:
        problems.add(line, str(error), describe(content), path=path)
        return None
    if isinstance(value, dict):
        return value
    problems.add(line, say("a JSON object"), describe(value), path=path)
    return None


def describe_line_fault(error: json.JSONDecodeError) -> tuple[str, str]:
    """Return (expected, found) for a line of JSONL, with the position within the line."""
    if error.doc.startswith("\ufeff", error.pos):
        return BOM_WITHIN
    expected, actual = describe_fault(error)
    expected = say("a JSON object") if expected == "JSON" else say("a JSON object (which has no comments)")
    return expected, _show_place(actual, error.colno)


def _show_place(actual: str, character: int) -> Message:
    token = actual.removeprefix("Expecting ")
    if token != actual:
        return say("Expecting {token} at character {position}", token=token, position=str(character))
    return say("{actual} at character {position}", actual=actual, position=str(character))


def is_comment(text: str) -> bool:
    """Check whether a text begins like a comment in JavaScript or YAML."""
    return text.lstrip().startswith(("//", "/*", "#"))


def parse_json(text: str) -> Any:
    """Return the value of a JSON text.

    ValueError for invalid JSON (JSONDecodeError with a position, if known) and for content that no file or
    database can hold: NaN, a repeated key, NUL, a lone surrogate, too deep nesting.
    """
    try:
        value = _decode(text)
    except RecursionError:
        raise _RefusedJson(say("nesting of at most {n} levels", n=MAX_DEPTH)) from None
    if (
        "\\u" in text
        and _SUSPECT.search(text)
        and any(holds_no_text(text_value) for text_value in _texts(value))
    ):
        raise _RefusedJson(say("text without NUL characters or lone surrogates"))
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise _RefusedJson(say("nesting of at most {n} levels", n=MAX_DEPTH))
    return value


def parse_json_items(text: str, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (first line, object) of JSON Lines, of an array, or of a single document.

    Values that are not objects are noted. Invalid JSON ends an array, but only its own line in JSON Lines.
    Comments before the first object are noted, and reading continues after them.
    """
    text = _leave_out_comments(text, problems)
    if not text.strip():
        return
    first = text.lstrip().split("\n", 1)[0].rstrip()
    if first.startswith("["):
        values = _array_items(text, problems)
    elif first.startswith("{") and not first.endswith("}"):
        values = _checked(1, text, problems)
    else:
        lines = enumerate(text.split("\n"), 1)
        values = (item for line, part in lines if part.strip() for item in _checked(line, part, problems))
    for line, value in values:
        if isinstance(value, dict):
            yield line, value
        else:
            problems.add(line, say("a JSON object"), describe(value))


def _leave_out_comments(text: str, problems: Problems) -> str:
    """Return the text with empty lines in place of its first comments, each noted with its line."""
    while comment := _COMMENT.match(text):
        problems.add(text.count("\n", 0, comment.start(1)) + 1, *_COMMENT_FAULT)
        text = "\n" * text.count("\n", 0, comment.end()) + text[comment.end() :]
    return text


def _array_items(text: str, problems: Problems) -> Iterator[tuple[int, Any]]:
    """Yield (line, item) of an array. Items are parsed one after another to know their lines."""
    position = _SPACE.match(text, text.index("[") + 1).end()  # type: ignore[union-attr]  # it matches everywhere
    line = text.count("\n", 0, position) + 1
    closed = text[position : position + 1] == "]"
    position += closed
    while not closed:
        try:
            _, end = _LENIENT.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = len(text)
        items = list(_checked(line, text[position:end], problems))
        if not items:
            return
        yield from items
        after = _SPACE.match(text, end).end()  # type: ignore[union-attr]
        line += text.count("\n", position, after)
        mark = text[after : after + 1]
        if mark not in (",", "]"):
            actual = describe(mark) if mark else say("the end of the file")
            fault = _COMMENT_FAULT if is_comment(text[after : after + 2]) else ("JSON", actual)
            problems.add(line, fault[0], say("{text} after an item of the array", text=fault[1]))
            return
        closed = mark == "]"
        position = _SPACE.match(text, after + 1).end()  # type: ignore[union-attr]
        line += text.count("\n", after, position)
    if position < len(text.rstrip()):
        fault = (say("the end of the file"), describe(text[position : position + 20]))
        problems.add(line, *(_COMMENT_FAULT if is_comment(text[position : position + 2]) else fault))


def _checked(line: int, part: str, problems: Problems) -> Iterator[tuple[int, Any]]:
    """Yield the value of a JSON text that begins on this line; nothing after noting an error in it."""
    try:
        yield line, parse_json(part)
    except json.JSONDecodeError as error:
        problems.add(line + error.lineno - 1, *describe_line_fault(error))
    except ValueError as error:
        problems.add(line, error.args[0], describe(part[:200]))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RefusedJson(say("each key once"))
    return value


class _Integers(dict[str, int]):
    """Integers by their digits. Small ones, the most frequent in such files, need no function call."""

    def __missing__(self, digits: str) -> int:
        _number(digits)
        return int(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _RefusedJson(say("a number that fits"))
    return value


def _constant(name: str) -> Any:
    raise _RefusedJson(say("JSON without {name}", name=name))


_integers = _Integers((str(number), number) for number in range(1_000))
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integers.__getitem__,
    parse_float=_number,
    parse_constant=_constant,
)
_LENIENT = json.JSONDecoder()


def _decode(text: str) -> Any:
    """Return the same as `_DECODER.decode`, faster for text without white space around it, such as JSONL."""
    if text[:1] == "{":
        value, end = _DECODER.raw_decode(text)
        if end == len(text) or text[end:] == "\r":
            return value
    return _DECODER.decode(text)


def _texts(value: Any) -> Iterator[str]:
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            left += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            left += item


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            break
        level = [
            item
            for holder in level
            if isinstance(holder, dict | list)
            for item in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(item, dict | list)
        ]
    return depth


def _explain(text: str, path: str) -> tuple[Any, tuple[FormatError, ...]]:
    """Return the value of a text that the parser accepts and we refuse, with every such place; BadInput without a value."""
    problems = Problems(path)
    line, counted = 1, 0
    for location, offset, token in _scan(text):
        line += text.count("\n", counted, offset)
        counted = offset
        if token in ("{", "[") and len(location) >= MAX_DEPTH:
            problems.add(line, say("nesting of at most {n} levels", n=MAX_DEPTH), "more")
            problems.raise_if_any()
        elif token.startswith("again"):
            problems.add(line, say("each key once"), say("{item} again", item=describe(location[-1])))
        elif token.startswith('"'):
            try:
                value = json.loads(token, strict=False)
            except ValueError:
                problems.add(line, say("a JSON string"), token)
                continue
            if holds_no_text(value):
                problems.add(line, say("text without NUL characters or lone surrogates"), token)
        elif token not in ("{", "[", "true", "false", "null") and not _fits(token):
            problems.add(line, say("a JSON number that fits"), token)
    try:
        return _LENIENT.decode(text), tuple(problems.errors)
    except (ValueError, RecursionError):
        if not problems:
            problems.add(None, "JSON", say("something else"))
        problems.raise_if_any()
        raise


def _read_key(string: str) -> str:
    """Return the key of a JSON string; the string itself if an escape is broken, which is noted elsewhere."""
    try:
        return str(json.loads(string, strict=False))
    except ValueError:
        return string


def _fits(token: str) -> bool:
    try:
        return math.isfinite(float(token)) and len(token) < 4_000
    except ValueError:
        return False


def _scan(text: str) -> Iterator[tuple[Location, int, str]]:
    """Yield each key and value as (location, offset, token). A repeated key has the token "again"."""
    location: list[str | int] = []
    seen_keys: list[set[str] | None] = []  # one per open container: its keys, or None for a list
    key_next = False
    position, end = 0, len(text)
    while position < end:
        token = _TOKEN.match(text, position)
        if token is None:
            return
        position = token.end()
        mark, string, other = token.groups()
        offset = token.start(token.lastindex or 0)
        if mark in ("{", "["):
            yield tuple(location), offset, mark
            seen_keys.append(set() if mark == "{" else None)
            location.append("" if mark == "{" else 0)
            key_next = mark == "{"
        elif mark in ("}", "]"):
            if not seen_keys:
                return
            seen_keys.pop()
            location.pop()
            key_next = False
        elif mark == ",":
            if not seen_keys:
                return
            key_next = seen_keys[-1] is not None
            if isinstance(location[-1], int):
                location[-1] += 1
        elif string is not None and key_next and seen_keys and (keys := seen_keys[-1]) is not None:
            key = _read_key(string)
            location[-1] = key
            yield tuple(location), offset, "again" if key in keys else string
            keys.add(key)
            key_next = False
        elif mark is None:
            yield tuple(location), offset, string if string is not None else other


quote = json.encoder.encode_basestring
STEP = "  "


def write_value(value: Any, indent: str) -> str:
    """Return a value as written after a key at this indentation. ValidationError if JSON cannot hold it."""
    if isinstance(value, str):
        return quote(value)
    try:
        text = json.dumps(value, ensure_ascii=False, indent=len(STEP), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ValidationError(f"expected a value that JSON can hold, found {value!r}") from None
    return text.replace("\n", f"\n{indent}")


def write_entry(key: str, value: Any, indent: str) -> str:
    """Return `"key": value` at this indentation, without a comma or line end."""
    return f"{indent}{quote(key)}: {write_value(value, indent)}"
