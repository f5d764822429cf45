"""Validate a file with its format's JSON Schema. Each problem names the location, expected and found value.

`annotator check` runs the format's reader first. Only JSON and YAML files have a schema; the reader checks
JSONL lines itself. An unquoted YAML scalar may be its number (or null) or its text.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from annotator.domain.errors import BadInput, FormatError
from annotator.formats.format import Format, read_schema
from annotator.formats.syntax.json_text import load_json
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.text import describe
from annotator.formats.syntax.tree import Location, PlainScalar, Tree, TreeProblems
from annotator.formats.syntax.yaml_text import load_yaml, resolve

_WORDS = {
    "object": "a mapping",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "nothing",
}


_TWICE = "(uniqueItems: "


def has_schema(file_format: Format) -> bool:
    """Return whether whole files of this format have a JSON Schema."""
    return file_format.schema is not None and bool({".json", ".yaml"} & set(file_format.suffixes))


def list_schema_problems(source: InputSource, file_format: Format) -> list[FormatError]:
    """Return every violation of the schema in the order of the file; empty for a format without schema.

    Also empty for invalid JSON or YAML, which the reader reports.
    """
    if file_format.schema is None or not has_schema(file_format):
        return []
    is_yaml = ".yaml" in file_format.suffixes
    try:
        tree = (load_yaml if is_yaml else load_json)(source.read_bytes(), source.path)
    except BadInput:
        return []
    problems = TreeProblems(tree)
    instance = resolve(tree.value) if is_yaml else tree.value
    for location, expected, found in _validate(tree, instance, read_schema(file_format.schema)):
        problems.add(location, expected, found)
    try:
        problems.raise_if_any()
    except BadInput as error:
        faults = set(map(id, tree.faults))
        return [problem for problem in error.problems if id(problem) not in faults]
    return []


def _validate(tree: Tree, instance: Any, schema: dict[str, Any]) -> Iterator[tuple[Location, str, Any]]:
    import jsonschema
    from jsonschema.exceptions import best_match

    validator = jsonschema.Draft202012Validator(schema)
    for error in validator.iter_errors(instance):
        deepest = best_match([error]) or error
        location: Location = tuple(deepest.absolute_path)
        raw = _look_up(tree.value, location)
        if isinstance(raw, PlainScalar) and validator.evolve(schema=deepest.schema).is_valid(str(raw)):
            continue
        if deepest.validator == "required":
            for name in deepest.validator_value:
                if name not in deepest.instance:
                    yield (*location, name), "there", None
        else:
            yield location, _describe_rule(deepest), raw


def _look_up(value: Any, location: Location) -> Any:
    for step in location:
        value = value[step]
    return value


def _describe_rule(error: Any) -> str:
    rule, value, schema = error.validator, error.validator_value, error.schema
    kinds = [value] if isinstance(value, str) else value
    if rule == "type":
        bounds = (schema.get("minimum"), schema.get("maximum"))
        if kinds == ["integer"] and None not in bounds:
            return f"a whole number from {bounds[0]} to {bounds[1]}"
        return " or ".join(_WORDS[kind] for kind in kinds)
    if rule in ("minimum", "maximum") and "minimum" in schema and "maximum" in schema:
        return f"a whole number from {schema['minimum']} to {schema['maximum']}"
    if rule in ("enum", "const"):
        return f"one of {', '.join(describe(item) for item in (value if rule == 'enum' else [value]))}"
    if rule in ("minLength", "minItems", "minProperties"):
        return "not empty" if value == 1 else f"at least {value} long"
    if rule in ("additionalProperties", "unevaluatedProperties"):
        return "without further keys"
    return f"as the schema says ({rule}: {describe(value)})"


def join_problems(
    reader_problems: Iterable[FormatError], by_schema: Iterable[FormatError]
) -> tuple[FormatError, ...]:
    """Return the problems of both lists, sorted by line, each once.

    Leaves out a schema problem if the reader has a problem at the same location. Leaves out a repeated list
    item if the reader has a problem with an item of that list.
    """
    first = list(reader_problems)
    named = {(problem.path, problem.line, split_location(problem)[0]) for problem in first}
    lists = {location.rpartition("[")[0] for _, _, location in named if location}
    further = [
        problem
        for problem in by_schema
        if (problem.path, problem.line, split_location(problem)[0]) not in named
        and not (_TWICE in problem.expected and split_location(problem)[0] in lists)
    ]
    return tuple(sorted([*first, *further], key=lambda problem: problem.line or 0))


def split_location(problem: FormatError) -> tuple[str | None, str]:
    """Return (location such as `queries[3].id`, expected value). The location is None if the problem names none."""
    location, mark, expected = problem.expected.rpartition(" to be ")
    return (location, expected) if mark else (None, problem.expected)
