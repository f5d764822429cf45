"""Reads YAML into a Tree, safely: from the parser's events, with no tags, few aliases and a limited depth.

Only `null`, `true`, `false` and plain numbers mean something else than their text, and only in metadata
(`resolve`): dates, `no`, `1e3`, `0o7`, `12:30` stay what was written. A line ends at LF, CR or CRLF as in
YAML 1.2; U+0085, U+2028 and U+2029 are ordinary characters inside a text.
Refused with the line: what is not YAML, aliases that stand for more than 10,000 values together (an alias bomb),
merge keys (`<<`), a tag, a key twice, several documents, nesting deeper than 50, more than 256 MB.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from annotator.domain.errors import Problems
from annotator.formats.text import read_text
from annotator.formats.tree import MAX_DEPTH, Place, Plain, Tree, every_prefix, line_of, refuse
from annotator.formats.yaml_builder import Builder

MAX_BYTES = 256_000_000
_NOT_YAML = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]")
_NOT_BREAKS = ("\x85", "\u2028", "\u2029")
_INT = re.compile(r"[-+]?(0|[1-9][0-9]{0,999})")
_FLOAT = re.compile(r"[-+]?[0-9]+\.[0-9]+([eE][-+]?[0-9]+)?")
_WORDS: Mapping[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


def load_yaml(data: bytes, path: str) -> Tree:
    """The tree of one YAML document. BadInput when it is not one, or not a safe one."""
    if len(data) > MAX_BYTES:
        raise refuse(path, None, f"YAML of at most {MAX_BYTES // 1_000_000} MB", f"{len(data):,} bytes")
    text = read_text(data, path)
    odd = _NOT_YAML.search(text)
    if odd:
        line = text.count("\n", 0, odd.start()) + 1
        raise refuse(path, line, "YAML without control characters", f"U+{ord(odd.group()):04X}")

    def locate(places: Iterable[Place]) -> dict[Place, int]:
        """The lines; what stands within an alias is found at the alias."""
        lines: dict[Place, int] = {}
        wanted = every_prefix(places)
        _build(text, Problems(path), wanted, lines)
        return {place: line_of(lines, place) or 1 for place in wanted}

    problems = Problems(path)
    value = _build(text, problems, frozenset(), {})
    return Tree(path, value, locate, tuple(problems.found))


def resolve(value: Any) -> Any:
    """A metadata value as YAML's core schema reads it: unquoted null, true, false and numbers are those."""
    if isinstance(value, Plain):
        return _resolve_plain(value)
    if isinstance(value, dict):
        return {key: resolve(item) for key, item in value.items()}
    if isinstance(value, list):
        return [resolve(item) for item in value]
    return value


def _resolve_plain(value: Plain) -> Any:
    if value in _WORDS:
        return _WORDS[value]
    if _INT.fullmatch(value):
        return int(value)
    if _FLOAT.fullmatch(value) and math.isfinite(float(value)):
        return float(value)
    return str(value)


def _build(text: str, problems: Problems, wanted: Collection[Place], lines: dict[Place, int]) -> Any:
    """The document's value; the line of each wanted place is noted in `lines`, a key twice in `problems`."""
    path = problems.path
    safe, restore = _hide_breaks(text)
    events = _events(safe, path)
    event = next(events)
    while type(event).__name__ != "DocumentStartEvent":
        if type(event).__name__ == "StreamEndEvent":
            raise refuse(path, None, "a YAML document", "an empty file")
        event = next(events)
    value = Builder(problems, restore=restore, wanted=wanted, lines=lines).build(events)
    next(events)
    for event in events:
        if type(event).__name__ == "DocumentStartEvent":
            raise refuse(path, int(event.start_mark.line) + 1, "one YAML document", "a second one")
    return value


def _events(text: str, path: str) -> Iterator[Any]:
    import yaml  # here, so that the table of formats is shown without it

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise refuse(
            path, mark.line + 1 if mark else None, "YAML", error.problem or "something else"
        ) from None
    except yaml.YAMLError as error:
        raise refuse(path, None, "YAML", str(error)) from None
    except RecursionError:
        raise refuse(path, None, f"nesting of at most {MAX_DEPTH} levels", "more") from None


def _hide_breaks(text: str) -> tuple[str, dict[int, str]]:
    """YAML 1.1 parsers break lines at U+0085, U+2028 and U+2029. Stand-ins from the private use area keep
    them what they are; the second value maps the stand-ins back."""
    present = [character for character in _NOT_BREAKS if character in text]
    if not present:
        return text, {}
    free = (chr(code) for code in range(0xE000, 0xF900) if chr(code) not in text)
    stand_in = {ord(character): next(free) for character in present}
    return text.translate(stand_in), {ord(other): chr(code) for code, other in stand_in.items()}
