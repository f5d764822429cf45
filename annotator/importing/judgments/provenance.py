"""Read the importer's declaration of how judgments or qrels were made (`--provenance`, a small YAML or JSON
file).

The declaration is stored with the import (`import_record.declared`) and repeated in the datasheet. Refuses,
with the line, an unknown key, a value of another type, and a too long text. `split_declaration` separates
`annotators`, the usernames for the grades in a file, because releases contain no names of people.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from annotator.domain.errors import ValidationError, refuse
from annotator.domain.ground_truth import DECLARED
from annotator.domain.messages import Message, say
from annotator.domain.texts import clean, fold
from annotator.formats.syntax.json_text import load_json
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.text import ID_LIMIT, is_too_long
from annotator.formats.syntax.tree import TreeProblems, is_nothing
from annotator.formats.syntax.yaml_text import load_yaml, resolve

MAX_TEXT = 5_000
MAX_BYTES = 100_000
ANNOTATORS = "annotators"
KEYS = (*DECLARED, ANNOTATORS)


def read_provenance(path: Path) -> dict[str, Any]:
    """Return the declaration in a file, as plain JSON values. BadInput names every bad place with its line."""
    data = InputSource(str(path)).read_bytes()
    if len(data) > MAX_BYTES:
        raise refuse(
            str(path), None, say("a file of at most {n} bytes", n=MAX_BYTES), say("{n} bytes", n=len(data))
        )
    load = load_json if path.suffix.lower() == ".json" else load_yaml
    tree = load(data, str(path))
    problems = TreeProblems(tree)
    declaration: dict[str, Any] = {}
    for name, value in problems.mapping(tree.value, ()).items():
        if name not in KEYS:
            problems.add((name,), _expect_key(name), name)
        elif is_nothing(value):
            continue
        elif name == "blind":
            declaration[name] = _read_flag(resolve(value), problems)
        elif name == ANNOTATORS:
            declaration[name] = _read_names(value, problems)
        else:
            declaration[name] = _read_text(value, name, problems)
    if not declaration and not problems:
        problems.add((), say("one or more of {names}", names=", ".join(KEYS)), None)
    problems.raise_if_any()
    return declaration


def split_declaration(
    declared: Mapping[str, Any] | None,
) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """Return the statements for the datasheet (None if empty), and {annotator in the file: declared name}."""
    statements = dict(declared or {})
    names = statements.pop(ANNOTATORS, {})
    return statements or None, names


def refuse_annotators(declared: Mapping[str, Any] | None, *, use: str) -> None:
    """Raise ValidationError if annotators' names are declared without a use for them. `use`: the remedy."""
    if declared and ANNOTATORS in declared:
        raise ValidationError(
            f"--provenance: {ANNOTATORS} says under which names `import qrels --as-judgments` stores grades; {use}"
        )


def _read_names(value: Any, problems: TreeProblems) -> dict[str, str]:
    """Return {annotator in the file: person's name in NFC}. Notes a name that two annotators share."""
    names: dict[str, str] = {}
    for annotator, given in problems.mapping(value, (ANNOTATORS,)).items():
        name = str(given) if isinstance(given, str | int) and not isinstance(given, bool) else ""
        name = clean(name)
        others = {fold(other): annotator for annotator, other in names.items()}
        if not name or is_nothing(given):
            problems.add((ANNOTATORS, annotator), say("a name or username"), given)
        elif is_too_long(name):
            problems.add((ANNOTATORS, annotator), say("a name of {limit}", limit=ID_LIMIT), name)
        elif fold(name) in others:
            expected = f"another person than {others[fold(name)]}, who has grades of the same documents"
            problems.add((ANNOTATORS, annotator), expected, name)
        names[annotator] = name
    if not names and isinstance(value, dict):
        problems.add(
            (ANNOTATORS,), say("a name for each annotator in the file, such as annotator_1: Tanaka"), None
        )
    return names


def _read_flag(value: Any, problems: TreeProblems) -> bool:
    if not isinstance(value, bool):
        problems.add(("blind",), say("true or false"), value)
    return value is True


def _read_text(value: Any, name: str, problems: TreeProblems) -> str:
    """Return a text; a number or a date (`when: 2019`) as written."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        problems.add((name,), say("a text"), value)
        return ""
    if len(value) > MAX_TEXT:
        problems.add_words(
            (name,), say("a text of at most {n} characters", n=MAX_TEXT), say("{n} characters", n=len(value))
        )
    return str(value).strip()


def _expect_key(name: str) -> Message:
    if close := get_close_matches(name, KEYS, n=1):
        return say("a key of provenance files (did you mean {name}?)", name=close[0])
    return say("a key of provenance files (they are {names})", names=", ".join(KEYS))
