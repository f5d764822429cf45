"""Read YAML safely into a Tree, and write YAML that every reader understands.

Reads the parser's events, without recursion and without tags. Only `null`, `true`, `false` and plain numbers
are converted, and only in metadata (`resolve`): dates, `no`, `1e3`, `0o7`, `12:30` stay text. Lines end at
LF, CR or CRLF as in YAML 1.2; U+0085, U+2028 and U+2029 are ordinary characters. A million qrels are ten
million events, so lines and locations are looked up only when needed, and `yaml_lines.py` reads files in the
style that this program writes. Refused with the line: invalid YAML, aliases that expand to more than 10,000
values together, 100 characters of a text counting as one (an alias bomb), merge keys (`<<`), a tag, a repeated key, several documents, nesting deeper
than 50, more than 256 MB. Writes every text in double quotes with risky characters escaped: SnakeYAML, PyYAML
(both YAML 1.1) and YAML 1.2 readers agree on it.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from annotator.domain.errors import BadInput, Problems, ValidationError, refuse
from annotator.domain.messages import say
from annotator.formats.syntax.text import describe, read_text
from annotator.formats.syntax.tree import (
    MAX_DEPTH,
    Location,
    PlainScalar,
    Tree,
    every_prefix,
    line_of,
)
from annotator.formats.syntax.yaml_lines import read_plain_style

MAX_ALIASED = 10_000
_STRING_TAG = "tag:yaml.org,2002:str"


class YamlBuilder:
    """Builds one document. A repeated key is noted in `problems`; everything else that is refused is raised.

    `restore` maps stand-in characters back. The line of each location in `wanted` is stored in `lines`.
    """

    def __init__(
        self,
        problems: Problems,
        *,
        restore: Mapping[int, str],
        wanted: Collection[Location],
        lines: dict[Location, int],
    ) -> None:
        self.problems, self.restore, self.wanted, self.lines = problems, restore, wanted, lines
        self.root: Any = None
        self.holder: Any = None  # the innermost open list or mapping
        self.in_list = False
        self.key: str | None = None  # of the mapping: the key whose value comes next
        self.stack: list[
            tuple[Any, bool, str | None, str | None]
        ] = []  # outer holders, and the inner one's anchor
        self.path: list[str | int] = []  # the place of the holder, when lines are wanted
        self.anchors: dict[str, Any] = {}  # complete values only
        self.aliased = 0

    def build(self, events: Iterator[Any]) -> Any:
        """Return the value of the document from the next events."""
        take: dict[str, Callable[[Any], None]] = {
            "ScalarEvent": self._scalar,
            "MappingStartEvent": self._open_mapping,
            "SequenceStartEvent": self._open_list,
            "MappingEndEvent": self._close,
            "SequenceEndEvent": self._close,
            "AliasEvent": self._alias,
        }
        for event in events:
            take[type(event).__name__](event)
            if self.holder is None:
                break
        return self.root

    def _scalar(self, event: Any) -> None:
        value = event.value.translate(self.restore) if self.restore else event.value
        tag = event.tag
        if tag is None:
            if event.implicit[0]:
                value = PlainScalar(value)
        elif tag not in ("!", _STRING_TAG):
            raise self._refuse(event, say("YAML without tags"), describe(tag))
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        self._put(value, event)

    def _put(self, value: Any, event: Any) -> None:
        """Add a value, or the next key, to the holder."""
        if self.in_list:
            if self.wanted:
                self._note(event)
            self.holder.append(value)
        elif self.key is not None:
            if self.wanted:
                self._note(event)
            self.holder[self.key] = value
            self.key = None
        elif self.holder is not None:
            self._put_key(value, event)
        else:
            self._note(event)
            self.root = value

    def _put_key(self, value: Any, event: Any) -> None:
        if not isinstance(value, str):
            raise self._refuse(event, say("a text as a key"), describe(value))
        key = str(value)
        if key == "<<" and isinstance(value, PlainScalar):
            raise self._refuse(event, say("YAML without merge keys"), "<<")
        if key in self.holder:
            self.problems.add(_line(event), say("each key once"), say("{item} again", item=describe(key)))
        self.key = key

    def _open_mapping(self, event: Any) -> None:
        self._open({}, event)

    def _open_list(self, event: Any) -> None:
        self._open([], event)

    def _open(self, container: Any, event: Any) -> None:
        if event.tag not in (None, "!"):
            raise self._refuse(event, say("YAML without tags"), describe(event.tag))
        if len(self.stack) >= MAX_DEPTH:
            raise self._refuse(event, say("nesting of at most {n} levels", n=MAX_DEPTH), "more")
        outer = (self.holder, self.in_list, None, event.anchor)
        step = self._step()
        self._put(container, event)
        self.stack.append(outer)
        if self.wanted and step is not None:
            self.path.append(step)
        self.holder, self.in_list, self.key = container, type(container) is list, None

    def _close(self, _: Any) -> None:
        closed = self.holder
        self.holder, self.in_list, self.key, anchor = self.stack.pop()
        if anchor is not None:
            self.anchors[anchor] = closed
        if self.path:
            self.path.pop()

    def _alias(self, event: Any) -> None:
        """Return the object that an alias refers to. Refused if all aliases together become too large."""
        name = event.anchor
        if name not in self.anchors:
            raise self._refuse(event, say("an alias of something complete above it"), f"*{name}")
        value = self.anchors[name]
        size, depth = _measure(value, MAX_ALIASED - self.aliased)
        self.aliased += size
        if self.aliased > MAX_ALIASED:
            expected = say("aliases of at most {n} values together", n=MAX_ALIASED)
            raise self._refuse(event, expected, f"more at *{name}")
        if len(self.stack) + depth > MAX_DEPTH:
            raise self._refuse(event, say("nesting of at most {n} levels", n=MAX_DEPTH), "more")
        self._put(value, event)

    def _step(self) -> str | int | None:
        """Return the next value's key or index in the holder; None outside of any."""
        return len(self.holder) if self.in_list else self.key

    def _note(self, event: Any) -> None:
        step = self._step()
        location = () if step is None else (*self.path, step)
        if location in self.wanted:
            self.lines.setdefault(location, _line(event))

    def _refuse(self, event: Any, expected: str, found: str) -> BadInput:
        return refuse(self.problems.path, _line(event), expected, found)


def _measure(value: Any, most: int) -> tuple[int, int]:
    """Return (number of values, nesting depth). Long texts and keys count as several values. Stops a little above `most`."""
    size, depth, level = _weigh(value), 0, [value]
    while level and size <= most:
        items: list[Any] = []
        for holder in level:
            if isinstance(holder, dict | list):
                if isinstance(holder, dict):
                    size += sum(len(key) // 100 for key in holder)
                items += holder.values() if isinstance(holder, dict) else holder
                if size + len(items) > most:
                    return size + len(items), depth
        depth += any(isinstance(holder, dict | list) for holder in level)
        size += sum(map(_weigh, items))
        level = items
    return size, depth


def _weigh(value: Any) -> int:
    return 1 + len(value) // 100 if isinstance(value, str) else 1


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


MAX_BYTES = 256_000_000
_NOT_YAML = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]")
_NOT_BREAKS = ("\x85", "\u2028", "\u2029")
_INT = re.compile(r"[-+]?(0|[1-9][0-9]{0,999})")
_FLOAT = re.compile(r"[-+]?[0-9]+\.[0-9]+([eE][-+]?[0-9]+)?")
_WORDS: Mapping[str, Any] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}


def load_yaml(data: bytes, path: str) -> Tree:
    """Return the tree of one YAML document. BadInput if it is invalid or unsafe."""
    if len(data) > MAX_BYTES:
        raise refuse(
            path,
            None,
            say("YAML of at most {megabytes} MB", megabytes=MAX_BYTES // 1_000_000),
            say("{n} bytes", n=len(data)),
        )
    text = read_text(data, path)
    odd = _NOT_YAML.search(text)
    if odd:
        line = text.count("\n", 0, odd.start()) + 1
        raise refuse(path, line, say("YAML without control characters"), f"U+{ord(odd.group()):04X}")

    def locate(locations: Iterable[Location]) -> dict[Location, int]:
        """Return {location: line}. Content of an alias has the line of the alias."""
        lines: dict[Location, int] = {}
        wanted = every_prefix(locations)
        _build(text, Problems(path), wanted, lines)
        return {location: line_of(lines, location) or 1 for location in wanted}

    problems = Problems(path)
    value = read_plain_style(text)
    if value is None:
        value = _build(text, problems, frozenset(), {})
    return Tree(path, value, locate, tuple(problems.errors))


def resolve(value: Any) -> Any:
    """Return a metadata value with unquoted null, true, false and numbers converted, by YAML's core schema."""
    if isinstance(value, PlainScalar):
        return _resolve_plain(value)
    if isinstance(value, dict):
        return {key: resolve(item) for key, item in value.items()}
    if isinstance(value, list):
        return [resolve(item) for item in value]
    return value


def _resolve_plain(value: PlainScalar) -> Any:
    if value in _WORDS:
        return _WORDS[value]
    if _INT.fullmatch(value):
        return int(value)
    if _FLOAT.fullmatch(value) and math.isfinite(float(value)):
        return float(value)
    return str(value)


def _build(text: str, problems: Problems, wanted: Collection[Location], lines: dict[Location, int]) -> Any:
    """Return the document's value; the line of each wanted place is noted in `lines`, a key twice in `problems`."""
    path = problems.path
    safe, restore = _hide_breaks(text)
    events = _events(safe, path)
    event = next(events)
    while type(event).__name__ != "DocumentStartEvent":
        if type(event).__name__ == "StreamEndEvent":
            raise refuse(path, None, say("a YAML document"), say("an empty file"))
        event = next(events)
    value = YamlBuilder(problems, restore=restore, wanted=wanted, lines=lines).build(events)
    next(events)
    for event in events:
        if type(event).__name__ == "DocumentStartEvent":
            raise refuse(path, int(event.start_mark.line) + 1, say("one YAML document"), say("a second one"))
    return value


def _events(text: str, path: str) -> Iterator[Any]:
    import yaml  # here, so that the table of formats is shown without it

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        next_event = loader(text).get_event  # `yaml.parse` does the same in twice the time
        while (event := next_event()) is not None:
            yield event
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise refuse(
            path, mark.line + 1 if mark else None, "YAML", error.problem or say("something else")
        ) from None
    except yaml.YAMLError as error:
        raise refuse(path, None, "YAML", str(error)) from None
    except RecursionError:
        raise refuse(path, None, say("nesting of at most {n} levels", n=MAX_DEPTH), "more") from None


def _hide_breaks(text: str) -> tuple[str, dict[int, str]]:
    """Replace line breaks of YAML 1.1 only by private characters; also return {stand-in: character}."""
    present = [character for character in _NOT_BREAKS if character in text]
    if not present:
        return text, {}
    free = (chr(code) for code in range(0xE000, 0xF900) if chr(code) not in text)
    stand_in = {ord(character): next(free) for character in present}
    return text.translate(stand_in), {ord(other): chr(code) for code, other in stand_in.items()}


LONGEST_KEY = 1_000  # a YAML 1.1 reader gives up on a key after 1,024 characters
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NOT_KEYS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_ESCAPE = re.compile('["\\\\\x00-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]')
_NAMED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quote(text: str) -> str:
    """Return the text as a YAML double-quoted scalar on one line."""
    return f'"{_ESCAPE.sub(_escape, text)}"'


def write_key(key: str) -> str:
    """Return a mapping's key: bare if every reader takes it for a text, else quoted."""
    written = key if _PLAIN_KEY.fullmatch(key) and key.lower() not in _NOT_KEYS else quote(key)
    if len(written) > LONGEST_KEY:
        raise ValidationError(
            f"expected keys of at most {LONGEST_KEY} characters in YAML, found {key[:60]!r}…"
        )
    return written


def write_entry(key: str, value: Any, indent: int) -> Iterator[str]:
    """Yield the lines of `key: value` at this indentation, without line ends; nested values in block style."""
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
    """Return a text, number, bool, None, or an empty mapping or list. ValidationError for anything else."""
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
    """Return the number with a point, so every reader sees a float: 1e+22 becomes 1.0e+22."""
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
