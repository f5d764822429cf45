"""Reads YAML into a Tree, safely: from the parser's events, with no tags, no aliases and a limited depth.

Only `null`, `true`, `false` and plain numbers mean something else than their text, and only in metadata
(`resolve`): dates, `no`, `1e3`, `0o7`, `12:30` stay what was written. A line ends at LF, CR or CRLF as in
YAML 1.2; U+0085, U+2028 and U+2029 are ordinary characters inside a text.
Refused with the line: what is not YAML, an alias (an alias bomb needs them), a tag, a key twice, several
documents, nesting deeper than 50, more than 256 MB.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from annotator.formats.text import describe, read_text
from annotator.formats.tree import MAX_DEPTH, Place, Plain, Tree, every_prefix, refuse

MAX_BYTES = 256_000_000
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NOT_YAML = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]")
_NOT_BREAKS = ("\x85", "\u2028", "\u2029")
_INT = re.compile(r"[-+]?(0|[1-9][0-9]{0,999})")
_FLOAT = re.compile(r"[-+]?[0-9]+\.[0-9]+([eE][-+]?[0-9]+)?")
_WORDS: Mapping[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_STRING_TAG = "tag:yaml.org,2002:str"


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
        lines: dict[Place, int] = {}
        _build(text, path, every_prefix(places), lines)
        return lines

    return Tree(path, _build(text, path, frozenset(), {}), locate)


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


def _build(text: str, path: str, wanted: Iterable[Place], lines: dict[Place, int]) -> Any:
    """The document's value; the line of each wanted place is noted in `lines`."""
    safe, restore = _hide_breaks(text)
    events = _events(safe, path)
    event = next(events)
    while not isinstance(event, yaml.DocumentStartEvent):
        if isinstance(event, yaml.StreamEndEvent):
            raise refuse(path, None, "a YAML document", "an empty file")
        event = next(events)
    value = _Builder(path, events, restore, wanted, lines).build()
    event = next(events)
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            raise refuse(path, _line(event), "one YAML document", "a second one")
    return value


class _Builder:
    """Turns events into values without recursion, so that depth is our limit and not Python's."""

    def __init__(
        self,
        path: str,
        events: Iterator[Any],
        restore: dict[int, str],
        wanted: Iterable[Place],
        lines: dict[Place, int],
    ) -> None:
        self.path, self.events, self.restore = path, events, restore
        self.wanted, self.lines = wanted, lines
        self.stack: list[tuple[Any, Any]] = []  # (container, pending key)
        self.place: list[str | int] = []

    def build(self) -> Any:
        while True:
            event = next(self.events)
            done, value = self._take(event)
            if done:
                return value

    def _take(self, event: Any) -> tuple[bool, Any]:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            return self._value(self._scalar(event), event)
        if kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            container, _ = self.stack.pop()
            if isinstance(container, list):
                self.place.pop()
            if not self.stack:
                return True, container
            self._close()
            return False, None
        if kind is yaml.AliasEvent:
            raise refuse(self.path, _line(event), "YAML without aliases", f"*{event.anchor}")
        return self._open({} if kind is yaml.MappingStartEvent else [], event)

    def _scalar(self, event: Any) -> str:
        value = event.value.translate(self.restore) if self.restore else event.value
        if event.tag not in (None, "!", _STRING_TAG):
            raise refuse(self.path, _line(event), "YAML without tags", describe(event.tag))
        return Plain(value) if event.implicit[0] and event.tag is None else value

    def _open(self, container: Any, event: Any) -> tuple[bool, Any]:
        line = _line(event)
        if event.tag not in (None, "!"):
            raise refuse(self.path, line, "YAML without tags", describe(event.tag))
        if len(self.stack) >= MAX_DEPTH:
            raise refuse(self.path, line, f"nesting of at most {MAX_DEPTH} levels", "more")
        if self.stack and self._wants_key():
            raise refuse(self.path, line, "a text as a key", describe(container))
        self._note(line)
        if self.stack:
            self._put(container)
        self.stack.append((container, None))
        if isinstance(container, list):
            self.place.append(0)
        return False, None

    def _value(self, value: str, event: Any) -> tuple[bool, Any]:
        line = _line(event)
        if not self.stack:
            self._note(line)
            return True, value
        container, _ = self.stack[-1]
        if self._wants_key():
            key = str(value)
            if key in container:
                raise refuse(self.path, line, "each key once", f"{describe(key)} again")
            self.stack[-1] = (container, key)
            self.place.append(key)
            return False, None
        self._note(line)
        self._put(value)
        self._close()
        return False, None

    def _wants_key(self) -> bool:
        container, key = self.stack[-1]
        return isinstance(container, dict) and key is None

    def _put(self, value: Any) -> None:
        container, key = self.stack[-1]
        if isinstance(container, dict):
            container[key] = value
        else:
            container.append(value)

    def _close(self) -> None:
        """The value at the present place is complete: on to the next key or item."""
        container, _ = self.stack[-1]
        if isinstance(container, dict):
            self.stack[-1] = (container, None)
            self.place.pop()
        else:
            self.place[-1] = len(container)

    def _note(self, line: int) -> None:
        if self.wanted:
            place = tuple(self.place)
            if place in self.wanted:
                self.lines.setdefault(place, line)


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _events(text: str, path: str) -> Iterator[Any]:
    try:
        yield from yaml.parse(text, Loader=_LOADER)
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
