"""Validate a file against its format's JSON Schema, and say for each bad place what was expected and found.

`annotator check` runs the format's reader first, then this. Only whole JSON and YAML files have a schema; the reader of JSONL
lines checks the same. An unquoted YAML scalar counts both as its number or null and as its text.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from annotator.domain.errors import BadInput, FormatError
from annotator.formats.format import Format, read_schema
from annotator.formats.json_text import load_json
from annotator.formats.source import InputSource
from annotator.formats.text import describe
from annotator.formats.tree import Place, PlainScalar, Tree, TreeProblems
from annotator.formats.yaml_text import load_yaml, resolve

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


def has_schema(known: Format) -> bool:
    """Whether a file of this format is held to a schema as a whole."""
    return known.schema is not None and bool({".json", ".yaml"} & set(known.suffixes))


def list_schema_problems(source: InputSource, known: Format) -> list[FormatError]:
    """Every place that is not as the schema says, in the order of the file; empty where there is no such schema.

    A file that is no JSON or YAML at all has none here, nor has what is no good JSON or YAML: its reader says so.
    """
    if known.schema is None or not has_schema(known):
        return []
    is_yaml = ".yaml" in known.suffixes
    try:
        tree = (load_yaml if is_yaml else load_json)(source.read_bytes(), source.path)
    except BadInput:
        return []
    problems = TreeProblems(tree)
    instance = resolve(tree.value) if is_yaml else tree.value
    for place, expected, found in _validate(tree, instance, read_schema(known.schema)):
        problems.add(place, expected, found)
    try:
        problems.raise_if_any()
    except BadInput as error:
        return [problem for problem in error.problems if not any(problem is fault for fault in tree.faults)]
    return []


def _validate(tree: Tree, instance: Any, schema: dict[str, Any]) -> Iterator[tuple[Place, str, Any]]:
    import jsonschema
    from jsonschema.exceptions import best_match

    validator = jsonschema.Draft202012Validator(schema)
    for error in validator.iter_errors(instance):
        deepest = best_match([error]) or error
        place: Place = tuple(deepest.absolute_path)
        raw = _look_up(tree.value, place)
        if isinstance(raw, PlainScalar) and validator.evolve(schema=deepest.schema).is_valid(str(raw)):
            continue
        if deepest.validator == "required":
            for name in deepest.validator_value:
                if name not in deepest.instance:
                    yield (*place, name), "there", None
        else:
            yield place, _describe_rule(deepest), raw


def _look_up(value: Any, place: Place) -> Any:
    for step in place:
        value = value[step]
    return value


def _describe_rule(error: Any) -> str:
    """What a rule of a schema asks for, in words."""
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


def join_problems(found: Iterable[FormatError], by_schema: Iterable[FormatError]) -> tuple[FormatError, ...]:
    """Both lists as one, by line. What the reader complained about already is not named again: the same place, or a list with
    an item twice whose item the reader named."""
    first = list(found)
    named = {(problem.path, problem.line, split_place(problem)[0]) for problem in first}
    lists = {place.rpartition("[")[0] for _, _, place in named if place}
    further = [
        problem
        for problem in by_schema
        if (problem.path, problem.line, split_place(problem)[0]) not in named
        and not (_TWICE in problem.expected and split_place(problem)[0] in lists)
    ]
    return tuple(sorted([*first, *further], key=lambda problem: problem.line or 0))


def split_place(problem: FormatError) -> tuple[str | None, str]:
    """The place within the file (`queries[3].id`) and what was expected there; None where no place is named."""
    place, mark, expected = problem.expected.rpartition(" to be ")
    return (place, expected) if mark else (None, problem.expected)
