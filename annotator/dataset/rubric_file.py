"""Reads a rubric from YAML: title, guideline (Markdown) and the definitions of the grades 0-3.

Refuses, with the line, a file without exactly the four grades, with a grade that has no name or definition, and whatever
`formats/syntax/yaml_text.py` refuses: tags, nesting deeper than 50, several documents.
"""

from typing import Any

from annotator.domain.errors import BadInput, FormatError
from annotator.domain.grades import GRADES, GradeDefinition, Rubric
from annotator.formats.syntax.tree import Location, TreeProblems, is_nothing
from annotator.formats.syntax.yaml_text import load_yaml

MAX_BYTES = 1_000_000


def read_rubric(data: bytes, path: str) -> Rubric:
    """Return the rubric of a YAML file's bytes. BadInput names every entry that is missing or wrong."""
    if len(data) > MAX_BYTES:
        raise BadInput([FormatError(path, None, "a rubric of at most 1 MB", f"{len(data):,} bytes")])
    tree = load_yaml(data, path)
    problems = TreeProblems(tree)
    if not isinstance(tree.value, dict):
        raise BadInput([FormatError(path, 1, "a mapping with 'grades'", type(tree.value).__name__)])
    entries = problems.list(tree.value.get("grades"), ("grades",))
    for index, entry in enumerate(entries):
        _check_entry(entry, ("grades", index), problems)
    texts = {
        name: problems.optional_text(tree.value.get(name), (name,)) or "" for name in ("guideline", "title")
    }
    definitions = [
        problems.grade(entry.get("grade"), ("grades", index, "grade"))
        for index, entry in enumerate(entries)
        if isinstance(entry, dict)
    ]
    if not problems and sorted(grade for grade in definitions if grade is not None) != list(GRADES):
        problems.add(("grades",), "the grades 0, 1, 2, 3 once each", str(definitions))
    problems.raise_if_any()
    return Rubric(
        grades=tuple(_definition(entry) for entry in sorted(entries, key=lambda entry: int(entry["grade"]))),
        guideline=texts["guideline"],
        title=texts["title"],
    )


def _check_entry(entry: Any, location: Location, problems: TreeProblems) -> None:
    entry = problems.mapping(entry, location)
    for key in ("name", "definition") if entry else ():
        if not problems.text(entry.get(key), (*location, key)).strip() and not problems:
            problems.add((*location, key), "a text that is not empty", entry.get(key))
    for key in ("positive_examples", "negative_examples"):
        given = entry.get(key)
        for index, example in enumerate([] if is_nothing(given) else problems.list(given, (*location, key))):
            problems.text(example, (*location, key, index))


def _definition(entry: dict[str, Any]) -> GradeDefinition:
    return GradeDefinition(
        grade=int(entry["grade"]),
        name=str(entry["name"]).strip(),
        definition=str(entry["definition"]).strip(),
        positive_examples=_list_examples(entry.get("positive_examples")),
        negative_examples=_list_examples(entry.get("negative_examples")),
    )


def _list_examples(given: Any) -> tuple[str, ...]:
    return () if is_nothing(given) else tuple(str(example) for example in given)
