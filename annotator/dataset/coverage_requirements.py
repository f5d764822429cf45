"""Read the required coverage of a dataset from a small YAML file. KEYS lists its keys, their values and meanings.

Refuses, with the line: unknown keys, invalid numbers, shares that do not add up to 100 %, and unsafe YAML.
`coverage_counts.py` counts afterwards.
"""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any

from annotator.dataset.query_counts import LENGTH, LENGTHS
from annotator.formats.syntax.tree import Location, TreeProblems, is_nothing
from annotator.formats.syntax.yaml_text import load_yaml, resolve

SIZE_TIERS: tuple[int, ...] = (30, 100, 500)
DEFAULT_TOLERANCE = 5.0
_MOST = 10_000_000

Read = Callable[[Any, Location, TreeProblems], Any]


@dataclass(frozen=True, slots=True)
class RequirementKey:
    """A key of a requirements file. `read(value, location, problems)` returns the value to store."""

    name: str
    takes: str
    meaning: str
    read: Read


def read_requirements(data: bytes, path: str) -> dict[str, Any]:
    """Return the requirements of a YAML file as plain JSON values. Raises BadInput with every bad line."""
    tree = load_yaml(data, path)
    problems = TreeProblems(tree)
    keys = {key.name: key for key in KEYS}
    requirements: dict[str, Any] = {}
    for name, value in problems.mapping(tree.value, ()).items():
        if name not in keys:
            problems.add((name,), f"a key of requirements files ({_suggest(name, list(keys))})", name)
        elif not is_nothing(value):
            requirements[name] = keys[name].read(value, (name,), problems)
    if not requirements and not problems:
        problems.add((), f"requirements ({', '.join(keys)})", None)
    problems.raise_if_any()
    return requirements


def _suggest(name: str, names: list[str]) -> str:
    close = get_close_matches(name, names, n=1)
    return f"did you mean {close[0]}?" if close else f"they are {', '.join(names)}"


def _text(value: Any, location: Location, problems: TreeProblems) -> str:
    return problems.text(value, location)


def _whole(value: Any, location: Location, problems: TreeProblems) -> int:
    number = resolve(value)
    if type(number) is int and 0 <= number <= _MOST:
        return number
    problems.add(location, "a whole number, 0 or more", value)
    return 0


def _tier(value: Any, location: Location, problems: TreeProblems) -> int:
    number = resolve(value)
    if type(number) is int and number in SIZE_TIERS:
        return number
    problems.add(location, f"one of the sizes {', '.join(map(str, SIZE_TIERS))}", value)
    return SIZE_TIERS[0]


def _percent(value: Any, location: Location, problems: TreeProblems) -> float:
    number = resolve(value)
    if type(number) in (int, float) and 0 <= number <= 100:
        return float(number)
    problems.add(location, "a percentage, 0 to 100", value)
    return 0.0


def _counts(value: Any, location: Location, problems: TreeProblems) -> dict[str, int]:
    items = problems.mapping(value, location)
    if isinstance(value, dict) and not value:
        problems.add(location, "a mapping with at least one number", value)
    return {name: _whole(item, (*location, name), problems) for name, item in items.items()}


def _count_or_counts(value: Any, location: Location, problems: TreeProblems) -> int | dict[str, int]:
    return (_counts if isinstance(value, dict) else _whole)(value, location, problems)


def _shares(value: Any, location: Location, problems: TreeProblems) -> dict[str, float]:
    items = problems.mapping(value, location)
    shares = {name: _percent(item, (*location, name), problems) for name, item in items.items()}
    if isinstance(value, dict) and abs(sum(shares.values()) - 100) > 0.01 and not problems:
        problems.add(location, "shares that are 100 together", round(sum(shares.values()), 2))
    return shares


def _by_length(value: Any, location: Location, problems: TreeProblems, *, read: Read) -> Any:
    _check_lengths(value, location, problems)
    return read(value, location, problems)


def _by_field(value: Any, location: Location, problems: TreeProblems, *, read: Read) -> dict[str, Any]:
    items = problems.mapping(value, location)
    if isinstance(value, dict) and not value:
        problems.add(location, "a mapping with at least one field", value)
    for name, item in items.items():
        if name == LENGTH:
            _check_lengths(item, (*location, name), problems)
    return {name: read(item, (*location, name), problems) for name, item in items.items()}


def _check_lengths(value: Any, location: Location, problems: TreeProblems) -> None:
    for name in value if isinstance(value, dict) else ():
        if name not in LENGTHS:
            problems.add((*location, name), f"one of {', '.join(LENGTHS)}", name)


def _range(value: Any, location: Location, problems: TreeProblems) -> list[int | None]:
    items = problems.list(value, location)
    if isinstance(value, list) and len(items) != 2:
        problems.add(location, "two numbers, the least and the most", len(items))
    if not isinstance(value, list) or len(items) != 2:
        return [0, None]
    least = _whole(items[0], (*location, 0), problems)
    most = None if is_nothing(items[1]) else _whole(items[1], (*location, 1), problems)
    if most is not None and most < least:
        problems.add(location, "the least before the most", f"{least}, {most}")
    return [least, most]


def _ranges(value: Any, location: Location, problems: TreeProblems) -> Any:
    """Return [least, most] for all sizes, or {size: [least, most]}."""
    if isinstance(value, list):
        return _range(value, location, problems)
    if not isinstance(value, dict) or not value:
        problems.add(location, "[least, most], or one for each of the sizes 30, 100, 500", value)
        return [0, None]
    return {
        str(_tier(_as_number(name), (*location, name), problems)): _range(item, (*location, name), problems)
        for name, item in value.items()
    }


def _as_number(name: str) -> Any:
    return int(name) if name.isascii() and name.isdigit() and len(name) < 9 else name


def _domains(value: Any, location: Location, problems: TreeProblems) -> dict[str, Any]:
    readers: dict[str, Read] = {
        "at_least": _counts_by_name_or_size,
        "across": _whole,
        "across_field": _text,
        "across_query_type": _text,
        "from_queries": _whole,
    }
    domains: dict[str, Any] = {}
    for name, item in problems.mapping(value, location).items():
        if name not in readers:
            problems.add((*location, name), f"a key of domains ({_suggest(name, list(readers))})", name)
        else:
            domains[name] = readers[name](item, (*location, name), problems)
    if isinstance(value, dict) and "at_least" not in value:
        problems.add(
            (*location, "at_least"), "{domain: number}, or a list of numbers, one for each domain", None
        )
    marks = [name for name in ("across_field", "across_query_type") if name in domains]
    if "across" in domains and not marks:
        problems.add(
            (*location, "across_field"),
            "the field that marks a query as across domains (or across_query_type)",
            None,
        )
    if len(marks) > 1:
        problems.add(
            (*location, "across_query_type"),
            "left out where across_field is given",
            domains["across_query_type"],
        )
    return domains


def _counts_by_name_or_size(value: Any, location: Location, problems: TreeProblems) -> Any:
    return (_counts if isinstance(value, dict) else _count_list)(value, location, problems)


def _count_list(value: Any, location: Location, problems: TreeProblems) -> list[int]:
    items = problems.list(value, location)
    return [_whole(item, (*location, index), problems) for index, item in enumerate(items)]


def _ids(value: Any, location: Location, problems: TreeProblems) -> list[str]:
    return [
        problems.id(item, (*location, index)) for index, item in enumerate(problems.list(value, location))
    ]


KEYS: tuple[RequirementKey, ...] = (
    RequirementKey("about", "a text", "what these requirements are, for people", _text),
    RequirementKey("queries", "a number", "at least so many queries", _whole),
    RequirementKey("size_tier", "30, 100 or 500", "at least this size", _tier),
    RequirementKey("queries_per_category", "a number, or {category: number}", "at least so many in each category", _count_or_counts),
    RequirementKey("languages_per_category", "{language: number}", "at least so many of each language in each category", _counts),
    RequirementKey("lengths_per_category", "{short|medium|long: number}", "at least so many of each length in each category", partial(_by_length, read=_counts)),
    RequirementKey("per_category", "{field: {value: number}}", "at least so many of each value of any field in each category", partial(_by_field, read=_counts)),
    RequirementKey("shares", "{field: {value: %}}", "shares of any field over all queries", partial(_by_field, read=_shares)),
    RequirementKey("languages", "{language: %}", "shares over all queries", _shares),
    RequirementKey("difficulty", "{difficulty: %}", "shares over all queries", _shares),
    RequirementKey("query_types", "{query type: %}", "shares over all queries", _shares),
    RequirementKey("lengths", "{short|medium|long: %}", "shares over all queries", partial(_by_length, read=_shares)),
    RequirementKey("tolerance", "percentage points", f"how far each share may be off ({DEFAULT_TOLERANCE:g} without it)", _percent),
    RequirementKey("domains", "{at_least: {domain: number} or [numbers], across: number, across_field: text, across_query_type: text, "
        "from_queries: number}",
        "at least so many queries in each primary_domain, by name or the largest first, and across domains", _domains),
    RequirementKey("relevant_documents", "[least, most], or {30|100|500: [least, most]}",
        "how many documents of grade 1-3 each query has", _ranges),
    RequirementKey("relevant_documents_mean", "[least, most], or {30|100|500: [least, most]}",
        "how many documents of grade 1-3 a query has on the mean", _ranges),
    RequirementKey("relevant_documents_total", "[least, most], or {30|100|500: [least, most]}",
        "how many documents of grade 1-3 all queries have together", _ranges),
    RequirementKey("most_without_relevant", "a number", "at most so many queries without any document of grade 1-3", _whole),
    RequirementKey("most_without_grade_2", "a number", "at most so many queries without any document of grade 2-3", _whole),
    RequirementKey("most_with_one_relevant", "a number", "at most so many queries with a single document of grade 1-3", _whole),
    RequirementKey("most_with_one_grade", "a number", "at most so many queries whose documents all have the same grade", _whole),
    RequirementKey("queries_without_relevant", "a list of query ids", "known to have no relevant document: not counted as lacking", _ids),
)  # fmt: skip
