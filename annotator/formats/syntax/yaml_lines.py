"""Read YAML in the plain style that this program writes, line by line, in a third of the parser's time.

A line is empty, a comment, or a key or list item (`- `) with at most one value after it: a text in double
quotes, a number, a word, an empty list or mapping. Content of a key is indented deeper. A file with anything
else (other quotes, anchors, tags, texts over several lines, a repeated key, deep nesting) is left to the
parser, which also names errors.
"""

import re
from typing import Any

from annotator.formats.syntax.tree import PlainScalar

MOST_INDENTED = 40
# possessive: a line is never read in two ways, so nothing is kept for backtracking
_LINE = re.compile(
    r"""(?:(?P<indent>\ *+)
      (?:(?P<dash>-\ )?+(?P<key>[A-Za-z_][A-Za-z0-9_-]{0,60}+|"[^"\\\n]{0,60}+"):(?=[\ \n]|\Z)|-(?=\ ))
      (?:\ (?:"(?P<text>[^"\\\n]*+(?:\\.[^"\\\n]*+)*+)"|(?P<plain>-?[0-9]++(?:\.[0-9]++)?|true|false|null)|(?P<empty>\[\]|\{\}))
        (?:\ ++\#.*+)?)?
    |\ *+(?:\#.*+)?)(?:\n|\Z)""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:([^xu])|x([0-9A-F]{2})|u([0-9A-F]{4})|)")
_NAMED = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}


class _OtherStyle(Exception):
    """The file needs the full parser."""


def read_plain_style(text: str) -> Any:
    """Return the value of a YAML document, unquoted values as `PlainScalar`; None if it has another style."""
    if "\t" in text or "\r" in text or "\ufeff" in text:
        return None
    try:
        return _read(text)
    except _OtherStyle:
        return None


def _read(text: str) -> Any:
    root: Any = None
    holders: list[tuple[int, Any]] = []  # the open mappings and lists, each with the column of its lines
    waiting: tuple[int, dict[str, Any], str] | None = None  # the key, and its column, that has no value yet
    keys: dict[str, str] = {}  # each kept once
    match, start, end = _LINE.match, 0, len(text)
    while start < end:
        line = match(text, start)
        if line is None:
            raise _OtherStyle
        start = line.end()
        indent, dash, key, quoted, plain, empty = line.groups()
        if indent is None:  # nothing, or a comment
            continue
        column = len(indent)
        is_item = dash is not None or key is None
        if waiting is not None:
            outer, mapping, name = waiting
            if not outer < column <= MOST_INDENTED:
                raise _OtherStyle
            holder: Any = [] if is_item else {}
            mapping[name] = holder
            holders.append((column, holder))
            waiting = None
        elif root is None:
            if column:
                raise _OtherStyle
            root = holder = [] if is_item else {}
            holders.append((0, holder))
        else:
            while holders and holders[-1][0] > column:
                holders.pop()
            if not holders or holders[-1][0] != column:
                raise _OtherStyle
            holder = holders[-1][1]
            if (type(holder) is list) is not is_item:
                raise _OtherStyle
        value: Any
        if quoted is not None:
            value = _ESCAPE.sub(_decode, quoted) if "\\" in quoted else quoted
        elif plain is not None:
            value = PlainScalar(plain)
        elif empty is not None:
            value = [] if empty == "[]" else {}
        elif key is None:
            raise _OtherStyle
        else:
            value = None
        if key is None:
            holder.append(value)
            continue
        if dash is not None:
            column += 2
            item: dict[str, Any] = {}
            holder.append(item)
            holders.append((column, item))
            holder = item
        name = key if key[0] != '"' else key[1:-1]
        name = keys.setdefault(name, name)
        if name in holder:
            raise _OtherStyle
        holder[name] = value
        if value is None:
            waiting = (column, holder, name)
    if waiting is not None:
        raise _OtherStyle
    return root


def _decode(match: re.Match[str]) -> str:
    """Return the character of an escape that this program writes."""
    named, short, long = match.groups()
    if named is not None:
        if named not in _NAMED:
            raise _OtherStyle
        return _NAMED[named]
    if short is None and long is None:
        raise _OtherStyle
    code = int(short or long, 16)
    if 0xD800 <= code <= 0xDFFF:
        raise _OtherStyle
    return chr(code)
