"""Turns the events of a YAML parser into dicts, lists and texts: few aliases, no tags, a limited depth.

Between PyYAML's parser and `yaml_text.py`. Without recursion, so that depth is our limit and not Python's. A file of a
million qrels is ten million events: what is not needed for a value (its line, its place) is looked at only when asked.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from annotator.domain.errors import BadInput, Problems
from annotator.formats.text import describe
from annotator.formats.tree import MAX_DEPTH, Place, Plain, refuse

MAX_ALIASED = 10_000
_STRING_TAG = "tag:yaml.org,2002:str"


class Builder:
    """Builds one document. A key given twice is noted in `problems`; everything else that is refused is raised.

    `restore` maps stand-in characters back. The line of each place in `wanted` is noted in `lines`.
    """

    def __init__(
        self,
        problems: Problems,
        *,
        restore: Mapping[int, str],
        wanted: Collection[Place],
        lines: dict[Place, int],
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
        """The value of the document whose events come next."""
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
                value = Plain(value)
        elif tag not in ("!", _STRING_TAG):
            raise self._refuse(event, "YAML without tags", describe(tag))
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        self._put(value, event)

    def _put(self, value: Any, event: Any) -> None:
        """A value, or the next key, in the holder."""
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
            raise self._refuse(event, "a text as a key", describe(value))
        key = str(value)
        if key == "<<" and isinstance(value, Plain):
            raise self._refuse(event, "YAML without merge keys", "<<")
        if key in self.holder:
            self.problems.add(_line(event), "each key once", f"{describe(key)} again")
        self.key = key

    def _open_mapping(self, event: Any) -> None:
        self._open({}, event)

    def _open_list(self, event: Any) -> None:
        self._open([], event)

    def _open(self, container: Any, event: Any) -> None:
        if event.tag not in (None, "!"):
            raise self._refuse(event, "YAML without tags", describe(event.tag))
        if len(self.stack) >= MAX_DEPTH:
            raise self._refuse(event, f"nesting of at most {MAX_DEPTH} levels", "more")
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
        """The value that an alias stands for, the same object, as long as all of them together stay small."""
        name = event.anchor
        if name not in self.anchors:
            raise self._refuse(event, "an alias of something complete above it", f"*{name}")
        value = self.anchors[name]
        size, depth = _measure(value, MAX_ALIASED - self.aliased)
        self.aliased += size
        if self.aliased > MAX_ALIASED:
            expected = f"aliases that stand for at most {MAX_ALIASED:,} values together"
            raise self._refuse(event, expected, f"more at *{name}")
        if len(self.stack) + depth > MAX_DEPTH:
            raise self._refuse(event, f"nesting of at most {MAX_DEPTH} levels", "more")
        self._put(value, event)

    def _step(self) -> str | int | None:
        """Where in the holder the next value will stand; None outside of any."""
        return len(self.holder) if self.in_list else self.key

    def _note(self, event: Any) -> None:
        step = self._step()
        place = () if step is None else (*self.path, step)
        if place in self.wanted:
            self.lines.setdefault(place, _line(event))

    def _refuse(self, event: Any, expected: str, found: str) -> BadInput:
        return refuse(self.problems.path, _line(event), expected, found)


def _measure(value: Any, most: int) -> tuple[int, int]:
    """How many values this is, counted to a little over `most`, and how many levels deep."""
    size, depth, level = 1, 0, [value]
    while level and size <= most:
        items: list[Any] = []
        for holder in level:
            if isinstance(holder, dict | list):
                items += holder.values() if isinstance(holder, dict) else holder
                if size + len(items) > most:
                    return size + len(items), depth
        depth += any(isinstance(holder, dict | list) for holder in level)
        size += len(items)
        level = items
    return size, depth


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
