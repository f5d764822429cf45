"""A parsed YAML or JSON file: plain values, and the line number of any location in them.

`yaml_text.py` and `json_text.py` make it for the readers of formats. A location is a tuple of keys and
indexes, shown as `queries[3].id`. Lines are looked up only to report an error, so a good file costs nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from annotator.domain.errors import FormatError, Problems
from annotator.domain.messages import say
from annotator.formats.syntax.grade_scale import UNRATEABLE, GradeScale
from annotator.formats.syntax.text import ID_LIMIT, describe, is_too_long

Location = tuple[str | int, ...]
MAX_DEPTH = 50
MAX_STEP = 80  # a key that is longer is shortened when a place is shown
MAX_TEXT = 1_000_000
TEXT_LIMIT = say("a text of at most {n} characters", n=MAX_TEXT)


class PlainScalar(str):
    """A YAML scalar without quotes: its source text. An id uses it unchanged (`id: 1` is "1")."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """`value` holds dicts, lists, str, int, float, bool, None; YAML's unquoted scalars are `PlainScalar`.

    `faults`: problems already found (a repeated key), raised together with later ones.
    """

    path: str
    value: Any
    locate: Callable[[Iterable[Location]], Mapping[Location, int]]
    faults: tuple[FormatError, ...] = ()


class TreeProblems:
    """Collects the problems in a tree by location, and raises them all at once with their lines."""

    def __init__(self, tree: Tree, scale: GradeScale | None = None) -> None:
        self.tree = tree
        self.scale = scale or GradeScale()
        self.errors: list[tuple[Location, str, str]] = []

    def __bool__(self) -> bool:
        return bool(self.errors)

    def add(self, location: Location, expected: str, found: object) -> None:
        """Note a problem at `location`; `found` is the value there."""
        self.add_words(location, expected, describe(found))

    def add_words(self, location: Location, expected: str, found: str) -> None:
        """Note a problem at `location`; `found` describes the value: it is secret, or missing."""
        place = show_location(location)
        self.errors.append((location, say("{place} to be {expected}", place=place, expected=expected), found))

    def raise_if_any(self) -> None:
        """Raise BadInput with every problem, in file order."""
        if not self.errors and not self.tree.faults:
            return
        lines = self.tree.locate([location for location, _, _ in self.errors])
        problems = Problems(self.tree.path)
        problems.errors += self.tree.faults
        for location, expected, found in self.errors:
            problems.add(line_of(lines, location), expected, found)
        problems.raise_if_any()

    # What every reader asks of a value ------------------------------------------------------------

    def mapping(self, value: Any, location: Location) -> dict[str, Any]:
        """Return the mapping at `location`; empty after noting another type."""
        if isinstance(value, dict):
            return value
        self.add(location, say("a mapping"), value)
        return {}

    def list(self, value: Any, location: Location) -> list[Any]:
        """Return the list at `location`; empty after noting another type."""
        if isinstance(value, list):
            return value
        self.add(location, say("a list"), value)
        return []

    def id(self, value: Any, location: Location) -> str:
        """Return an id: any text, or a number as its digits. "" after noting a problem."""
        if type(value) is int:
            value = str(value)
        if not isinstance(value, str) or not value or is_nothing(value):
            self.add(location, say("an id: a text that is not empty"), None if is_nothing(value) else value)
        elif is_too_long(value):
            self.add(location, say("an id of {limit}", limit=ID_LIMIT), value)
        else:
            return str(value)
        return ""

    def text(self, value: Any, location: Location) -> str:
        """Return a text, possibly empty; "" after noting a problem."""
        if isinstance(value, str) and not is_nothing(value):
            return self._check_length(str(value), location)
        self.add(location, say("a text"), value)
        return ""

    def optional_text(self, value: Any, location: Location) -> str | None:
        """Return a text, or None if it is absent (also YAML's unquoted `null` or `~`)."""
        if is_nothing(value):
            return None
        if isinstance(value, str):
            return self._check_length(str(value), location)
        self.add(location, say("a text"), value)
        return None

    def _check_length(self, text: str, location: Location) -> str:
        if len(text) > MAX_TEXT:
            self.add_words(location, TEXT_LIMIT, say("{n} characters", n=len(text)))
        return text

    def grade(self, value: Any, location: Location) -> int | None:
        """Return a grade 0-3 written as a number, or by the scale; None if the value is no grade, 0 after noting a problem."""
        mapped = self.scale.translate(value)
        if mapped is not None:
            return mapped if isinstance(mapped, int) else None
        if type(value) is int and value in (0, 1, 2, 3):
            return value
        if isinstance(value, PlainScalar) and value in ("0", "1", "2", "3"):
            return int(value)
        if self.scale.accepts(value):
            return None
        self.add(location, say("a grade 0, 1, 2 or 3"), value)
        return 0

    def own_grade(self, value: Any, location: Location) -> int | str | None:
        """Return an annotator's own grade, 0-3 or "unrateable", by the scale; None after noting a problem."""
        mapped = self.scale.translate(value)
        if mapped is not None:
            return mapped
        if value == UNRATEABLE:
            return UNRATEABLE
        if type(value) is int and value in (0, 1, 2, 3):
            return value
        if not self.scale.accepts(value):
            self.add(location, say("a grade 0, 1, 2, 3 or unrateable"), value)
        return None


def is_nothing(value: Any) -> bool:
    """Check for JSON's null, and YAML's unquoted null, ~ or empty value."""
    return value is None or (isinstance(value, PlainScalar) and value in ("", "~", "null", "Null", "NULL"))


def show_location(location: Location) -> str:
    """Return a location as people write it: `queries[3].ground_truth["doc 1"].relevance`."""
    shown = ""
    for step in location:
        if isinstance(step, int):
            shown += f"[{step}]"
        elif step.isidentifier() and len(step) <= MAX_STEP:
            shown += f".{step}" if shown else step
        else:
            shown += f"[{describe(step)}]"
    return shown or say("the file")


def line_of(lines: Mapping[Location, int], location: Location) -> int | None:
    """Return the line of a location, or of its nearest existing parent."""
    for length in range(len(location), -1, -1):
        if location[:length] in lines:
            return lines[location[:length]]
    return None


def locate_items(tree: Tree, *location: str | int) -> list[int]:
    """Return the line on which each item of the list at `location` begins, in order."""
    items = tree.value
    for step in location:
        items = items[step]
    locations: list[Location] = [(*location, index) for index in range(len(items))]
    lines = tree.locate(locations)
    return [lines[item] for item in locations]


def every_prefix(locations: Iterable[Location]) -> set[Location]:
    """Return the locations and all their parents, to look up with `locate`."""
    return {location[:length] for location in locations for length in range(len(location) + 1)}
